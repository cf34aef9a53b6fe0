"""Checks that what is recorded of the shipped operators is consistent, and up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.errors import SuiteError
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of
from conformance.specification import find_spec
from conformance.suite.proofs import load_proofs, shipped_proofs_file
from conformance.suite.recorded_cases import (
    RecordedCases,
    committed_operators,
    read_recorded_cases,
    recorded_cases_file,
)
from conformance.suite.shipped_suite import is_outdated


def manifest_problems() -> Iterator[str]:
    """Check the recorded cases and proofs of the shipped operators; yield what is wrong."""
    for op in committed_operators():
        file, spec = recorded_cases_file(op), find_spec(op)
        try:
            recorded = read_recorded_cases(file)
        except SuiteError as error:
            yield error.message
            continue
        if is_outdated(spec, recorded):
            yield f"{file.name}: recorded for another version of {op}: record it again"
        for problem in survivor_problems(recorded, at_must=isinstance(spec, OpSpec)):
            yield f"{file.name}: {problem}"
        if isinstance(spec, OpSpec):
            yield from _proof_problems(spec, file)


def _proof_problems(spec: OpSpec, file: Path) -> Iterator[str]:
    """Yield what is wrong with the proofs of an operator by rules; a definition has none."""
    stored = load_proofs(spec)
    if stored is None:
        yield f"{shipped_proofs_file(spec.op).name}: the proofs are of another version of {spec.op}"
    elif stored.strata != strata_of(spec).meaning:
        yield f"{file.name}: {spec.op} was selected for other strata: complete the suite"


def survivor_problems(recorded: RecordedCases, *, at_must: bool = True) -> Iterator[str]:
    """Yield where survivors are listed that some vector kills, or the other way round.

    With ``at_must`` what is not listed has to be killed at level must; otherwise at level should,
    which is all that the cases of a definition are selected for. Profiles are left out: only the
    specification knows their cases.
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
                mutants - survivors.mutants - (must if at_must else should),
                "is not killed, but not listed as a survivor",
            ),
        ):
            for name in sorted(wrong):
                yield f"{partition.dtype} of rank {partition.rank}: {name} {problem}"
