"""Expected outputs of a case, and those under interpretations of its operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from core_operators import operator

from conformance.core.answers import answers, readings
from conformance.core.loader import load_operator
from conformance.core.operator import Operator
from conformance.core.operator_reader import read_operator
from conformance.dtypes import DTYPES
from conformance.errors import SpecError
from conformance.model import ALL_OPEN, OPEN_BIT, Case

SUM = """
op: Sum
types: {T: [f32, f16, bf16, f64, i32]}
attributes:
  shift: {default: 0}
dims: {K: {}}
inputs:
  - {name: X, type: T, shape: [K]}
define:
  Y:
    at: {i: 1}
    over: {k: K}
    term: "X[k]"
    combine: sum
    finish: total
outputs:
  - {name: Y, type: T}
interpretations:
  doubled:
    {question: factor, adopted: "1", answer: "2", why: A test.,
    where: shift > 0, change: {define.Y.finish: 2 * original}}
  raised:
    {question: offset, adopted: none, answer: shift, why: A test.,
    change: {define.Y.finish: original + shift}}
"""


def case(dtype: str, count: int, shift: int = 0) -> Case:
    return Case("Sum", {"T": dtype}, {"X": (count,)}, {"shift": shift})


def column(dtype: str, *values: float) -> list[np.ndarray]:
    return [np.array(values).astype(DTYPES[dtype].numpy)]


@pytest.fixture(scope="module")
def sum_operator() -> Operator:
    return read_operator(SUM)


def test_f16_has_ends_for_both_accumulators(sum_operator: Operator) -> None:
    (answer,) = answers(sum_operator, case("f16", 3), column("f16", 2048, 1, 1))
    assert answer.dtype == "f16"
    assert answer.expected.tolist() == [2050.0]
    assert answer.rounded is not None
    assert answer.rounded.tolist() == [2050.0]
    assert answer.interval("exact")[0].tolist() == [2050.0]
    # In f32 every order is exact; in f16 1 may be lost twice.
    assert [end.tolist() for end in answer.interval("standard")] == [[2050.0], [2050.0]]
    assert [end.tolist() for end in answer.interval("native")] == [[2048.0], [2052.0]]
    assert answer.open is None


def test_f32_has_no_native_ends(sum_operator: Operator) -> None:
    (answer,) = answers(sum_operator, case("f32", 2), column("f32", 1, 2))
    assert answer.lo_native is None
    assert answer.hi_native is None


def test_a_sum_that_may_overflow_is_open_but_at_exact(sum_operator: Operator) -> None:
    inputs = column("f32", 3e38, 3e38, -3e38)
    (answer,) = answers(sum_operator, case("f32", 3), inputs)
    assert answer.open is not None
    assert answer.open.tolist() == [OPEN_BIT["standard"] + OPEN_BIT["native"]]
    assert answer.rounded is not None
    assert answer.rounded.tolist() == [float(np.float32(3e38))]


def test_integers_are_expected_alone_and_open_where_too_large(sum_operator: Operator) -> None:
    (answer,) = answers(sum_operator, case("i32", 2), column("i32", 2, 3))
    assert answer.rounded is answer.lo is answer.open is None
    assert answer.expected.tolist() == [5]
    (answer,) = answers(sum_operator, case("i32", 2), column("i32", 2**31 - 1, 1))
    assert answer.open is not None
    assert answer.open.tolist() == [ALL_OPEN]


def test_what_the_document_gives_no_value_is_open_at_every_precision() -> None:
    pool = operator("AveragePool")
    attributes = {"kernel": [2], "pads_begin": [2]}
    given = Case("AveragePool", {"T": "f32"}, {"X": (1, 1, 2)}, attributes)
    (answer,) = answers(pool, given, [np.array([[[3, 5]]], np.float32)])
    assert answer.open is not None
    assert answer.open.ravel().tolist() == [ALL_OPEN, 0, 0]


def test_readings_are_named_in_order_with_their_combinations(sum_operator: Operator) -> None:
    inputs = column("f32", 1, 2)
    given = case("f32", 2, shift=1)
    under = readings(sum_operator, given, inputs, answers(sum_operator, given, inputs))
    values = {name: outputs[0].expected.tolist() for name, outputs in under.items()}
    assert values == {"doubled": [6.0], "raised": [4.0], "doubled+raised": [7.0]}


def test_a_reading_that_changes_nothing_is_left_out(sum_operator: Operator) -> None:
    inputs = column("f32", 1, -1)
    given = case("f32", 2, shift=1)
    under = readings(sum_operator, given, inputs, answers(sum_operator, given, inputs))
    assert list(under) == ["raised"]
    given = case("f32", 2, shift=0)
    assert readings(sum_operator, given, inputs, answers(sum_operator, given, inputs)) == {}


def test_a_change_that_does_not_apply_is_shown_with_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "Sum.yaml"
    file.write_text(SUM.replace("2 * original", "{product: total}"))
    with pytest.raises(SpecError) as caught:
        load_operator(str(file))
    line = SUM[: SUM.index("where: shift > 0")].count("\n") + 1
    (problem,) = caught.value.problems
    assert problem.line == line
    assert "'total' has no 'product'" in problem.message


def test_a_quotient_by_a_single_number_that_is_no_fraction() -> None:
    inputs = [np.array([1, 2], np.float32)]
    asked = Case("onnx.Softmax", {"T": "f32"}, {"X": (2,)}, {})
    (answer,) = answers(operator("Softmax"), asked, inputs)
    assert answer.expected == pytest.approx([0.2689414213699951, 0.7310585786300049], rel=1e-15)
