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
            missing=frozenset(goal for goal in self.missing if goal[1] not in inert),
        )

    @property
    def complete(self) -> bool:
        """Whether every mutant that could show is killed, and no statement is wrong."""
        return not (self.survivors.undetermined or self.refuted)


def classify_mutants(
    partition: Part,
    mutants: Sequence[Mutant],
    kills: Iterable[Sequence[Kill]],
    proven: Collection[str] = (),
) -> MutantStates:
    """What becomes of each mutant, by what the vectors of a part kill, and by what is ``proven`` to
    change nothing there. Those that nothing shows anywhere, by the catalogue, are left out."""
    killed, at_must = set(), set()
    for vector_kills in kills:
        for kill in vector_kills:
            killed.add(kill.fault)
            if kill.must:
                at_must.add(kill.fault)
    mutants = [mutant for mutant in mutants if not mutant.equivalent]
    reasons = {mutant.id: stated_reason(mutant, partition, "should") for mutant in mutants}
    surviving = {mutant.id: mutant for mutant in mutants if mutant.id not in killed}
    stated = {name: reasons[name] for name in surviving if reasons[name]}
    inert = surviving.keys() & set(proven) - stated.keys()
    undetermined = surviving.keys() - inert - stated.keys()
    excused = {
        mutant.id
        for mutant in mutants
        if mutant.reading or stated_reason(mutant, partition, "must")
    }
    only_at_should = killed - at_must
    missing = {("should", name) for name in undetermined}
    missing |= {("must", name) for name in (undetermined | only_at_should) - excused}
    refuted = {name for name in killed if reasons.get(name) or name in proven}
    return MutantStates(
        part=partition,
        killed=frozenset(killed & reasons.keys()),
        survivors=Survivors(
            inert=frozenset(inert),
            stated=stated,
            excused=frozenset(only_at_should & excused),
            undetermined=frozenset(undetermined | only_at_should - excused),
        ),
        refuted=frozenset(refuted | (at_must & excused)),
        missing=frozenset(missing),
    )


def stated_reason(mutant: Mutant, partition: Part, level: str) -> str:
    """Why the catalogue says that nothing kills a mutant in a part; empty if it does not."""
    reasons = (
        statement.why
        for statement in mutant.stated
        if statement.level == level
        and statement.holds(partition.dtype, partition.rank, partition.profile)
    )
    return next(reasons, "")


def mutant_states(
    spec: OpSpec,
    mutants: Sequence[Mutant],
    cases: Mapping[str, Case],
    kills: Mapping[str, Sequence[Kill]],
    proven: Mapping[Part, Collection[str]],
) -> list[MutantStates]:
    """What becomes of each mutant in every part of an operator, by what its vectors kill.

    ``cases`` and ``kills`` are by id; ``proven`` are by part the mutants that change nothing there.
    """
    states = []
    for rank in spec.ranks:
        for partition in partitions_of_rank(spec, rank):
            inside = cases_within(spec, partition, list(cases.values()))
            partition_kills = [kills.get(vector_id, ()) for vector_id in compress(cases, inside)]
            never = find_inert(spec, partition, mutants) | set(proven.get(partition, ()))
            states.append(classify_mutants(partition, mutants, partition_kills, never))
    return states


def survivor_table(spec: OpSpec, states: Iterable[MutantStates]) -> Parts:
    """What survives in each part, as a suite tells it."""
    without = {profile.name: excluded_predicates(profile) for profile in spec.profiles}
    return Parts({state.part: state.survivors for state in states}, without)
