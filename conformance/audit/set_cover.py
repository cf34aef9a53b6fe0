"""Greedy set cover: few, cheap members of a pool that cover all that any of it covers."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Chosen = TypeVar("Chosen")
Bits = NDArray[np.uint64]


def greedy_cover(
    pool: Sequence[Chosen],
    shows: Callable[[Chosen], Iterable[Hashable]],
    cost: Callable[[Chosen], float],
    *,
    tries: int = 0,
    start: Collection[Chosen] = (),
) -> list[Chosen]:
    """Choose few, cheap members of ``pool`` that cover all that any of it covers.

    They are in the pool's order.

    The greedy set cover (most new items for its cost, first in the pool on a tie). Then each
    choice that the others make superfluous is dropped, and each of the rest gives way to the
    cheapest member that also shows what only it shows; both the dearest first. The members in
    ``start`` (the same objects) are taken before any other.

    With ``tries`` an iterated greedy search follows: that often a part of the choice is taken away
    and made anew, and kept if it is no larger (Ruiz and Stuetzle, "A simple and effective iterated
    greedy algorithm", European Journal of Operational Research 177, 2007). Deterministic.
    """
    items = [frozenset(shows(member)) for member in pool]
    columns = {item: column for column, item in enumerate(frozenset().union(*items))}
    flags = np.zeros((len(items), len(columns)), np.bool_)
    across = np.fromiter((columns[item] for covered in items for item in covered), np.intp)
    flags[np.repeat(np.arange(len(items)), list(map(len, items))), across] = True
    begun = {id(member) for member in start}
    first = [index for index, member in enumerate(pool) if id(member) in begun]
    chosen = greedy_cover_rows(flags, [cost(member) for member in pool], tries=tries, start=first)
    return [pool[index] for index in chosen]


def greedy_cover_rows(
    flags: NDArray[np.bool_],
    costs: Sequence[float] | NDArray[np.int64],
    *,
    tries: int = 0,
    start: Collection[int] = (),
) -> list[int]:
    """Choose members of a table (members, items) by number; see :func:`greedy_cover`."""
    return sorted(_Search(flags, costs).best(tries, list(start)))


class _Search:
    """Sets of items as bits, 64 items a word, with their costs.

    ``_words`` has them (words, members): what changes for one item is looked at in its words alone.
    """

    def __init__(
        self, flags: NDArray[np.bool_], costs: Sequence[float] | NDArray[np.int64]
    ) -> None:
        self._flags = flags
        self._words: Bits = np.ascontiguousarray(_packed(flags).T)
        self._costs = np.array(costs, np.float64)
        self._all: Bits = np.bitwise_or.reduce(self._words, axis=1)

    def best(self, tries: int, start: list[int]) -> list[int]:
        chosen = self._settled(self._greedy(start))
        chance = random.Random(0)  # noqa: S311
        for _ in range(tries if len(chosen) > 1 else 0):
            remaining = chance.sample(chosen, len(chosen) - max(1, len(chosen) // 5))
            candidate = self._needed(self._greedy(remaining, chance))
            if self._price(candidate) <= self._price(chosen):
                chosen = candidate
        return self._settled(chosen)

    def _price(self, chosen: list[int]) -> tuple[int, float]:
        return len(chosen), float(self._costs[chosen].sum())

    def _greedy(self, start: list[int], chance: random.Random | None = None) -> list[int]:
        """Complete ``start``; with ``chance`` a good choice is now and then passed over."""
        missing = self._all.copy()
        for index in start:
            missing &= ~self._words[:, index]
        chosen = list(start)
        gains = self._shown(missing)
        while missing.any():
            # What shows nothing new now never will.
            open_ = np.flatnonzero(gains)
            worth = gains[open_] / self._costs[open_]
            if chance is not None:
                worth *= np.array([0.8 + 0.2 * chance.random() for _ in range(len(open_))])
            best = int(open_[np.argmax(worth)])
            chosen.append(best)
            new = missing & self._words[:, best]
            gains -= self._shown(new)
            missing &= ~new
        return chosen

    def _shown(self, items: Bits) -> NDArray[np.int64]:
        """How many of some items each member shows."""
        nonzero = np.flatnonzero(items)
        counts = np.bitwise_count(self._words[nonzero] & items[nonzero, None])
        return np.asarray(counts.sum(axis=0, dtype=np.int64))

    def _settled(self, chosen: list[int]) -> list[int]:
        before: list[int] = []
        while chosen != before:
            before = chosen
            chosen = self._cheaper(self._needed(chosen))
        return chosen

    def _dearest_first(self, chosen: list[int]) -> list[int]:
        return sorted(chosen, key=lambda index: (-self._costs[index], index))

    def _needed(self, chosen: list[int]) -> list[int]:
        cover_counts = self._flags[chosen].sum(axis=0)
        needed = []
        for index in self._dearest_first(chosen):
            if (cover_counts[self._flags[index]] > 1).all():
                cover_counts = cover_counts - self._flags[index]
            else:
                needed.append(index)
        return needed

    def _cheaper(self, chosen: list[int]) -> list[int]:
        cover_counts = self._flags[chosen].sum(axis=0)
        chosen_now = []
        for index in self._dearest_first(chosen):
            only = _packed((self._flags[index] & (cover_counts == 1))[None])[0]
            nonzero = np.flatnonzero(only)
            exclusive = only[nonzero, None]
            able = np.flatnonzero(((self._words[nonzero] & exclusive) == exclusive).all(axis=0))
            best = int(able[np.argmin(self._costs[able])])
            if self._costs[best] >= self._costs[index]:
                best = index
            cover_counts = cover_counts + self._flags[best].astype(np.int64) - self._flags[index]
            chosen_now.append(best)
        return chosen_now


def _packed(flags: NDArray[np.bool_]) -> Bits:
    """Rows of flags as rows of words."""
    packed = np.packbits(flags, axis=1, bitorder="little")
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view("<u8")
