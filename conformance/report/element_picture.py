"""What an element of an output is computed from, as SVG pictures: one for each input.

Elements that are read are filled, positions outside of a tensor hatched, all others pale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from markupsafe import Markup

from conformance.log.detail import ElementPicture, ReadSlice, ReadTensor
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
from conformance.safe_text import number_of, shortened, visible

MAX_WIDTH = 340
"""The width into which slices beside each other have to fit: that of a phone."""

MAX_NAME = 40
"""Characters of a tensor's name that are shown at most."""

PLANE = 2
"""The dimensions of a slice that is drawn."""


def element_pictures(picture: ElementPicture | None) -> tuple[SvgPicture, ...]:
    """Draw each input of a finding's ``detail["reads"]``, as far as its numbers fit together."""
    if picture is None:
        return ()
    return tuple(_draw(tensor) for tensor in picture.tensors if _is_sound(tensor))


def element_sentence(picture: ElementPicture | None) -> str:
    """Return the sum that an element is; empty if the log has none."""
    if picture is None or not picture.terms:
        return ""
    sums = " + ".join(" \u00d7 ".join(map(_short, factors)) for factors in picture.terms)
    more = picture.of_terms - len(picture.terms)
    left_out = f" + {number_of(more, 'further term')}" if more > 0 else ""
    return f"{_subscripted(picture.output, picture.index)} is made of {sums}{left_out}."


def _subscripted(name: str, index: Iterable[int | str]) -> str:
    return _short(f"{shortened(name, MAX_NAME)}[{', '.join(map(str, index))}]")


def _short(text: str) -> str:
    return visible(shortened(text, 2 * MAX_NAME))


def slice_caption(tensor: ReadTensor, part: ReadSlice) -> str:
    """Return which part of a tensor a slice is, as ``X[0, 1, :, :]``."""
    return _subscripted(tensor.name, [*part.at, *[":"] * min(2, len(tensor.shape))])


def _is_sound(tensor: ReadTensor) -> bool:
    """Return whether the numbers of a tensor fit together."""
    return all(
        len(part.at) == max(0, len(tensor.shape) - PLANE)
        and all(low < high for axis in (part.rows, part.columns) for low, high in pairwise(axis))
        and all(
            [len(part.columns)] * len(part.rows) == [len(row) for row in rows]
            for rows in (part.counts, part.values)
        )
        for part in tensor.slices
    )


def _draw(tensor: ReadTensor) -> SvgPicture:
    x = y = row_height = width = 0.0
    parts = []
    for part in tensor.slices:
        grid = _Grid(tensor, part)
        if x and x + grid.width > MAX_WIDTH:
            x, y, row_height = 0.0, y + row_height + GAP, 0.0
        moved = Markup('<g transform="translate({:g} {:g})">{}</g>')
        parts.append(moved.format(x, y, Markup("").join(grid.parts())))
        width, row_height = max(width, x + grid.width), max(row_height, grid.height)
        x += grid.width + GAP
    sentence = tensor_sentence(tensor)
    svg = Markup(
        '<svg class="picture" role="img" aria-label="{0}" width="{1:g}" height="{2:g}"'
        ' viewBox="0 0 {1:g} {2:g}">{3}</svg>'
    ).format(sentence, round(width, 1), round(y + row_height, 1), Markup("").join(parts))
    return SvgPicture(svg if parts else Markup(""), sentence)


def tensor_sentence(tensor: ReadTensor) -> str:
    """Return how much of an input is read, in words."""
    size = shortened("\u00d7".join(map(str, tensor.shape)) or "1", MAX_NAME)
    text = f"{_short(tensor.name)} ({size}): {number_of(tensor.elements, 'element')} read"
    if tensor.padding:
        text += f", {number_of(tensor.padding, 'position')} outside"
    if tensor.of_slices > len(tensor.slices):
        text += f"; {len(tensor.slices)} of {tensor.of_slices} slices are shown"
    return f"{text}."


class _Grid:
    """A slice of a tensor, with its upper left corner at the origin."""

    def __init__(self, tensor: ReadTensor, part: ReadSlice) -> None:
        self.part = part
        self.sizes = (1, 1, *tensor.shape)[-2:]
        self.has_rows = len(tensor.shape) > 1
        self.caption = slice_caption(tensor, part)
        self.texts = [
            [cell_text(value) + (f" \u00d7{n}" if n > 1 and value else "") for value, n in row]
            for row in (
                zip(*rows, strict=True) for rows in zip(part.values, part.counts, strict=True)
            )
        ]
        labels = (*map(str, part.columns), *(text for row in self.texts for text in row))
        self.cell = round(max(3, *map(len, labels), 0) * LETTER + 8, 1)
        letters = max((len(str(y)) for y in part.rows), default=0) if self.has_rows else 0
        left, self.top = round(letters * LETTER + 6, 1) if letters else 1.0, 38.0
        self.gaps = [
            _gaps(positions, size)
            for positions, size in zip((part.rows, part.columns), self.sizes, strict=True)
        ]
        self.ys = offsets(self.top, HEIGHT, len(part.rows), self.gaps[0])
        self.xs = offsets(left, self.cell, len(part.columns), self.gaps[1])
        self.width = max(self.xs[-1] + 2, len(self.caption) * LETTER)
        self.height = self.ys[-1] + 2

    def parts(self) -> Iterator[Markup]:
        """Yield the elements of the slice, in the order in which they are painted."""
        yield axis_label(0, 13, self.caption, "start")
        for x, position in zip(self.xs, self.part.columns, strict=False):
            yield axis_label(x + self.cell / 2, self.top - 6, str(position), "middle")
        if self.has_rows:
            for y, position in zip(self.ys, self.part.rows, strict=False):
                yield axis_label(self.xs[0] - 5, y + HEIGHT / 2 + 4, str(position), "end")
        for row, column in product(range(len(self.part.rows)), range(len(self.part.columns))):
            yield from self._cell(row, column)
        for n in self.gaps[1]:
            x = self.xs[n] - GAP / 2
            yield zigzag([(x + side, y) for side, y in zigzag_steps(self.top, self.ys[-1])])
        for n in self.gaps[0]:
            y = self.ys[n] - GAP / 2
            yield zigzag([(x, y + side) for side, x in zigzag_steps(self.xs[0], self.xs[-1])])

    def _cell(self, row: int, column: int) -> Iterator[Markup]:
        position = (self.part.rows[row], self.part.columns[column])
        inside = all(0 <= p < size for p, size in zip(position, self.sizes, strict=True))
        kind = "data" if inside else "pad"
        if self.part.counts[row][column]:
            kind = f"tap {kind}"
        x, y = self.xs[column], self.ys[row]
        yield Markup('<rect class="{}" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(
            kind, x + 1, y + 1, self.cell - 2, HEIGHT - 2
        )
        if kind == "tap pad":
            yield Markup('<path class="hatch" d="{}"/>').format(
                " ".join(hatches(x + 1, y + 1, self.cell - 2, HEIGHT - 2))
            )
        if text := self.texts[row][column]:
            yield Markup(
                '<text class="{}" x="{:g}" y="{:g}" text-anchor="middle">{}</text>'
            ).format(kind, x + self.cell / 2, y + HEIGHT / 2 + 4, text)


def _gaps(positions: Sequence[int], size: int) -> list[int]:
    """The drawn positions before which others are left out; their number stands for the end."""
    bounded = [-1, *positions, size]
    return [n for n, (low, high) in enumerate(pairwise(bounded)) if high > low + 1]
