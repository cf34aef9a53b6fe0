"""Numerical error: how much of the accepted interval elements use, as bars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.dtypes import DTYPES
from conformance.log.run_log import RunLog
from conformance.model import Result

BINS = ("exactly rounded", "up to 1/4", "up to 1/2", "up to 3/4", "up to all", "beyond")
"""What share of the interval on its side an element uses."""

HEIGHT, STEP = 72, 36
"""Of the highest bar, and from one bar to the next."""

TICKS = ("exact", "1/4", "1/2", "3/4", "all", "beyond")


@dataclass(frozen=True)
class Bar:
    """One bar: its bin, in full and as short as below the bar, how many elements, and its place."""

    label: str
    tick: str
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True)
class Spread:
    """The elements of one type by how far off they are; heights are logarithmic."""

    dtype: str
    total: int
    bars: tuple[Bar, ...]

    @property
    def sentence(self) -> str:
        """What the bars show, in words."""
        told = ", ".join(f"{bar.count:,} {bar.label}" for bar in self.bars if bar.count)
        return f"{self.dtype}: of {self.total:,} elements {told}."


def spreads(run: RunLog) -> tuple[Spread, ...]:
    """One for each element type of which the log tells; none where it tells of none."""
    counts: dict[str, list[int]] = {}
    for result in run.results:
        found = within(result)
        if found is not None:
            sums = counts.setdefault(result.dtype, [0] * len(BINS))
            counts[result.dtype] = [a + b for a, b in zip(sums, found, strict=True)]
    names = [name for name in DTYPES if name in counts]
    names += sorted(counts.keys() - set(names))
    return tuple(_spread(name, counts[name]) for name in names if sum(counts[name]))


def within(result: Result) -> tuple[int, ...] | None:
    """How many elements of a result fall into each of :data:`BINS`; None where nothing is told."""
    found = result.within
    if not isinstance(found, list | tuple) or len(found) != len(BINS):
        return None
    if not all(type(n) is int and 0 <= n < 2**53 for n in found):
        return None
    return tuple(found)


def _spread(dtype: str, counts: list[int]) -> Spread:
    return Spread(dtype, sum(counts), tuple(_bars(counts)))


def _bars(counts: list[int]) -> Iterator[Bar]:
    most = math.log10(1 + max(counts))
    for number, (label, tick, count) in enumerate(zip(BINS, TICKS, counts, strict=True)):
        height = round(HEIGHT * math.log10(1 + count) / most, 1)
        yield Bar(label, tick, count, number * STEP, round(HEIGHT - height, 1), height)
