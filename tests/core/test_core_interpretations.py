"""Interpretations of the shipped definitions give what real implementations were seen to give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.core.answers import answers, readings
from conformance.core.loader import load_operator, shipped_names
from conformance.core.negative import broken_conditions
from conformance.core.operator_reader import read_operator
from conformance.errors import SpecError
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Case, Status, Vector
from conformance.specification import find_spec, interpretations_by_element

INF, NAN = np.inf, np.nan
SHORT = [[[1, 1]]]
IMAGE = [[[1, 1, 1]]]
INFINITE = [[[INF, 1, 1]]]
SAME = {"strides": [2], "auto_pad": "SAME_UPPER"}

SEEN: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, list[float]]]] = [
    (
        "onnx.Conv-22",
        {"X": IMAGE, "W": INFINITE},
        {"pads": [1, 1]},
        {"": [2, INF, INF], "multiplies-padding": [NAN, INF, INF]},
    ),
    ("onnx.Conv-22", {"X": IMAGE, "W": INFINITE}, {}, {"": [INF]}),
    (
        "torch.conv-2",
        {"input": IMAGE, "weight": INFINITE},
        {"padding": 1},
        {"": [2, INF, INF], "multiplies-padding": [NAN, INF, INF]},
    ),
    (
        "torch.conv_transpose-2",
        {"input": IMAGE, "weight": INFINITE},
        {"stride": 2},
        {
            "": [INF, 1, INF, 1, INF, 1, 1],
            "multiplies-padding": [INF, 1, INF, 1, INF, 1, NAN],
            "multiplies-gaps": [INF, NAN, INF, NAN, INF, NAN, 1],
            "multiplies-padding+multiplies-gaps": [INF, NAN, INF, NAN, INF, NAN, NAN],
        },
    ),
    (
        "onnx.ConvTranspose-22",
        {"X": IMAGE, "W": INFINITE},
        {"strides": [2]},
        {
            "": [INF, 1, INF, 1, INF, 1, 1],
            "multiplies-padding": [INF, 1, INF, 1, INF, 1, NAN],
            "multiplies-gaps": [INF, NAN, INF, NAN, INF, NAN, 1],
            "multiplies-padding+multiplies-gaps": [INF, NAN, INF, NAN, INF, NAN, NAN],
        },
    ),
    (
        "onnx.ConvTranspose-22",
        {"X": SHORT, "W": [[[1]]]},
        SAME,
        {"": [0, 1, 0, 1], "nothing-added": [1, 0, 1]},
    ),
    (
        "onnx.ConvTranspose-22",
        {"X": SHORT, "W": [[[1, 2]]]},
        {"strides": [2], "output_shape": [7]},
        {"": [0, 1, 2, 1, 2, 0, 0], "added-at-end": [1, 2, 1, 2, 0, 0, 0]},
    ),
    (
        "onnx.ConvTranspose-22",
        {"X": IMAGE, "W": [[[1, 2, 3]]]},
        {**SAME, "output_padding": [1]},
        {"": [2, 4, 2, 4, 2, 3], "same-adds-output-padding": [1, 2, 4, 2, 4, 2, 3]},
    ),
    (
        "onnx.ConvTranspose-1",
        {"X": IMAGE, "W": [[[1, 2, 3]]]},
        SAME,
        {"": [1, 2, 4, 2, 4, 2], "larger-half-swapped": [2, 4, 2, 4, 2, 3]},
    ),
    ("onnx.ConvTranspose-11", {"X": IMAGE, "W": [[[1, 2, 3]]]}, SAME, {"": [1, 2, 4, 2, 4, 2]}),
    (
        "onnx.ConvTranspose-1",
        {"X": SHORT, "W": [[[1]]], "B": [7]},
        {"strides": [2], "output_padding": [1]},
        {"": [8, 7, 8, 7], "output-padding-is-zero": [8, 7, 8, 0]},
    ),
    (
        "onnx.Gemm-13",
        {"A": [[1, 1]], "B": [[1], [1]], "C": [[NAN]]},
        {"beta": 0},
        {"": [NAN], "zero-beta-skips-c": [2]},
    ),
    (
        "onnx.Gemm-13",
        {"A": [[INF, 1]], "B": [[1], [1]], "C": [[3]]},
        {"alpha": 0},
        {"": [NAN], "zero-alpha-skips-product": [3]},
    ),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), SEEN)
def test_each_interpretation_gives_its_values(
    op: str, inputs: dict[str, Any], attributes: dict[str, Any], expected: dict[str, list[float]]
) -> None:
    operator = load_operator(op)
    arrays = {name: np.array(values, np.float32) for name, values in inputs.items()}
    tensors = [arrays.get(tensor.name) for tensor in operator.inputs]
    shapes = {name: array.shape for name, array in arrays.items()}
    case = Case(op, {"T": "f32"}, shapes, attributes)
    base = answers(operator, case, tensors)
    outputs = {"": base, **readings(operator, case, tensors, base)}
    values = {name: answer[0].expected.ravel() for name, answer in outputs.items()}
    assert values.keys() == expected.keys()
    for name, array in values.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


@pytest.mark.parametrize("op", ["onnx.Conv-1", "onnx.ConvTranspose-1", "onnx.ConvTranspose-22"])
def test_pads_and_auto_pad_exclude_each_other(op: str) -> None:
    attributes = {"auto_pad": "VALID", "pads": [0, 0]}
    case = Case(op, {"T": "f32"}, {"X": (1, 1, 3), "W": (1, 1, 1)}, attributes)
    assert broken_conditions(load_operator(op), case) == ("pads-without-auto-pad",)


@pytest.mark.parametrize("op", shipped_names())
def test_interpretations_are_told_in_full(op: str) -> None:
    for interpretation in load_operator(op).interpretations:
        phrases = (interpretation.question, interpretation.adopted, interpretation.answer)
        assert not any(phrase.endswith(".") for phrase in phrases), interpretation.name
        assert interpretation.why.endswith("."), interpretation.name


HALF = """
op: own.Half
types: {T: [f16, f32, f64]}
dims: {n: {}}
inputs: [{name: X, type: T, shape: [n]}]
define: {Y: {at: {i: n}, value: "X[i] / 2"}}
outputs: [{name: Y, type: T}]
interpretations:
  flushes-subnormals:
    {question: subnormal numbers, adopted: kept, answer: zero, why: Some do., habit: flushes}
  doubles:
    question: which
    adopted: half
    answer: twice
    why: A test.
    where: T == f64
    change: {define.Y.value: "X[i] * 2"}
