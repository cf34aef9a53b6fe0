"""Rejects value vectors that a trivial implementation (all zeros, identity, ...) passes.

A trivial implementation fills the outputs without interpretation the case, or repeats a part of the
expected outputs elsewhere. If it is right by geometry it is exempt: a target declares it with the
reason (``vacuous`` in a specification).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from conformance.audit import PRECISION
from conformance.dtypes import DTYPES, Array
from conformance.grade.compare import accepts
from conformance.model import Answer, Vector
from conformance.spec.model import OpSpec
from conformance.specification import Specification

TrivialImplementation = Callable[[Vector], Sequence[Array] | None]
"""The outputs of a trivial implementation; None if it is the function itself, or has none."""


def trivially_passed(spec: OpSpec, vector: Vector) -> tuple[str, ...]:
    """Name the trivial implementations that pass a vector without being exempt.

    They pass a value vector at level must; a target of the vector can exempt them.
    """
    exempt = exemptions(spec, vector)
    return tuple(name for name in trivial_passes(spec, vector) if name not in exempt)


class TrivialPassReport:
    """A report on vectors that trivial implementations pass: problems, and a number of exempt ones.

    Attributes: ``problems`` is one sentence per vector; ``exempt`` counts vectors.

    ``specs`` are the specifications of the suite. Vectors of a definition, and of an operator
    without one, have no targets that could exempt them, and are left out.
    """

    def __init__(self, specs: Mapping[str, Specification]) -> None:
        self._specs = specs
        self.problems: list[str] = []
        self.exempt = 0

    def check(self, vector: Vector) -> None:
        op = vector.case.op
        spec = self._specs.get(op)
        if not isinstance(spec, OpSpec):
            return
        passed = trivial_passes(spec, vector)
        excused = exemptions(spec, vector) if passed else {}
        not_exempt = [name for name in passed if name not in excused]
        if not_exempt:
            self.problems.append(f"{op}/{vector.id}.npz: passed by {', '.join(not_exempt)}")
        self.exempt += bool(passed) and not not_exempt


def trivial_passes(spec: Specification, vector: Vector) -> tuple[str, ...]:
    """Name the trivial implementations that pass a vector at must; none for a negative test."""
    if vector.case.reject is not None:
        return ()
    names = []
    for name, trivial in trivial_implementations(spec).items():
        outputs = trivial(vector)
        if outputs is not None and any(
            accepts(expected_outputs, outputs, PRECISION)
            for expected_outputs in (vector.answers, *vector.readings.values())
        ):
            names.append(name)
    return tuple(names)


def exemptions(spec: OpSpec, vector: Vector) -> Mapping[str, str]:
    """Return the trivial implementations that a vector's targets exempt, with the reasons."""
    reasons: dict[str, str] = {}
    for target in spec.edges:
        if target.name in vector.edges:
            reasons |= target.vacuous
    return reasons


def _filled(value: Callable[[Answer], object]) -> TrivialImplementation:
    def trivial(vector: Vector) -> list[Array]:
        return [
            np.full(
                expected_output.expected.shape,
                value(expected_output),
                DTYPES[expected_output.dtype].numpy,
            )
            for expected_output in vector.answers
        ]

    return trivial


def _lowest(expected_output: Answer) -> object:
    return DTYPES[expected_output.dtype].lowest


def _nan(expected_output: Answer) -> object:
    """NaN, or all bits of an integer."""
    dtype = DTYPES[expected_output.dtype]
    return np.nan if dtype.is_float else ~dtype.numpy.type(0)


def _unwritten(vector: Vector) -> list[Array]:
    """Memory as somebody else left it."""
    outputs = []
    for expected_output in vector.answers:
        dtype = DTYPES[expected_output.dtype].numpy
        count = expected_output.expected.size * dtype.itemsize
        garbage = (np.arange(count, dtype=np.int64) * 89 + 0xA5).astype(np.uint8)
        outputs.append(garbage.view(dtype).reshape(expected_output.expected.shape))
    return outputs


def _identity(vector: Vector) -> list[Array] | None:
    """The first input of the output's shape and type."""
    if len(vector.answers) > 1:
        return None
    (expected_output,) = vector.answers
    dtype = DTYPES[expected_output.dtype].numpy
    alike = (
        array
        for array in vector.inputs
        if array.shape == expected_output.expected.shape and array.dtype == dtype
    )
    return next(([array] for array in alike), None)


def _right(vector: Vector) -> list[Array]:
    """The right outputs themselves."""
    return [
        expected_output.expected if expected_output.rounded is None else expected_output.rounded
        for expected_output in vector.answers
    ]


def _transposed(vector: Vector) -> list[Array] | None:
    """The last two axes in each other's place."""
    shape = vector.answers[0].expected.shape
    if len(shape) < 4 or shape[-1] != shape[-2] or shape[-1] == 1:
        return None
    return [np.ascontiguousarray(output.swapaxes(-1, -2)) for output in _right(vector)]


def _shifted(vector: Vector) -> list[Array] | None:
    """Every row one element further."""
    if vector.answers[0].expected.shape[-1:] in ((), (1,)):
        return None
    return [np.roll(output, 1, axis=-1) for output in _right(vector)]


TRIVIAL_IMPLEMENTATIONS: Mapping[str, TrivialImplementation] = {
    "zeros": _filled(lambda _answer: 0),
    "ones": _filled(lambda _answer: 1),
    "nan": _filled(_nan),
    "lowest": _filled(_lowest),
    "unwritten": _unwritten,
    "identity": _identity,
    "transposed": _transposed,
    "shifted": _shifted,
}
"""Each trivial implementation that no vector of any family may pass, by the name that a
specification exempts it by."""


def trivial_implementations(spec: Specification) -> Mapping[str, TrivialImplementation]:
    """Return the trivial implementations of an operator, those of its family last."""
    if not isinstance(spec, OpSpec):
        return TRIVIAL_IMPLEMENTATIONS
    return {**TRIVIAL_IMPLEMENTATIONS, **spec.kin.trivial}
