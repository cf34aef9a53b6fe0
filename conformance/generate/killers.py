"""Vectors that kill, in each part of a rank, every mutant that can be killed there."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, compress
from types import MappingProxyType

import numpy as np

from conformance import parallel
from conformance.audit.inert import find_inert
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import MutantStates, classify_mutants
from conformance.audit.partitions import partitions_of_rank, rows_within
from conformance.audit.score import kill_levels
from conformance.audit.set_cover import greedy_cover
from conformance.generate.candidates import Candidates, children, drawn_cases, known_cases
from conformance.generate.chance import Chance
from conformance.generate.disprover import Disprover
from conformance.generate.hunt import hunt
from conformance.generate.larger import enlarged
from conformance.generate.pairs import Effort
from conformance.generate.settle import REFILLS
from conformance.generate.suites import with_twins
from conformance.model import Vector
from conformance.spec.batch_values import Bools
from conformance.spec.case_table import joined, table_of
from conformance.spec.catalogue import mutants_of
from conformance.spec.model import OpSpec
from conformance.suite.recorded_cases import RecordedCases, current_cases
from conformance.suite.survivors import Partition

OFTEN = 8
"""How many times as many cases are drawn for each constraint, for mutants that few cases kill."""

SELECTING = 1
"""To how many parts the work before them, to select cases, is taken to be equal; only for what is
said of progress."""

STAGES = 5
"""Of the search in one part."""

Kills = Mapping[str, tuple[Kill, ...]]
"""What vectors kill, by id."""


def proven(known: RecordedCases | None) -> dict[Partition, frozenset[str]]:
    """The mutants that are recorded to change nothing, by part."""
    return {part: one.inert for part, one in known.parts.survivors.items()} if known else {}


def killable(known: RecordedCases | None) -> dict[Partition, frozenset[str]]:
    """The mutants that a recorded case kills, by part."""
    if known is None:
        return {}
    return {
        part: frozenset(known.faults) - one.mutants | one.excused
        for part, one in known.parts.survivors.items()
    }


def selecting(spec: OpSpec, rank: int) -> float:
    """The share of the work on a rank that it is to select cases, before mutants are hunted."""
    return SELECTING / (SELECTING + len(list(partitions_of_rank(spec, rank))))


def _say(part: Partition, number: int, of: int, stage: int) -> None:
    """Say which stage of the search in which part begins."""
    share = (SELECTING + number + stage / STAGES) / (SELECTING + of)
    parallel.step(f"killing mutants in {part}", share)


class Killers:
    """The vectors of one rank by id, and what each of them kills.

    ``inert`` gives by part the mutants that are proven to change nothing there.
    """

    def __init__(
        self,
        spec: OpSpec,
        rank: int,
        vectors: Sequence[Vector],
        *,
        kills: Kills = MappingProxyType({}),
        inert: Mapping[Partition, frozenset[str]] | None = None,
    ) -> None:
        """``kills`` are those of vectors for which they are known, ``inert`` what is proven."""
        self.spec, self.rank = spec, rank
        self.faults = mutants_of(spec)
        self.vectors: dict[str, Vector] = {}
        self._cases = Candidates.of(spec, [], rank)
        self.kills: dict[str, tuple[Kill, ...]] = {}
        self._recorded = current_cases(spec)
        known = proven(self._recorded) if inert is None else inert
        self.inert = {part: names for part, names in known.items() if part.rank == rank}
        self._killable = killable(self._recorded)
        self._bank = MutantRunner(spec, self.faults)
        self.add(vectors, kills)

    def complete(self, known: Candidates, *, root: int, effort: Effort) -> None:
        """Add few vectors for what is missing in each part, from ``known`` cases first, those of
        the vectors before all others."""
        spec, every = self.spec, list(partitions_of_rank(self.spec, self.rank))
        known = known.without(self._cases)
        for number, part in enumerate(every):
            say = partial(_say, part, number, len(every))
            say(0)
            seen_at_once = find_inert(spec, part, self.faults)
            self.inert[part] = self.inert.get(part, frozenset()) | seen_at_once
            own = self._cases
            equal: Counter[str] = Counter()
            self._hunt(part, self._foreseen(part))
            self._hunt(part, chain(self._retyped(part), known_cases(part, known)), equal)
            if not self.standing(part).missing:
                continue
            say(1)
            # The solver soon proves what is so, and is slow about what is not.
            drawn = drawn_cases(spec, part, root=root, effort=effort)
            self._hunt(part, [drawn], equal)
            self._hunt(part, self._enlarged(part))
            say(2)
            self.inert[part] |= self._proven(part, self._doubtful(part))
            self._hunt(part, children(part, [own, known, drawn], root=root), equal)
            self._hunt(part, self._refilled(part, root))
            say(3)
            if self._unseen(part) and self._disprover is not None:
                showing = list(self._disprover.showing(part, self._unseen(part)))
                self._hunt(part, [Candidates.of(spec, showing, part.rank)])
                self.inert[part] |= self._disprover.proven(part, self._doubtful(part), taps=True)
            say(4)
            if self._unseen(part):
                more = replace(effort, aimed=OFTEN * effort.aimed)
                self._hunt(part, [drawn_cases(spec, part, root=root + 1, effort=more)], equal)
        # What was found for a part may, in its element type, serve one that came before.
        for part in partitions_of_rank(spec, self.rank):
            self._hunt(part, self._retyped(part))

    def _hunt(
        self, part: Partition, cases: Iterable[Candidates], equal: Counter[str] | None = None
    ) -> None:
        missing = self.standing(part).missing
        if missing:
            found = hunt(self.spec, self.faults, missing, cases, equal)
            self.add(with_twins(self.spec, found))

    def _foreseen(self, part: Partition) -> Iterator[Candidates]:
        """Few cases that kill in a part what is missing, if vectors kill the same in each element
        type, as most do."""
        missing = self.standing(part).missing
        able = [v for v in self.vectors.values() if self.spec.fills(v.case.pattern, part.dtype)]
        kills = {v.id: missing.intersection(kill_levels(self.kills[v.id])) for v in able}
        chosen = {
            v.id
            for v in greedy_cover(able, lambda v: kills[v.id], lambda v: v.inputs[0].size + 200)
        }
        return self._retyped(part, np.array([name in chosen for name in self.vectors], np.bool_))

    def _retyped(self, part: Partition, rows: Bools | None = None) -> Iterator[Candidates]:
        """The cases of vectors of other element types, or of some of them, in that of a part."""
        some = self._cases if rows is None else self._cases.take(rows)
        yield some.retyped(part.dtype).sound().inside(part)

    def _refilled(self, part: Partition, root: int) -> Iterator[Candidates]:
        """Recorded cases of a part that kill what is missing there, filled with other data, and
        last with their own."""
        missing = self.standing(part).missing
        known = self._recorded.recorded if self._recorded else ()
        cases = [
            one.case
            for one in known
            if one.case.reject is None
            and self.spec.rank_of(one.case) == part.rank
            and not missing.isdisjoint(one.achieved)
        ]
        chance = Chance(f"{root}/{self.spec.op}/{part}/refill")
        for seed in map(int, chance.below(1 << 31, REFILLS)):
            other = [replace(case, seed=seed) for case in cases]
            yield Candidates.of(self.spec, other, part.rank).sound().inside(part)
        yield Candidates.of(self.spec, cases, part.rank).inside(part)

    def _enlarged(self, part: Partition) -> Iterator[Candidates]:
        """Larger variants of the cases of a part, the smallest first."""
        some = compress(self.vectors.values(), rows_within(part, self._cases.table))
        cases = [v.case for v in sorted(some, key=lambda v: (v.inputs[0].size, v.id))]
        more = enlarged(self.spec, cases)
        if more:
            yield Candidates.of(self.spec, more, part.rank).inside(part)

    def standing(self, part: Partition) -> MutantStates:
        """What becomes of each mutant in a part."""
        names = compress(self.vectors, rows_within(part, self._cases.table))
        kills = [self.kills[name] for name in names]
        return classify_mutants(part, self.faults, kills, self.inert.get(part, ()))

    def add(
        self,
        vectors: Iterable[Vector],
        known: Mapping[str, tuple[Kill, ...]] = MappingProxyType({}),
    ) -> None:
        """Take in some vectors; what those kill that are ``known`` is not worked out."""
        new = {vector.id: vector for vector in vectors if vector.id not in self.vectors}
        open_ = [vector for name, vector in new.items() if name not in known]
        self.kills |= {name: known[name] for name in new if name in known}
        self.kills |= zip((one.id for one in open_), self._bank.all_kills(open_), strict=True)
        self.vectors |= new
        cases = [vector.case for vector in self.vectors.values()]
        more = table_of(self.spec, cases[len(self._cases) :], self.rank)
        table = joined([self._cases.table, more])
        self._cases = Candidates(table, np.arange(len(table)), cases.__getitem__)

    def _unseen(self, part: Partition) -> set[str]:
        """The mutants that nothing kills in a part, and that could be killed there."""
        return {name for level, name in self.standing(part).missing if level == "should"}

    def _doubtful(self, part: Partition) -> set[str]:
        """Those of the unseen that no recorded case kills: it could be that nothing can."""
        return self._unseen(part).difference(self._killable.get(part, ()))

    def _proven(self, part: Partition, names: Collection[str]) -> frozenset[str]:
        """Of some mutants, those that the solver proves to change nothing in a part."""
        if not names or self._disprover is None:
            return frozenset()
        # What changes nothing in a rank changes nothing in a profile of it.
        whole = self.inert.get(Partition(part.dtype, part.rank), frozenset()).intersection(names)
        return whole | self._disprover.proven(part, set(names) - whole)

    @cached_property
    def _disprover(self) -> Disprover | None:
        """None without the package z3-solver."""
        if importlib.util.find_spec("z3") is None:
            return None
        return Disprover(self.spec, self.rank, self.faults)
