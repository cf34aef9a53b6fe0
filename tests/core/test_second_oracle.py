"""The core against a second implementation that was written without sight of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from independent import FORMATS, ordinals, rounded
from second_oracle import OPERATORS, from_numpy

from conformance.core.answers import answers
from conformance.core.data import inputs_of
from conformance.dtypes import DTYPES, name_of
from conformance.generate.cases import draw_cases
from conformance.model import Answer, Case
from conformance.specification import find_spec, shipped_operators

LARGE = 400
"""Elements of inputs above which loops take long."""

SHIPPED = sorted(op for op in OPERATORS if f"onnx.{op}" in shipped_operators())

Drawn = tuple[Case, list[Any]]


def drawn(op: str, count: int) -> Iterator[Drawn]:
    """Yield cases of few elements, with their inputs."""
    operator = find_spec(f"onnx.{op}")
    for case in draw_cases(operator, count, seed=9):
        inputs = inputs_of(operator, case)
        if sum(array.size for array in inputs if array is not None) <= LARGE:
            yield case, inputs


def second(op: str, case: Case, inputs: list[Any]) -> list[Any]:
    """Return the outputs of the second implementation."""
    given = [None if array is None else from_numpy(array, name_of(array.dtype)) for array in inputs]
    stored = {
        name: float(np.float32(value)) if isinstance(value, float) else value
        for name, value in case.attributes.items()
    }
    if op in ("Max-13", "Min-13", "Concat-13"):  # as many inputs as there are
        given = [tensor for tensor in given if tensor is not None]
    return OPERATORS[op](given, stored)


def code(value: Any, dtype: str) -> Any:
    """Return the ordinal of a value once it is rounded, or a word for NaN."""
    if isinstance(value, float) or (isinstance(value, mpmath.mpf) and not mpmath.isfinite(value)):
        if math.isnan(value):
            return "nan"
        return int(math.copysign(FORMATS[dtype].infinity, value))
    if not isinstance(value, mpmath.mpf):
        return rounded(Fraction(value), FORMATS[dtype])
    # Beyond all formats an exponent says no more.
    sign, significand, exponent, _ = value._mpf_
    number = Fraction(int(significand)) * Fraction(2) ** max(-9999, min(9999, exponent))
    return rounded(-number if sign else number, FORMATS[dtype])


def differing(answer: Answer, tensor: Any) -> list[int]:
    """Return the places of elements that have a value in both and differ."""
    array = answer.expected if answer.rounded is None else answer.rounded
    assert tuple(tensor.shape) == array.shape
    is_open = np.zeros(array.size) if answer.open is None else answer.open.ravel()
    if DTYPES[answer.dtype].is_float:
        lost = np.isnan(array.astype("f8")).ravel()
        ours = ["nan" if nan else n for n, nan in zip(ordinals(array), lost, strict=True)]
        theirs = [code(value, answer.dtype) for value in tensor.elements]
    else:
        ours, theirs = array.ravel().tolist(), [int(value) for value in tensor.elements]
    pairs = zip(ours, theirs, is_open, strict=True)
    return [k for k, (a, b, free) in enumerate(pairs) if a != b and not free]


def check(op: str, count: int) -> int:
    """Compare both in drawn cases, and return how many there were."""
    compared = 0
    for case, inputs in drawn(op, count):
        expected = answers(find_spec(case.op), case, inputs)
        outputs = second(op, case, inputs)
        assert len(outputs) >= len(expected)
        for answer, tensor in zip(expected, outputs, strict=False):
            assert differing(answer, tensor) == [], (case, answer.name)
        compared += 1
    return compared


def test_operators_of_all_kinds_are_compared() -> None:
    assert len(SHIPPED) >= 40


@pytest.mark.parametrize("op", SHIPPED)
def test_both_agree(op: str) -> None:
    assert check(op, 12) >= 6


@pytest.mark.exhaustive
@pytest.mark.parametrize("op", SHIPPED)
def test_both_agree_in_many_cases(op: str) -> None:
    assert check(op, 150) >= 50
