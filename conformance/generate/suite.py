"""The suite of an operator that is a definition: planned cases, what they kill, and what is added.

A mutant is killed nearly everywhere, so each is tried, partition by partition, until some cases of
it have killed it, also at level must if no interpretation excuses it. What no planned case kills is
tried on cases that are drawn beside; one that kills is added. The rest is not seen to show.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress, groupby
from math import prod
from typing import overload

import numpy as np
from numpy.typing import NDArray

from conformance import parallel
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import survivors_of_tries
from conformance.audit.score import MutationScore, kill_levels
from conformance.choices import SuiteName
from conformance.core.data import inputs_of
from conformance.core.kills import is_killed
from conformance.core.negative import negative_tests
from conformance.core.operator import Operator
from conformance.core.subject import Subject
from conformance.errors import UsageError
from conformance.generate.cases import draw_cases
from conformance.generate.claim import Claim, claimed
from conformance.generate.plan import PlannedCase, plan
from conformance.model import Case, Vector
from conformance.spec.catalogue import Mutant
from conformance.specification import build, mutants_of
from conformance.suite.survivors import Partition, SurvivorTable
from conformance.suite.unreachable import Unreachable
from conformance.suite.vector_file import decode_vector, encode_vector

POOL = 8_000
"""Random cases that a core suite is selected from."""

SMOKE_POOL = 600

ENOUGH_KILLS = 3
"""Cases of a partition that kill a mutant, after which it is not tried on others.

Those of smoke are tried on all, since a run of it alone counts only what they kill.
"""

TOGETHER = 25
"""Cases whose geometry is looked at together; they are alike in size, so that grids stay small."""

BESIDE = 60
"""Further cases of a partition that what is not killed is tried on."""

STARTS = 300
"""Valid cases that negative tests start from."""

CORE, SMOKE = ("core",), ("smoke", "core")


@dataclass(frozen=True)
class Made:
    """The vectors of one operator, negative tests last, and what the manifest says of them."""

    op: str
    vectors: Sequence[Vector]
    suites: Mapping[str, tuple[str, ...]]
    kills: Mapping[str, tuple[str, ...]]
    excused: Mapping[str, tuple[str, ...]]
    strength: Unreachable


@dataclass(frozen=True)
class PartitionTask:
    """The planned cases of one partition, to be evaluated; ``seed`` is that of further cases."""

    operator: Operator
    partition: Partition
    planned: tuple[PlannedCase, ...] = field(repr=False)
    seed: int
    beside: int

    @property
    def label(self) -> str:
        return f"{self.operator.op} {self.partition}"

    def run(self) -> PartitionVectors:
        """Build the vectors, and find what they kill."""
        runner = MutantRunner(self.operator, mutants_of(self.operator))
        counts: Counter[Hashable] = Counter()
        members: list[Member] = []
        kills: dict[str, tuple[Kill, ...]] = {}
        for entry in self.planned:
            if SuiteName.LARGE in entry.suites:
                members.append(_member(entry, build(self.operator, entry.case)))
        small = [entry for entry in self.planned if SuiteName.LARGE not in entry.suites]
        small.sort(key=lambda entry: case_size(entry.case))
        for first in range(0, len(small), TOGETHER):
            together = small[first : first + TOGETHER]
            may_differ = runner.may_differ([entry.case for entry in together])
            for entry, may in zip(together, may_differ, strict=True):
                vector = build(self.operator, entry.case)
                members.append(_member(entry, vector))
                enough = sys.maxsize if SuiteName.SMOKE in entry.suites else ENOUGH_KILLS
                kills[vector.id] = _kills(runner, vector, counts, enough, may)
        left = runner.restricted_to(_open(runner, counts, 1))
        further = self._further() if left.mutants else []
        for case, may in zip(further, left.may_differ(further), strict=True):
            sought = _open(left, counts, 1)
            among = may & [mutant.id in sought for mutant in left.mutants]
            found = killing(left, case, among, partial(build, self.operator, case))
            goals = len(counts)
            counts.update(kill_levels(found[1]) if found is not None else ())
            if found is not None and len(counts) > goals and case.id not in kills:
                vector, kills[case.id] = found
                members.append(Member(case, CORE, encode_vector(vector)))
        tried = len(kills) + self.beside
        return PartitionVectors(self.partition, tuple(members), kills, tried)

    def _further(self) -> list[Case]:
        if not self.beside:
            return []
        dtypes, ranks = (self.partition.dtype,), (self.partition.rank,)
        return draw_cases(self.operator, self.beside, seed=self.seed, dtypes=dtypes, ranks=ranks)


@dataclass(frozen=True)
class Member:
    """A vector's case, its suites, and its file: as arrays, all of an operator take much memory."""

    case: Case
    suites: tuple[str, ...]
    content: bytes = field(repr=False)


class Decoded(Sequence[Vector]):
    """Vectors of files, each decoded when it is asked for."""

    def __init__(self, contents: Sequence[bytes]) -> None:
        self._contents = contents

    @overload
    def __getitem__(self, index: int) -> Vector: ...

    @overload
    def __getitem__(self, index: slice) -> Decoded: ...

    def __getitem__(self, index: int | slice) -> Vector | Decoded:
        if isinstance(index, slice):
            return Decoded(self._contents[index])
        return decode_vector(self._contents[index], "a vector just made")

    def __len__(self) -> int:
        return len(self._contents)


