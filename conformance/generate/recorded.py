"""Vectors from recorded cases, and recording the cases of a suite.

Evaluating a case gives the same inputs, expected values and intervals every time, so a suite is
made anew from its cases in the time that their vectors take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from math import prod

from conformance import parallel
from conformance.audit.mutant_states import mutant_states, survivor_table
from conformance.audit.score import MutationScore
from conformance.choices import SuiteName
from conformance.generate.definition_suite import case_order
from conformance.generate.reduce import reduced
from conformance.generate.sizes import large_cases
from conformance.generate.suites import smoke
from conformance.model import Case, Vector
from conformance.spec.model import OpSpec
from conformance.specification import Specification, build, by_rules, spec_digest
from conformance.suite.evaluation import record_case as recorded_now
from conformance.suite.proofs import Proofs, load_proofs
from conformance.suite.recorded_cases import (
    RecordedCase,
    RecordedCases,
    read_recorded_cases,
    recorded_cases_file,
)
from conformance.suite.store import Suite
from conformance.suite.survivors import SurvivorTable
from conformance.suite.unreachable import Unreachable

SLICE = 60
"""Cases of one task: enough to be worth a process, few enough to share the work evenly."""


@dataclass(frozen=True)
class Slice:
    """Some recorded cases of one operator."""

    spec: Specification
    recorded: tuple[RecordedCase, ...] = field(repr=False)

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> list[Vector]:
        return [build(self.spec, one.case, one.level) for one in self.recorded]


def vectors(
    chosen: Sequence[RecordedCases],
    specs: Mapping[str, Specification],
    *,
    processes: int,
    progress: parallel.Progress,
) -> Iterator[tuple[Vector, tuple[str, ...]]]:
    """The vector of every recorded case, with the suites that it belongs to, in their order.

    ``specs`` are the specifications of their operators.
    """
    work = [
        Slice(specs[one.op], one.recorded[first : first + SLICE])
        for one in chosen
        for first in range(0, len(one.recorded), SLICE)
    ]
    done = parallel.run(
        work, processes=processes, progress=progress, total=len(work), ahead=2 * processes
    )
    for task, built in zip(work, done, strict=True):
        for one, vector in zip(task.recorded, built, strict=True):
            yield vector, one.suites


def read(op: str) -> RecordedCases | None:
    """The recorded cases of a shipped operator; None where there are none.

    Raises SuiteError for a file that is damaged.
    """
    file = recorded_cases_file(op)
    return read_recorded_cases(file) if file.is_file() else None


def part(recorded: RecordedCases, suite: str) -> RecordedCases:
    """Those of some recorded cases that belong to a suite; what all of them kill is not theirs."""
    chosen = tuple(one for one in recorded.recorded if suite in one.suites)
    return replace(recorded, recorded=chosen, parts=SurvivorTable())


def small(recorded: RecordedCases) -> RecordedCases:
    """Those of some recorded cases that are not large."""
    return replace(recorded, recorded=tuple(one for one in recorded.recorded if not one.is_large))


def record(
    suite: Suite, score: MutationScore, *, fewest: bool = False
) -> tuple[RecordedCases, Proofs]:
    """The cases of one operator of a suite, with what an audit of them found, and its proofs.

    Cases that were added to complete a suite are of the core, and smoke is chosen anew. Small cases
    come first, and those that must be rejected last. With ``fewest`` those are left out that the
    others make superfluous.
    """
    manifest, op = suite.manifest, score.op
    spec = by_rules(suite.specs[op], "recording")
    entries = [entry for entry in manifest.listed if entry.op == op]
    there = [suite.read(entry) for entry in entries]
    if fewest:
        asked = [vector for vector in there if vector.id in score.kills]
        few = {v.id for v in reduced(spec, score.mutants, asked, score.kills)}
        stays = [
            v.case.reject is not None or e.is_large or v.id in few
            for v, e in zip(there, entries, strict=True)
        ]
        entries, there = [*compress(entries, stays)], [*compress(there, stays)]
        score = MutationScore(
            op, score.mutants, {i: own for i, own in score.kills.items() if i in few}
        )
    measured = [not entry.is_large for entry in entries]
    entries, there = [*compress(entries, measured)], [*compress(there, measured)]
    core = [
        v
        for v, e in zip(there, entries, strict=True)
        if {"core", SuiteName.COMPLEMENT} & {*e.suites}
    ]
    member = smoke(spec, core, score)
    found: list[RecordedCase] = []
    for vector, entry in zip(there, entries, strict=True):
        kills = score.kills.get(entry.id, ())
        found.append(
            RecordedCase(
                case=vector.case,
                level=entry.level,
                suites=member.get(entry.id, entry.suites),
                kills=tuple(sorted(kill.mutant for kill in kills)),
                excused=tuple(sorted(kill.mutant for kill in kills if not kill.at_must)),
                withdrawn=manifest.withdrawn.get(entry.id),
                edges=entry.edges,
                digest=entry.content,
            )
        )
    before = read(op)
    small = tuple(one.case for one in found if one.case.reject is None)
    found += (
        recorded_now(spec, case, ("core", SuiteName.LARGE)) for case in large_cases(spec, small)
    )
    found.sort(key=lambda one: _place(spec, one.case))
    known = manifest.strength.get(op, Unreachable())
    inert = {part: one.inert for part, one in known.parts.survivors.items()}
    valued = {case.id: case for case in small}
    recorded = RecordedCases(
        op=op,
        specification=spec_digest(spec),
        seed=manifest.seed,
        versions=manifest.versions,
        recorded=tuple(found),
        indistinguishable=score.indistinguishable,
        faults=before.faults if before else (),
        targets=before.targets if before else (),
        parts=survivor_table(spec, mutant_states(spec, score.mutants, valued, score.kills, inert)),
    )
    kept = load_proofs(spec)
    # Cases that show all pairs are witnesses themselves.
    witnesses = kept.witnesses if kept and manifest.uncovered else ()
    return recorded, Proofs(op, spec_digest(spec), known.infeasible, witnesses, known.strata)


def record_definition(suite: Suite, op: str) -> RecordedCases:
    """Return the cases of an operator that is a definition, with what its suite says of them.

    Those that were added to complete the suite are of the core.
    """
    manifest, spec = suite.manifest, suite.specs[op]
    known, before = manifest.strength.get(op, Unreachable()), read(op)
    found = [
        RecordedCase(
            case=suite.read(entry).case,
            level=entry.level,
            suites=("core",) if SuiteName.COMPLEMENT in entry.suites else entry.suites,
            kills=entry.kills,
            excused=entry.excused,
            withdrawn=manifest.withdrawn.get(entry.id),
            edges=entry.edges,
            digest=entry.content,
        )
        for entry in manifest.listed
        if entry.op == op
    ]
    found.sort(key=_by_order)
    return RecordedCases(
        op=op,
        specification=spec_digest(spec),
        seed=manifest.seed,
        versions=manifest.versions,
        recorded=tuple(found),
        indistinguishable=known.indistinguishable,
        faults=before.faults if before else (),
        targets=before.targets if before else (),
        parts=known.parts,
    )


def _by_order(recorded: RecordedCase) -> tuple[bool, tuple[int, int, str]]:
    """What cases are sorted by; negative tests stay as they are."""
    is_negative = recorded.case.reject is not None
    return is_negative, (0, 0, "") if is_negative else case_order(recorded.case)


def _place(spec: OpSpec, case: Case) -> tuple[bool, int, int, str]:
    """What cases are sorted by; those that must be rejected stay as they are."""
    if case.reject is not None:
        return True, 0, 0, ""
    return False, spec.rank_of(case), prod(case.shapes[spec.data.name]), case.id
