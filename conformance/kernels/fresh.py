"""A suite that nobody has seen: the recorded selection with other data, and drawn cases.

The selection of an operator is published, with its data. Here its cases keep their shapes and
attributes, which kill the mutants, and get data of a fresh seed; what they kill is worked out
again. Drawn cases have shapes that nobody has published either.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from conformance import parallel
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import mutant_states, survivor_table
from conformance.audit.score import kill_levels
from conformance.choices import SuiteName
from conformance.generate import plan, recorded
from conformance.generate.large import with_large
from conformance.generate.looking import sound
from conformance.generate.pool import draw_fast
from conformance.generate.suites import versions
from conformance.generate.twins import APART, other_data, with_twins
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec import loader
from conformance.spec.catalogue import mutants_of
from conformance.spec.model import OpSpec
from conformance.suite import origin, shipped_suite
from conformance.suite.cases import Recorded
from conformance.suite.store import Suite
from conformance.suite.strength import Strength
from conformance.suite.writer import write_suite

NAME = "fresh"
"""The suite's name in claims; one with the few cases of the smoke suite has that one's name."""

SLICE = 60
"""Cases of one task."""

DRAWN = {"core": 24, SuiteName.SMOKE: 6}
"""Drawn cases of each rank."""

ROUNDS = 200
"""How often data are drawn for a case at most, until the suite kills what the published one kills.
A mutant that leaves out the last of 33 rows of a maximum needs some 33; most need fewer than five.
"""

LARGEST = 6000
"""Elements of the data of a drawn case, at most."""

PartKill = tuple[tuple[str, int], Hashable]
"""An element type and a rank, and a level with a mutant that is killed at it there."""


@dataclass(frozen=True)
class CaseGroup:
    """Cases of one operator to build, and to find the kills of if they are ``measured``."""

    spec: OpSpec
    cases: tuple[tuple[Case, str], ...] = field(repr=False)
    measured: bool

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> list[tuple[Vector, tuple[Kill, ...]]]:
        vectors = [build(self.spec, case, level) for case, level in self.cases]
        kills: dict[str, tuple[Kill, ...]] = {}
        asked = [one for one in vectors if self.measured and one.case.reject is None]
        if asked:
            bank = MutantRunner(self.spec, mutants_of(self.spec))
            kills = dict(zip((one.id for one in asked), bank.all_kills(asked), strict=True))
        return [(vector, kills.get(vector.id, ())) for vector in vectors]


def fresh_suite(
    spec: OpSpec,
    out: Path,
    *,
    seed: int,
    suite: str = "core",
    processes: int = 1,
    progress: parallel.Progress = lambda *_: None,
) -> Suite:
    """A suite of one operator with data of ``seed``, in the folder ``out``.

    ``suite`` is ``core`` or ``smoke``. An operator without recorded cases gets a
    selection of its own, which takes minutes. Raises what the generation of a suite raises.
    """
    known = recorded.read(spec.op) if spec is loader.shipped_specs().get(spec.op) else None
    if known is None:
        return _selected(spec, out, seed=seed, suite=suite, processes=processes, progress=progress)
    there = [one for one in known.recorded if suite in one.suites and one.withdrawn is None]
    chosen, large = ([one for one in there if one.is_large is big] for big in (False, True))
    asked = _reseeded(chosen, seed)
    asked += [(case, "must") for case in _drawn(spec, seed, DRAWN[suite])]
    measured = suite != SuiteName.SMOKE  # of a smoke suite nothing is claimed
    found = _built(spec, asked, measured=measured, processes=processes, progress=progress)
    wanted = [(one, _kills(spec, one.case, one.achieved)) for one in chosen] if measured else []
    killed = {kill for v, own in found for kill in _kills(spec, v.case, kill_levels(own))}
    for attempt in range(1, ROUNDS):
        wanted = [(one, kills) for one, kills in wanted if kills - killed]
        if not wanted:
            break
        missing = {kill for _, kills in wanted for kill in kills - killed}
        number = 2 * seed + attempt * APART
        again = [(other_data(one.case, number), one.level) for one, _ in wanted]
        for vector, own in _built(
            spec, again, measured=True, processes=processes, progress=progress
        ):
            if gained := missing & _kills(spec, vector.case, kill_levels(own)):
                found.append((vector, own))
                missing -= gained
                killed |= gained
    found += _built(
        spec, _reseeded(large, seed), measured=False, processes=processes, progress=progress
    )
    kills = {vector.id: own for vector, own in found}
    strength = shipped_suite.unmeasured(spec)
    if measured:
        big = {case.id for case, _ in _reseeded(large, seed)}
        valued = {v.id: v.case for v, _ in found if v.case.reject is None and v.id not in big}
        inert = {part: one.inert for part, one in known.parts.survivors.items()}
        parts = survivor_table(spec, mutant_states(spec, mutants_of(spec), valued, kills, inert))
        strength = replace(strength, parts=parts)
    return _written(spec, out, [v for v, _ in found], kills, strength, seed=seed, suite=suite)


def _reseeded(chosen: Sequence[Recorded], seed: int) -> list[tuple[Case, str]]:
    """The cases with other data, each with its level. Data of two seeds have nothing in common."""
    return [(other_data(one.case, 2 * seed), one.level) for one in chosen]


def _part(spec: OpSpec, case: Case) -> tuple[str, int]:
    """The element type and the rank, of which each has a strength of its own."""
    return case.types[spec.data.type], len(case.shapes[spec.data.name])


def _kills(spec: OpSpec, case: Case, achieved: Iterable[Hashable]) -> set[PartKill]:
    """What a case achieves, in its part."""
    return {(_part(spec, case), item) for item in achieved}


def _drawn(spec: OpSpec, seed: int, count: int) -> list[Case]:
    """Cases of shapes and attributes that nobody has selected, small enough to be evaluated."""
    found: list[Case] = []
    for rank in spec.ranks:
        drawn = draw_fast(spec, rank, 3 * count, root=seed)
        drawn = [one for one in drawn if prod(one.shapes[spec.data.name]) <= LARGEST]
        valid = sound(spec, rank, [other_data(one, 2 * seed) for one in drawn])
        found += valid[:count]
    return found


def _built(
    spec: OpSpec,
    asked: Sequence[tuple[Case, str]],
    *,
    measured: bool,
    processes: int,
    progress: parallel.Progress,
) -> list[tuple[Vector, tuple[Kill, ...]]]:
    once = {case.id: (case, level) for case, level in asked}
    values = list(once.values())
    work = [
        CaseGroup(spec, tuple(values[first : first + SLICE]), measured)
        for first in range(0, len(values), SLICE)
    ]
    if len(work) == 1:  # no process is worth its start
        processes = 1
    done = parallel.run(work, processes=processes, progress=progress, total=len(work))
    return [one for piece in done for one in piece]


def _selected(
    spec: OpSpec,
    out: Path,
    *,
    seed: int,
    suite: str,
    processes: int,
    progress: parallel.Progress,
) -> Suite:
    """For an operator without recorded cases: a selection of its own."""
    made = next(plan.make([spec], root=seed, processes=processes, progress=progress, suite=suite))
    chosen = [v for v in made.vectors if suite in made.suites[v.id]]
    return _written(spec, out, chosen, made, made.strength, seed=seed, suite=suite)


def _written(
    spec: OpSpec,
    out: Path,
    vectors: Sequence[Vector],
    kills: Mapping[str, Sequence[Kill]] | plan.Made,
    strength: Strength,
    *,
    seed: int,
    suite: str,
) -> Suite:
    """The suite of the vectors and their twins, in an order that the seed decides."""
    if isinstance(kills, plan.Made):
        killed, excused = dict(kills.kills), dict(kills.excused)
    else:
        killed = {i: tuple(one.mutant for one in own) for i, own in kills.items()}
        excused = {
            i: tuple(one.mutant for one in own if not one.at_must) for i, own in kills.items()
        }
    name = SuiteName.SMOKE if suite == SuiteName.SMOKE else NAME
    shipped = spec is loader.shipped_specs().get(spec.op)
    basis = origin.shipped(spec) if shipped else origin.carried(spec, mutants_of(spec))
    ordered = with_large(spec, with_twins(spec, vectors, seed, suite), seed, suite)
    return write_suite(
        out,
        ((vector, (name,)) for vector in ordered),
        name=name,
        seed=seed,
        versions=versions(),
        kills={i: own for i, own in killed.items() if own},
        excused={i: own for i, own in excused.items() if own},
        strength={spec.op: strength},
        bases=[basis],
    )
