"""Orders of summation, each as a small program in numpy that adds up rows of numbers.

A program takes an array (rows, n) of the type that it adds in, and gives its sums (rows,): each
addition is rounded once to that type, as a loop in it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from conformance.dtypes import Array
from conformance.probe.cascade import cascade

Sum = Callable[[Array], Array]

LANES = (2, 4, 8, 16, 32)
CHUNKS = (2, 4, 8)
CASCADES = (4, 8, 16)
BLOCK, UNROLLED = 128, 8
"""The longest block that numpy's pairwise summation does not split, and its partial sums."""

PAIRWISE = "as numpy does: halves, down to blocks of 128 in 8 lanes"


@dataclass(frozen=True)
class Order:
    """An order of summation.

    Attributes:
        kind: its value of the property ``order``.
        lanes: the number of interleaved partial sums; empty where that makes no sense.
        about: the order in words.
    """

    name: str
    kind: str
    lanes: str
    about: str
    add: Sum


def orders(side: int | None = None) -> tuple[Order, ...]:
    """List the orders; those of a square window, if it has ``side`` rows."""
    listed = [
        ("sequential", "sequential", "1", "one by one, from the first", sequential),
        ("reversed", "reversed", "1", "one by one, from the last", backwards),
        ("compensated", "compensated", "1", "one by one with Kahan's compensation", kahan),
        ("pairwise", "pairwise", "8", PAIRWISE, pairwise),
        ("tree-neighbours", "tree", "", "neighbours, then neighbours of these", neighbours),
        ("tree-halves", "tree", "", "the second half onto the first, again and again", halves),
    ]
    for count in CHUNKS:
        about = f"in {count} parts one by one, then their sums"
        listed.append((f"chunks-{count}", "chunks", "1", about, partial(chunks, count=count)))
    for count in CASCADES:
        about = f"in cascades of 4 vectors of {count} lanes, as PyTorch does"
        add = partial(cascade, lanes=count)
        listed.append((f"cascade-{count}", "cascade", str(count), about, add))
    for count, (surplus, surplus_text), how in product(LANES, SURPLUS, COMBINATIONS):
        if count == 2 and how != "sequential":
            continue  # two sums have one order
        combine, text = COMBINATIONS[how]
        about = f"in {count} lanes, these added {text}, {surplus_text}"
        add = partial(lanes, count=count, combine=combine, after=surplus == "after")
        listed.append((f"lanes-{count}-{how}-{surplus}", "lanes", str(count), about, add))
    if side is not None:
        for name, about, function in SQUARE_ORDERS:
            kind = name.replace("-", " ")
            listed.append((name, kind, "1", about, partial(function, side=side)))
    return tuple(Order(*order) for order in listed)


def sequential(x: Array) -> Array:
    """Add up one by one, from the first."""
    return np.asarray(np.add.accumulate(x, axis=1)[:, -1])


def backwards(x: Array) -> Array:
    """Add up one by one, from the last."""
    return sequential(np.ascontiguousarray(x[:, ::-1]))


def kahan(x: Array) -> Array:
    """Add up with Kahan's compensation.

    "Further remarks on reducing truncation errors", 1965.
    """
    total, lost = x[:, 0].copy(), np.zeros_like(x[:, 0])
    for term in x.T[1:]:
        corrected = term - lost
        new = total + corrected
        lost = (new - total) - corrected
        total = new
    return total


def pairwise(x: Array) -> Array:
    """Add up as numpy's inner loop does.

    It goes in halves, whose length is a multiple of 8, and blocks of at most 128 in 8 partial sums;
    fewer than 8 one by one.
    """
    n = x.shape[1]
    if n < UNROLLED:
        return sequential(x)
    if n <= BLOCK:
        return lanes(x, count=UNROLLED, combine=neighbours, after=True)
    half = n // 2 - n // 2 % UNROLLED
    return pairwise(x[:, :half]) + pairwise(x[:, half:])


