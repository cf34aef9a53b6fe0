"""Partitions of an operator's cases: an element type, a rank, perhaps a profile."""

from __future__ import annotations


def excluded_text(when: str) -> str:
    """Return the predicate of the cases that do not meet one, in a line."""
    return " ".join(f"not ({when})".split())
