"""The coverage of an operator's cases so far, and which other cases would add to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conformance.audit.kills import MutantRunner
from conformance.core.operator import Operator
from conformance.model import Case, Vector
from conformance.specification import build, mutants_of

MAX_SOUGHT = 80
"""Unkilled mutants that are sought in one batch; the next batch seeks others.

Measuring coverage must not take longer than calling the backend.
"""

MAX_TRIES = 120
"""Cases on which a mutant's outputs may differ, after which it is no longer sought."""

Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Guidance:
    """Uncovered pairs of coverage targets, by rank, and unkilled mutants of one operator.

    At level ``must`` a mutant does not count as killed if an allowed interpretation excuses it.
    """

    def __init__(self, spec: Operator, level: str) -> None:
        self.spec = spec
        self.runner = MutantRunner(
            spec, [mutant for mutant in mutants_of(spec) if not mutant.equivalent]
        )
        self.killed: set[str] = set()
        self.types: set[str] = set()
        self._level = level
        self._unkilled = self.runner
        self._turn = 0
        self._smallest = False
        self._sought: MutantRunner | None = None
        self._tried: Counter[str] = Counter()
        # Targets derive from each case: they are numbered as they are met.
        self._index_of: dict[str, int] = {}
        self._pairs: dict[int, Bools] = {}

    @property
    def pairs(self) -> int:
        """The number of covered pairs of targets, over all ranks."""
        return int(sum(np.triu(covered).sum() for covered in self._pairs.values()))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks on which something was covered."""
        return tuple(sorted(self._pairs))

    def new_pairs(self, targets: Sequence[str], rank: int) -> int:
        """Count the uncovered pairs of the targets that a case covers."""
        indices = self._indices(targets)
        return int(np.triu(~self._covered(rank)[np.ix_(indices, indices)]).sum())

    def killing_rows(self, cases: Sequence[Case], size: Rows) -> Rows:
        """Choose, for each sought mutant, a case that may kill it, if any may.

        It is by turns the smallest and the first: on the smallest a mutant may hardly show.
        """
        self._sought = self._next_mutants()
        if not self._sought.mutants or not cases:
            return np.arange(0)
        may_kill = self._sought.may_differ(cases)
        self._smallest = not self._smallest
        sizes = np.where(may_kill, size[:, None], np.iinfo(np.int64).max)
        chosen = sizes.argmin(axis=0) if self._smallest else may_kill.argmax(axis=0)
        return np.unique(chosen[may_kill.any(axis=0)])

    def _next_mutants(self) -> MutantRunner:
        """Take some of the mutants that nothing has killed, others each time."""
        ids = [mutant.id for mutant in self._unkilled.mutants]
        begin, self._turn = self._turn % max(1, len(ids)), self._turn + MAX_SOUGHT
        return self._unkilled.restricted_to(
            {*ids[begin : begin + MAX_SOUGHT], *ids[: max(0, begin + MAX_SOUGHT - len(ids))]}
        )

    def learn(self, vectors: Sequence[Vector], rank: int) -> bool:
        """Note tested vectors; return whether they covered something new."""
        covers_more = False
        for vector in vectors:
            self.types.add(vector.case.dtype)
            indices = self._indices(vector.edges)
            covered = self._covered(rank)
            block = np.ix_(indices, indices)
            if indices and not covered[block].all():
                covers_more = True
                covered[block] = True
        return self._find_kills(vectors) or covers_more

    def _find_kills(self, vectors: Sequence[Vector]) -> bool:
        """Note the sought mutants that vectors kill; return whether there are any."""
        sought, self._sought = self._sought or self._next_mutants(), None
        if not sought.mutants or not vectors:
            return False
        killed_before = len(self.killed)
        may_kill = sought.may_differ([vector.case for vector in vectors])
        ids = [mutant.id for mutant in sought.mutants]
        is_sought = np.ones(len(ids), np.bool_)
        for number, vector in enumerate(vectors):
            row = may_kill[number] & is_sought
            self._tried.update(ids[index] for index in np.flatnonzero(row))
            killed = set(self.kills(sought, vector, row)) if row.any() else set()
            self.killed |= killed
            is_sought &= [name not in killed and self._tried[name] < MAX_TRIES for name in ids]
        settled = {ids[index] for index in np.flatnonzero(~is_sought)}
        if settled:
            self._unkilled = self._unkilled.restricted_to(
                {mutant.id for mutant in self._unkilled.mutants} - settled
            )
        return len(self.killed) > killed_before

    def kills(self, runner: MutantRunner, vector: Vector, among: Bools) -> list[str]:
        """Return the mutants with which a backend would fail a vector.

        The vector may lack the expected outputs of interpretations.
        """
        mutants = {kill.mutant for kill in runner.kills(vector, among)}
        if mutants and self._level == "must" and not vector.readings:
            row = among & [mutant.id in mutants for mutant in runner.mutants]
            full_vector = build(self.spec, vector.case, vector.level)
            mutants = {kill.mutant for kill in runner.kills(full_vector, row) if kill.at_must}
        return sorted(mutants)

    def _indices(self, targets: Sequence[str]) -> list[int]:
        return [self._index_of.setdefault(name, len(self._index_of)) for name in targets]

    def _covered(self, rank: int) -> Bools:
        """Return the covered pairs, symmetric; with room for targets that are met later."""
        covered = self._pairs.setdefault(rank, np.zeros((0, 0), np.bool_))
        lacking = len(self._index_of) - len(covered)
        if lacking:
            self._pairs[rank] = np.pad(covered, (0, lacking))
        return self._pairs[rank]
