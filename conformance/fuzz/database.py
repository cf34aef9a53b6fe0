"""Keeps the failures of earlier searches, which later ones try first.

A folder of recorded cases (docs/case-format.md), a file for each operator and digest of its
specification: what failed by another specification is no failure by this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.errors import SuiteError
from conformance.generate.looking import askable
from conformance.generate.suites import versions
from conformance.model import Case
from conformance.replacement import replacing
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.suite import cases as recorded
from conformance.suite.cases import Cases, Recorded

MOST = 50
"""Cases that are kept of an operator, at most: the newest."""

DIGITS = 16
"""Digits of a digest in the name of a file."""


def file_of(folder: Path, spec: OpSpec) -> Path:
    """Where the failures of an operator are kept."""
    return folder / f"{spec.op}-{spec_digest(spec)[:DIGITS]}.jsonl"


def read(folder: Path, spec: OpSpec) -> tuple[Case, ...]:
    """The failures that are kept of an operator, the newest first.

    Raises SuiteError for a file that is damaged, or that holds what is no case of the operator.
    """
    file = file_of(folder, spec)
    if not file.is_file():
        return ()
    found = recorded.read(file)
    if found.specification != spec_digest(spec) or found.op != spec.op:
        raise SuiteError(f"{file}: is of another specification", hint=_HINT)
    cases = [one.case for one in found.recorded[:MOST]]
    for case in cases:
        if not askable(spec, case):
            raise SuiteError(f"{file}: {case.id} is no case of {spec.op}", hint=_HINT)
    return tuple(cases)


def keep(folder: Path, spec: OpSpec, new: Iterable[Case], old: Sequence[Case]) -> None:
    """Keep failures of an operator before those that were known."""
    cases = list({case.id: case for case in (*new, *old)}.values())[:MOST]
    kept = tuple(Recorded(case, "must", ("fuzz",)) for case in cases)
    content = recorded.dump(Cases(spec.op, spec_digest(spec), 0, versions(), kept))
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(file_of(folder, spec)) as file:
        file.write_bytes(content)


_HINT = "delete the file: it only says which cases to try first"
