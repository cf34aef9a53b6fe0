"""State of each mutant in a part of an operator: killed, inert, stated, excused, undetermined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

from conformance.audit.inert import find_inert
from conformance.audit.kills import Kill
from conformance.audit.partitions import cases_within, excluded_predicates, partitions_of_rank
from conformance.model import Case
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.suite.parts import Part, Parts, Survivors


@dataclass(frozen=True)
class MutantStates:
    """The mutants of an operator in one part, by id and by what becomes of them there.

    ``killed`` are those that vectors of the part kill at level should; ``survivors`` tells of the
    others, and of those that none kills at must. ``refuted`` are killed, though the catalogue or a
    proof says that they cannot be. ``missing`` is what is to be shown: a level, and the mutant to
    be killed at it.
    """

    part: Part
    killed: frozenset[str] = field(repr=False)
    survivors: Survivors = field(repr=False)
    refuted: frozenset[str] = frozenset()
    missing: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)

    @property
    def counted(self) -> int:
        """How many mutants could show in the part, as far as is known."""
        return len(self.killed | self.survivors.undetermined)

    def knowing(self, inert: Collection[str]) -> MutantStates:
        """The same, with mutants that are proven to change nothing in the part."""
        survivors = replace(
            self.survivors,
            inert=self.survivors.inert.union(inert),
            undetermined=self.survivors.undetermined.difference(inert),
        )
        return replace(
            self,
            survivors=survivors,
            missing=frozenset(one for one in self.missing if one[1] not in inert),
        )

    @property
    def complete(self) -> bool:
        """Whether every mutant that could show is killed, and no statement is wrong."""
        return not (self.survivors.undetermined or self.refuted)


def classify_mutants(
    part: Part,
    faults: Sequence[Mutant],
    kills: Iterable[Sequence[Kill]],
    proven: Collection[str] = (),
) -> MutantStates:
    """What becomes of each mutant, by what the vectors of a part kill, and by what is ``proven`` to
    change nothing there. Those that nothing shows anywhere, by the catalogue, are left out."""
    killed, at_must = set(), set()
    for found in kills:
        for kill in found:
            killed.add(kill.fault)
            if kill.must:
                at_must.add(kill.fault)
    faults = [fault for fault in faults if not fault.equivalent]
    said = {fault.id: stated_reason(fault, part, "should") for fault in faults}
    open_ = {fault.id: fault for fault in faults if fault.id not in killed}
    stated = {name: said[name] for name in open_ if said[name]}
    never = open_.keys() & set(proven) - stated.keys()
    alive = open_.keys() - never - stated.keys()
    allowed = {fault.id for fault in faults if fault.reading or stated_reason(fault, part, "must")}
    at_should_alone = killed - at_must
    missing = {("should", name) for name in alive}
    missing |= {("must", name) for name in (alive | at_should_alone) - allowed}
    refuted = {name for name in killed if said.get(name) or name in proven}
    return MutantStates(
        part=part,
        killed=frozenset(killed & said.keys()),
        survivors=Survivors(
            inert=frozenset(never),
            stated=stated,
            excused=frozenset(at_should_alone & allowed),
            undetermined=frozenset(alive | at_should_alone - allowed),
        ),
        refuted=frozenset(refuted | (at_must & allowed)),
        missing=frozenset(missing),
    )


def stated_reason(fault: Mutant, part: Part, level: str) -> str:
    """Why the catalogue says that nothing kills a mutant in a part; empty if it does not."""
    reasons = (
        one.why
        for one in fault.stated
        if one.level == level and one.holds(part.dtype, part.rank, part.profile)
    )
    return next(reasons, "")


def mutant_states(
    spec: OpSpec,
    faults: Sequence[Mutant],
    cases: Mapping[str, Case],
    kills: Mapping[str, Sequence[Kill]],
    proven: Mapping[Part, Collection[str]],
) -> list[MutantStates]:
    """What becomes of each mutant in every part of an operator, by what its vectors kill.

    ``cases`` and ``kills`` are by id; ``proven`` are by part the mutants that change nothing there.
    """
    found = []
    for rank in spec.ranks:
        for part in partitions_of_rank(spec, rank):
            inside = cases_within(spec, part, list(cases.values()))
            own = [kills.get(one, ()) for one in compress(cases, inside)]
            never = find_inert(spec, part, faults) | set(proven.get(part, ()))
            found.append(classify_mutants(part, faults, own, never))
    return found


def survivor_table(spec: OpSpec, found: Iterable[MutantStates]) -> Parts:
    """What survives in each part, as a suite tells it."""
    without = {one.name: excluded_predicates(one) for one in spec.profiles}
    return Parts({one.part: one.survivors for one in found}, without)
