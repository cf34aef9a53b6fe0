"""The state of mutants in a partition: killed, inert, stated, excused, undetermined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.audit.kills import Kill
from conformance.audit.score import is_always_excused
from conformance.model import Case
from conformance.spec.catalogue import Mutant
from conformance.suite.survivors import NOT_SEEN, Partition, Survivors


@dataclass(frozen=True)
class MutantStates:
    """The states of an operator's mutants in one partition, by id.

    ``killed`` are those that its vectors kill at level should; ``survivors`` are the others, and
    those that none kills at must. ``refuted`` are killed although the catalogue or a proof says
    that they cannot be. ``missing`` is still to be achieved: a level, and the mutant to kill at it.
    """

    partition: Partition
    killed: frozenset[str] = field(repr=False)
    survivors: Survivors = field(repr=False)
    refuted: frozenset[str] = frozenset()
    missing: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)

    @property
    def counted(self) -> int:
        """Number of mutants that could be killed in the partition, as far as is known."""
        return len(self.killed | self.survivors.undetermined)

    @property
    def complete(self) -> bool:
        """True if every killable mutant is killed, and no statement is wrong."""
        return not (self.survivors.undetermined or self.refuted)


def classify_mutants(
    partition: Partition,
    mutants: Sequence[Mutant],
    kills: Iterable[Sequence[Kill]],
    proven: Collection[str] = (),
) -> MutantStates:
    """Classify each mutant by the kills of a partition and by proofs.

    ``proven`` change nothing there. Those that are equivalent by the catalogue are left out.
    """
    killed, at_must = set(), set()
    for vector_kills in kills:
        for kill in vector_kills:
            killed.add(kill.mutant)
            if kill.at_must:
                at_must.add(kill.mutant)
    mutants = [mutant for mutant in mutants if not mutant.equivalent]
    reasons = {mutant.id: stated_reason(mutant, partition, "should") for mutant in mutants}
    surviving = {mutant.id: mutant for mutant in mutants if mutant.id not in killed}
    stated = {name: reasons[name] for name in surviving if reasons[name]}
    inert = surviving.keys() & set(proven) - stated.keys()
    undetermined = surviving.keys() - inert - stated.keys()
    by_part = {m.id for m in mutants if stated_reason(m, partition, "must")}
    excused = {mutant.id for mutant in mutants if mutant.excused_by} | by_part
    only_at_should = killed - at_must
    missing = {("should", name) for name in undetermined}
    missing |= {("must", name) for name in (undetermined | only_at_should) - excused}
    refuted = {name for name in killed if reasons.get(name) or name in proven}
    refuted |= {m.id for m in mutants if is_always_excused(m) or m.id in by_part} & at_must
    return MutantStates(
        partition=partition,
        killed=frozenset(killed & reasons.keys()),
        survivors=Survivors(
            inert=frozenset(inert),
            stated=stated,
            excused=frozenset(only_at_should & excused),
            undetermined=frozenset(undetermined | only_at_should - excused),
        ),
        refuted=frozenset(refuted),
        missing=frozenset(missing),
    )


def stated_reason(mutant: Mutant, partition: Partition, level: str) -> str:
    """Return why the catalogue says that nothing kills a mutant in a partition.

    Returns: an empty text if it does not say so.
    """
    reasons = (
        statement.why
        for statement in mutant.stated_equivalences
        if statement.level == level
        and statement.holds(partition.dtype, partition.rank, partition.profile)
    )
    return next(reasons, "")


def mutant_states(
    mutants: Sequence[Mutant],
    partitions: Iterable[Partition],
    cases: Mapping[str, Case],
    kills: Mapping[str, Sequence[Kill]],
    survivors: Mapping[Partition, Survivors],
) -> list[MutantStates]:
    """Classify each mutant in every partition.

    The ``cases`` may be in few of them. ``survivors`` are those that the suite states; what it
    states of others is not asked again.
    """
    kills_within: dict[Partition, list[Sequence[Kill]]] = {part: [] for part in partitions}
    for vector_id, case in cases.items():
        partition = Partition(case.dtype, case.rank)
        kills_within[partition].append(kills.get(vector_id, ()))
    states = []
    for partition in sorted(kills_within):
        known = survivors.get(partition, Survivors())
        state = classify_mutants(partition, mutants, kills_within[partition], known.inert)
        open_ids = state.survivors.undetermined
        stated = {name: why for name, why in known.stated.items() if name in open_ids}
        left = replace(
            state.survivors,
            stated={**state.survivors.stated, **stated},
            undetermined=open_ids - stated.keys(),
        )
        states.append(replace(state, survivors=left))
    return states


def survivors_of_tries(
    partition: Partition,
    mutants: Sequence[Mutant],
    kills: Sequence[Sequence[Kill]],
    tried: int,
) -> Survivors:
    """Return the survivors, of which ``tried`` cases kill none.

    Nothing proves that none can. What is killed at level should alone is excused or undetermined.
    """
    survivors = classify_mutants(partition, mutants, kills).survivors
    killed = {kill.mutant for vector_kills in kills for kill in vector_kills}
    unseen = dict.fromkeys(survivors.undetermined - killed, f"{NOT_SEEN} {tried} cases")
    return replace(
        survivors,
        stated={**survivors.stated, **unseen},
        undetermined=survivors.undetermined & killed,
    )
