"""Prints a window tap by tap; of a large one, a part that has the taps that tell most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np

from conformance.cli.text import aligned, commas, shortest

T = TypeVar("T")

MAX_ROWS, MAX_COLUMNS = 16, 7
"""How much of a window is printed."""

NEAR = 0.01
"""How close a tap is, relative to what a sum lacks, that is taken for what it lacks."""


def grid(seen: Any, expected: Any, got: Any = None) -> Iterator[str]:
    """The window ``seen`` of an element as a grid: the last axis across, the others down.

    ``expected`` is the element's value and ``got`` what a backend gave, None without one.
    """
    if not all(seen.coordinates):
        yield "    the window has no taps"
        return
    places = list(_telling(seen, expected, got))
    columns = _kept(seen.coordinates[-1], [at[-1] for at in places], MAX_COLUMNS)
    down = list(product(*seen.coordinates[:-1]))
    rows = _kept(down, [at[:-1] for at in places], MAX_ROWS)
    lines = [("at", *map(str, columns))]
    for row in rows:
        values = (seen.values.get((*row, column)) for column in columns)
        lines.append((commas(row), *("." if v is None else shortest(v) for v in values)))
    yield from aligned(lines, right=range(1, len(columns) + 1))
    total = math.prod(len(at) for at in seen.coordinates)
    if len(rows) * len(columns) < total:
        yield f"    ... {len(rows) * len(columns)} of {total} taps are shown"
    if seen.taps < total:
        yield f"    {seen.taps} of {total} taps are on data; a dot is padding"
    if seen.divisor is not None:
        yield f"    the sum is divided by {seen.divisor}"


def _kept(places: Sequence[T], wanted: Iterable[T], most: int) -> list[T]:
    """At most so many of some places, in their order: those wanted, the last, and the first ones.

    A kernel goes wrong at the ends of its loops more often than anywhere else.
    """
    if len(places) <= most:
        return list(places)
    numbers = [*map(places.index, wanted), len(places) - 1, *range(most)]
    return [places[number] for number in sorted(list(dict.fromkeys(numbers))[:most])]


def _telling(seen: Any, expected: Any, got: Any) -> Iterator[tuple[int, ...]]:
    """The taps that have the expected value and the one that was got, and of a mean the one that
    the sum lacks, or has twice; of several alike the first.
    """
    if not seen.values:
        return
    places = list(seen.values)
    values = np.array([float(value) for value in seen.values.values()])
    asked = [float(value) for value in (expected, got) if value is not None]
    for value in asked:
        same = np.isnan(values) if math.isnan(value) else values == value
        if same.any():
            yield places[int(same.argmax())]
    if seen.divisor is not None and len(asked) == 2:
        lacking = abs(asked[0] - asked[1]) * seen.divisor
        off = np.abs(np.abs(values) - lacking)
        if math.isfinite(lacking) and lacking and np.nanmin(off, initial=np.inf) < NEAR * lacking:
            yield places[int(np.nanargmin(off))]
