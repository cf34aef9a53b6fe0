"""A drawing of the window behind a wrong element: which values it takes, and where it overhangs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.report.visible import visible

MAX_CELLS = 12
"""Rows and columns drawn at most."""

MAX_SLICES = 4
"""Slices of a three-dimensional window drawn at most."""


@dataclass(frozen=True)
class Cell:
    """One square of a panel, counted from its corner.

    ``kind`` is ``tap`` (a value in the window), ``data`` (a value beside it) or ``pad`` (a place
    in the window that holds no data).
    """

    row: int
    column: int
    kind: str
    text: str


@dataclass(frozen=True)
class Panel:
    """One slice; ``rows`` and ``columns`` are the positions along the last two axes."""

    caption: str
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Drawing:
    """Panels, a sentence that says the same, and whether something was too large to be drawn."""

    panels: tuple[Panel, ...]
    sentence: str
    clipped: bool


@dataclass(frozen=True)
class _Window:
    """A window, always of three axes: missing leading axes have one position."""

    axes: int
    start: tuple[int, ...]
    taps: tuple[int, ...]
    shape: tuple[int, ...]
    data: Any

    def shown(self, axis: int) -> tuple[int, ...]:
        """The positions drawn: the window, and one value beside it at each end."""
        start, end, size = self.start[axis], self.start[axis] + self.taps[axis], self.shape[axis]
        if axis == 0:
            return tuple(range(start, min(end, start + MAX_SLICES + 1)))
        first = start - 1 if 0 < start <= size else start
        last = end + 1 if 0 <= end < size else end
        return tuple(range(first, min(last, first + MAX_CELLS + 1)))

    def cell(self, place: tuple[int, int, int]) -> tuple[str, str] | None:
        """Kind and text of the square at a place, or None where there is nothing to draw."""
        inside = all(s <= p < s + n for p, s, n in zip(place, self.start, self.taps, strict=True))
        if not all(0 <= p < size for p, size in zip(place, self.shape, strict=True)):
            return ("pad", "") if inside else None
        value = self.data
        for p in place[3 - self.axes :]:
            value = value[p]
        return ("tap" if inside else "data"), _short(value)

    def panel(self, depth: int) -> Panel:
        rows, columns = self.shown(1)[:MAX_CELLS], self.shown(2)[:MAX_CELLS]
        cells = [
            Cell(row, column, *found)
            for row, y in enumerate(rows)
            for column, x in enumerate(columns)
            if (found := self.cell((depth, y, x))) is not None
        ]
        caption = f"slice {depth}" if self.axes == 3 else ""
        return Panel(caption, rows if self.axes > 1 else (), columns, tuple(cells))


def drawing(window: object) -> Drawing | None:
    """The drawing of a finding's ``detail["window"]``; None where it does not describe one.

    ``input`` is a nested list over one to three spatial axes, ``start`` and ``taps`` give the
    window's first position (it may lie before the data) and its length on each axis, and
    ``divisor``, where present, what its sum is divided by.
    """
    if not isinstance(window, Mapping):
        return None
    start, taps = _integers(window.get("start")), _integers(window.get("taps"))
    if start is None or taps is None or len(start) != len(taps) or min(taps) < 1:
        return None
    axes = len(start)
    shape = _shape(window.get("input"), axes)
    if shape is None:
        return None
    lead = 3 - axes
    parsed = _Window(
        axes, (0,) * lead + start, (1,) * lead + taps, (1,) * lead + shape, window["input"]
    )
    slices = parsed.shown(0)
    return Drawing(
        panels=tuple(parsed.panel(depth) for depth in slices[:MAX_SLICES]),
        sentence=_sentence(start, taps, shape, window.get("divisor")),
        clipped=len(slices) > MAX_SLICES or any(len(parsed.shown(a)) > MAX_CELLS for a in (1, 2)),
    )


def _sentence(
    start: Sequence[int], taps: Sequence[int], shape: Sequence[int], divisor: object
) -> str:
    spans = " by ".join(f"{s} to {s + n - 1}" for s, n in zip(start, taps, strict=True))
    text = f"The window spans positions {spans}; the data has {' by '.join(map(str, shape))}"
    return f"{text}. The divisor is {divisor}." if isinstance(divisor, int) else f"{text}."


def _short(value: object) -> str:
    text = f"{value:.3g}" if isinstance(value, float) else visible(str(value))
    return text if len(text) <= 9 else text[:8] + "…"


def _integers(value: object) -> tuple[int, ...] | None:
    """One to three whole numbers of sane size."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= 3:
        return None
    if not all(isinstance(item, int) and abs(item) < 2**31 for item in value):
        return None
    return tuple(value)


def _shape(data: object, axes: int) -> tuple[int, ...] | None:
    """The shape of a nested list with that many axes; None where it is ragged or empty."""
    if axes == 0:
        return () if isinstance(data, int | float | str) else None
    if not isinstance(data, list | tuple) or not data:
        return None
    inner = {_shape(item, axes - 1) for item in data}
    first = inner.pop()
    return None if inner or first is None else (len(data), *first)
