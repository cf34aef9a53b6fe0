"""A suite that nobody knows: the recorded selection with other data, and drawn cases.

The selection of an operator is published, with its data. Here its cases keep their shapes and
attributes, which kill the mutants, and get data of a fresh seed; their kills are computed anew.
Drawn cases have shapes that nobody has published either. The cases of a definition are selected
anew by the seed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from conformance import parallel
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import mutant_states, survivor_table
from conformance.audit.score import kill_levels
from conformance.choices import SuiteName
from conformance.generate import plan, recorded
from conformance.generate.definition_suite import make_definitions
from conformance.generate.definition_twins import with_other_data
from conformance.generate.large import with_large
from conformance.generate.looking import sound
from conformance.generate.pool import draw_fast
from conformance.generate.suites import versions
from conformance.generate.twins import APART, other_data, with_twins
from conformance.model import Case, Vector
from conformance.spec.model import OpSpec
from conformance.specification import Specification, build, mutants_of, shipped_specs
from conformance.suite.origin import carried_origin, shipped_origin
from conformance.suite.recorded_cases import RecordedCase
from conformance.suite.shipped_suite import proven_unreachable
from conformance.suite.store import Suite
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
"""Elements of the data of a drawn case, at most."""

PartitionKill = tuple[tuple[str, int], Hashable]
"""An element type and a rank, and a level with a mutant that is killed at it there."""


@dataclass(frozen=True)
class CaseGroup:
    """Cases of one operator to build, and to compute the kills of if ``measured``."""

    spec: OpSpec
    cases: tuple[tuple[Case, str], ...] = field(repr=False)
    measured: bool

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> list[tuple[Vector, tuple[Kill, ...]]]:
        vectors = [build(self.spec, case, level) for case, level in self.cases]
        kills: dict[str, tuple[Kill, ...]] = {}
        graded = [vector for vector in vectors if self.measured and vector.case.reject is None]
        if graded:
            runner = MutantRunner(self.spec, mutants_of(self.spec))
            ids = (vector.id for vector in graded)
            kills = dict(zip(ids, runner.all_kills(graded), strict=True))
        return [(vector, kills.get(vector.id, ())) for vector in vectors]


def fresh_suite(
    spec: Specification,
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
    if not isinstance(spec, OpSpec):
        # A seed decides which cases of a definition are drawn and selected, and their data.
        return _select(spec, out, seed=seed, suite=suite, processes=processes, progress=progress)
    recorded_cases = recorded.read(spec.op) if spec is shipped_specs().get(spec.op) else None
    if recorded_cases is None:
        return _select(spec, out, seed=seed, suite=suite, processes=processes, progress=progress)
    measured = suite != SuiteName.SMOKE  # of a smoke suite nothing is claimed
    build_cases = partial(_build, spec, processes=processes, progress=progress)
    entries = [e for e in recorded_cases.recorded if suite in e.suites and e.withdrawn is None]
    chosen = [entry for entry in entries if not entry.is_large]
    drawn = [(case, "must") for case in _draw_cases(spec, seed, DRAWN_CASES[suite])]
    built = build_cases([*_reseeded(chosen, seed), *drawn], measured=measured)
    killed = {kill for vector, kills in built for kill in _kills(spec, vector, kills)}
    missing = [(e, _in_partition(spec, e.case, e.achieved) - killed) for e in chosen if measured]
    for attempt in range(1, MAX_DRAWS):
        missing = [(entry, kills - killed) for entry, kills in missing if kills - killed]
        if not missing:
            break
        number = 2 * seed + attempt * APART
        redrawn = [(other_data(entry.case, number), entry.level) for entry, _ in missing]
        wanted_kills = {kill for _, kills in missing for kill in kills}
        for vector, kills in build_cases(redrawn, measured=True):
            if gained := (wanted_kills - killed) & _kills(spec, vector, kills):
                built.append((vector, kills))
                killed |= gained
    large = _reseeded([entry for entry in entries if entry.is_large], seed)
    built += build_cases(large, measured=False)
    kills_by_id = {vector.id: kills for vector, kills in built}
    strength = proven_unreachable(spec)
    if measured:
        large_ids = {case.id for case, _ in large}
        cases = {v.id: v.case for v, _ in built if v.case.reject is None and v.id not in large_ids}
        inert = {
            partition: survivors.inert
            for partition, survivors in recorded_cases.parts.survivors.items()
        }
        states = mutant_states(spec, mutants_of(spec), cases, kills_by_id, inert)
        strength = replace(strength, parts=survivor_table(spec, states))
    return _write(spec, out, [v for v, _ in built], kills_by_id, strength, seed=seed, suite=suite)


def _reseeded(chosen: Sequence[RecordedCase], seed: int) -> list[tuple[Case, str]]:
    """Give the cases other data; return each with its level.

    Data of two seeds have nothing in common.
    """
    return [(other_data(entry.case, 2 * seed), entry.level) for entry in chosen]


def _in_partition(spec: OpSpec, case: Case, achieved: Iterable[Hashable]) -> set[PartitionKill]:
    """Return what a case achieves, in its partition."""
    partition = case.types[spec.data.type], len(case.shapes[spec.data.name])
    return {(partition, item) for item in achieved}


def _kills(spec: OpSpec, vector: Vector, kills: Iterable[Kill]) -> set[PartitionKill]:
    return _in_partition(spec, vector.case, kill_levels(kills))


def _draw_cases(spec: OpSpec, seed: int, count: int) -> list[Case]:
    """Draw cases of shapes and attributes that nobody has selected, small enough to evaluate."""
    cases: list[Case] = []
    for rank in spec.ranks:
        drawn = draw_fast(spec, rank, 3 * count, root=seed)
        drawn = [case for case in drawn if prod(case.shapes[spec.data.name]) <= MAX_ELEMENTS]
        valid = sound(spec, rank, [other_data(case, 2 * seed) for case in drawn])
        cases += valid[:count]
    return cases


def _build(
    spec: OpSpec,
    cases: Sequence[tuple[Case, str]],
    *,
    measured: bool,
    processes: int,
    progress: parallel.Progress,
) -> list[tuple[Vector, tuple[Kill, ...]]]:
    once = {case.id: (case, level) for case, level in cases}
    values = list(once.values())
    groups = [
        CaseGroup(spec, tuple(values[first : first + BATCH_CASES]), measured)
        for first in range(0, len(values), BATCH_CASES)
    ]
    if len(groups) == 1:  # no process is worth its start
        processes = 1
    built = parallel.run(groups, processes=processes, progress=progress, total=len(groups))
    return [item for group in built for item in group]


def _select(
    spec: Specification,
    out: Path,
    *,
    seed: int,
    suite: str,
    processes: int,
    progress: parallel.Progress,
) -> Suite:
    """Select cases of an operator without recorded cases."""
    effort: Any = {"root": seed, "processes": processes, "progress": progress, "suite": suite}
    made = (
        plan.make([spec], **effort)
        if isinstance(spec, OpSpec)
        else make_definitions([spec], **effort)
    )
    generated = next(made)
    chosen = [v for v in generated.vectors if suite in generated.suites[v.id]]
    return _write(spec, out, chosen, generated, generated.strength, seed=seed, suite=suite)


def _write(
    spec: Specification,
    out: Path,
    vectors: Sequence[Vector],
    kills: Mapping[str, Sequence[Kill]] | plan.Made,
    strength: Unreachable,
    *,
    seed: int,
    suite: str,
) -> Suite:
    """Write the vectors and reseeded ones, in an order that the seed decides."""
    if isinstance(kills, plan.Made):
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
    basis = shipped_origin(spec) if is_shipped else carried_origin(spec, mutants_of(spec))
    ordered = (
        with_large(spec, with_twins(spec, vectors, seed, suite), seed, suite)
        if isinstance(spec, OpSpec)
        else with_other_data(spec, vectors, seed, suite)
    )
    return write_suite(
        out,
        ((vector, (name,)) for vector in ordered),
        name=name,
        seed=seed,
        versions=versions(),
        kills={i: of_vector for i, of_vector in killed.items() if of_vector},
        excused={i: of_vector for i, of_vector in excused.items() if of_vector},
        strength={spec.op: strength},
        bases=[basis],
    )
