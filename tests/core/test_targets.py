"""Coverage targets that the text of an operator gives."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.core.expression_text import text_of
from conformance.core.loader import load_operator
from conformance.core.operator_reader import read_operator
from conformance.core.parser import parse
from conformance.core.targets import reported_names, targets_of
from conformance.core.tree import Kind
from conformance.generate.cases import Draw
from conformance.model import Case

Shapes = Mapping[str, tuple[int, ...]]


def names(op: str, shapes: Shapes, attributes: Mapping[str, Any], pattern: str = "") -> set[str]:
    operator = load_operator(op)
    pattern = pattern or "+".join("whole" for _ in operator.inputs)
    case = Case(op, {"T": "f32"}, shapes, attributes, {}, pattern, 0)
    return {target.name for target in targets_of(operator, case)}


CONV = names(
    "onnx.Conv-22",
    {"X": (1, 6, 5, 17), "W": (4, 3, 3, 2)},
    {"group": 2, "pads": [1, 0, 0, 2], "strides": [2, 1]},
    "whole+signs+whole",
)


@pytest.mark.parametrize(
    "name",
    [
        "group is 2",
        "auto_pad is left out",
        "strides is 2 on an axis",
        "pads has 4 entries",
        "B is absent",
        "W holds signs",
        "C // group has no rest",
        "reads before X's size on the first axis",
        "reads behind X's size on the last axis",
        "Y has elements of a part of the terms",
        "Y has elements of all terms",
        "2 axes in axis",
        "size differs on all axes",
        "3 attributes depart",
        "N is 1",
        "size[-1] is just above 16",
        "size[-1] leaves a rest by 8",
        "terms of Y leaves a rest by 4",
        "pad_begin < pad_end on an axis",
        "length(pads) != 0",
    ],
)
def test_a_case_of_a_convolution_covers(name: str) -> None:
    assert name in CONV


def test_what_every_valid_case_covers_is_no_target() -> None:
    assert "C % group == 0" not in CONV
    assert not {name for name in CONV if name.startswith("extent <= size")}


def test_broadcasting_shows_in_each_tensor_and_in_both_together() -> None:
    covered = names("onnx.MatMul-13", {"A": (2, 1, 3, 4), "B": (5, 4, 6)}, {})
    assert {"A is stretched in batch[-1]", "B lacks batch[-2]", "B has batch[-1]"} <= covered
    assert "A (n, 1) by B (n) in batch" in covered


def test_a_tensor_that_is_stretched_to_the_result_shows_its_pattern() -> None:
    covered = names("onnx.Gemm-13", {"A": (2, 3), "B": (3, 4), "C": (2, 1)}, {"alpha": -0.5})
    assert {"C is (n, 1)", "C has M", "C is stretched in N", "alpha is negative"} <= covered


GATHER = """
op: own.Gather
types: {T: [f32], I: [i64]}
dims: {n: {}, m: {}}
inputs:
  - {name: X, type: T, shape: [n]}
  - {name: at, type: i64, shape: [m]}
define:
  Y:
    at: {i: m}
    outside: "0"
    value: "X[at[i]]"
outputs: [{name: Y, type: T}]
"""


def test_reads_at_numbers_of_a_tensor_show_where_it_is_given() -> None:
    import numpy as np

    operator = read_operator(GATHER)
    case = Case("own.Gather", {"T": "f32"}, {"X": (3,), "at": (2,)}, {}, {}, "whole+whole", 0)
    before = {t.name for t in targets_of(operator, case, {"at": np.array([-1, 2])})}
    assert "reads before X's n" in before
    assert "reads before X's n" not in {t.name for t in targets_of(operator, case)}


@pytest.mark.parametrize("op", ["onnx.Conv-22", "onnx.ConvTranspose-22", "MatMul-1"])
def test_names_are_short_and_few_are_reported(op: str) -> None:
    operator, chance = load_operator(op), random.Random(1)
    drawn = [Draw(operator, chance.randint).case(()) for _ in range(200)]
    targets = [targets_of(operator, case) for case in drawn if case is not None]
    assert max(len(target.name) for each in targets for target in each) < 50
    assert max(len(reported_names(each)) for each in targets) <= 65


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("a-(b-1)*2", "a - (b - 1) * 2"),
        ("(a - b) - 1", "a - b - 1"),
        ("not (a < b and b > 2)", "not (a < b and 2 < b)"),
        ("min(a, b) // 2", "min(a, b) // 2"),
    ],
)
def test_a_tree_has_one_spelling(text: str, spelled: str) -> None:
    scope = {"a": Kind("int"), "b": Kind("int")}
    assert text_of(parse(text, scope)) == spelled


def test_a_result_is_as_large_as_an_operand_says() -> None:
    """As large as without it, indices of the result and of a long filter filled the memory."""
    operator = load_operator("ConvolutionBackpropData-1")
    attributes = {"strides": [2], "dilations": [1], "pads_begin": [0], "pads_end": [0]}
    shapes = {"X": (1, 1, 3), "W": (1, 1, 9)}
    case = Case(
        operator.op, {"T": "f32"}, shapes, attributes, {"output_shape": (4,)}, "whole+whole"
    )
    assert "out[-1] is 4" in {target.name for target in targets_of(operator, case)}
