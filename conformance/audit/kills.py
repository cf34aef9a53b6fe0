"""Kills: the mutants that a vector distinguishes from the oracle."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.audit import PRECISION
from conformance.core.case_geometry import may_differ
from conformance.core.operator import Operator
from conformance.core.subject import Subject
from conformance.dtypes import Array
from conformance.grade.compare import accepts_each
from conformance.implementations import Implementation, implementation_of, subject_of
from conformance.model import OPEN_BIT, Answer, Case, Vector
from conformance.spec.catalogue import Mutant

NO_OUTPUTS = b"crashes"
"""The fingerprint of a mutant that has no outputs; others have eight bytes."""

FEW = 12
"""Vectors for which it takes longer to look at their geometry together than to go without."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A mutant that a vector kills.

    It is always killed at level should, and at must if no interpretation allows its outputs.
    ``fingerprint`` is the fingerprint of the outputs where they are graded.
    """

    mutant: str
    at_must: bool
    fingerprint: bytes


class MutantRunner:
    """The mutants of one operator, ready to be run on vectors."""

    def __init__(self, spec: Operator, mutants: Sequence[Mutant]) -> None:
        self.spec = spec
        self.mutants = tuple(mutants)
        self._implementations = [
            (mutant.id, implementation_of(spec, mutant.change)) for mutant in mutants
        ]

    def restricted_to(self, mutants: Collection[str]) -> MutantRunner:
        """Restrict the runner to some of its mutants, without preparing them again."""
        subset = copy(self)
        subset.mutants = tuple(mutant for mutant in self.mutants if mutant.id in mutants)
        subset._implementations = [
            implementation
            for implementation in self._implementations
            if implementation[0] in mutants
        ]
        return subset

    def may_differ(self, cases: Sequence[Case]) -> NDArray[np.bool_]:
        """Mark the mutants that may change the outputs of each case, (cases, mutants).

        Geometry decides for all cases at once, which is much faster than computing outputs.
        """
        implementations: list[Any] = [made for _, made in self._implementations]
        return may_differ(self.spec, cases, implementations)

    def fingerprints(
        self, case: Case, inputs: Sequence[Array | None], among: NDArray[np.bool_] | None = None
    ) -> dict[str, bytes]:
        """Compute a fingerprint of the outputs of each mutant that changes them, graded or not.

        Only those in ``among`` are looked at, if it is given: a row of :meth:`may_differ`.
        """
        subject = subject_of(self.spec, case, inputs)
        right = _print((), subject.outputs)
        fingerprints = {}
        for mutant, implementation in self._among(among):
            outputs = subject.under(implementation)
            if outputs is not subject.outputs:
                other = _print((), outputs)
                if other != right:
                    fingerprints[mutant] = other
        return fingerprints

    def _among(self, among: NDArray[np.bool_] | None) -> Iterable[tuple[str, Implementation]]:
        return self._implementations if among is None else compress(self._implementations, among)

    def all_kills(self, vectors: Sequence[Vector]) -> list[tuple[Kill, ...]]:
        """Compute :meth:`kills` of several vectors, faster together."""
        if len(vectors) <= FEW:
            return [self.kills(vector) for vector in vectors]
        valid = [vector.case for vector in vectors if vector.case.reject is None]
        rows = iter(self.may_differ(valid))
        return [() if v.case.reject is not None else self.kills(v, next(rows)) for v in vectors]

    def kills(self, vector: Vector, among: NDArray[np.bool_] | None = None) -> tuple[Kill, ...]:
        """List the mutants that a value vector kills; none for a negative test.

        A mutant that has no outputs is killed, as a backend is that crashes.
        """
        if vector.case.reject is not None:
            return ()
        allowed = [
            expected_output
            for expected_outputs in vector.readings.values()
            for expected_output in expected_outputs
        ]
        shapes = {expected_output.expected.shape for expected_output in allowed}
        subject = Subject(self.spec, vector.case, vector.arguments, shapes)
        implementations: Iterable[tuple[str, Any]] = self._among(among)
        outputs_by_mutant = {
            mutant: subject.computed(implementation) for mutant, implementation in implementations
        }
        # What the subject gives keeps its id.
        several = {
            id(outputs): outputs
            for outputs in outputs_by_mutant.values()
            if outputs is not None and outputs is not subject.outputs
        }
        noticed = dict(_noticed(vector, list(several.values())))
        noticed[id(None)] = (True, NO_OUTPUTS)
        return tuple(
            Kill(mutant, *noticed[id(outputs)])
            for mutant, outputs in outputs_by_mutant.items()
            if id(outputs) in noticed
        )


def _noticed(
    vector: Vector, several: Sequence[Sequence[Array]]
) -> Iterator[tuple[int, tuple[bool, bytes]]]:
    """Of several outputs those that are refused, by their id: whether they are although every
    interpretation is allowed, and their fingerprint."""
    right = accepts_each(vector.answers, several, PRECISION)
    wrong = list(compress(several, ~right))
    allowed = np.zeros(len(wrong), np.bool_)
    for expected_outputs in vector.readings.values():
        allowed |= accepts_each(expected_outputs, wrong, PRECISION)
    for outputs, excused in zip(wrong, allowed.tolist(), strict=True):
        yield id(outputs), (not excused, _print(vector.answers, outputs))


def _print(expected_outputs: Sequence[Answer], outputs: Sequence[Array]) -> bytes:
    """A fingerprint of outputs, without the elements that the answers leave open."""
    digest = hashlib.blake2b(digest_size=8)
    for number, output in enumerate(outputs):
        hidden = expected_outputs[number].open if expected_outputs else None
        if hidden is not None and hidden.shape == output.shape:
            output = np.where(hidden & OPEN_BIT[PRECISION], output.dtype.type(0), output)
        digest.update(f"{output.dtype}{output.shape}".encode())
        # One element repeated without memory is told by that element.
        steps = (step for step, n in zip(output.strides, output.shape, strict=True) if n > 1)
        elements = output if any(steps) else output[(slice(1),) * output.ndim]
        digest.update(np.ascontiguousarray(elements).tobytes())
    return digest.digest()
