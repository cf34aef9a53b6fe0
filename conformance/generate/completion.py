"""What a suite of a definition lacks: cases of a fresh pool that kill what none of its cases kills.

All element types of a rank share the shapes and attributes of a pool, so that geometry rules out
mutants for all of them at once. Small cases come first. What no case kills is stated with the
number of cases that it was tried on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from conformance import parallel
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import survivors_of_tries
from conformance.audit.score import kill_levels
from conformance.core.operator import Operator
from conformance.generate.claim import DECLARED, Claim, claimed
from conformance.generate.pool import drawn_pool, in_type
from conformance.generate.suite import TOGETHER, case_size, killing
from conformance.model import Case, Vector
from conformance.specification import build, mutants_of
from conformance.suite.entries import Entry
from conformance.suite.store import Suite
from conformance.suite.survivors import Partition, SurvivorTable

POOL = 5_000
"""Fresh cases of each element type and rank."""

PATIENCE = 100
"""Vectors made one after the other that kill nothing new at level must, after which no mutant is
tried there: an interpretation gives what it gives, though none is said to excuse it."""


@dataclass(frozen=True)
class Added:
    """The vectors that a suite lacked of one operator, and what survives in each part with them.

    ``kills`` and ``excused``, those of them that an allowed interpretation excuses at must, are by
    id of all vectors, those that there were too.
    """

    op: str
    vectors: tuple[Vector, ...]
    kills: Mapping[str, tuple[str, ...]]
    excused: Mapping[str, tuple[str, ...]]
    parts: SurvivorTable


@dataclass
class CompletedPartition:
    """What became of a partition: the goals left, the cases tried, the vectors added.

    A goal is a level, and the mutant to kill at it. ``kills`` are by id of a vector; they are new
    for those that the suite has, too, which are ``known`` to kill others.
    """

    left: set[tuple[str, str]]
    known: list[tuple[Kill, ...]] = field(default_factory=list)
    tried: int = 0
    in_vain: int = 0
    vectors: list[Vector] = field(default_factory=list)
    kills: dict[str, tuple[Kill, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CompletionTask:
    """The survivors of one rank of a definition; ``suite`` has its value vectors alone."""

    suite: Suite = field(repr=False)
    operator: Operator
    rank: int
    seed: int
    claim: Claim | None = None

    @property
    def label(self) -> str:
        return f"{self.operator.op} {self.rank}D"

    def run(self) -> dict[str, CompletedPartition]:
        """Try what survives on the suite's cases, then on fresh ones; by element type."""
        return _Completion(self).run()


class _Completion:
    """The work of a task."""

    def __init__(self, task: CompletionTask) -> None:
        self.task, self.operator = task, task.operator
        self.runner = MutantRunner(self.operator, mutants_of(self.operator))
        self.entries = {entry.id: entry for entry in task.suite.manifest.listed}
        self.is_claimed: Callable[[Case], bool] = lambda _case: True
        if task.claim is not None:
            self.is_claimed = claimed(self.operator, task.claim)
        goals = {("should", mutant.id) for mutant in self.runner.mutants}
        goals |= {("must", mutant.id) for mutant in self.runner.mutants if not mutant.excused_by}
        dtypes = dict.fromkeys(entry.dtype for entry in self.entries.values())
        self.partitions = {
            dtype: CompletedPartition(set(goals))
            for dtype in dtypes
            if task.claim is None or dtype in task.claim.dtypes
        }

    def run(self) -> dict[str, CompletedPartition]:
        self._try_in_order(self._existing_cases(), lambda case: [case])
        pool = drawn_pool(self.operator, self.task.seed, POOL, self.task.rank)
        self._try_in_order(pool, self._in_types)
        return self.partitions

    def _existing_cases(self) -> Iterator[Case]:
        """Yield the claimed cases of the suite; what they are known to kill is not left."""
        for entry in self.entries.values():
            case = self.task.suite.read(entry, answers=False).case
            if entry.dtype in self.partitions and self.is_claimed(case):
                known = tuple(Kill(name, name not in entry.excused, b"") for name in entry.kills)
                self.partitions[entry.dtype].known.append(known)
                self.partitions[entry.dtype].left.difference_update(kill_levels(known))
                yield case

    def _in_types(self, case: Case) -> Iterator[Case]:
        """Yield a fresh case in each element type in which mutants are left."""
        for dtype, partition in self.partitions.items():
            if partition.left:
                fresh = in_type(self.operator, case, dtype)
                if fresh.dtype == dtype and self.is_claimed(fresh):
                    yield fresh

    def _try_in_order(
        self, cases: Iterable[Case], variants: Callable[[Case], Iterable[Case]]
    ) -> None:
        """Try cases by their size, each in its variants, which have the same geometry."""
        ordered = sorted(cases, key=case_size)
        for first in range(0, len(ordered), TOGETHER):
            left = {name for p in self.partitions.values() for _, name in p.left}
            if not left:
                return
            parallel.step(f"{len(left)} mutants left", first / len(ordered))
            runner = self.runner.restricted_to(left)
            together = ordered[first : first + TOGETHER]
            for case, may in zip(together, runner.may_differ(together), strict=True):
                for variant in variants(case):
                    self._try(runner, variant, may)

    def _try(self, runner: MutantRunner, case: Case, may: NDArray[np.bool_]) -> None:
        """Try what is left on a case; keep its vector if that kills something."""
        partition = self.partitions[case.dtype]
        partition.tried += 1
        entry = self.entries.get(case.id)
        open_names = {name for _, name in partition.left}.difference(entry.kills if entry else ())

        def made() -> Vector:
            return build(self.operator, case) if entry is None else self.task.suite.read(entry)

        among = may & [mutant.id in open_names for mutant in runner.mutants]
        found = killing(runner, case, among, made)
        if found is None:
            return
        vector, kills = found
        reached = partition.left.intersection(kill_levels(kills))
        partition.in_vain = 0 if reached else partition.in_vain + 1
        if reached:
            partition.left -= reached
            partition.kills[vector.id] = kills
            if entry is None:
                partition.vectors.append(vector)
        elif partition.in_vain == PATIENCE:
            partition.left = {goal for goal in partition.left if goal[0] != "must"}


