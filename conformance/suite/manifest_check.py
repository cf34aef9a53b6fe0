"""Checks that what is recorded of the shipped operators is consistent, and up to date."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.errors import SuiteError
from conformance.spec import loader
from conformance.spec.strata import strata_of
from conformance.suite.proofs import load_proofs, shipped_proofs_file
from conformance.suite.recorded_cases import (
    RecordedCases,
    committed_operators,
    read_recorded_cases,
    recorded_cases_file,
)
from conformance.suite.shipped_suite import is_outdated


def manifest_problems() -> Iterator[str]:
    """What is wrong with the recorded cases and proofs of the shipped operators."""
    for op in committed_operators():
        file, spec = recorded_cases_file(op), loader.find_spec(op)
        try:
            recorded = read_recorded_cases(file)
        except SuiteError as error:
            yield error.message
            continue
        if is_outdated(spec, recorded):
            yield f"{file.name}: recorded for another version of {op}: record it again"
        for problem in survivor_problems(recorded, spec.data.name):
            yield f"{file.name}: {problem}"
        kept = load_proofs(spec)
        if kept is None:
            yield f"{shipped_proofs_file(op).name}: the proofs are of another version of {op}"
        elif kept.strata != strata_of(spec).meaning:
            yield f"{file.name}: {op} was selected for other strata: complete the suite"


def survivor_problems(recorded: RecordedCases, data: str) -> Iterator[str]:
    """Where the parts of an operator deny what its vectors kill; ``data`` is the input of data.

    Of a profile nothing can be told here, as only its specification knows the cases it has.
    """
    asked = [one for one in recorded.recorded if one.withdrawn is None and one.case.reject is None]
    mutants = frozenset().union(*(one.kills for one in asked)) | recorded.parts.mutants
    for part, known in recorded.parts.survivors.items():
        if part.profile:
            continue
        should: set[str] = set()
        must: set[str] = set()
        for one in asked:
            dtype, rank = next(iter(one.case.types.values())), len(one.case.shapes[data])
            if (dtype, rank) == (part.dtype, part.rank):
                should |= {*one.kills}
                must |= {*one.kills} - {*one.excused}
        never = known.inert | known.stated.keys()
        for names, what in (
            (never & should, "is marked as unable to show, but is killed"),
            (known.undetermined & must, "is marked undetermined, but is killed"),
            (known.excused & must, "is marked as excused at must, but is killed there"),
            (known.excused - should, "is marked as excused at must, but is not killed at should"),
            (mutants - known.mutants - must, "is not killed, but not listed as a survivor"),
        ):
            for name in sorted(names):
                yield f"{part.dtype} of rank {part.rank}: {name} {what}"
