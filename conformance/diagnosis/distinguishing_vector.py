"""Which vector of a suite would tell mutants apart that explain the same failures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

import numpy as np

from conformance.diagnosis.code_path import CodePath, code_path_of
from conformance.diagnosis.explanation import Mutants
from conformance.model import Vector
from conformance.reference.subject import Altered, Subject
from conformance.spec.model import OpSpec
from conformance.suite.entries import Entry

MAX_EVALUATED = 10
"""Vectors that kill all candidates and whose outputs are worked out, at most."""


def distinguishing_vector(
    spec: OpSpec,
    candidates: Sequence[Mutants],
    entries: Sequence[Entry],
    read: Callable[[str], Vector],
    places: Collection[CodePath],
) -> str | None:
    """The smallest of some vectors, by its id, on which two candidates give different outputs.

    It is at one of ``places``: elsewhere the backend has none of the candidates. None where there
    is no such vector, or it takes a look at too many to tell.
    """

    def there(entry: Entry) -> bool:
        return code_path_of(spec, read(entry.id).case) in places

    ids = [{fault.id for fault in one} for one in candidates]
    some = [one for one in sorted(entries, key=lambda one: (one.elements, one.id)) if one.kills]
    all_killed = []
    for entry in some:
        killed = [not one.isdisjoint(entry.kills) for one in ids]
        if all(killed):
            all_killed.append(entry)
        elif any(killed) and there(entry):
            return entry.id
    altered = [Altered(spec, *(fault.variant for fault in one)) for one in candidates]
    for entry in islice(filter(there, all_killed), MAX_EVALUATED):
        if _differ(spec, read(entry.id), altered):
            return entry.id
    return None


def untested_vectors(
    entries: Sequence[Entry], op: str, asked: Collection[str], dtypes: Collection[str]
) -> Iterator[Entry]:
    """The value vectors of an operator that a run did not ask, of some element types."""
    for entry in entries:
        of_these = entry.op == op and entry.reject is None and entry.dtype in dtypes
        if of_these and entry.id not in asked:
            yield entry


def _differ(spec: OpSpec, vector: Vector, altered: Sequence[Altered]) -> bool:
    subject = Subject(spec, vector.case, vector.inputs)
    first, *others = (subject.under(one) for one in altered)
    return any(
        a.shape != b.shape or not np.array_equal(a, b, equal_nan=a.dtype.kind not in "iu")
        for other in others
        for a, b in zip(first, other, strict=True)
    )
