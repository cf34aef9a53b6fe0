"""A window as an SVG picture, with a sentence that says the same.

The page includes ``templates/picture.css`` and sets ``color-scheme``; the picture brings no style,
no identifier and no script of its own, so that any number of them may stand on one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from conformance.report.panel import GAP, Panel
from conformance.report.window import Window, parse
from conformance.safe_text import visible

MAX_SLICES = 4
"""Slices of a three-dimensional window that are drawn at most."""

MAX_WIDTH = 620
"""Slices stand beside each other as far as they fit into this."""


@dataclass(frozen=True)
class Picture:
    """An ``svg`` element, and the ``sentence`` that says the same."""

    svg: Markup
    sentence: str


def picture(window: object) -> Picture | None:
    """The picture of a finding's ``detail["window"]``; None where that describes no window.

    Anything may be passed: see :func:`conformance.report.window.parse` for what is drawn. Taps
    that count are filled, those on padding hatched, those that do not count struck through.
    """
    parsed = parse(window)
    return None if parsed is None else _drawn(parsed)


def picture_under(window: object) -> Picture | None:
    """The same data with the taps that the diagnosed fault has; None where it is not told."""
    if not isinstance(window, Mapping) or not isinstance(under := window.get("under"), Mapping):
        return None
    told = {name: under.get(name) for name in ("positions", "counts", "divisor")}
    return picture({**window, **told, "start": None})


def _drawn(window: Window) -> Picture:
    panels = [Panel(window, *place) for place in _slices(window)]
    x = y = row = width = 0.0
    parts = []
    for panel in panels:
        if x and x + panel.width > MAX_WIDTH:
            x, y, row = 0.0, y + row + GAP, 0.0
        parts.append(
            Markup('<g transform="translate({:g} {:g})">{}</g>').format(
                x, y, Markup("").join(panel.parts())
            )
        )
        width, row = max(width, x + panel.width), max(row, panel.height)
        x += panel.width + GAP
    sentence = visible(window.sentence)
    svg = Markup(
        '<svg class="picture" role="img" aria-label="{0}" width="{1:g}" height="{2:g}"'
        ' viewBox="0 0 {1:g} {2:g}">{3}</svg>'
    ).format(sentence, round(width, 1), round(y + row, 1), Markup("").join(parts))
    return Picture(svg, sentence)


def _slices(window: Window) -> Iterator[tuple[tuple[int, ...], str]]:
    """The position before the last two axes, and a caption, of each slice that is drawn."""
    if len(window.axes) < 3:
        yield (), ""
        return
    depth = window.axes[0]
    taps = sorted(depth.taps) or [0]
    some = taps if len(taps) <= MAX_SLICES else taps[: MAX_SLICES - 1] + taps[-1:]
    for number, position in enumerate(some):
        left_out = number == MAX_SLICES - 1 and len(taps) > MAX_SLICES
        more = f"{len(taps) - MAX_SLICES} slices left out; " if left_out else ""
        yield (position,), f"{more}slice {position}{'' if depth.has(position) else ', padding'}"
