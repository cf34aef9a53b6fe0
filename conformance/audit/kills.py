"""Which faults a vector notices."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conformance.audit import PRECISION
from conformance.audit.vacuity import passing
from conformance.dtypes import Array
from conformance.grade.compare import accepts
from conformance.model import OPEN_BIT, Answer, Case, Vector
from conformance.reference.subject import Altered, Subject
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec


@dataclass(frozen=True, slots=True)
class Kill:
    """A fault that a vector notices: at level should always, at ``must`` unless a reading allows
    its outputs. ``print`` is the fingerprint of the outputs where they are graded."""

    fault: str
    must: bool
    print: bytes


class Bank:
    """The faults of one operator, ready to be tried on vectors."""

    def __init__(self, spec: OpSpec, faults: Sequence[Fault]) -> None:
        self.spec = spec
        self.faults = tuple(faults)
        self._altered = [(fault.id, Altered(spec, fault.variant)) for fault in faults]

    def prints(self, case: Case, data: Array) -> dict[str, bytes]:
        """For each fault that gives other outputs than the right ones, graded or not, which."""
        subject = Subject(self.spec, case, data)
        right = _print((), subject.outputs)
        found = {}
        for fault, altered in self._altered:
            outputs = subject.under(altered)
            if outputs is not subject.outputs:
                other = _print((), outputs)
                if other != right:
                    found[fault] = other
        return found

    def kills(self, vector: Vector) -> tuple[Kill, ...]:
        """The faults that a value vector notices; none for a must-reject vector.

        Nor does one count that an impostor passes, though its geometry may exempt it.
        """
        if vector.case.reject is not None or passing(vector):
            return ()
        allowed = [answer for answers in vector.readings.values() for answer in answers]
        shapes = {answer.expected.shape for answer in allowed}
        subject = Subject(self.spec, vector.case, vector.inputs[0], shapes)
        found = []
        for fault, altered in self._altered:
            outputs = subject.under(altered)
            if outputs is subject.outputs or accepts(vector.answers, outputs, PRECISION):
                continue
            must = not any(
                accepts(answers, outputs, PRECISION) for answers in vector.readings.values()
            )
            found.append(Kill(fault, must, _print(vector.answers, outputs)))
        return tuple(found)


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
