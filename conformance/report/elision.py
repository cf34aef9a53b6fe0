"""Selects the positions of a long axis that a picture shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from conformance.report.window import Axis

MAX_CELLS = 12
"""Positions of one axis that are drawn at most, but for single ones between them."""


def shown(axis: Axis, limit: int = MAX_CELLS) -> tuple[int, ...]:
    """The positions to draw, in order: ``limit`` of them, and no gap of a single one.

    A window with its neighbours comes first, then the ends of the axis with their padding, then
    what is nearest to the window. Of a window that is longer than that both ends are shown.
    """
    first = min([-max(0, axis.begin), *axis.positions])
    last = max([axis.size - 1 + max(0, axis.end), *axis.positions])
    if last - first < limit:
        return tuple(range(first, last + 1))
    chosen: set[int] = set()
    for position in _by_worth(axis, first, last):
        if len(chosen) == limit:
            break
        if first <= position <= last:
            chosen.add(position)
    return tuple(_without_small_gaps(sorted(chosen), first, last))


def breaks(positions: Sequence[int], axis: Axis) -> tuple[int, ...]:
    """Before which of the shown positions, by index, the axis breaks off; ``len`` for the end."""
    if not positions:
        return ()
    gaps = [n for n in range(1, len(positions)) if positions[n] != positions[n - 1] + 1]
    if positions[0] > -max(0, axis.begin):
        gaps.insert(0, 0)
    if positions[-1] < axis.size - 1 + max(0, axis.end):
        gaps.append(len(positions))
    return tuple(gaps)


def _by_worth(axis: Axis, first: int, last: int) -> Iterator[int]:
    """Positions, the most telling first."""
    taps = sorted(set(axis.positions)) or [0]
    low, high = taps[0], taps[-1]
    yield from (low, high)
    edges = (low - 1, high + 1)
    if len(taps) <= MAX_CELLS - len(edges):
        yield from taps
        yield from edges
    else:
        yield from edges
        half = MAX_CELLS // 2
        yield from _alternating(taps[:half], reversed(taps[-half:]))
    yield from (0, axis.size - 1, first, last)
    yield from _alternating(range(high + 1, high + MAX_CELLS), range(low - 1, low - MAX_CELLS, -1))


def _alternating(some: Iterable[int], others: Iterable[int]) -> Iterator[int]:
    pairs = chain.from_iterable(zip_longest(some, others))
    return (position for position in pairs if position is not None)


def _without_small_gaps(chosen: Sequence[int], first: int, last: int) -> Iterator[int]:
    """The positions, and each single one between two of them: a break would take its place."""
    before = first - 1
    for position in chosen:
        if position == before + 2:
            yield before + 1
        yield position
        before = position
    if before == last - 1:
        yield last
