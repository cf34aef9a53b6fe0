"""What a backend writes in unchecked places: unspecified elements, and the sign of zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError
from conformance.grade.compare import structure_mismatch
from conformance.grade.outcome import Ending, Outcome
from conformance.model import ALL_OPEN, Answer, Vector
from conformance.reference import facts
from conformance.spec.model import Observation
from conformance.specification import Specification

Mask = NDArray[np.bool_]

EXPECTED_VALUE = "expected"
"""The class of a value that equals the vector's expected one, where that has a meaning."""

ANOTHER_VALUE = "another value"


def classify_unspecified(
    spec: Specification, vector: Vector, outcome: Outcome
) -> dict[str, tuple[str, ...]]:
    """Classify what outputs hold where the vector leaves them free, by question.

    The questions are those of ``spec.observe``. Only outputs of the right type and shape are looked
    at, whatever else is wrong with them. A vector that leaves nothing free costs two comparisons.
    """
    if isinstance(spec, Operator) or not spec.observe or outcome.ending is not Ending.RETURNED:
        return {}
    unchecked = [
        (answer, got, mask)
        for answer, got in zip(vector.answers, _arrays(outcome.returned), strict=False)
        if answer.rounded is not None and structure_mismatch(answer, got) is None
        for mask in [_unchecked(answer, got)]
        if mask.any()
    ]
    if not unchecked:
        return {}
    classes_by_question: dict[str, tuple[str, ...]] = {}
    try:
        env = facts(spec, vector.case, vector.inputs)
        for point in spec.observe:
            selected: Any = point.where.evaluate(env)
            classes = {
                name: None
                for answer, got, mask in unchecked
                for name in _classes(
                    point, answer, got, mask & np.broadcast_to(selected, got.shape)
                )
            }
            if classes:
                classes_by_question[point.name] = tuple(classes)
    except (ConformanceError, LookupError, TypeError, ValueError):
        return {}  # a suite of another version of the specification
    return classes_by_question


def _arrays(returned: object) -> Sequence[Any]:
    if isinstance(returned, np.ndarray):
        return (returned,)
    return cast("Sequence[Any]", returned) if type(returned) in (list, tuple) else ()


def _unchecked(answer: Answer, got: NDArray[Any]) -> Mask:
    """Open elements, and zeros where zero is expected, whose sign nobody checks."""
    zero = (answer.expected == 0) & (DTYPES[answer.dtype].ordinals(got) == 0).reshape(got.shape)
    if answer.open is None:
        return zero
    return np.where(answer.open == 0, zero, answer.open == ALL_OPEN)


def _classes(point: Observation, answer: Answer, got: NDArray[Any], mask: Mask) -> list[str]:
    """The classes of the elements that the mask holds, in a fixed order, each once."""
    if not mask.any():
        return []
    assert answer.rounded is not None
    dtype = DTYPES[answer.dtype]
    values, negative = dtype.ordinals(got[mask]), np.signbit(got[mask])
    top = dtype.infinity
    kinds: dict[str, Mask] = {"NaN": np.abs(values) > top}
    if point.expected:
        # Before the others: that it is infinite, say, then comes from the data.
        kinds[EXPECTED_VALUE] = values == dtype.ordinals(answer.rounded[mask])
    kinds |= {
        "+0": (values == 0) & ~negative,
        "-0": (values == 0) & negative,
        "+infinity": values == top,
        "-infinity": values == -top,
        "the lowest number": values == 1 - top,
        "the largest number of its type": values == top - 1,
    }
    names = [*kinds, ANOTHER_VALUE]
    first = np.select(list(kinds.values()), list(range(len(kinds))), len(kinds))
    return [names[kind] for kind in np.unique(first)]