def complete_definitions(
    suite: Suite,
    operators: Sequence[Operator],
    *,
    root: int,
    processes: int,
    progress: parallel.Progress,
    claims: Mapping[str, Claim] | None = None,
) -> Iterator[Added]:
    """Yield what a suite lacks of each definition: cases that kill what survives in a partition.

    With ``claims`` only what is claimed of an operator counts. Raises UsageError for a claim that
    does not fit its operator.
    """
    tasks = {
        operator.op: list(_tasks(suite, operator, root, (claims or {}).get(operator.op)))
        for operator in operators
    }
    work = [task for of_operator in tasks.values() for task in of_operator]
    done = parallel.run(work, processes=processes, progress=progress, total=len(work))
    for operator in operators:
        partitions = {
            Partition(dtype, task.rank, _profile(task.claim)): completed
            for task in tasks[operator.op]
            for dtype, completed in next(done).items()
        }
        yield _added(suite, operator, partitions, (claims or {}).get(operator.op))


def _tasks(
    suite: Suite, operator: Operator, root: int, claim: Claim | None
) -> Iterator[CompletionTask]:
    by_rank: dict[int, list[Entry]] = {}
    for entry in suite.manifest.of([operator.op]):
        if entry.reject is None and not entry.is_large:
            by_rank.setdefault(suite.rank_of(entry), []).append(entry)
    for rank, entries in sorted(by_rank.items()):
        if claim is None or rank in claim.ranks:
            manifest = replace(suite.manifest, listed=tuple(entries), strength={})
            yield CompletionTask(Suite(suite.path, manifest), operator, rank, root, claim)


def _profile(claim: Claim | None) -> str:
    return DECLARED if claim is not None and claim.left_out else ""


def _added(
    suite: Suite,
    operator: Operator,
    partitions: Mapping[Partition, CompletedPartition],
    claim: Claim | None,
) -> Added:
    before = {entry.id: entry for entry in suite.manifest.of([operator.op])}
    kills: dict[str, tuple[str, ...]] = {}
    excused: dict[str, tuple[str, ...]] = {}
    for completed in partitions.values():
        for id, new in completed.kills.items():
            entry = before.get(id)
            kills[id] = tuple(kill.mutant for kill in new) + (entry.kills if entry else ())
            allowed = tuple(kill.mutant for kill in new if not kill.at_must)
            excused[id] = allowed + (entry.excused if entry else ())
    survivors = {
        partition: survivors_of_tries(
            partition,
            mutants_of(operator),
            [*completed.known, *completed.kills.values()],
            completed.tried,
        )
        for partition, completed in partitions.items()
    }
    profiles = {DECLARED: claim.left_out} if claim is not None and claim.left_out else {}
    return Added(
        op=operator.op,
        vectors=tuple(vector for completed in partitions.values() for vector in completed.vectors),
        kills=kills,
        excused=excused,
        parts=SurvivorTable(survivors, profiles),
    )