"""


def test_an_interpretation_may_be_a_habit_and_may_depend_on_types() -> None:
    operator = read_operator(HALF)
    tiny = np.float32(2.0**-126)
    case = Case(operator.op, {"T": "f32"}, {"X": (2,)}, {})
    inputs = [np.array([tiny, 4], np.float32)]
    (output,) = answers(operator, case, inputs)
    assert output.lo is not None
    assert output.lo.tolist() == [tiny / 2, 2]
    ((name, (flushed,)),) = readings(operator, case, inputs, (output,)).items()
    assert name == "flushes-subnormals"
    assert flushed.lo is not None
    assert flushed.lo[0] <= 0
    assert flushed.lo[1] == 2
    doubled = Case(operator.op, {"T": "f64"}, {"X": (1,)}, {})
    expected = answers(operator, doubled, [np.array([3.0])])
    assert [*readings(operator, doubled, [np.array([3.0])], expected)] == ["doubles"]


def test_an_interpretation_has_a_change_or_a_habit() -> None:
    with pytest.raises(SpecError, match="an interpretation has 'change' or 'habit'"):
        read_operator(HALF.replace(", habit: flushes", ""))


@pytest.mark.parametrize(
    ("first", "second", "level", "status"),
    [
        (NAN, 2, "must", Status.PASS),
        (2, NAN, "must", Status.PASS),
        (NAN, 2, "should", Status.FAIL),
        (NAN, 3, "must", Status.FAIL),
    ],
)
def test_padding_may_be_multiplied_in_some_elements_alone(
    first: float, second: float, level: str, status: Status
) -> None:
    operator = load_operator("onnx.Conv-22")
    inputs = [np.array(IMAGE, np.float32), np.array(INFINITE * 2, np.float32), None]
    shapes = {"X": (1, 1, 3), "W": (2, 1, 3)}
    case = Case(operator.op, {"T": "f32"}, shapes, {"pads": [1, 1]})
    expected = answers(operator, case, inputs)
    allowed = readings(operator, case, inputs, expected)
    vector = Vector(case.id, case, "must", (), "", "", tuple(inputs[:2]), expected, allowed, (2,))
    outputs = [np.array([[[first, INF, INF], [second, INF, INF]]], np.float32)]
    outcome = Outcome(Ending.RETURNED, outputs)
    result = judge(vector, outcome, level=level, precision={}, spec=operator)
    assert result.status is status
    if status is Status.PASS:
        assert result.reading == "multiplies-padding"


@pytest.mark.parametrize(
    ("op", "names"),
    [("torch.conv-2", {"multiplies-padding"}), ("onnx.Gemm-13", set()), ("AvgPool-1", set())],
)
def test_elements_follow_by_themselves_what_reads_outside_add(op: str, names: set[str]) -> None:
    assert interpretations_by_element(find_spec(op)) == names


def test_an_interpretation_that_differs_where_nothing_is_checked_is_none() -> None:
    text = HALF.replace('value: "X[i] / 2"', 'value: "X[i] / 2", unspecified: i == 1')
    text = text.replace('"X[i] * 2"', '"where(i == 1, X[i] * 2, X[i] / 2)"')
    operator = read_operator(text)
    case = Case(operator.op, {"T": "f64"}, {"X": (2,)}, {})
    inputs = [np.array([3.0, 4.0])]
    assert not readings(operator, case, inputs, answers(operator, case, inputs))
