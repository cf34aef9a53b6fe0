"""The vector of a suite that separates mutants which explain the same failures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

import numpy as np

from conformance.core.operator import Operator
from conformance.diagnosis.code_path import CodePath, code_path_of
from conformance.diagnosis.explanation import Mutants
from conformance.implementations import Implementation, implementation_of, subject_of
from conformance.model import Vector
from conformance.suite.entries import Entry

MAX_EVALUATED = 10
"""Vectors that kill all candidates and whose outputs are worked out, at most."""


def distinguishing_vector(
    spec: Operator,
    candidates: Sequence[Mutants],
    entries: Sequence[Entry],
    read: Callable[[str], Vector],
    places: Collection[CodePath],
) -> str | None:
    """Find the smallest vector, by id, on which two candidates give different outputs.

    It is on one of the code paths ``places``: elsewhere the backend has none of the candidates.
    Returns: None if there is no such vector, or after :data:`MAX_EVALUATED` evaluations.
    """

    def is_in_code_paths(entry: Entry) -> bool:
        return code_path_of(read(entry.id).case) in places

    ids = [{mutant.id for mutant in mutants} for mutants in candidates]
    killing = [
        entry
        for entry in sorted(entries, key=lambda entry: (entry.elements, entry.id))
        if entry.kills
    ]
    all_killed = []
    for entry in killing:
        killed = [not mutants.isdisjoint(entry.kills) for mutants in ids]
        if all(killed):
            all_killed.append(entry)
        elif any(killed) and is_in_code_paths(entry):
            return entry.id
    implementation = [
        implementation_of(spec, *(mutant.change for mutant in mutants)) for mutants in candidates
    ]
    for entry in islice(filter(is_in_code_paths, all_killed), MAX_EVALUATED):
        if _differ(spec, read(entry.id), implementation):
            return entry.id
    return None


def untested_vectors(
    entries: Sequence[Entry], op: str, tested: Collection[str], dtypes: Collection[str]
) -> Iterator[Entry]:
    """Yield the value vectors of some element types that a run did not test."""
    for entry in entries:
        of_these = entry.op == op and entry.reject is None and entry.dtype in dtypes
        if of_these and entry.id not in tested:
            yield entry


def _differ(spec: Operator, vector: Vector, implementation: Sequence[Implementation]) -> bool:
    subject = subject_of(spec, vector.case, vector.arguments)
    first, *other_outputs = (subject.under(implementation) for implementation in implementation)
    return any(
        (a.shape, a.dtype) != (b.shape, b.dtype)
        or not np.array_equal(a, b, equal_nan=a.dtype.kind not in "iub")
        for other in other_outputs
        for a, b in zip(first, other, strict=True)
    )
