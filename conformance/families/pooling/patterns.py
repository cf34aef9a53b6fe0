"""Value patterns for the data of pooling, those of :mod:`conformance.core.patterns`."""

from __future__ import annotations

from conformance.core import patterns
from conformance.dtypes import DTYPES, Array
from conformance.families.pooling.rules import PATTERN_NAMES

PATTERNS = {name: patterns.PATTERNS[name] for name in PATTERN_NAMES}


def fill(pattern: str, seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """An array of one pattern; the same arguments give the same bits on every machine."""
    return patterns.fill(pattern, seed, shape, DTYPES[dtype])
