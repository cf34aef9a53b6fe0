"""Choosing few, cheap members of a pool that together show all that any of it shows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Chosen = TypeVar("Chosen")
Table = NDArray[np.float32]


def cover(
    pool: Sequence[Chosen],
    shows: Callable[[Chosen], Iterable[Hashable]],
    cost: Callable[[Chosen], float],
) -> list[Chosen]:
    """Members of ``pool`` that together show all that any of it shows, in the pool's order.

    The greedy set cover (most new items for its cost, first in the pool on a tie). Then each
    choice that the others make superfluous is dropped, and each of the rest gives way to the
    cheapest member that also shows what only it shows; both the dearest first.
    """
    table = _table([frozenset(shows(member)) for member in pool])
    costs = np.array([cost(member) for member in pool], np.float64)
    chosen = _greedy(table, costs)
    before: list[int] = []
    while chosen != before:
        before = chosen
        chosen = _cheaper(_needed(chosen, table, costs), table, costs)
    return [pool[index] for index in sorted(chosen)]


def _table(items: Sequence[frozenset[Hashable]]) -> Table:
    """A row for each member and a column for each item, 1 where the member shows it."""
    columns: dict[Hashable, int] = {}
    for shown in items:
        for item in shown:
            columns.setdefault(item, len(columns))
    table = np.zeros((len(items), len(columns)), np.float32)
    for row, shown in enumerate(items):
        table[row, [columns[item] for item in shown]] = 1
    return table


def _greedy(table: Table, costs: NDArray[np.float64]) -> list[int]:
    missing = np.ones(table.shape[1], np.float32)
    chosen = []
    while missing.any():
        # Counts of items are whole numbers far below 2**24, so the product is exact.
        best = int(np.argmax((table @ missing) / costs))
        chosen.append(best)
        missing[table[best] > 0] = 0
    return chosen


def _needed(chosen: list[int], table: Table, costs: NDArray[np.float64]) -> list[int]:
    shown = table[chosen].sum(axis=0)
    kept = []
    for index in sorted(chosen, key=lambda index: (-costs[index], index)):
        if (shown[table[index] > 0] > 1).all():
            shown -= table[index]
        else:
            kept.append(index)
    return kept


def _cheaper(chosen: list[int], table: Table, costs: NDArray[np.float64]) -> list[int]:
    shown = table[chosen].sum(axis=0)
    kept = []
    for index in sorted(chosen, key=lambda index: (-costs[index], index)):
        only = np.flatnonzero((table[index] > 0) & (shown == 1))
        able = np.flatnonzero(table[:, only].all(axis=1))
        best = int(able[np.argmin(costs[able])])
        if costs[best] < costs[index]:
            shown += table[best] - table[index]
        else:
            best = index
        kept.append(best)
    return kept
