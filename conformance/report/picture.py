"""A window as an SVG picture, with a sentence that says the same.

The page includes ``templates/picture.css`` and sets ``color-scheme``; the picture brings no style,
no identifier and no script of its own, so that any number of them may stand on one page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from markupsafe import Markup

from conformance.report.drawing import (
    GAP,
    HEIGHT,
    LETTER,
    SvgPicture,
    axis_label,
    cell_text,
    hatches,
    offsets,
    zigzag,
    zigzag_steps,
)
from conformance.report.picture_window import Axis, DrawnWindow, parse_window
from conformance.safe_text import visible

MAX_CELLS = 12
"""Positions of an axis that are drawn at most, besides single ones between them."""


def positions_to_draw(axis: Axis, limit: int = MAX_CELLS) -> tuple[int, ...]:
    """Choose the positions to draw, in order: ``limit`` of them, and single ones between.

    A window and its neighbours come first, then the ends of the axis with their padding, then the
    positions nearest to the window. Of a longer window, both ends are drawn, and taps on data that
    do not count.
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


def axis_breaks(positions: Sequence[int], axis: Axis) -> tuple[int, ...]:
    """Return the indices of drawn positions before which positions are left out.

    The number of drawn positions stands for the end of the axis.
    """
    if not positions:
        return ()
    gaps = [n for n in range(1, len(positions)) if positions[n] != positions[n - 1] + 1]
    if positions[0] > -max(0, axis.begin):
        gaps.insert(0, 0)
    if positions[-1] < axis.size - 1 + max(0, axis.end):
        gaps.append(len(positions))
    return tuple(gaps)


