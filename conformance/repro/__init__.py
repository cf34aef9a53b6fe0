"""Standalone scripts that reproduce a failure without this package."""
