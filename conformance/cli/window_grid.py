"""Prints a window tap by tap; of a large window only the most informative taps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np

from conformance.cli.text import aligned, commas, shortest

T = TypeVar("T")

MAX_ROWS, MAX_COLUMNS = 16, 7
"""Rows and columns of a window that are printed."""

TOLERANCE = 0.01
"""Relative difference at which a tap is taken for the error of a sum."""


def grid(window: Any, expected: Any, got: Any = None) -> Iterator[str]:
    """Yield the window of an element as a grid, the last axis across.

    ``expected`` is the element's value and ``got`` that of a backend, None without a backend.
    """
    if not all(window.coordinates):
        yield "    the window has no taps"
        return
    informative = list(_informative_taps(window, expected, got))
    columns = _select(window.coordinates[-1], [at[-1] for at in informative], MAX_COLUMNS)
    all_rows = list(product(*window.coordinates[:-1]))
    rows = _select(all_rows, [at[:-1] for at in informative], MAX_ROWS)
    lines = [("at", *map(str, columns))]
    for row in rows:
        values = (window.values.get((*row, column)) for column in columns)
        lines.append((commas(row), *("." if v is None else shortest(v) for v in values)))
    yield from aligned(lines, right=range(1, len(columns) + 1))
    total = math.prod(len(at) for at in window.coordinates)
    if len(rows) * len(columns) < total:
        yield f"    ... {len(rows) * len(columns)} of {total} taps are shown"
    if window.taps < total:
        yield f"    {window.taps} of {total} taps are on data; a dot is padding"
    if window.divisor is not None:
        yield f"    the sum is divided by {window.divisor}"


def _select(positions: Sequence[T], required: Iterable[T], most: int) -> list[T]:
    """Return at most ``most`` positions, in their order.

    The required ones come first, then the last and the first ones: a kernel goes wrong at the ends
    of its loops more often than anywhere else.
    """
    if len(positions) <= most:
        return list(positions)
    indices = [*map(positions.index, required), len(positions) - 1, *range(most)]
    return [positions[index] for index in sorted(list(dict.fromkeys(indices))[:most])]


def _informative_taps(window: Any, expected: Any, got: Any) -> Iterator[tuple[int, ...]]:
    """Yield the first taps that have the expected value and the value that a backend gave.

    Of a mean also the tap that the sum lacks, or has twice.
    """
    if not window.values:
        return
    positions = list(window.values)
    values = np.array([float(value) for value in window.values.values()])
    results = [float(value) for value in (expected, got) if value is not None]
    for result in results:
        is_equal = np.isnan(values) if math.isnan(result) else values == result
        if is_equal.any():
            yield positions[int(is_equal.argmax())]
    if window.divisor is not None and len(results) == 2:
        error = abs(results[0] - results[1]) * window.divisor
        off = np.abs(np.abs(values) - error)
        if math.isfinite(error) and error and np.nanmin(off, initial=np.inf) < TOLERANCE * error:
            yield positions[int(np.nanargmin(off))]
