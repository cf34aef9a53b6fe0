"""The likeliest conditions on the case that tell vectors from others: few, short, and no chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.case_conditions import CaseCondition

CONDITIONS = 3
"""Conditions that have to hold together, at most."""

MAX_COST = 10
"""What they cost together, at most: much can be said of a few cases."""

CONSIDERED = 60
"""Conditions that are tried in threes, at most: those that fewest other cases meet."""

CHANCE = 0.01
"""The chance, at most, that conditions tell as many cases from others if they are any."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """Conditions that hold together in ``shared`` cases, and in ``met`` of ``others``.

    ``tried`` is how many choices of as many conditions there were.
    """

    conditions: tuple[CaseCondition, ...]
    shared: int
    met: int
    others: int
    tried: int

    @property
    def text(self) -> str:
        """The conditions as an expression over the operator's names."""
        texts = (f"({c.text})" if " or " in c.text else c.text for c in self.conditions)
        return " and ".join(sorted(texts))

    @property
    def is_chance(self) -> bool:
        """True if conditions are likely to tell as many cases of any kind from others."""
        # As many of all that meet the conditions, or fewer, may be others.
        drawn = self.shared + self.met
        ways = comb(self.shared + self.others, drawn)
        alike = sum(
            comb(self.shared, drawn - m) * comb(self.others, m) for m in range(self.met + 1)
        )
        return self.tried * alike > CHANCE * ways


def likeliest_choice(
    conditions: Iterable[CaseCondition], shared: Bools, against: Bools, tolerated: int = 0
) -> Choice | None:
    """Choose conditions of which at most ``tolerated`` cases ``against`` meet all.

    ``conditions`` hold in all ``shared`` cases. The choice costs least, and each doubling of the
    cases against it that meet it counts as 1. None if all would cost too much.
    """
    telling = _cheapest([c for c in conditions if not c.holds[against].all()], against)
    best = min(_choices(telling, against, tolerated), key=_rank(against), default=None)
    if best is None or sum(condition.cost for condition in best) > MAX_COST:
        return None
    holding = np.logical_and.reduce([condition.holds for condition in best])
    met, others = int(holding[against].sum()), int(against.sum())
    return Choice(best, int(shared.sum()), met, others, comb(len(telling), len(best)))


def _cheapest(conditions: Sequence[CaseCondition], against: Bools) -> list[CaseCondition]:
    """Of conditions that hold in the same cases, the cheapest alone."""
    cheapest: dict[bytes, CaseCondition] = {}
    for condition in conditions:
        key = condition.holds.tobytes()
        if key not in cheapest or condition.cost < cheapest[key].cost:
            cheapest[key] = condition
    return sorted(cheapest.values(), key=lambda c: int(c.holds[against].sum()))


def _choices(
    conditions: Sequence[CaseCondition], against: Bools, tolerated: int
) -> Iterator[tuple[CaseCondition, ...]]:
    """Yield conditions that together hold in few of the cases ``against``."""
    met = [int.from_bytes(np.packbits(c.holds[against]).tobytes(), "big") for c in conditions]
    for count in range(1, CONDITIONS + 1):
        numbers = range(len(conditions) if count < CONDITIONS else min(CONSIDERED, len(conditions)))
        for chosen in combinations(numbers, count):
            if sum(conditions[n].cost for n in chosen) > MAX_COST:
                continue
            if reduce(int.__and__, (met[n] for n in chosen)).bit_count() <= tolerated:
                yield tuple(conditions[n] for n in chosen)


def _rank(against: Bools) -> Any:
    """Order conditions by what they cost, the cases in which they hold, and their length.

    Of two that cost the same the narrower is safer.
    """

    def rank(conditions: Sequence[CaseCondition]) -> tuple[int, int, int]:
        holding = np.logical_and.reduce([condition.holds for condition in conditions])
        cost = sum(condition.cost for condition in conditions)
        length = sum(len(condition.text) for condition in conditions)
        return cost + int(holding[against].sum()).bit_length(), int(holding.sum()), length

    return rank
