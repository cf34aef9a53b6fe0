"""Trivial implementations (all zeros, identity, ...), which no suite may let pass.

They fill the outputs without looking at the case, or have the right outputs in wrong places. Some
cases let one pass, as data of zeros do; all cases of an operator together must not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from conformance.audit import PRECISION
from conformance.dtypes import DTYPES, Array
from conformance.grade.compare import accepts
from conformance.model import Answer, Vector
from conformance.safe_text import number_of

TrivialImplementation = Callable[[Vector], Sequence[Array] | None]
"""The outputs of a trivial implementation; None if it has none."""


class TrivialPassReport:
    """Finds the trivial implementations that pass every value vector of an operator."""

    def __init__(self) -> None:
        self._vectors: Counter[str] = Counter()
        self._passing: dict[str, set[str]] = {}

    def check(self, vector: Vector) -> None:
        """Take a vector of the suite into account."""
        if vector.case.reject is not None:
            return
        op = vector.case.op
        self._vectors[op] += 1
        passing = self._passing.setdefault(op, set(TRIVIAL_IMPLEMENTATIONS))
        passing.difference_update([name for name in passing if not passes(name, vector)])

    @property
    def problems(self) -> Iterator[str]:
        """A sentence for each operator that some trivial implementation passes."""
        for op, names in self._passing.items():
            if names:
                count = number_of(self._vectors[op], "value vector")
                yield f"{op}: all of its {count} would be passed by {', '.join(sorted(names))}"


def passes(name: str, vector: Vector) -> bool:
    """Return whether a trivial implementation passes a value vector at level must."""
    outputs = TRIVIAL_IMPLEMENTATIONS[name](vector)
    return outputs is not None and any(
        accepts(expected_outputs, outputs, PRECISION)
        for expected_outputs in (vector.answers, *vector.readings.values())
    )


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
"""Each trivial implementation by its name."""
