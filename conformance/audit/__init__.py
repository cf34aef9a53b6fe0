"""Mutation score, pairwise coverage, and strength by partition of a suite."""

PRECISION = "standard"
"""The precision at which kills are measured."""
