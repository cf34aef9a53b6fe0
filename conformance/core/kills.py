"""Kills: the mutants that a case with its data distinguishes from the operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from conformance.core import implementation
from conformance.core.evaluate import Interval
from conformance.core.implementation import Implementation
from conformance.core.mutant_changes import DefinitionChange
from conformance.core.operator import Operator
from conformance.core.subject import Subject
from conformance.dtypes import Array
from conformance.model import Case
from conformance.spec.catalogue import Mutant


def kills(
    operator: Operator, case: Case, inputs: Sequence[Array | None], mutants: Iterable[Mutant]
) -> frozenset[str]:
    """Return the ids of the mutants that a case kills.

    They have outputs outside of what is accepted at *standard*, of other shapes or types, or none.
    """
    subject = Subject(operator, case, inputs)
    return frozenset(mutant.id for mutant in mutants if is_killed(subject, mutant))


def is_killed(subject: Subject, mutant: Mutant) -> bool:
    """Return whether the case of a subject kills a mutant."""
    outputs = subject.computed(implementation_of(subject.operator, mutant))
    if outputs is None:
        return True
    if outputs is subject.outputs or all(map(_is_same, subject.outputs, outputs)):
        return False  # intervals take longer, and the right outputs are inside
    return not all(map(_accepts, subject.intervals(), outputs))


def implementation_of(operator: Operator, mutant: Mutant) -> Implementation:
    """Return the implementation of an operator with one of its mutants."""
    assert isinstance(mutant.change, DefinitionChange)
    return implementation.implementation_of(operator, mutant.change)


def _is_same(right: Array, output: Array) -> bool:
    return _is_alike(right, output) and right.tobytes() == output.tobytes()


def _is_alike(right: Array, output: Array) -> bool:
    return right.shape == output.shape and right.dtype == output.dtype


def _accepts(interval: Interval, output: Array) -> bool:
    if not _is_alike(interval.lo, output):
        return False
    with np.errstate(all="ignore"):
        inside = (interval.lo <= output) & (output <= interval.hi) | interval.unspecified
        if not inside.all():
            inside |= (output != output) & (interval.lo != interval.lo)
    return bool(inside.all())