def neighbours(x: Array) -> Array:
    """Add neighbours, then neighbours of these; an odd last number waits."""
    while x.shape[1] > 1:
        paired = x[:, 0 : x.shape[1] // 2 * 2 : 2] + x[:, 1::2]
        x = np.concatenate([paired, x[:, -1:]], axis=1) if x.shape[1] % 2 else paired
    return x[:, 0]


def halves(x: Array) -> Array:
    """Add the second half to the first, again and again; an odd middle waits."""
    while (n := x.shape[1]) > 1:
        middle = (n + 1) // 2
        x = np.concatenate([x[:, : n - middle] + x[:, middle:], x[:, n - middle : middle]], axis=1)
    return x[:, 0]


def chunks(x: Array, count: int) -> Array:
    """Add up parts of equal length one by one, then their sums."""
    length = -(-x.shape[1] // count)
    starts = range(0, x.shape[1], length)
    return sequential(np.stack([sequential(x[:, i : i + length]) for i in starts], axis=1))


def lanes(x: Array, count: int, combine: Sum, *, after: bool) -> Array:
    """Add number i to partial sum ``i % count``.

    The last few, where they do not fill all partial sums, go there too, or ``after`` all else to
    the total, one by one.
    """
    n = x.shape[1]
    full = n // count * count
    if full == 0:
        return sequential(x) if after else combine(_filled(x, count))
    sums = _PARTIAL_SUMS.lanes(x, count)
    if full == n:
        return combine(sums)
    if not after:
        sums = sums.copy()
        sums[:, : n - full] += x[:, full:]
        return combine(sums)
    return sequential(np.concatenate([combine(sums)[:, None], x[:, full:]], axis=1))


class _PartialSums:
    """The partial sums of the latest rows, which all ways to combine them share."""

    def __init__(self) -> None:
        self._rows: Array | None = None
        self._sums: dict[int, Array] = {}

    def lanes(self, x: Array, count: int) -> Array:
        """Return the partial sums of rows (rows, count), without surplus numbers."""
        if self._rows is not x:
            self._rows, self._sums = x, {}
        if count not in self._sums:
            rows, n = x.shape
            blocks = x[:, : n // count * count].reshape(rows, -1, count)
            self._sums[count] = np.add.accumulate(blocks, axis=1)[:, -1].copy()
        return self._sums[count]


_PARTIAL_SUMS = _PartialSums()


def _filled(x: Array, count: int) -> Array:
    zeros = np.zeros((len(x), count - x.shape[1]), x.dtype)
    return np.concatenate([x, zeros], axis=1)


def by_rows(x: Array, side: int) -> Array:
    """Add up each row one by one, and then the sums of rows."""
    grid = x.reshape(len(x), side, -1)
    return sequential(np.asarray(np.add.accumulate(grid, axis=2)[:, :, -1]))


def by_columns(x: Array, side: int) -> Array:
    """Add up column after column, one by one."""
    grid = x.reshape(len(x), side, -1).swapaxes(1, 2)
    return sequential(grid.reshape(len(x), -1))


def column_sums(x: Array, side: int) -> Array:
    """Add up each column one by one, and then the sums of columns."""
    return by_rows(
        x.reshape(len(x), side, -1).swapaxes(1, 2).reshape(len(x), -1), x.shape[1] // side
    )


COMBINATIONS: dict[str, tuple[Sum, str]] = {
    "sequential": (sequential, "one by one"),
    "neighbours": (neighbours, "by neighbours"),
    "halves": (halves, "in halves"),
}
SURPLUS = (("in", "the rest in the first lanes"), ("after", "the rest at the end"))
SQUARE_ORDERS = (
    ("rows", "each row one by one, then the sums of rows", by_rows),
    ("columns", "column after column, one by one", by_columns),
    ("column-sums", "each column one by one, then the sums of columns", column_sums),
)
