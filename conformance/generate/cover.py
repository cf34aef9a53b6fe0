"""A greedy cover of pairs: which cases of a pool to take, so that little stays uncovered."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]


class Goal:
    """Pairs of a row and a column, of which case ``k`` covers ``rows[k]`` by ``columns[k]``.

    All pairs that some case covers count ``weight`` together. Only ``members`` take part, all cases
    where it is None.
    """

    def __init__(
        self,
        rows: Sequence[Numbers],
        columns: Sequence[Numbers],
        members: Sequence[int] | None = None,
        weight: float = 1.0,
    ) -> None:
        self.rows = rows
        self.columns = columns
        self.members = range(len(rows)) if members is None else members
        shape = tuple(
            1 + max((int(side[k].max(initial=-1)) for k in self.members), default=-1)
            for side in (rows, columns)
        )
        self.missing = np.zeros(shape, np.bool_)
        for k in self.members:
            self.missing[rows[k][:, None], columns[k]] = True
        self.unit = weight / max(1, int(np.count_nonzero(self.missing)))

    def most(self, case: int) -> float:
        """Return what a case can gain at most."""
        return self.unit * len(self.rows[case]) * len(self.columns[case])

    def gain(self, case: int) -> float:
        """Return how much of what is missing a case covers."""
        missing = self.missing[self.rows[case][:, None], self.columns[case]]
        return self.unit * int(np.count_nonzero(missing))

    def cover(self, case: int) -> None:
        """Note that a case is taken."""
        self.missing[self.rows[case][:, None], self.columns[case]] = False


def greedy(goals: Sequence[Goal], budget: int, taken: Iterable[int] = ()) -> list[int]:
    """Take at most ``budget`` cases beside those ``taken``, in each step the one that covers most.

    Stops where nothing is missing that some case covers.
    """
    goals_of: dict[int, list[Goal]] = {}
    for goal in goals:
        for k in goal.members:
            goals_of.setdefault(k, []).append(goal)
    for k in taken:
        for goal in goals_of.pop(k, ()):
            goal.cover(k)
    # Gains only shrink, so that an old one is a bound: most need not be computed again.
    heap = [(-sum(goal.most(k) for goal in of_case), k) for k, of_case in goals_of.items()]
    heapq.heapify(heap)
    added: list[int] = []
    while heap and len(added) < budget:
        _, case = heapq.heappop(heap)
        gain = sum(goal.gain(case) for goal in goals_of[case])
        if heap and (-gain, case) > heap[0]:
            heapq.heappush(heap, (-gain, case))
        elif gain:
            added.append(case)
            for goal in goals_of[case]:
                goal.cover(case)
        else:
            break
    return added