@dataclass(frozen=True)
class PartitionVectors:
    """The vectors of a partition, and the mutants that they kill, by id; ``tried`` were more."""

    partition: Partition
    members: tuple[Member, ...]
    kills: Mapping[str, tuple[Kill, ...]]
    tried: int


def make_definitions(
    operators: Sequence[Operator],
    *,
    root: int,
    processes: int,
    progress: parallel.Progress,
    suite: str = "core",
    claims: Mapping[str, Claim] | None = None,
) -> Iterator[Made]:
    """Make the core suites of operators, in their order; for ``smoke`` only what it needs.

    With ``claims`` cases are those that are claimed of an operator. Raises UsageError where there
    are none.
    """
    is_smoke = suite == SuiteName.SMOKE
    for number, operator in enumerate(operators):
        progress(f"{operator.op} cases", number, len(operators))
        claim = (claims or {}).get(operator.op)
        is_claimed = claimed(operator, claim) if claim is not None else lambda _case: True
        planned = [
            entry
            for entry in plan(operator, root, pool=SMOKE_POOL if is_smoke else POOL, suite=suite)
            if is_claimed(entry.case)
        ]
        if not planned:
            raise UsageError(f"no case of {operator.op} is claimed")
        tasks = [
            PartitionTask(operator, partition, tuple(entries), root + 1, 0 if is_smoke else BESIDE)
            for partition, entries in groupby(
                sorted(planned, key=lambda e: _partition(e.case)), key=lambda e: _partition(e.case)
            )
        ]
        done = parallel.run(tasks, processes=processes, progress=progress, total=len(tasks))
        yield _made(operator, list(done), root)


def _made(operator: Operator, parts: Sequence[PartitionVectors], root: int) -> Made:
    mutants = mutants_of(operator)
    members = [member for part in parts for member in part.members]
    members.sort(key=lambda member: case_order(member.case))
    kills = {id: killed for part in parts for id, killed in part.kills.items()}
    score = MutationScore(operator.op, mutants, kills)
    tests = negative_tests(operator, draw_cases(operator, STARTS, seed=root))
    rejected = [encode_vector(build(operator, test.case, test.level)) for test in tests]
    suites = {member.case.id: member.suites for member in members}
    suites |= {test.case.id: SMOKE for test in tests}
    # Those of a smoke suite were tried on its cases alone, which says nothing of what can show.
    survivors = {
        part.partition: survivors_of_tries(
            part.partition, mutants, list(part.kills.values()), part.tried
        )
        for part in parts
        if part.tried > len(part.kills)
    }
    return Made(
        op=operator.op,
        vectors=Decoded([*(member.content for member in members), *rejected]),
        suites=suites,
        kills={id: tuple(kill.mutant for kill in killed) for id, killed in kills.items()},
        excused={
            id: tuple(kill.mutant for kill in killed if not kill.at_must)
            for id, killed in kills.items()
        },
        strength=Unreachable(
            indistinguishable=score.indistinguishable, parts=SurvivorTable(survivors)
        ),
    )


def _kills(
    runner: MutantRunner,
    vector: Vector,
    counts: Counter[Hashable],
    enough: int,
    may: NDArray[np.bool_],
) -> tuple[Kill, ...]:
    """Return what a vector kills of the mutants that too few have killed; count it by level."""
    sought = _open(runner, counts, enough)
    killed = runner.kills(vector, may & [mutant.id in sought for mutant in runner.mutants])
    counts.update(kill_levels(killed))
    return killed


def _open(runner: MutantRunner, counts: Counter[Hashable], enough: int) -> frozenset[str]:
    """The mutants that too few vectors kill, at level must too if nothing excuses them there."""

    def is_open(mutant: Mutant) -> bool:
        levels = ("should",) if mutant.excused_by else ("should", "must")
        return any(counts[level, mutant.id] < enough for level in levels)

    return frozenset(mutant.id for mutant in runner.mutants if is_open(mutant))


def killing(
    runner: MutantRunner, case: Case, among: NDArray[np.bool_], made: Callable[[], Vector]
) -> tuple[Vector, tuple[Kill, ...]] | None:
    """Return the vector of a case that kills some mutants, and what; None if none is killed.

    The vector, which takes longer than a look at its outputs, is made only if something is.
    """
    operator, sought = runner.spec, [*compress(runner.mutants, among)]
    assert isinstance(operator, Operator)
    if not sought:
        return None
    subject = Subject(operator, case, inputs_of(operator, case))
    killed = {mutant.id for mutant in sought if is_killed(subject, mutant)}
    if not killed:
        return None
    vector = made()
    kills = runner.restricted_to(killed).kills(vector)
    return (vector, kills) if kills else None


def _member(entry: PlannedCase, vector: Vector) -> Member:
    is_large = entry.suites == (SuiteName.LARGE,)
    suites = ("core", *entry.suites) if is_large else entry.suites
    return Member(entry.case, suites, encode_vector(vector))


def _partition(case: Case) -> Partition:
    return Partition(case.dtype, case.rank)


def case_size(case: Case) -> tuple[int, str]:
    """Return what small cases come first by: the elements of the tensors, then the id."""
    return sum(prod(shape) for shape in case.shapes.values()), case.id


def case_order(case: Case) -> tuple[int, int, str]:
    """Return what the cases of a suite are sorted by: rank, then size."""
    return (case.rank, *case_size(case))
