"""Heat map: failures by coverage target and element type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from conformance.dtypes import DTYPES
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result, Status

MAX_EDGES = 200
"""Edges of one operator that are shown at most."""

MAX_HOT = 12
"""Edges with failures that are shown to begin with."""

MAX_DTYPES = 12
"""Element types of one operator that are shown at most."""

SHADES = 5
"""Shades of a cell, from few failures to nothing else."""


@dataclass(frozen=True)
class Cell:
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
    cells: tuple[Cell, ...]
    total: Cell


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
    grouped: dict[str, list[Result]] = {}
    for result in run.results:
        if result.status in FAILED or result.status is Status.PASS:
            grouped.setdefault(result.op, []).append(result)
    return tuple(_map(op, grouped[op]) for op in run.tallies if op in grouped)


def _map(op: str, results: Iterable[Result]) -> HeatMap:
    graded: Counter[tuple[str, str]] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    for result in results:
        keys = [(edge, dtype) for edge in {"", *result.edges} for dtype in ("", result.dtype)]
        graded.update(set(keys))
        if result.status in FAILED:
            failed.update(set(keys))
    dtypes = tuple(_in_order({dtype for _, dtype in graded if dtype}))[:MAX_DTYPES]

    def row(edge: str) -> EdgeRow:
        cells = [
            Cell(failed[edge, dtype], graded[edge, dtype], _link(op, edge, dtype))
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
