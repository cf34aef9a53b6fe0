"""Suites: vector files, manifest, recorded cases; read safely and written atomically."""
