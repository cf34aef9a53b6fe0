"""Orders of summation, each as a small program in numpy that adds up rows of numbers.

A program takes an array (rows, n) of the type that it adds in, and gives its sums (rows,): each
addition is rounded once to that type, as a loop in it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from conformance.dtypes import Array
from conformance.probe.cascade import cascade

Sum = Callable[[Array], Array]

LANES = (2, 4, 8, 16, 32)
CHUNKS = (2, 4, 8)
CASCADES = (4, 8, 16)
BLOCK, UNROLLED = 128, 8
"""Of numpy's pairwise summation: the longest block that it does not split, and its partial sums."""


@dataclass(frozen=True)
class Order:
    """An order of summation. ``kind`` is that of the statement, ``lanes`` how many partial sums
    are interleaved (empty where the word makes no sense), ``about`` says the rest.
    """

    name: str
    kind: str
    lanes: str
    about: str
    add: Sum


def orders(side: int | None = None) -> tuple[Order, ...]:
    """The listed orders; those of a square window with ``side`` rows read it row by row."""
    found = [
        Order("sequential", "sequential", "1", "one by one, from the first", sequential),
        Order("reversed", "reversed", "1", "one by one, from the last", backwards),
        Order("compensated", "compensated", "1", "one by one with Kahan's compensation", kahan),
        Order(
            "pairwise",
            "pairwise",
            "8",
            "as numpy does: halves, down to blocks of 128 in 8 lanes",
            pairwise,
        ),
        Order("tree-neighbours", "tree", "", "neighbours, then neighbours of these", neighbours),
        Order("tree-halves", "tree", "", "the second half onto the first, again and again", halves),
    ]
    for count in CHUNKS:
        found.append(
            Order(
                f"chunks-{count}",
                "chunks",
                "1",
                f"in {count} parts one by one, then their sums",
                partial(chunks, count=count),
            )
        )
    for count in CASCADES:
        found.append(
            Order(
                f"cascade-{count}",
                "cascade",
                str(count),
                f"in cascades of 4 vectors of {count} lanes, as PyTorch does",
                partial(cascade, lanes=count),
            )
        )
    for count in LANES:
        for last, words in REST:
            for how, combine in COMBINED.items():
                if count > 2 or how == "sequential":
                    found.append(
                        Order(
                            f"lanes-{count}-{how}-{last}",
                            "lanes",
                            str(count),
                            f"in {count} lanes, these added {HOW[how]}, {words}",
                            partial(lanes, count=count, combine=combine, after=last == "after"),
                        )
                    )
    if side is not None:
        found += [
            Order(
                "rows",
                "rows",
                "1",
                "each row one by one, then the sums of rows",
                partial(by_rows, side=side),
            ),
            Order(
                "columns",
                "columns",
                "1",
                "column after column, one by one",
                partial(by_columns, side=side),
            ),
            Order(
                "column-sums",
                "column sums",
                "1",
                "each column one by one, then the sums of columns",
                partial(column_sums, side=side),
            ),
        ]
    return tuple(found)


def sequential(x: Array) -> Array:
    """One by one, from the first."""
    return np.asarray(np.add.accumulate(x, axis=1)[:, -1])


def backwards(x: Array) -> Array:
    """One by one, from the last."""
    return sequential(np.ascontiguousarray(x[:, ::-1]))


def kahan(x: Array) -> Array:
    """Kahan's compensated summation ("Further remarks on reducing truncation errors", 1965)."""
    total, lost = x[:, 0].copy(), np.zeros_like(x[:, 0])
    for term in x.T[1:]:
        corrected = term - lost
        new = total + corrected
        lost = (new - total) - corrected
        total = new
    return total


