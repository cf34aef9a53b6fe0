"""Which mutants a vector kills."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from conformance.audit import PRECISION
from conformance.audit.trivial_implementations import trivial_passes
from conformance.dtypes import Array
from conformance.grade.compare import accepted
from conformance.model import OPEN_BIT, Answer, Case, Vector
from conformance.reference.batches import CaseBatch, batch_of
from conformance.reference.changes import may_differ
from conformance.reference.subject import Altered, Subject
from conformance.spec.case_table import table_of
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec

SLICE = 500
"""Cases whose geometry is looked at together: enough to be fast, few enough for little memory."""

FEW = 12
"""Vectors for which it takes longer to look at their geometry together than to go without."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A fault that a vector notices: at level should always, at ``must`` unless a reading allows
    its outputs. ``print`` is the fingerprint of the outputs where they are graded."""

    fault: str
    must: bool
    print: bytes


class MutantRunner:
    """The mutants of one operator, ready to be run on vectors."""

    def __init__(self, spec: OpSpec, faults: Sequence[Mutant]) -> None:
        self.spec = spec
        self.faults = tuple(faults)
        self._altered = [(fault.id, Altered(spec, fault.variant)) for fault in faults]

    def among(self, faults: Collection[str]) -> MutantRunner:
        """The same mutants as far as they are among these, as ready as they are here."""
        found = copy(self)
        found.faults = tuple(fault for fault in self.faults if fault.id in faults)
        found._altered = [one for one in self._altered if one[0] in faults]
        return found

    def may_differ(self, cases: Sequence[Case]) -> NDArray[np.bool_]:
        """Which faults may give other outputs than the right ones on which case, (cases, faults).

        Told from the geometry of all at once, which is much faster than working outputs out.
        """
        found = np.ones((len(cases), len(self.faults)), np.bool_)
        ranks = np.array([self.spec.rank_of(case) for case in cases])
        for rank in np.unique(ranks):
            for rows in _slices(np.flatnonzero(ranks == rank)):
                table = table_of(self.spec, [cases[row] for row in rows], int(rank))
                found[rows] = self.may_differ_in(batch_of(table))
        return found

    def may_differ_in(self, batch: CaseBatch) -> NDArray[np.bool_]:
        """:meth:`may_differ` of cases of one rank, no more than a :data:`SLICE`."""
        found = np.empty((batch.count, len(self.faults)), np.bool_)
        for place, (_, altered) in enumerate(self._altered):
            found[:, place] = may_differ(batch, altered)
        return found

    def prints(
        self, case: Case, inputs: Sequence[Array], among: NDArray[np.bool_] | None = None
    ) -> dict[str, bytes]:
        """For each fault that gives other outputs than the right ones, graded or not, which.

        Only those in ``among`` are looked at, if it is given: a row of :meth:`may_differ`.
        """
        subject = Subject(self.spec, case, inputs)
        right = _print((), subject.outputs)
        found = {}
        for fault, altered in self._among(among):
            outputs = subject.under(altered)
            if outputs is not subject.outputs:
                other = _print((), outputs)
                if other != right:
                    found[fault] = other
        return found

    def _among(self, among: NDArray[np.bool_] | None) -> Iterable[tuple[str, Altered]]:
        return self._altered if among is None else compress(self._altered, among)

    def all_kills(self, vectors: Sequence[Vector]) -> list[tuple[Kill, ...]]:
        """:meth:`kills` of some vectors, faster together."""
        if len(vectors) <= FEW:
            return [self.kills(vector) for vector in vectors]
        may = self.may_differ([vector.case for vector in vectors])
        return [self.kills(vector, row) for vector, row in zip(vectors, may, strict=True)]

    def kills(self, vector: Vector, among: NDArray[np.bool_] | None = None) -> tuple[Kill, ...]:
        """The faults that a value vector notices; none for a must-reject vector.

        Nor does one count that an impostor passes, though its geometry may exempt it.
        """
        if vector.case.reject is not None or trivial_passes(self.spec, vector):
            return ()
        allowed = [answer for answers in vector.readings.values() for answer in answers]
        shapes = {answer.expected.shape for answer in allowed}
        subject = Subject(self.spec, vector.case, vector.inputs, shapes)
        given = {fault: subject.under(altered) for fault, altered in self._among(among)}
        # What the subject gives keeps its id.
        several = {id(one): one for one in given.values() if one is not subject.outputs}
        noticed = dict(_noticed(vector, list(several.values())))
        return tuple(
            Kill(fault, *noticed[id(outputs)])
            for fault, outputs in given.items()
            if id(outputs) in noticed
        )


def _noticed(
    vector: Vector, several: Sequence[Sequence[Array]]
) -> Iterator[tuple[int, tuple[bool, bytes]]]:
    """Of several outputs those that are refused, by their id: whether they are although every
    reading is allowed, and their fingerprint."""
    right = accepted(vector.answers, several, PRECISION)
    wrong = list(compress(several, ~right))
    allowed = np.zeros(len(wrong), np.bool_)
    for answers in vector.readings.values():
        allowed |= accepted(answers, wrong, PRECISION)
    for outputs, excused in zip(wrong, allowed.tolist(), strict=True):
        yield id(outputs), (not excused, _print(vector.answers, outputs))


def _slices(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, len(rows), SLICE):
        yield rows[begin : begin + SLICE]


def _print(answers: Sequence[Answer], outputs: Sequence[Array]) -> bytes:
    """A fingerprint of outputs, without the elements that the answers leave open."""
    digest = hashlib.blake2b(digest_size=8)
    for number, output in enumerate(outputs):
        hidden = answers[number].open if answers else None
        if hidden is not None and hidden.shape == output.shape:
            output = np.where(hidden & OPEN_BIT[PRECISION], output.dtype.type(0), output)
        digest.update(f"{output.dtype}{output.shape}".encode())
        # One element repeated without memory is told by that element.
        steps = (step for step, n in zip(output.strides, output.shape, strict=True) if n > 1)
        told = output if any(steps) else output[(slice(1),) * output.ndim]
        digest.update(np.ascontiguousarray(told).tobytes())
    return digest.digest()
