"""Finds vectors for what a suite lacks: edges, strata, and mutants that could be killed.

The vectors that there are stay as they are, so whoever knows the suite knows what was asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance import parallel
from conformance.audit.kills import Kill
from conformance.audit.mutant_states import mutant_states, survivor_table
from conformance.audit.partitions import excluded_predicates
from conformance.audit.trivial_implementations import trivially_passed
from conformance.generate.candidates import Candidates
from conformance.generate.killers import Killers
from conformance.generate.narrow import Claim, as_claimed, narrowed
from conformance.generate.pairs import Effort, Pair, Pool
from conformance.generate.rank import meaningful
from conformance.generate.settle import settle
from conformance.generate.smaller import relatives
from conformance.generate.suites import with_twins
from conformance.model import Vector
from conformance.reference.build import build
from conformance.spec.catalogue import mutants_of
from conformance.spec.model import OpSpec
from conformance.spec.strata import is_stratum, strata_of
from conformance.specification import by_rules
from conformance.suite.manifest import UndecidedTarget
from conformance.suite.store import Suite
from conformance.suite.survivors import Partition, SurvivorTable
from conformance.suite.unreachable import InfeasiblePairs, Unreachable


@dataclass(frozen=True)
class Known:
    """Value vectors of one operator, and what is known of them.

    ``kills`` gives by id the mutants that each kills; it is empty where that is to be worked out.
    ``inert`` gives by part the mutants that are proven to change nothing there, ``infeasible`` what
    is proven of edges.
    """

    vectors: tuple[Vector, ...] = field(repr=False)
    kills: Mapping[str, tuple[Kill, ...]] = field(repr=False)
    inert: Mapping[Partition, frozenset[str]] = field(repr=False)
    infeasible: InfeasiblePairs = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Added:
    """The vectors that a suite lacked of one operator, and what survives in each part with them.

    ``kills`` and ``excused``, those of them that an allowed interpretation excuses at must, are by
    id of all vectors, those that there were too. ``infeasible`` and ``uncovered`` are what is known
    of edges and of strata, which have the digest ``strata``; all empty where these were not asked.
    """

    op: str
    vectors: tuple[Vector, ...]
    kills: Mapping[str, tuple[str, ...]]
    excused: Mapping[str, tuple[str, ...]]
    parts: SurvivorTable
    infeasible: InfeasiblePairs = field(default_factory=dict)
    uncovered: tuple[UndecidedTarget, ...] = ()
    strata: str = ""


@dataclass(frozen=True)
class Found:
    """All vectors of a rank by id, what they kill, and what is inert in each part."""

    vectors: Mapping[str, Vector]
    kills: Mapping[str, tuple[Kill, ...]]
    inert: Mapping[Partition, frozenset[str]]
    infeasible: Mapping[Pair, tuple[str, ...]] = field(default_factory=dict)
    uncovered: tuple[UndecidedTarget, ...] = ()


@dataclass(frozen=True)
class CompletionTask:
    """What one rank of an operator lacks; its result depends on nothing else.

    With ``edges`` edges and strata are asked for, too, otherwise mutants alone. With ``smaller``
    smaller relatives of large vectors are added to what it lacks.
    """

    spec: OpSpec
    rank: int
    root: int
    known: Known
    edges: bool
    smaller: bool = False

    @property
    def label(self) -> str:
        return f"{self.spec.op} rank {self.rank}"

    def run(self) -> Found:
        of_rank = [one for one in self.known.vectors if one.inputs[0].ndim == self.rank]
        pool = Pool(self.spec, self.rank, self.root, Effort())
        new: list[Vector] = []
        if self.edges:
            pool.infeasible.update(self.known.infeasible.get(self.rank, {}))
            parallel.step("covering pairs of targets", 0)
            pool.fill()
            pool.add([one.case for one in of_rank])
            settle(pool)
            found = meaningful(pool, known={one.id: one for one in of_rank})
            new = with_twins(self.spec, found)
        killers = Killers(
            self.spec,
            self.rank,
            [*of_rank, *new],
            kills=self.known.kills,
            inert=self.known.inert,
        )
        killers.complete(Candidates.spelled(pool.seen.table), root=self.root, effort=Effort())
        if self.smaller:
            large = [vector.case for vector in killers.vectors.values()]
            some = (build(self.spec, case) for case in relatives(self.spec, large))
            killers.add(
                with_twins(self.spec, [one for one in some if not trivially_passed(self.spec, one)])
            )
        return Found(
            killers.vectors, killers.kills, killers.inert, pool.proven, tuple(pool.uncovered)
        )


def known(suite: Suite, op: str) -> Known:
    """What a suite has of an operator. Its kills count if it knows every mutant."""
    manifest = suite.manifest
    entries = [one for one in manifest.of([op]) if one.reject is None and not one.is_large]
    vectors = tuple(map(suite.read, entries))
    table = manifest.faults.get(op, {})
    counted = [fault.id for fault in suite.specs.faults(op) if not fault.equivalent]
    kills = {
        entry.id: tuple(Kill(name, name not in entry.excused, b"") for name in entry.kills)
        for entry in entries
        if all(name in table for name in counted)
    }
    parts = manifest.strength[op].parts if op in manifest.strength else SurvivorTable()
    own = {
        one.name: excluded_predicates(one)
        for one in by_rules(suite.specs[op], "completing").profiles
    }
    inert = {
        part: one.inert
        for part, one in parts.survivors.items()
        if not part.profile or own.get(part.profile) == parts.profiles[part.profile]
    }
    return Known(vectors, kills, inert, _proven(suite, op))


def _proven(suite: Suite, op: str) -> InfeasiblePairs:
    """The proofs of a suite about targets, and about strata if they are the current ones."""
    strength = suite.manifest.strength.get(op, Unreachable())
    if strength.strata == strata_of(suite.specs[op]).meaning:
        return strength.infeasible
    return {
        rank: {pair: why for pair, why in pairs.items() if not any(map(is_stratum, pair))}
        for rank, pairs in strength.infeasible.items()
    }


def complete(
    specs: Sequence[OpSpec],
    there: Mapping[str, Known],
    *,
    root: int,
    processes: int,
    progress: parallel.Progress,
    claims: Mapping[str, Claim] | None = None,
    smaller: bool = False,
) -> Iterator[Added]:
    """What each of some operators lacks, ``there`` being all that is claimed of it, by name.

    With ``claims`` only what is claimed of an operator counts, and mutants alone; with ``smaller``
    smaller relatives of large vectors are added, from which fewer can be chosen. Raises UsageError
    for a claim that does not fit its operator.
    """
    claims = claims or {}
    narrow = [narrowed(spec, claims[spec.op]) if spec.op in claims else spec for spec in specs]
    work = [
        CompletionTask(spec, rank, root, there[spec.op], edges=not claims, smaller=smaller)
        for spec in narrow
        for rank in spec.ranks
    ]
    done = parallel.run(work, processes=processes, progress=progress, total=len(work))
    for whole, spec in zip(specs, narrow, strict=True):
        ranks = [next(done) for _ in spec.ranks]
        added = _added(spec, there[spec.op], ranks)
        if not claims:
            proven = {rank: one.infeasible for rank, one in zip(spec.ranks, ranks, strict=True)}
            open_ = tuple(gap for one in ranks for gap in one.uncovered)
            meaning = strata_of(spec).meaning
            added = replace(added, infeasible=proven, uncovered=open_, strata=meaning)
        if spec.op in claims:
            parts = as_claimed(whole, spec, added.parts, claims[spec.op])
            added = replace(added, parts=parts)
        yield added


def _added(spec: OpSpec, there: Known, ranks: Sequence[Found]) -> Added:
    vectors = {name: one for rank in ranks for name, one in rank.vectors.items()}
    kills = {name: found for rank in ranks for name, found in rank.kills.items()}
    cases = {name: vector.case for name, vector in vectors.items()}
    inert = {part: names for rank in ranks for part, names in rank.inert.items()}
    old = {vector.id for vector in there.vectors}
    return Added(
        op=spec.op,
        vectors=tuple(one for name, one in vectors.items() if name not in old),
        kills={name: tuple(kill.mutant for kill in found) for name, found in kills.items()},
        excused={
            name: tuple(kill.mutant for kill in found if not kill.at_must)
            for name, found in kills.items()
        },
        parts=survivor_table(spec, mutant_states(spec, mutants_of(spec), cases, kills, inert)),
    )
