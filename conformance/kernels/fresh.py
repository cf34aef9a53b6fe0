"""A suite that nobody knows: the recorded selection with other data, and drawn cases.

The selection of an operator is published, with its data. Here its cases keep their shapes and
attributes, which kill the mutants, and get data of a fresh seed; their kills are computed anew.
Drawn cases have shapes that nobody has published either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path

import numpy as np

from conformance import parallel
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import mutant_states
from conformance.audit.score import kill_levels
from conformance.choices import SuiteName
from conformance.core.operator import Operator
from conformance.generate import recorded
from conformance.generate.large import with_large
from conformance.generate.paired_cases import APART, other_data, with_paired_cases
from conformance.generate.pool import drawn_pool
from conformance.generate.suite import Made, make_definitions
from conformance.generate.versions import versions
from conformance.model import Case, Vector
from conformance.specification import build, mutants_of, shipped_specs
from conformance.suite.origin import carried_origin, shipped_origin
from conformance.suite.recorded_cases import RecordedCase, RecordedCases
from conformance.suite.store import Suite
from conformance.suite.survivors import Partition, SurvivorTable
from conformance.suite.unreachable import Unreachable
from conformance.suite.writer import write_suite

BATCH_CASES = 60
"""Cases of one task."""

DRAWN_CASES = {"core": 24, SuiteName.SMOKE: 6}
"""Drawn cases of each rank."""

MAX_DRAWS = 200
"""Draws of data for a case, at most, until the suite kills what the published one kills.

