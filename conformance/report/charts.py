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

MAX_TARGETS = 200
"""Coverage targets of an operator that are shown at most."""

MAX_HOT = 12
"""Targets with failures that are shown before the reader asks for more."""

MAX_DTYPES = 12
"""Element types of an operator that are shown at most."""

SHADES = 5
"""Shades of a cell, from few failures to failures only."""


@dataclass(frozen=True)
class HeatCell:
    """The failures among the graded vectors of a target and an element type.

    Attributes:
        link: the fragment that narrows the table of vectors to them.
    """

    failed: int
    graded: int
    link: str

    @property
    def shade(self) -> int:
        """From 0, nothing failed, to :data:`SHADES`, everything failed."""
        if not self.failed:
            return 0
        return min(SHADES, 1 + self.failed * (SHADES - 1) // self.graded)


@dataclass(frozen=True)
class TargetRow:
    """A coverage target with a cell for each type; the empty target stands for all vectors."""

    target: str
    cells: tuple[HeatCell, ...]
    total: HeatCell


@dataclass(frozen=True)
class HeatMap:
    """The coverage targets of an operator.

    Attributes:
        hot: targets with the most failures.
        warm: other targets with failures.
        cold: targets without failures.
        left_out: the number of targets that are not shown.
    """

    op: str
    dtypes: tuple[str, ...]
    all_vectors: TargetRow
    hot: tuple[TargetRow, ...]
    warm: tuple[TargetRow, ...]
    cold: tuple[TargetRow, ...]
    left_out: int


def heat_maps(run: RunLog) -> tuple[HeatMap, ...]:
    """Return a map for each operator with graded vectors, in the order of the log."""
    graded: dict[str, _Counts] = {}
    failed: dict[str, _Counts] = {}
    for result in run.results:
        if result.status in FAILED or result.status is Status.PASS:
            targets, dtypes = {"", *result.edges}, {"", result.dtype}
            keys = [(target, dtype) for target in targets for dtype in dtypes]
            graded.setdefault(result.op, Counter()).update(keys)
            if result.status in FAILED:
                failed.setdefault(result.op, Counter()).update(keys)
    none: _Counts = Counter()
    return tuple(_map(op, graded[op], failed.get(op, none)) for op in run.tallies if op in graded)


_Counts = Counter[tuple[str, str]]
"""Results by target and type; the empty name stands for any."""


def _map(op: str, graded: _Counts, failed: _Counts) -> HeatMap:
    dtypes = tuple(_in_order({dtype for _, dtype in graded if dtype}))[:MAX_DTYPES]

    def row(target: str) -> TargetRow:
        cells = [
            HeatCell(failed[target, dtype], graded[target, dtype], _link(op, target, dtype))
            for dtype in (*dtypes, "")
        ]
        return TargetRow(target, tuple(cells[:-1]), cells[-1])

    rows = [row(target) for target in sorted({target for target, _ in graded if target})]
    # As findings are distinguished: many failures, and a large share of them.
    rows.sort(key=lambda row: -(row.total.failed**2) / row.total.graded)
    first_rows = rows[:MAX_TARGETS]
    failing = tuple(row for row in first_rows if row.total.failed)
    return HeatMap(
        op=op,
        dtypes=dtypes,
        all_vectors=row(""),
        hot=failing[:MAX_HOT],
        warm=failing[MAX_HOT:],
        cold=tuple(row for row in first_rows if not row.total.failed),
        left_out=len(rows) - len(first_rows),
    )


def _in_order(dtypes: Iterable[str]) -> Iterator[str]:
    """Yield names of types in the order of the table of types, unknown ones last."""
    index_by_name: Mapping[str, int] = {name: index for index, name in enumerate(DTYPES)}
    yield from sorted(dtypes, key=lambda name: (index_by_name.get(name, len(DTYPES)), name))


def _link(op: str, target: str, dtype: str) -> str:
    filters = {"op": op, "edge": target, "dtype": dtype}
    filters = {name: text for name, text in filters.items() if text}
    return "#" + urlencode(filters, errors="backslashreplace")


HEIGHT, STEP = 72, 36
"""The height of the highest bar, and the distance from a bar to the next, in pixels."""


@dataclass(frozen=True)
class Bar:
    """A bar: its bin, in full and as below the bar, the number of elements, and its position."""

    label: str
    tick: str
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True)
class Spread:
    """The elements of a type by the share of the interval that they use, in logarithmic bars."""

    dtype: str
    total: int
    bars: tuple[Bar, ...]

    @property
    def sentence(self) -> str:
        """The counts of the bars, in words."""
        counts = ", ".join(f"{bar.count:,} {bar.label}" for bar in self.bars if bar.count)
        return f"{self.dtype}: of {self.total:,} elements {counts}."


def spreads(run: RunLog) -> tuple[Spread, ...]:
    """Return the spread of each element type that the log has counts of."""
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
    largest = math.log10(1 + max(counts))
    for number, ((label, tick), count) in enumerate(
        zip(INTERVAL_BINS.items(), counts, strict=True)
    ):
        height = round(HEIGHT * math.log10(1 + count) / largest, 1)
        yield Bar(label, tick, count, number * STEP, round(HEIGHT - height, 1), height)


BAR_WIDTH = 1000
"""Width of a stacked bar, in units of its SVG picture."""

MIN_PART_WIDTH = 8
"""Width of the narrowest part that is not empty, so that one failure in thousands shows."""


@dataclass(frozen=True)
class BarPart:
    """A part of a stacked bar.

    Attributes:
        kind: decides the colour.
        x: the left end; the bar is :data:`BAR_WIDTH` wide.
    """

    kind: str
    label: str
    count: int
    x: float
    width: float


def stacked_bar(row: OperatorRow) -> tuple[BarPart, ...]:
    """Return the parts of an operator's bar that are not empty, from passed to missing."""
    counts = [(kind, label, count) for kind, label, count in _counts(row) if count]
    total = sum(count for _, _, count in counts)
    widths = [max(MIN_PART_WIDTH, BAR_WIDTH * count / total) for _, _, count in counts]
    scale = BAR_WIDTH / sum(widths) if widths else 0
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
