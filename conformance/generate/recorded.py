"""Vectors from recorded cases, and recording the cases of a suite.

Evaluating a case gives the same inputs, expected values and intervals every time, so a suite is
made anew from its cases in the time that their vectors take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance import parallel
from conformance.choices import SuiteName
from conformance.core.operator import Operator
from conformance.generate.suite import case_order
from conformance.model import Vector
from conformance.specification import build, spec_digest
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

    spec: Operator
    recorded: tuple[RecordedCase, ...] = field(repr=False)

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> list[Vector]:
        return [build(self.spec, one.case, one.level) for one in self.recorded]


def vectors(
    chosen: Sequence[RecordedCases],
    specs: Mapping[str, Operator],
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


def record(suite: Suite, op: str) -> RecordedCases:
    """Return the cases of an operator, with what its suite says of them.

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
