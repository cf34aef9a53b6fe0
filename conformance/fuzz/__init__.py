"""Searches for the smallest cases on which a live backend is wrong."""