def pairwise(x: Array) -> Array:
    """As numpy's inner loop adds: in halves, whose length is a multiple of 8, and blocks of at most
    128 in 8 partial sums; fewer than 8 one by one.
    """
    n = x.shape[1]
    if n < UNROLLED:
        return sequential(x)
    if n <= BLOCK:
        return lanes(x, count=UNROLLED, combine=neighbours, after=True)
    half = n // 2 - n // 2 % UNROLLED
    return pairwise(x[:, :half]) + pairwise(x[:, half:])


def neighbours(x: Array) -> Array:
    """The first with the second, the third with the fourth, and so on; an odd last one waits."""
    while x.shape[1] > 1:
        paired = x[:, 0 : x.shape[1] // 2 * 2 : 2] + x[:, 1::2]
        x = np.concatenate([paired, x[:, -1:]], axis=1) if x.shape[1] % 2 else paired
    return x[:, 0]


def halves(x: Array) -> Array:
    """The second half is added to the first, until one is left; an odd middle one waits."""
    while (n := x.shape[1]) > 1:
        kept = (n + 1) // 2
        x = np.concatenate([x[:, : n - kept] + x[:, kept:], x[:, n - kept : kept]], axis=1)
    return x[:, 0]


def chunks(x: Array, count: int) -> Array:
    """Parts of equal length but for the last, each one by one; then their sums one by one."""
    length = -(-x.shape[1] // count)
    starts = range(0, x.shape[1], length)
    return sequential(np.stack([sequential(x[:, i : i + length]) for i in starts], axis=1))


def lanes(x: Array, count: int, combine: Sum, *, after: bool) -> Array:
    """Number i goes to partial sum ``i % count``. The last few, where they do not fill all partial
    sums, go there too, or ``after`` all else to the total, one by one.
    """
    n = x.shape[1]
    full = n // count * count
    if full == 0:
        return sequential(x) if after else combine(_filled(x, count))
    sums = _LANES.of(x, count)
    if full == n:
        return combine(sums)
    if not after:
        sums = sums.copy()
        sums[:, : n - full] += x[:, full:]
        return combine(sums)
    return sequential(np.concatenate([combine(sums)[:, None], x[:, full:]], axis=1))


class _Lanes:
    """The partial sums of the latest rows: all ways to combine them begin with the same."""

    def __init__(self) -> None:
        self._rows: Array | None = None
        self._sums: dict[int, Array] = {}

    def of(self, x: Array, count: int) -> Array:
        """The partial sums of rows (rows, count), without what does not fill all of them."""
        if self._rows is not x:
            self._rows, self._sums = x, {}
        if count not in self._sums:
            rows, n = x.shape
            blocks = x[:, : n // count * count].reshape(rows, -1, count)
            self._sums[count] = np.add.accumulate(blocks, axis=1)[:, -1].copy()
        return self._sums[count]


_LANES = _Lanes()


def _filled(x: Array, count: int) -> Array:
    more = np.zeros((len(x), count - x.shape[1]), x.dtype)
    return np.concatenate([x, more], axis=1)


def by_rows(x: Array, side: int) -> Array:
    """The sum of each row, one by one, and then the sums of rows."""
    grid = x.reshape(len(x), side, -1)
    return sequential(np.asarray(np.add.accumulate(grid, axis=2)[:, :, -1]))


def by_columns(x: Array, side: int) -> Array:
    """Column after column, one by one."""
    grid = x.reshape(len(x), side, -1).swapaxes(1, 2)
    return sequential(grid.reshape(len(x), -1))


def column_sums(x: Array, side: int) -> Array:
    """The sum of each column, one by one, and then the sums of columns."""
    return by_rows(
        x.reshape(len(x), side, -1).swapaxes(1, 2).reshape(len(x), -1), x.shape[1] // side
    )


COMBINED: dict[str, Sum] = {"sequential": sequential, "neighbours": neighbours, "halves": halves}
REST = (("in", "the rest in the first lanes"), ("after", "the rest at the end"))
HOW = {"sequential": "one by one", "neighbours": "by neighbours", "halves": "in halves"}