A mutant that leaves out the last of 33 rows of a maximum needs some 33; most need fewer than five.
"""

MAX_ELEMENTS = 6000
"""Elements of each tensor of a drawn case, at most."""

PartitionKill = tuple[Partition, tuple[str, str]]
"""A level with a mutant that is killed at it in a partition."""

Built = list[tuple[Vector, tuple[Kill, ...]]]


@dataclass(frozen=True)
class CaseToBuild:
    """A case, its level, and the mutants that it may kill, which are run on it."""

    case: Case
    level: str = "must"
    mutants: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CaseGroup:
    """Cases of one operator to build, and to compute the kills of."""

    spec: Operator
    cases: tuple[CaseToBuild, ...] = field(repr=False)

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> Built:
        runner: MutantRunner | None = None
        built: Built = []
        for item in self.cases:
            vector = build(self.spec, item.case, item.level)
            kills: tuple[Kill, ...] = ()
            if item.mutants:
                runner = runner or MutantRunner(self.spec, mutants_of(self.spec))
                kills = runner.kills(
                    vector, np.array([mutant.id in item.mutants for mutant in runner.mutants])
                )
            built.append((vector, kills))
        return built


def fresh_suite(
    spec: Operator,
    out: Path,
    *,
    seed: int,
    suite: str = "core",
    processes: int = 1,
    progress: parallel.Progress = lambda *_: None,
) -> Suite:
    """Make a suite of one operator with data of ``seed``, in the folder ``out``.

    An operator without recorded cases gets a selection of its own, which takes minutes.

    Args:
        suite: ``core`` or ``smoke``.

    Raises:
        ConformanceError: whatever generating a suite raises.
    """
    recorded_cases = recorded.read(spec.op) if spec is shipped_specs().get(spec.op) else None
    if recorded_cases is None:
        return _select(spec, out, seed=seed, suite=suite, processes=processes, progress=progress)
    is_measured = suite != SuiteName.SMOKE  # of a smoke suite nothing is claimed
    build_cases = partial(_build, spec, processes=processes, progress=progress)
    entries = [e for e in recorded_cases.recorded if suite in e.suites and e.withdrawn is None]
    known = {mutant.id for mutant in mutants_of(spec)} if is_measured else frozenset()
    wanted = [(entry, _wanted(entry, known)) for entry in entries if not entry.is_large]
    built: Built = []
    killed: set[PartitionKill] = set()
    for attempt in range(MAX_DRAWS):
        tried = [
            CaseToBuild(
                other_data(entry.case, 2 * seed + attempt * APART), entry.level, _ids(kills)
            )
            for entry, kills in wanted
        ]
        for vector, kills in build_cases(tried):
            gained = _kills(vector, kills) - killed
            if gained or not attempt:
                built.append((vector, kills))
                killed |= gained
        wanted = [(entry, kills - killed) for entry, kills in wanted if kills - killed]
        if not wanted:
            break
    cases = {vector.id: vector.case for vector, _ in built if vector.case.reject is None}
    large = [CaseToBuild(other_data(e.case, 2 * seed), e.level) for e in entries if e.is_large]
    ranks = sorted({e.case.rank for e in recorded_cases.recorded if e.case.reject is None})
    drawn = [CaseToBuild(case) for case in _draw_cases(spec, seed, ranks, DRAWN_CASES[suite])]
    built += build_cases([*drawn, *large])
    kills_by_id = {vector.id: kills for vector, kills in built}
    parts = _survivors(spec, recorded_cases, cases, kills_by_id) if is_measured else SurvivorTable()
    vectors, strength = [vector for vector, _ in built], Unreachable(parts=parts)
    return _write(spec, out, vectors, kills_by_id, strength, seed=seed, suite=suite)


def _wanted(entry: RecordedCase, known: Collection[str]) -> set[PartitionKill]:
    """Return what a recorded case kills in its partition, of the ``known`` mutants."""
    partition = Partition(entry.case.dtype, entry.case.rank)
    return {(partition, goal) for goal in entry.achieved if goal[1] in known}


def _kills(vector: Vector, kills: Iterable[Kill]) -> set[PartitionKill]:
    partition = Partition(vector.case.dtype, vector.case.rank)
    return {(partition, goal) for goal in kill_levels(kills)}


def _ids(kills: Iterable[PartitionKill]) -> frozenset[str]:
    return frozenset(mutant for _, (_, mutant) in kills)


def _draw_cases(spec: Operator, seed: int, ranks: Sequence[int], count: int) -> list[Case]:
    """Draw cases of shapes and attributes that nobody has selected, small enough to evaluate."""
    cases: list[Case] = []
    for rank in ranks:
        small = [
            other_data(case, 2 * seed)
            for case in drawn_pool(spec, seed, count, rank)
            if all(prod(shape) <= MAX_ELEMENTS for shape in case.shapes.values())
        ]
        cases += small[:count]
    return cases


def _survivors(
    spec: Operator,
    recorded_cases: RecordedCases,
    cases: Mapping[str, Case],
    kills: Mapping[str, Sequence[Kill]],
) -> SurvivorTable:
    """Return what the cases do not kill in each partition, with what was stated of the rest."""
    partitions = {Partition(case.dtype, case.rank) for case in cases.values()}
    known = recorded_cases.parts.survivors
    states = mutant_states(mutants_of(spec), partitions, cases, kills, known)
    return SurvivorTable({state.partition: state.survivors for state in states})


def _build(
    spec: Operator,
    cases: Iterable[CaseToBuild],
    *,
    processes: int,
    progress: parallel.Progress,
) -> Built:
    once = list({item.case.id: item for item in cases}.values())
    groups = [
        CaseGroup(spec, tuple(once[first : first + BATCH_CASES]))
        for first in range(0, len(once), BATCH_CASES)
    ]
    if len(groups) == 1:  # no process is worth its start
        processes = 1
    built = parallel.run(groups, processes=processes, progress=progress, total=len(groups))
    return [item for group in built for item in group]


def _select(
    spec: Operator,
    out: Path,
    *,
    seed: int,
    suite: str,
    processes: int,
    progress: parallel.Progress,
) -> Suite:
    """Select cases of an operator without recorded cases."""
    (made,) = make_definitions(
        [spec], root=seed, processes=processes, progress=progress, suite=suite
    )
    chosen = [v for v in made.vectors if suite in made.suites[v.id]]
    return _write(spec, out, chosen, made, made.strength, seed=seed, suite=suite)


def _write(
    spec: Operator,
    out: Path,
    vectors: Sequence[Vector],
    kills: Mapping[str, Sequence[Kill]] | Made,
    strength: Unreachable,
    *,
    seed: int,
    suite: str,
) -> Suite:
    """Write the vectors and reseeded ones, in an order that the seed decides."""
    if isinstance(kills, Made):
        killed, excused = dict(kills.kills), dict(kills.excused)
    else:
        killed = {i: tuple(kill.mutant for kill in of_vector) for i, of_vector in kills.items()}
        excused = {
            i: tuple(kill.mutant for kill in of_vector if not kill.at_must)
            for i, of_vector in kills.items()
        }
    # Claims name the suite; one with the few cases of the smoke suite keeps that name.
    name = SuiteName.SMOKE if suite == SuiteName.SMOKE else SuiteName.FRESH
    is_shipped = spec is shipped_specs().get(spec.op)
    basis = shipped_origin(spec) if is_shipped else carried_origin(spec)
    paired = with_paired_cases(spec, vectors, seed, suite)
    return write_suite(
        out,
        ((vector, (name,)) for vector in with_large(spec, paired, seed, suite)),
        name=name,
        seed=seed,
        versions=versions(),
        kills={i: of_vector for i, of_vector in killed.items() if of_vector},
        excused={i: of_vector for i, of_vector in excused.items() if of_vector},
        strength={spec.op: strength},
        bases=[basis],
    )
