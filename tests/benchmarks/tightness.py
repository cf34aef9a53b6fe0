r"""How tight the accepted intervals are, beside the bound of TOSA.

    python tests/benchmarks/tightness.py            # print the tables
    python tests/benchmarks/tightness.py --write    # put them and the plot into docs/tightness.*

**Share.** For one mean let r be the exact result, [lo, hi] the accepted interval, and got what an
honest evaluation gives. It uses the share |got - r| / |end - r| of the room on its side. A share of
1 means that a narrower interval would refuse an honest evaluation. Where one or two values are
accepted they are r itself or its neighbours, and the share says nothing: these means are counted.

The windows, the honest evaluations and TOSA's bound are those of ``tightness_means.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
from tightness_means import (
    Means,
    generated_means,
    suite_means,
    tosa_count,
    tosa_distance,
    wider_than_tosa,
)
from tightness_plot import Mode, Point, plot

from conformance.suite.store import open_suite

DOCUMENT = Path(__file__).parents[2] / "docs" / "tightness.md"

MODES: tuple[Mode, ...] = (
    *((dtype, "standard") for dtype in ("f16", "bf16", "f32", "f64")),
    ("f16", "native"),
    ("bf16", "native"),
)
WITHOUT_TOSA = {("f64", "standard"), ("bf16", "native")}

GROUPS = (1, 2, 4, 8, 16, 64, 256, 1024, None)
"""The largest number of taps of each group, and None for the last."""


def shares(means: Means) -> list[Fraction]:
    """The share of the accepted room that honest evaluations use, where 3 values are accepted."""
    chosen = zip(means.values >= 3, means.reached, means.accepted, strict=True)
    return [
        max((got / room for got, room in zip(*sides, strict=True) if got > 0), default=Fraction(0))
        for several, *sides in chosen
        if several
    ]


def tosa_shares(means: Means) -> list[Fraction]:
    """The same for TOSA's room, of the same means."""
    if (means.dtype.name, means.precision) in WITHOUT_TOSA:
        return []
    chosen = zip(means.values >= 3, means.reached, tosa_distance(means), strict=True)
    return [max(got) / room for several, got, room in chosen if several and room is not None]


def share_points(shipped: list[Means], made: list[Means]) -> list[Point]:
    """The largest shares of each group, over the suite's means and generated ones of one mode."""
    points = []
    for low, high in zip((0, *GROUPS[:-1]), GROUPS, strict=True):
        own, new = (
            [m for m in some if low < m.taps.shape[1] <= (high or m.taps.shape[1])]
            for some in (shipped, made)
        )
        values = np.concatenate([np.zeros(0), *(m.values for m in own)])
        points.append(
            Point(
                taps=_label(low + 1, high),
                suite=len(values),
                generated=sum(len(m.taps) for m in new),
                one=int((values == 1).sum()),
                two=int((values == 2).sum()),
                suite_share=_largest(shares, own),
                share=_largest(shares, own + new),
                tosa_share=_largest(tosa_shares, own + new),
            )
        )
    return points


def _largest(of: Callable[[Means], list[Fraction]], some: list[Means]) -> float | None:
    return max((float(share) for means in some for share in of(means)), default=None)


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"over {low - 1}"
    return str(low) if low == high else f"{low} to {high}"


def share_rows(mode: Mode, points: list[Point]) -> list[str]:
    return [
        _row(
            *mode,
            point.taps,
            point.suite,
            _percent(point.one, point.suite),
            _percent(point.two, point.suite),
            _number(point.suite_share),
            point.generated,
            _number(point.share),
            _number(point.tosa_share),
        )
        for point in points
    ]


def tosa_rows(mode: Mode, shipped: list[Means], made: list[Means]) -> list[str]:
    """One row for the suite's whole windows, one for those partly off the data, one for others."""
    groups = {
        "whole": [m.chosen(~m.at_border) for m in shipped],
        "off the data": [m.chosen(m.at_border) for m in shipped],
        "generated": made,
    }
    return [_row(*mode, name, *_beside_tosa(some)) for name, some in groups.items()]


def _beside_tosa(some: list[Means]) -> Iterator[object]:
    """The cells of one row."""
    distances = [(m, i, d) for m in some for i, d in enumerate(tosa_distance(m))]
    limited = [(m, i, d) for m, i, d in distances if d is not None]
    counts = [tosa_count(m.exact[i], d, m.dtype) for m, i, d in limited if m.values[i] == 1]
    widths = [float(sum(m.accepted[i]) / (2 * d)) for m, i, d in limited if m.values[i] > 1]
    yield len(limited)
    yield len(distances) - len(limited)
    yield sum(len(wider_than_tosa(m)) for m in some)
    yield len(counts)
    yield f"{median(counts):.0f}" if counts else ""
    yield len(widths)
    yield _number(median(widths) if widths else None)
    yield _number(max(widths, default=None))


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def _head(*names: str, text: int = 3) -> list[str]:
    return [_row(*names), _row(*(["---"] * text), *(["--:"] * (len(names) - text)))]


SHARE_HEAD = _head(
    *("T", "precision", "taps", "suite", "one value", "two", "share"),
    *("generated", "share of all", "of TOSA"),
)
TOSA_HEAD = _head(
    *("T", "precision", "windows", "means", "no limit", "ours wider", "one value", "TOSA"),
    *("several", "median", "largest"),
)


def written(text: str, tables: Mapping[str, Iterable[str]]) -> str:
    """``text`` with each table between ``<!-- name -->`` and ``<!-- end -->`` replaced."""
    for name, rows in tables.items():
        before, rest = text.split(f"<!-- {name} -->\n", 1)
        after = rest.split("<!-- end -->", 1)[1]
        text = f"{before}<!-- {name} -->\n{chr(10).join(rows)}\n<!-- end -->{after}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="write docs/tightness.md and .svg")
    suite = open_suite()
    write = parser.parse_args().write
    means = {mode: (suite_means(suite, *mode), generated_means(*mode)) for mode in MODES}
    points = {mode: share_points(*means[mode]) for mode in MODES}
    tables = {
        "shares": [*SHARE_HEAD, *(row for m in MODES for row in share_rows(m, points[m]))],
        "tosa": [
            *TOSA_HEAD,
            *(row for m in MODES if m not in WITHOUT_TOSA for row in tosa_rows(m, *means[m])),
        ],
    }
    for rows in tables.values():
        sys.stdout.write("\n".join(rows) + "\n\n")
    if write:
        # In the other two modes hardly any mean accepts three values.
        panels = {mode: points[mode] for mode in MODES[2:]}
        DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8"), tables), "utf-8")
        DOCUMENT.with_suffix(".svg").write_text(plot(panels), "utf-8")


if __name__ == "__main__":
    main()
