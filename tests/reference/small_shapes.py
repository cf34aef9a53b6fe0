"""Shapes of small outputs, in which a mutant's outputs are worked out whatever the right shape."""

from __future__ import annotations

from itertools import product

SMALL_SHAPES = frozenset(
    (1, channels, *sizes)
    for channels in (1, 2)
    for axes in (1, 2, 3)
    for sizes in product(range(1, 9), repeat=axes)
)
