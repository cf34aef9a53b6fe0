"""The plot of docs/tightness.md: one panel a mode, as an SVG for light and dark pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

WIDTH, HEIGHT = 360, 230  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 30, 42  # its margins
LEGEND = 34

GREY, BLUE, ORANGE = "#7d8590", "#3b82c4", "#d97a1e"
"""Readable on white and on near-black; the page shows through."""


@dataclass(frozen=True)
class Point:
    """One group of taps: how many means there are, and the largest shares, None without any.

    ``one`` and ``two`` count the suite's means with so many accepted values. ``suite_share`` is
    the largest share of the accepted room in the suite, ``share`` in all means, ``tosa_share``
    that of TOSA's room.
    """

    taps: str
    suite: int
    generated: int
    one: int
    two: int
    suite_share: float | None
    share: float | None
    tosa_share: float | None


Mode = tuple[str, str]
Series = tuple[str, str, str, Callable[[Point], float | None]]

SERIES: tuple[Series, ...] = (
    ("share of the accepted room", BLUE, "", lambda p: p.share),
    ("the same, shipped vectors only", BLUE, "2 4", lambda p: p.suite_share),
    ("share of TOSA's room", ORANGE, "7 4", lambda p: p.tosa_share),
)


def plot(points: Mapping[Mode, list[Point]]) -> str:
    """The modes two a row."""
    rows = -(-len(points) // 2)
    width, height = 2 * WIDTH, LEGEND + rows * HEIGHT
    body = list(_legend())
    for place, ((dtype, precision), panel) in enumerate(points.items()):
        x, y = place % 2 * WIDTH, LEGEND + place // 2 * HEIGHT
        body += [f'<g transform="translate({x} {y})">']
        body += [*_axes(f"{dtype}, {precision}", panel), *_curves(panel), "</g>"]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="11" fill="{GREY}">',
            "<title>The largest share of the room that honest evaluations use</title>",
            *body,
            "</svg>\n",
        ]
    )


def _legend() -> Iterator[str]:
    for place, (label, colour, dashes, _) in enumerate(SERIES):
        x = LEFT + place * 230
        yield _line(x, 18, x + 26, 18, colour, 2, dashes)
        yield f'<text x="{x + 32}" y="22">{label}</text>'


def _axes(title: str, panel: list[Point]) -> Iterator[str]:
    yield f'<text x="{LEFT}" y="{TOP - 11}" font-size="13" font-weight="bold">{title}</text>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _y(share)
        yield _line(LEFT, y, WIDTH - RIGHT, y, GREY, 1 if share in (0, 1) else 0.3)
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>'
    for place, point in enumerate(panel):
        label = point.taps.split()[-1]
        label = f"&gt;{label}" if point.taps.startswith("over") else label
        x, y = _x(place, panel), _y(0) + 15
        yield f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{label}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">taps, at most</text>'


def _curves(panel: list[Point]) -> Iterator[str]:
    for _, colour, dashes, value in SERIES:
        found = [(_x(i, panel), _y(v)) for i, p in enumerate(panel) if (v := value(p)) is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in found)
        yield (
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
            f"{_dashed(dashes)}/>"
        )
        for x, y in found:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>'


def _x(place: int, panel: list[Point]) -> float:
    return LEFT + (place + 0.5) * (WIDTH - LEFT - RIGHT) / len(panel)


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _line(
    x: float, y: float, to_x: float, to_y: float, colour: str, width: float, dashes: str = ""
) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"{_dashed(dashes)}/>'
    )


def _dashed(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""
