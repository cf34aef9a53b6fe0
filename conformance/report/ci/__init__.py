"""Formats for CI systems and other tools, one module each."""
