"""Outputs that are moved, and not computed, keep every bit."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.answers import answers
from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator, shipped_names
from conformance.core.moved import is_moved, moved_bits
from conformance.core.operator_reader import read_operator
from conformance.dtypes import DTYPES
from conformance.generate.cases import draw_cases
from conformance.grade.compare import accepts, compare
from conformance.model import ALL_OPEN, Answer
from conformance.repro.checker import wrong_elements
from conformance.specification import build

MOVED = {
    "Concat-13",
    "DepthToSpace-13",
    "Expand-13",
    "Flatten-13",
    "Gather-13",
    "GatherElements-13",
    "GatherND-13",
    "OneHot-11",
    "Pad-13",
    "Reshape-14",
    "ReverseSequence-10",
    "Slice-13",
    "SpaceToDepth-13",
    "Split-18",
    "Squeeze-13",
    "Tile-13",
    "TopK-11",
    "Transpose-13",
    "Trilu-14",
    "Unsqueeze-13",
    "Where-16",
}

PAYLOAD = struct.unpack("<f", bytes.fromhex("efbec07f"))[0]
"""A NaN whose bits say something, as some programs mark what is missing."""

ODD = np.array([0.0, -0.0, PAYLOAD, -np.inf, 1e-45, 3.0], np.float32)


def bits(array: Any) -> Any:
    return np.ascontiguousarray(array).view(np.int32).reshape(np.shape(array)).tolist()


def moved(op: str, inputs: dict[str, Any], **attributes: Any) -> Any:
    operator = load_operator(op)
    return moved_bits(Evaluation(operator, attributes, inputs), operator.outputs[0])


def test_which_operators_move_their_elements_follows_from_their_texts() -> None:
    found = {
        name.removeprefix("onnx.")
        for name in shipped_names()
        if any(is_moved(load_operator(name), output) for output in load_operator(name).outputs)
    }
    assert found == MOVED


@given(st.permutations(range(3)), st.binary(min_size=96, max_size=96))
def test_a_transposition_moves_bits_as_numpy_does(order: list[int], data: bytes) -> None:
    array = np.frombuffer(data, np.float32).reshape(2, 3, 4)
    ours = moved("onnx.Transpose-13", {"data": array}, perm=list(order))
    assert bits(ours) == bits(array.transpose(order))


def test_constants_stand_where_nothing_is_moved() -> None:
    inputs = {"data": ODD[:2], "pads": np.array([1, 2]), "constant_value": np.float32(-0.0)}
    padded = moved("onnx.Pad-13", {**inputs, "constant_value": ODD[1:2].reshape(())})
    assert bits(padded) == bits(np.array([-0.0, 0.0, -0.0, -0.0, -0.0], np.float32))
    without = moved("onnx.Pad-13", {k: v for k, v in inputs.items() if k != "constant_value"})
    assert bits(without) == bits(np.array([0.0, 0.0, -0.0, 0.0, 0.0], np.float32))


FROM_THE_LARGEST = """
op: own.FromTheLargest
types: {T: [f32]}
dims: {n: {}}
inputs: [{name: X, type: T, shape: [n]}]
define:
  best: {at: {i: n}, over: {k: n}, term: "X[k]", combine: first_max, finish: k}
  Y: {at: {i: n}, with: {start: "best[i]"}, value: "X[(i + start) % n]"}
outputs: [{name: Y, type: T}]
"""


def test_what_elements_decide_is_not_decided_by_their_numbers() -> None:
    operator = read_operator(FROM_THE_LARGEST)
    data = np.array([-0.0, 3.0, 0.0, -np.inf], np.float32)
    ours = moved_bits(Evaluation(operator, {}, {"X": data}), operator.outputs[0])
    assert bits(ours) == bits(np.roll(data, -1))


def test_what_is_computed_or_whole_has_no_such_bits() -> None:
    assert moved("onnx.Relu-14", {"X": ODD}) is None
    assert moved("onnx.Sign-13", {"X": ODD}) is None
    assert moved("onnx.Transpose-13", {"data": np.arange(3)}) is None


def moved_answer() -> Answer:
    return Answer("Y", "f32", ODD.astype(np.float64), ODD, ODD, ODD, bits=True)


@pytest.mark.parametrize("precision", ["exact", "standard", "native", "tiled"])
def test_other_bits_are_wrong_at_every_precision(precision: str) -> None:
    answer = moved_answer()
    assert not compare(answer, ODD.copy(), precision).wrong.any()
    got = ODD + np.float32(0)  # a zero loses its sign
    got[2] = np.nan  # and NaN its payload
    judged = compare(answer, got, precision)
    assert judged.wrong.tolist() == [False, True, True, False, False, False]
    assert judged.reached is None
    # What a mutant computes has no signs of zeros, and may not differ by them.
    assert accepts((answer,), (got,), precision)


def test_what_is_unspecified_has_any_bits() -> None:
    is_open = np.array([0, ALL_OPEN, 0, 0, 0, 0], np.uint8)
    answer = replace(moved_answer(), open=is_open)
    got = ODD + np.float32(0)
    assert compare(answer, got, "standard").wrong.tolist() == [False, False, *[False] * 4]
    got[3] = 1
    assert compare(answer, got, "standard").wrong.tolist() == [False] * 3 + [True, False, False]


def test_a_script_compares_bits_too() -> None:
    got = ODD + np.float32(0)
    assert wrong_elements(got, {"bits": ODD}).tolist() == [False, True, *[False] * 4]


@pytest.mark.parametrize("op", ["onnx.Pad-13", "onnx.Gather-13"])
def test_all_types_have_the_values_that_they_have_without_bits(op: str) -> None:
    operator = load_operator(op)
    for case in draw_cases(operator, 40, seed=2):
        vector = build(operator, case)
        for answer in vector.answers:
            assert answer.bits == DTYPES[answer.dtype].is_float
            if answer.bits:
                evaluated = replace(answer, rounded=answer.expected.astype(answer.lo.dtype))
                assert accepts((replace(evaluated, bits=False),), (answer.rounded,), "exact")


def test_answers_of_a_moved_output_are_single_values() -> None:
    operator = load_operator("onnx.Transpose-13")
    (case,) = draw_cases(operator, 1, seed=3, dtypes=["f32"])
    (answer,) = build(operator, case).answers
    assert answer.lo is answer.hi is answer.rounded
    assert answers(operator, case, build(operator, case).arguments)[0].bits
