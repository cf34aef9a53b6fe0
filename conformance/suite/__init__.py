"""Suites: vector files, manifest, recorded cases, proofs; read safely and written atomically."""
