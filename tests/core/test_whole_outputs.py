"""What is accepted of whole numbers that are made of quotients."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from conformance.core.answers import answers, readings
from conformance.core.operator_reader import read_operator
from conformance.dtypes import DTYPES
from conformance.grade.compare import accepts
from conformance.model import ALL_OPEN, Answer, Case

QUANTIZE = """
op: own.Quantize
types: {T: [f16, bf16, f32, f64], I: [u8, i8]}
dims: {N: {}}
inputs:
  - {name: X, type: T, shape: [N]}
  - {name: S, type: T, shape: [N]}
  - {name: Z, type: I, shape: [N], absent: 0}
define: {Y: {at: {i: N}, value: "min(max(round(X[i] / S[i]) + Z[i], -128), 127)"}}
outputs: [{name: Y, type: i8}]
interpretations:
  by-reciprocals: {question: a, adopted: b, answer: c, why: d, habit: reciprocal}
"""

ROUNDED = QUANTIZE.replace("round(X[i] / S[i]) + Z[i], -128)", "X[i] / S[i] + Z[i], -128)").replace(
    '127)"}', '127)", rounding: nearest}'
)


def answer(
    x: Any, scale: Any, dtype: str = "f32", text: str = QUANTIZE, reading: str = ""
) -> Answer:
    operator = read_operator(text)
    arrays = [np.asarray(each, DTYPES[dtype].numpy) for each in (x, np.broadcast_to(scale, len(x)))]
    case = Case(operator.op, {"T": dtype, "I": "u8"}, {"X": (len(x),), "S": (len(x),)}, {})
    base = answers(operator, case, [*arrays, None])
    (result,) = readings(operator, case, [*arrays, None], base)[reading] if reading else base
    return result


def allowed(result: Answer) -> list[set[int]]:
    if result.choices is None:
        return [{number} for number in result.expected.tolist()]
    return [{*row} - {-1} or {-1} for row in result.choices.tolist()]


@pytest.mark.parametrize("text", [QUANTIZE, ROUNDED])
def test_a_quotient_is_decided_where_the_format_has_it(text: str) -> None:
    """Round 1.5 / 3, 7.5 / 3 and others that are halves to the even number alone."""
    result = answer([1.5, 4.5, 7.5, -10.5, 100], 3, text=text)
    assert allowed(result) == [{0}, {2}, {2}, {-4}, {33}]


@pytest.mark.parametrize("text", [QUANTIZE, ROUNDED])
def test_either_number_passes_where_rounding_decides(text: str) -> None:
    """Accept what a division gives that rounds 3.49999995 to 3.5, and what is exact."""
    result = answer([0.35, 0.36, -0.25], 0.1, text=text)
    assert (allowed(result), result.expected.tolist()) == ([{3, 4}, {4}, {-2, -3}], [3, 4, -2])


def test_a_product_with_a_reciprocal_is_an_interpretation() -> None:
    """Accept 4.5 / 3 as 1 where a kernel multiplies by a third."""
    result = answer([1.5, 4.5, 6.0], 3, reading="by-reciprocals")
    assert allowed(result) == [{0, 1}, {1, 2}, {2}]


def test_quotients_of_f16_may_be_of_f16_or_wider() -> None:
    """Accept both numbers that 3.45 / 0.1 gives, rounded in f16 and in f32."""
    assert allowed(answer([3.45], 0.1, "f16")) == [{34, 35}]
    assert answer([3.46], 0.1, "f64").choices is None


def test_an_infinity_saturates_and_nothing_else_has_no_value() -> None:
    """Leave open what is not a number, and a quotient that overflows."""
    result = answer([np.inf, -np.inf, np.nan, 3e38, 1e30], 0.25)
    assert result.expected[[0, 1, 4]].tolist() == [127, -128, 127]
    assert result.open is not None
    assert (result.open == ALL_OPEN).nonzero()[0].tolist() == [2]
    assert (result.open != 0).nonzero()[0].tolist() == [2, 3]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_divisions_that_round_once_pass(dtype: str) -> None:
    """Accept divisions in the type and in wider ones, and products only by the interpretation."""
    kind = DTYPES[dtype].numpy
    rng = np.random.default_rng(1)
    scale = rng.uniform(0.5, 2, 4000).astype(kind)
    halves = rng.integers(-200, 200, 4000) / 2
    x = (halves * scale.astype(np.float64)).astype(kind)  # quotients near halves
    base, reciprocal = answer(x, scale, dtype), answer(x, scale, dtype, reading="by-reciprocals")
    wider = [np.float64] if dtype == "f64" else [np.float32, np.float64]
    for format_ in (kind, *wider):
        quotient = x.astype(format_) / scale.astype(format_)
        assert accepts([base], [whole(quotient)], "standard")
        inverse = (1 / scale.astype(format_)).astype(format_)
        product = whole((x.astype(format_) * inverse).astype(format_))
        assert accepts([reciprocal], [product], "standard")
        assert format_ == np.float64 or not accepts([base], [product], "standard")
    assert not accepts([reciprocal], [whole(np.trunc(x.astype("f8") / scale))], "standard")
    exact = [round(Fraction(float(a)) / Fraction(float(b))) for a, b in zip(x, scale, strict=True)]
    assert base.expected.tolist() == [min(max(number, -128), 127) for number in exact]


def whole(quotients: Any) -> Any:
    return np.clip(np.rint(quotients.astype(np.float64)), -128, 127).astype(np.int8)
