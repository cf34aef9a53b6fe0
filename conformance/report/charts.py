"""Charts of the page: heat map, use of the accepted interval, counts as a stacked bar."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from conformance.dtypes import DTYPES
from conformance.log.run_log import RunLog
from conformance.model import FAILED, INTERVAL_BINS, Status
from conformance.report.view import OperatorRow
from conformance.verdict import ENDED, Tally

MAX_EDGES = 200
"""Edges of one operator that are shown at most."""

MAX_HOT = 12
"""Edges with failures that are shown to begin with."""

MAX_DTYPES = 12
"""Element types of one operator that are shown at most."""

SHADES = 5
"""Shades of a cell, from few failures to nothing else."""


@dataclass(frozen=True)
class HeatCell:
    """Of the vectors with some edge and some type that passed or failed, how many failed.

    ``link`` is the fragment that narrows the table of vectors to them.
    """

    failed: int
    graded: int
    link: str

    @property
    def shade(self) -> int:
        """From 0, nothing failed, to :data:`SHADES`, everything did."""
        if not self.failed:
            return 0
        return min(SHADES, 1 + self.failed * (SHADES - 1) // self.graded)


@dataclass(frozen=True)
class EdgeRow:
    """An edge, or all vectors of the operator for the empty edge; ``cells`` has one a type."""

    edge: str
    cells: tuple[HeatCell, ...]
    total: HeatCell


@dataclass(frozen=True)
class HeatMap:
    """The edges of one operator, in three parts: ``hot`` with most to tell, others, no failures.

    ``left_out`` counts the edges for which there was no room.
    """

    op: str
    dtypes: tuple[str, ...]
    whole: EdgeRow
    hot: tuple[EdgeRow, ...]
    warm: tuple[EdgeRow, ...]
    cold: tuple[EdgeRow, ...]
    left_out: int


def heat_maps(run: RunLog) -> tuple[HeatMap, ...]:
    """One map for each operator of which some vector was graded, in the order of the log."""
    graded: dict[str, _Counts] = {}
    failed: dict[str, _Counts] = {}
    for result in run.results:
        if result.status in FAILED or result.status is Status.PASS:
            edges, dtypes = {"", *result.edges}, {"", result.dtype}
            keys = [(edge, dtype) for edge in edges for dtype in dtypes]
            graded.setdefault(result.op, Counter()).update(keys)
            if result.status in FAILED:
                failed.setdefault(result.op, Counter()).update(keys)
    none: _Counts = Counter()
    return tuple(_map(op, graded[op], failed.get(op, none)) for op in run.tallies if op in graded)


_Counts = Counter[tuple[str, str]]
"""How many results have an edge and a type; the empty name stands for any."""


def _map(op: str, graded: _Counts, failed: _Counts) -> HeatMap:
    dtypes = tuple(_in_order({dtype for _, dtype in graded if dtype}))[:MAX_DTYPES]

    def row(edge: str) -> EdgeRow:
        cells = [
            HeatCell(failed[edge, dtype], graded[edge, dtype], _link(op, edge, dtype))
            for dtype in (*dtypes, "")
        ]
        return EdgeRow(edge, tuple(cells[:-1]), cells[-1])

    edges = [row(edge) for edge in sorted({edge for edge, _ in graded if edge})]
    # As findings are told apart: many failures, and a large share of them.
    edges.sort(key=lambda one: -(one.total.failed**2) / one.total.graded)
    shown = edges[:MAX_EDGES]
    failing = tuple(one for one in shown if one.total.failed)
    return HeatMap(
        op=op,
        dtypes=dtypes,
        whole=row(""),
        hot=failing[:MAX_HOT],
        warm=failing[MAX_HOT:],
        cold=tuple(one for one in shown if not one.total.failed),
        left_out=len(edges) - len(shown),
    )


def _in_order(dtypes: Iterable[str]) -> Iterator[str]:
    """Names of types in the order of the table of types, unknown ones after them."""
    places: Mapping[str, int] = {name: place for place, name in enumerate(DTYPES)}
    yield from sorted(dtypes, key=lambda name: (places.get(name, len(places)), name))


def _link(op: str, edge: str, dtype: str) -> str:
    asked = {"op": op, "edge": edge, "dtype": dtype}
    told = {name: text for name, text in asked.items() if text}
    return "#" + urlencode(told, errors="backslashreplace")


HEIGHT, STEP = 72, 36
"""Of the highest bar, and from one bar to the next."""


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
        if result.within is not None:
            sums = counts.setdefault(result.dtype, [0] * len(INTERVAL_BINS))
            counts[result.dtype] = [a + b for a, b in zip(sums, result.within, strict=True)]
    names = [name for name in DTYPES if name in counts]
    names += sorted(counts.keys() - set(names))
    return tuple(_spread(name, counts[name]) for name in names if sum(counts[name]))


def _spread(dtype: str, counts: list[int]) -> Spread:
    return Spread(dtype, sum(counts), tuple(_bars(counts)))


def _bars(counts: list[int]) -> Iterator[Bar]:
    most = math.log10(1 + max(counts))
    for number, ((label, tick), count) in enumerate(
        zip(INTERVAL_BINS.items(), counts, strict=True)
    ):
        height = round(HEIGHT * math.log10(1 + count) / most, 1)
        yield Bar(label, tick, count, number * STEP, round(HEIGHT - height, 1), height)


BAR = 1000
"""Width of a stacked bar, in units of its own."""

BAR_LEAST = 8
"""Width of the narrowest part that is not empty, so that one failure in thousands shows."""


@dataclass(frozen=True)
class BarPart:
    """A part of a stacked bar: ``kind`` is its colour, ``x`` and ``width`` of :data:`BAR`."""

    kind: str
    label: str
    count: int
    x: float
    width: float


def bar(row: OperatorRow) -> tuple[BarPart, ...]:
    """The parts of an operator's bar, from what passed to what is missing; empty ones left out."""
    counts = [(kind, label, count) for kind, label, count in _counts(row) if count]
    total = sum(count for _, _, count in counts)
    widths = [max(BAR_LEAST, BAR * count / total) for _, _, count in counts]
    scale = BAR / sum(widths) if widths else 0
    parts, x = [], 0.0
    for (kind, label, count), width in zip(counts, widths, strict=True):
        parts.append(BarPart(kind, label, count, round(x, 2), round(width * scale, 2)))
        x += width * scale
    return tuple(parts)


def _counts(row: OperatorRow) -> Iterator[tuple[str, str, int]]:
    tally: Tally = row.tally
    yield "pass", "passed as specified", tally.passed - tally.by_reading
    yield "reading", "passed by an allowed interpretation", tally.by_reading
    yield "fail", "failed", tally.failed
    yield "error", ENDED, tally.errors
    yield "unsupported", "unsupported", tally.unsupported
    yield "skipped", "skipped", tally.skipped
    yield "missing", "without a result", row.missing
