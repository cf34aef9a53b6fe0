"""Parts of pictures of tensors: cells, breaks and labels as elements of SVG.

A page includes ``templates/picture.css`` and sets ``color-scheme``; a picture brings no style, no
identifier and no script of its own, so that any number of them may stand on one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from conformance.safe_text import shortened, visible

HEIGHT = 26
"""The height of a cell, in pixels, as all sizes below."""

GAP = 14
"""The width of a break, and the space between two slices."""

LETTER = 7.4
"""The width of a letter."""


@dataclass(frozen=True)
class SvgPicture:
    """An ``svg`` element, and a ``sentence`` with the same content."""

    svg: Markup
    sentence: str


def offsets(start: float, size: float, count: int, gaps: Sequence[int]) -> list[float]:
    """Return where each cell begins, and where the last one ends; breaks take up space."""
    starts, start_of_next = [], start
    for number in range(count + 1):
        start_of_next += GAP * (number in gaps)
        starts.append(round(start_of_next, 1))
        start_of_next += size
    return starts


def zigzag_steps(start: float, end: float) -> Iterator[tuple[float, float]]:
    """Yield the corners of a zigzag, as distances from its line and along it."""
    count = max(2, round((end - start) / 8))
    for n in range(count + 1):
        yield (3.0 if n % 2 else -3.0), round(start + (end - start) * n / count, 1)


def zigzag(corners: Sequence[tuple[float, float]]) -> Markup:
    """Draw the line where positions are left out."""
    return Markup('<polyline class="break" points="{}"/>').format(
        " ".join(f"{x:g},{y:g}" for x, y in corners)
    )


def hatches(x: float, y: float, width: float, height: float) -> Iterator[str]:
    """Yield slanted lines across a cell, as path data."""
    for start in range(6, int(width + height), 6):
        low, high = max(0.0, start - height), min(float(start), width)
        yield f"M{x + low:g} {y + start - low:g}L{x + high:g} {y + start - high:g}"


def axis_label(x: float, y: float, text: str, anchor: str) -> Markup:
    """Draw a text beside the cells."""
    return Markup('<text class="axis" x="{:g}" y="{:g}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )


def cell_text(value: str) -> str:
    """Return a value as short text."""
    return shortened(visible(value), 9)
