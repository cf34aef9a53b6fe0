"""Choosing few, small vectors that show every edge."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from conformance.generate.coverage import Candidate

Chosen = TypeVar("Chosen")


def cover(
    pool: Sequence[Chosen],
    shows: Callable[[Chosen], Iterable[Hashable]],
    cost: Callable[[Chosen], float],
) -> list[Chosen]:
    """Members of ``pool`` that together show all that any of it shows, cheaply.

    The greedy set cover (most new items for its cost, first in the pool on a tie), after which
    each choice that the others make superfluous is dropped, the dearest first.
    """
    items = [frozenset(shows(member)) for member in pool]
    costs = [cost(member) for member in pool]
    missing = set().union(*items)
    chosen: list[int] = []
    gains = [len(shown) for shown in items]
    while missing:
        best = -1
        for index, gain in enumerate(gains):
            # A stale gain only overstates, so most members need no second look.
            if best >= 0 and gain / costs[index] <= gains[best] / costs[best]:
                continue
            gains[index] = len(items[index] & missing)
            if gains[index] and (
                best < 0 or gains[index] / costs[index] > gains[best] / costs[best]
            ):
                best = index
        chosen.append(best)
        missing -= items[best]
        gains[best] = 0
    return [pool[index] for index in sorted(_needed(chosen, items, costs))]


def _needed(chosen: list[int], items: list[frozenset[Hashable]], costs: list[float]) -> list[int]:
    shown: dict[Hashable, int] = {}
    for index in chosen:
        for item in items[index]:
            shown[item] = shown.get(item, 0) + 1
    kept = []
    for index in sorted(chosen, key=lambda index: (-costs[index], index)):
        if all(shown[item] > 1 for item in items[index]):
            for item in items[index]:
                shown[item] -= 1
        else:
            kept.append(index)
    return kept


def by_edge_and_dtype(candidate: Candidate) -> Iterable[Hashable]:
    """What the core suite asks of the vectors of one rank: each edge in each element type."""
    return ((candidate.dtype, edge) for edge in candidate.edges)
