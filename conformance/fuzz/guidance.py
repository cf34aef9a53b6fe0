"""What the cases of an operator have covered so far, and which of some would cover more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conformance.audit.kills import MutantRunner
from conformance.generate.looking import Seen
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec.batch_values import Bools
from conformance.spec.catalogue import mutants_of
from conformance.spec.model import OpSpec

FEW = 80
"""Mutants that nothing has killed and that are looked for in one batch, at most; in the next batch
come others. To know what was covered must not take longer than to ask."""

PATIENCE = 120
"""Cases on which a mutant's outputs may differ, after which it is not looked for any more."""

Rows = NDArray[np.int64]


class Guidance:
    """Pairs of coverage targets, by rank, and mutants of one operator that nothing has hit yet.

    At level ``must`` a mutant that an allowed interpretation excuses is not hit.
    """

    def __init__(self, spec: OpSpec, level: str) -> None:
        self.spec = spec
        self.bank = MutantRunner(
            spec, [fault for fault in mutants_of(spec) if not fault.equivalent]
        )
        self.killed: set[str] = set()
        self.types: set[str] = set()
        self._level = level
        self._open = self.bank
        self._turn = 0
        self._smallest = False
        self._now: MutantRunner | None = None
        self._tried: Counter[str] = Counter()
        self._names = [edge.name for edge in spec.edges]
        self._place = {name: place for place, name in enumerate(self._names)}
        self._pairs: dict[int, Bools] = {}

    @property
    def pairs(self) -> int:
        """How many pairs of targets are covered, over all ranks; a target with itself is one."""
        return int(sum(np.triu(covered).sum() for covered in self._pairs.values()))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks on which something was covered."""
        return tuple(sorted(self._pairs))

    def new_pairs(self, seen: Seen, rank: int) -> NDArray[np.float64]:
        """How many pairs of targets each of some cases may cover that nothing covers yet."""
        lacking = (~self._covered(rank)).astype(np.float64)
        shows = seen.may[:, : len(self._names)].astype(np.float64)
        return np.asarray(((shows @ lacking) * shows).sum(axis=1) / 2)

    def killers(self, cases: Sequence[Case], size: Rows) -> Rows:
        """For each of the mutants that are looked for now one of some cases that may kill it, where
        there is one: by turns the smallest and the first. On the smallest it may hardly show."""
        self._now = self._some()
        if not self._now.mutants or not cases:
            return np.arange(0)
        may = self._now.may_differ(cases)
        self._smallest = not self._smallest
        sizes = np.where(may, size[:, None], np.iinfo(np.int64).max)
        chosen = sizes.argmin(axis=0) if self._smallest else may.argmax(axis=0)
        return np.unique(chosen[may.any(axis=0)])

    def _some(self) -> MutantRunner:
        """A few of the mutants that nothing has killed, the next ones each time."""
        ids = [fault.id for fault in self._open.mutants]
        begin, self._turn = self._turn % max(1, len(ids)), self._turn + FEW
        return self._open.restricted_to(
            {*ids[begin : begin + FEW], *ids[: max(0, begin + FEW - len(ids))]}
        )

    def saw(self, vectors: Sequence[Vector], rank: int) -> Bools:
        """Take in vectors that the backend was asked; which of them covered something new."""
        covered = self._covered(rank)
        news = np.zeros(len(vectors), np.bool_)
        for number, vector in enumerate(vectors):
            self.types.add(vector.case.types[self.spec.data.type])
            at = [self._place[edge] for edge in vector.edges]
            block = np.ix_(at, at)
            if at and not covered[block].all():
                news[number] = True
                covered[block] = True
        return news | self._kill(vectors)

    def _kill(self, vectors: Sequence[Vector]) -> Bools:
        """Which vectors kill one of the mutants that are looked for now."""
        news = np.zeros(len(vectors), np.bool_)
        now, self._now = self._now or self._some(), None
        if not now.mutants or not vectors:
            return news
        may = now.may_differ([vector.case for vector in vectors])
        ids = [fault.id for fault in now.mutants]
        open_ = np.ones(len(ids), np.bool_)
        for number, vector in enumerate(vectors):
            row = may[number] & open_
            self._tried.update(ids[at] for at in np.flatnonzero(row))
            killed = set(self.kills(now, vector, row)) if row.any() else set()
            self.killed |= killed
            news[number] = bool(killed)
            open_ &= [name not in killed and self._tried[name] < PATIENCE for name in ids]
        gone = {ids[at] for at in np.flatnonzero(~open_)}
        if gone:
            self._open = self._open.restricted_to({fault.id for fault in self._open.mutants} - gone)
        return news

    def kills(self, bank: MutantRunner, vector: Vector, among: Bools) -> list[str]:
        """The mutants of a bank with which a backend would fail a vector that may lack the answers
        of interpretations."""
        found = {kill.mutant for kill in bank.kills(vector, among)}
        if found and self._level == "must" and not vector.readings:
            row = among & [fault.id in found for fault in bank.mutants]
            whole = build(self.spec, vector.case, vector.level)
            found = {kill.mutant for kill in bank.kills(whole, row) if kill.at_must}
        return sorted(found)

    def _covered(self, rank: int) -> Bools:
        size = len(self._names)
        return self._pairs.setdefault(rank, np.zeros((size, size), np.bool_))
