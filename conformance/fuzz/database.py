"""Keeps the failures of earlier searches, which later searches try first.

A folder of recorded cases (docs/case-format.md), a file for each operator and digest of its
specification: a failure by another specification is no failure by this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.core.operator import Operator
from conformance.errors import SuiteError
from conformance.generate.bounds import is_usable
from conformance.generate.versions import versions
from conformance.model import Case
from conformance.replacement import replacing
from conformance.specification import spec_digest
from conformance.suite.recorded_cases import (
    RecordedCase,
    RecordedCases,
    encode_recorded_cases,
    read_recorded_cases,
)

MAX_CASES = 50
"""Cases that are kept of an operator: the newest."""

DIGITS = 16
"""Digits of a digest in the name of a file."""


def failures_file(folder: Path, spec: Operator) -> Path:
    """Return the file that keeps the failures of an operator."""
    return folder / f"{spec.op}-{spec_digest(spec)[:DIGITS]}.jsonl"


def read_failures(folder: Path, spec: Operator) -> tuple[Case, ...]:
    """Read the failures that are kept of an operator, the newest first.

    Raises:
        SuiteError: the file is damaged, or holds something else than cases of the operator.
    """
    file = failures_file(folder, spec)
    if not file.is_file():
        return ()
    stored = read_recorded_cases(file)
    if stored.specification != spec_digest(spec) or stored.op != spec.op:
        raise SuiteError(f"{file}: is of another specification", hint=_HINT)
    cases = [entry.case for entry in stored.recorded[:MAX_CASES]]
    for case in cases:
        if not is_usable(spec, case):
            raise SuiteError(f"{file}: {case.id} is no case of {spec.op}", hint=_HINT)
    return tuple(cases)


def keep_failures(folder: Path, spec: Operator, new: Iterable[Case], old: Sequence[Case]) -> None:
    """Keep new failures of an operator, before the old."""
    cases = list({case.id: case for case in (*new, *old)}.values())[:MAX_CASES]
    entries = tuple(RecordedCase(case, "must", ("fuzz",)) for case in cases)
    content = encode_recorded_cases(
        RecordedCases(spec.op, spec_digest(spec), 0, versions(), entries)
    )
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(failures_file(folder, spec)) as file:
        file.write_bytes(content)


_HINT = "delete the file: it only says which cases to try first"
