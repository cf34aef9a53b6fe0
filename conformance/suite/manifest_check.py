"""Checks that what is recorded of the shipped operators is consistent, and up to date."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.errors import SuiteError
from conformance.specification import find_spec
from conformance.suite.recorded_cases import (
    RecordedCases,
    committed_operators,
    read_recorded_cases,
    recorded_cases_file,
)
from conformance.suite.shipped_suite import is_outdated


def manifest_problems() -> Iterator[str]:
    """Check the recorded cases of the shipped operators; yield what is wrong."""
    for op in committed_operators():
        file, spec = recorded_cases_file(op), find_spec(op)
        try:
            recorded = read_recorded_cases(file)
        except SuiteError as error:
            yield error.message
            continue
        if is_outdated(spec, recorded):
            yield f"{file.name}: recorded for another version of {op}: record it again"
        for problem in survivor_problems(recorded):
            yield f"{file.name}: {problem}"


def survivor_problems(recorded: RecordedCases) -> Iterator[str]:
    """Yield where survivors are listed that some vector kills, or the other way round.

    What is not listed has to be killed at level should, which is all that cases are selected for.
    Profiles are left out: only the specification knows their cases.
    """
    used = [
        entry
        for entry in recorded.recorded
        if entry.withdrawn is None and entry.case.reject is None
    ]
    mutants = frozenset().union(*(entry.kills for entry in used)) | recorded.parts.mutants
    for partition, survivors in recorded.parts.survivors.items():
        if partition.profile:
            continue
        should: set[str] = set()
        must: set[str] = set()
        for entry in used:
            if (entry.case.dtype, entry.case.rank) == (partition.dtype, partition.rank):
                should |= {*entry.kills}
                must |= {*entry.kills} - {*entry.excused}
        unkillable = survivors.inert | survivors.stated.keys()
        for wrong, problem in (
            (unkillable & should, "is marked as unable to show, but is killed"),
            (survivors.undetermined & must, "is marked undetermined, but is killed"),
            (survivors.excused & must, "is marked as excused at must, but is killed there"),
            (
                survivors.excused - should,
                "is marked as excused at must, but is not killed at should",
            ),
            (
                mutants - survivors.mutants - should,
                "is not killed, but not listed as a survivor",
            ),
        ):
            for name in sorted(wrong):
                yield f"{partition.dtype} of rank {partition.rank}: {name} {problem}"