def _by_worth(axis: Axis, first: int, last: int) -> Iterator[int]:
    """Yield positions, the most instructive first."""
    taps = sorted(set(axis.positions)) or [0]
    low, high = taps[0], taps[-1]
    yield from (low, high)
    # If few taps on data do not count, they are the error.
    uncounted = [tap for tap in taps if axis.has_data(tap) and tap not in axis.counted_positions]
    yield from uncounted[: MAX_CELLS // 2]
    neighbours = (low - 1, high + 1)
    if len(taps) <= MAX_CELLS - len(neighbours):
        yield from taps
        yield from neighbours
    else:
        yield from neighbours
        half = MAX_CELLS // 2
        yield from _alternating(taps[:half], reversed(taps[-half:]))
    yield from (0, axis.size - 1, first, last)
    yield from _alternating(range(high + 1, high + MAX_CELLS), range(low - 1, low - MAX_CELLS, -1))


def _alternating(first: Iterable[int], second: Iterable[int]) -> Iterator[int]:
    pairs = chain.from_iterable(zip_longest(first, second))
    return (position for position in pairs if position is not None)


def _without_small_gaps(chosen: Sequence[int], first: int, last: int) -> Iterator[int]:
    """Yield the positions, and each single one between two: a break would be as wide."""
    before = first - 1
    for position in chosen:
        if position == before + 2:
            yield before + 1
        yield position
        before = position
    if before == last - 1:
        yield last


class Panel:
    """A slice of a window, with its upper left corner at the origin."""

    def __init__(self, window: DrawnWindow, index: tuple[int, ...], caption: str) -> None:
        self.window, self.index, self.caption = window, index, caption
        single = Axis(1, (0,), (True,))
        self.down, self.across = (single, *window.axes)[-2:]
        self.rows, self.columns = positions_to_draw(self.down), positions_to_draw(self.across)
        self.has_one_row = len(window.axes) == 1
        self.texts = {(y, x): self._text(y, x) for y in self.rows for x in self.columns}
        letters = max([3, *map(len, self.texts.values()), *(len(str(x)) for x in self.columns)])
        self.cell = round(letters * LETTER + 8, 1)
        rows = 0 if self.has_one_row else max(len(str(y)) for y in self.rows)
        self.left = round(rows * LETTER + 6, 1) if rows else 1.0
        self.top = 20.0 + (18.0 if caption else 0.0)
        self.xs = offsets(
            self.left, self.cell, len(self.columns), axis_breaks(self.columns, self.across)
        )
        self.ys = offsets(self.top, HEIGHT, len(self.rows), axis_breaks(self.rows, self.down))
        self.width = max(self.xs[-1] + 2, len(caption) * LETTER)
        self.height = self.ys[-1] + 2

    def parts(self) -> Iterator[Markup]:
        """Yield the elements of the panel, in the order in which they are painted."""
        if self.caption:
            yield axis_label(0, 13, self.caption, "start")
        for x, position in zip(self.xs, self.columns, strict=False):
            yield axis_label(x + self.cell / 2, self.top - 6, str(position), "middle")
        if not self.has_one_row:
            for y, position in zip(self.ys, self.rows, strict=False):
                yield axis_label(self.left - 5, y + HEIGHT / 2 + 4, str(position), "end")
        for y, row in zip(self.ys, self.rows, strict=False):
            for x, column in zip(self.xs, self.columns, strict=False):
                yield from self._cell(x, y, row, column)
        yield from self._outline()
        yield from self._breaks()

    def _cell(self, x: float, y: float, row: int, column: int) -> Iterator[Markup]:
        kind = self._kind(row, column)
        yield Markup('<rect class="{}" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(
            kind, x + 1, y + 1, self.cell - 2, HEIGHT - 2
        )
        if kind.startswith("tap pad"):
            yield Markup('<path class="hatch" d="{}"/>').format(
                " ".join(hatches(x + 1, y + 1, self.cell - 2, HEIGHT - 2))
            )
        if text := self.texts[row, column]:
            yield Markup(
                '<text class="{}" x="{:g}" y="{:g}" text-anchor="middle">{}</text>'
            ).format(kind, x + self.cell / 2, y + HEIGHT / 2 + 4, text)

    def _kind(self, row: int, column: int) -> str:
        """Return the classes of a cell: ``tap`` or not, ``data`` or ``pad``, counted or not."""
        positions = self._positions(row, column)
        ground = "data" if all(axis.has_data(position) for axis, position in positions) else "pad"
        if not all(position in axis.taps for axis, position in positions):
            return ground
        counts = all(position in axis.counted_positions for axis, position in positions)
        return f"tap {ground}" if counts or ground == "pad" else f"tap {ground} out"

    def _positions(self, row: int, column: int) -> list[tuple[Axis, int]]:
        positions = (*self.index, row, column)[-len(self.window.axes) :]
        return list(zip(self.window.axes, positions, strict=True))

    def _text(self, row: int, column: int) -> str:
        positions = self._positions(row, column)
        if not all(axis.has_data(position) for axis, position in positions):
            return ""
        value = self.window.data
        for _, position in positions:
            value = value[position]
        times = math.prod(axis.taps[position] for axis, position in positions)
        return cell_text(value) + (f" \u00d7{times}" if times > 1 else "")

    def _outline(self) -> Iterator[Markup]:
        """Yield a frame around all cells of this slice that the window spans."""
        spans = [_span(self.down, self.rows, self.ys), _span(self.across, self.columns, self.xs)]
        if all(spans):
            (top, bottom), (left, right) = (span for span in spans if span)
            right, bottom = right + self.cell, bottom + HEIGHT
            yield Markup(
                '<rect class="window" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>'
            ).format(left, top, right - left, bottom - top)

    def _breaks(self) -> Iterator[Markup]:
        """Yield a zigzag wherever positions are left out."""
        top, bottom, left, right = self.top, self.ys[-1], self.left, self.xs[-1]
        for n in axis_breaks(self.columns, self.across):
            x = self.xs[n] - GAP / 2
            yield zigzag([(x + side, y) for side, y in zigzag_steps(top, bottom)])
        for n in axis_breaks(self.rows, self.down):
            y = self.ys[n] - GAP / 2
            yield zigzag([(x, y + side) for side, x in zigzag_steps(left, right)])


def _span(
    axis: Axis, positions: Sequence[int], offsets: Sequence[float]
) -> tuple[float, float] | None:
    """Return where the first and the last cell begin that taps of an axis read."""
    pairs = zip(positions, offsets, strict=False)
    inside = [offset for position, offset in pairs if position in axis.taps]
    return (inside[0], inside[-1]) if inside else None


MAX_SLICES = 4
"""Slices of a three-dimensional window that are drawn at most."""

MAX_WIDTH = 620
"""The width into which slices beside each other have to fit."""


def window_picture(window: object) -> SvgPicture | None:
    """Draw a finding's ``detail["window"]``; None if that describes no window.

    Anything may be passed: see :func:`conformance.report.picture_window.parse_window`.

    Taps that count are filled, those on padding hatched, those that do not count struck through.
    """
    parsed = parse_window(window)
    return None if parsed is None else _draw(parsed)


def mutant_window_picture(window: object) -> SvgPicture | None:
    """Draw the data with the taps of the diagnosed mutant; None without taps."""
    if not isinstance(window, Mapping) or not isinstance(under := window.get("under"), Mapping):
        return None
    taps = {name: under.get(name) for name in ("positions", "counts", "divisor")}
    return window_picture({**window, **taps})


def _draw(window: DrawnWindow) -> SvgPicture:
    panels = [Panel(window, index, caption) for index, caption in _slices(window)]
    x = y = row_height = width = 0.0
    parts = []
    for panel in panels:
        if x and x + panel.width > MAX_WIDTH:
            x, y, row_height = 0.0, y + row_height + GAP, 0.0
        parts.append(
            Markup('<g transform="translate({:g} {:g})">{}</g>').format(
                x, y, Markup("").join(panel.parts())
            )
        )
        width, row_height = max(width, x + panel.width), max(row_height, panel.height)
        x += panel.width + GAP
    sentence = visible(window.sentence)
    svg = Markup(
        '<svg class="picture" role="img" aria-label="{0}" width="{1:g}" height="{2:g}"'
        ' viewBox="0 0 {1:g} {2:g}">{3}</svg>'
    ).format(sentence, round(width, 1), round(y + row_height, 1), Markup("").join(parts))
    return SvgPicture(svg, sentence)


def _slices(window: DrawnWindow) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the index before the last two axes, and a caption, of each slice to draw."""
    if len(window.axes) < 3:
        yield (), ""
        return
    depth = window.axes[0]
    taps = sorted(depth.taps) or [0]
    drawn = taps if len(taps) <= MAX_SLICES else taps[: MAX_SLICES - 1] + taps[-1:]
    for number, position in enumerate(drawn):
        follows_gap = number == MAX_SLICES - 1 and len(taps) > MAX_SLICES
        note = f"{len(taps) - MAX_SLICES} slices left out; " if follows_gap else ""
        padding = "" if depth.has_data(position) else ", padding"
        yield (position,), f"{note}slice {position}{padding}"
