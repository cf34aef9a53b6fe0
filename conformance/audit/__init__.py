"""Measures a suite: mutation score, pairwise coverage, strength by part."""

PRECISION = "standard"
"""The precision at which kills are measured."""
