"""Infers how a backend sums, divides and rounds."""
