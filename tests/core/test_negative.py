"""Negative tests of a definition: each breaks exactly the condition that it names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import specification
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator
from conformance.core.negative import broken_conditions, conditions, negative_tests
from conformance.core.operator import Operator
from conformance.core.operator_reader import read_operator
from conformance.errors import EvaluationError, InvalidCase, SpecError
from conformance.generate.pool import in_type
from conformance.model import Case
from conformance.specification import violations


def conv(attributes: dict[str, Any], **shapes: tuple[int, ...]) -> Case:
    return Case("onnx.Conv-22", {"T": "f16"}, shapes, attributes, {}, "special+binades+binades", 5)


CONV = [
    conv({}, X=(1, 1, 5, 5), W=(2, 1, 3, 3), B=(2,)),
    conv({"group": 2, "pads": [1, 1, 1, 1]}, X=(1, 4, 3, 3), W=(4, 2, 3, 3)),
    conv({"auto_pad": "SAME_UPPER"}, X=(1, 1, 4, 4), W=(1, 1, 2, 2)),
]


def test_a_condition_may_speak_of_types() -> None:
    """What is valid in whole numbers alone is no start for tests, which are in f32."""
    operator = load_operator("onnx.Mod-13")
    shapes = {"A": (2, 3), "B": (3,)}
    whole = Case("onnx.Mod-13", {"T": "i32"}, shapes, {"fmod": 0}, {}, "whole+ramp", 5)
    rests = replace(whole, types={"T": "f64"}, attributes={"fmod": 1})
    tests = negative_tests(operator, [whole, rests])
    condition = "as-in-c-where-not-whole"
    assert broken_conditions(operator, replace(whole, types={"T": "f64"})) == (condition,)
    assert in_type(operator, whole, "f16") == whole
    assert in_type(operator, rests, "f16").types == {"T": "f16"}
    named = {test.case.reject: test for test in tests}
    assert named[condition].level == "should"
    assert {tuple(test.case.attributes.items()) for test in tests} >= {(("fmod", 0),)}
    assert all(broken_conditions(operator, test.case) for test in tests)


def test_every_condition_that_can_be_broken_alone_is() -> None:
    operator = load_operator("onnx.Conv-22")
    tests = {test.case.reject: test for test in negative_tests(operator, CONV)}
    without = {name for name in conditions(operator).keys() - tests if not name.endswith(".type")}
    # A kernel_shape of 0 differs from the kernel, too; X takes whatever extents it has.
    assert without == {"kernel_shape.min", "X.rank", "X.shape"}
    levels = {name: test.level for name, test in tests.items()}
    assert levels.pop("kernel-fits") == "should"
    assert levels.pop("pads-without-auto-pad") == "should"
    assert set(levels.values()) == {"must"}
    assert "onnx 1.23 returns an empty result" in tests["kernel-fits"].why
    assert tests["strides.min"].why == "strides is at least 1."
    assert tests["strides.min"].case.attributes["strides"] == [1, 0]
    assert tests["strides.length"].case.attributes["strides"] == [1]
    assert tests["auto_pad.values"].case.attributes == {"auto_pad": "SAME_UPPE_"}
    assert tests["pads-without-auto-pad"].case.attributes["pads"] == [1, 1, 1, 1]
    shapes = tests["B.shape"].case.shapes
    assert shapes["B"] != shapes["W"][:1]


def test_a_negative_test_is_refused_for_what_it_names_and_nothing_else() -> None:
    operator = load_operator("onnx.Conv-22")
    for test in negative_tests(operator, CONV):
        case = test.case
        tensors = zip(operator.inputs, inputs_of(operator, case), strict=True)
        inputs = {tensor.name: array for tensor, array in tensors}
        with pytest.raises(InvalidCase) as caught:
            Evaluation(operator, case.attributes, inputs)
        assert caught.value.violations == (case.reject,)


def test_what_is_ignored_is_not_broken() -> None:
    operator = load_operator("Convolution-1")
    shapes = {"X": (1, 1, 3, 3), "W": (1, 1, 2, 2)}
    attributes = {name: [1, 1] for name in ("strides", "dilations", "pads_begin", "pads_end")}
    by_word, by_numbers = (
        Case(
            "Convolution-1",
            {"T": "f32"},
            shapes,
            {**attributes, "auto_pad": word},
            {},
            "whole+whole",
        )
        for word in ("valid", "explicit")
    )
    assert not {"pads_begin.min", "pads_end.required"} & rejected(operator, by_word)
    assert {"pads_begin.min", "pads_end.required"} <= rejected(operator, by_numbers)
    assert {"strides.min", "auto_pad.values"} <= rejected(operator, by_word)


RESIZED = """
op: own.Resized
types: {T: [f32]}
attributes:
  index_type: {type: word, values: [i32, i64], default: i64}
  pads: {list: true}
dims: {size: {per: axis}}
inputs:
  - {name: X, type: T, shape: [size]}
  - {name: out, type: i64, shape: [length(size)], per: axis, min: 1}
require:
  two-pads: length(pads) == 2
  begin-not-negative: entry(pads, 0) >= 0
  end-not-negative: entry(pads, 1) >= 0
define:
  Y:
    at: {i: out}
    over: {k: size}
    term: "X[k]"
    combine: first_max
    finish: flat(k, size) + prod(i) * 0
outputs: [{name: Y, type: index_type}]
"""


def test_entries_of_tensors_types_of_outputs_and_both_ends_of_lists_are_tested() -> None:
    operator = read_operator(RESIZED)
    case = Case(
        operator.op, {"T": "f32"}, {"X": (3, 2)}, {"pads": [0, 0]}, {"out": (2, 2)}, "whole"
    )
    assert violations(operator, case) == ()
    expected = {"out.min", "index_type.values", "begin-not-negative", "end-not-negative"}
    assert expected <= rejected(operator, case)


def rejected(operator: Operator, case: Case) -> set[str | None]:
    return {test.case.reject for test in negative_tests(operator, [case])}


def test_they_have_the_plainest_data() -> None:
    (first, *_) = negative_tests(load_operator("onnx.Conv-22"), CONV)
    assert first.case.types == {"T": "f32"}
    assert first.case.pattern == "whole+whole+whole"


@pytest.mark.parametrize(
    ("attributes", "broken"),
    [
        ({}, ()),
        ({"strides": [0, 1]}, ("strides.min",)),
        ({"pads": [-4, 0, 0, 0]}, ("pads.min", "kernel-fits")),
        ({"group": "two"}, ("group.type",)),
        ({"no_such_attribute": 1}, ("",)),
    ],
)
def test_what_else_is_broken_beside_a_bound_is_seen(
    attributes: dict[str, Any], broken: tuple[str, ...]
) -> None:
    case = conv(attributes, X=(1, 1, 5, 5), W=(1, 1, 3, 3))
    assert broken_conditions(load_operator("onnx.Conv-22"), case) == broken


def test_conditions_have_values_in_negative_tests_where_their_names_have() -> None:
    operator = load_operator("onnx.Conv-22")
    cases = {test.case.reject: test.case for test in negative_tests(operator, CONV)}

    def holds(text: str, name: str) -> bool:
        return specification.condition_of(operator, text).holds(cases[name])

    assert all(isinstance(holds("N == 1 and C > 2", str(name)), bool) for name in cases)
    assert holds("any(strides < 1)", "strides.min")
    assert holds("all(strides == 1)", "strides.length")
    assert not holds("auto_pad == SAME_UPPER", "auto_pad.values")
    assert holds("group == 1 and M > 0", "B.shape")
    with pytest.raises(EvaluationError, match="different numbers of axes"):
        holds("any(strides > kernel)", "strides.length")
    convolution = load_operator("Convolution-1")
    shapes = {"X": (1, 1, 3, 3), "W": (1, 1, 2, 2)}
    case = Case(convolution.op, {"T": "f32"}, shapes, {}, reject="strides.required")
    assert specification.condition_of(convolution, "N == 1").holds(case)
    with pytest.raises(InvalidCase, match=r"no shape gives .strides. a value"):
        specification.condition_of(convolution, "any(strides > 1)").holds(case)


def test_no_valid_case_gives_no_test() -> None:
    assert negative_tests(load_operator("onnx.Conv-22"), []) == ()


def test_batches_and_required_attributes_are_conditions() -> None:
    matmul = load_operator("onnx.MatMul-13")
    case = Case(matmul.op, {"T": "i32"}, {"A": (2, 1, 3), "B": (2, 3, 1)}, {}, {}, "whole+whole")
    broken = {test.case.reject for test in negative_tests(matmul, [case])}
    assert broken == {"batch.broadcast", "B.shape"}
    assert "strides.required" in conditions(load_operator("Convolution-1"))


def test_a_rejection_of_what_is_no_condition_is_shown_with_its_line(tmp_path: Path) -> None:
    text = "extends: onnx.Conv-22\nop: own.Conv\nreject:\n  kernel-fit: {level: should, why: No.}\n"
    file = tmp_path / "own.Conv.yaml"
    file.write_text(text)
    with pytest.raises(SpecError) as caught:
        load_operator(str(file))
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (4, 3)
    assert "'kernel-fit'" in problem.message
    assert "kernel-fits" in problem.hint


IMAGES = """
op: own.Images
types: {T: [f32]}
dims: {N: {min: 1}, size: {per: axis}}
inputs: [{name: X, type: T, shape: [N, size], rank: [2, 3]}]
define: {Y: {at: {n: N, i: size}, value: "X[n, i]"}}
outputs: [{name: Y, type: T}]
"""


def test_dimensions_and_ranks_have_bounds() -> None:
    operator = read_operator(IMAGES)
    small, large = (
        Case(operator.op, {"T": "f32"}, {"X": shape}, {}) for shape in ((1, 1), (1, 1, 1))
    )
    tests = {
        (test.case.shapes["X"], test.case.reject)
        for test in negative_tests(operator, [small, large])
    }
    assert tests == {
        ((0, 1), "N.min"),
        ((1,), "X.rank"),
        ((0, 1, 1), "N.min"),
        ((1, 1, 1, 1), "X.rank"),
    }


NAMED = """
op: own.Named
types: {T: [f32]}
attributes: {low: {default: 0, min: 0}, axes: {list: true, default: []}}
dims: {N: {min: 1}, M: {}, size: {per: axis}}
inputs:
  - {name: X, type: T, shape: [N, M, size]}
  - {name: sizes, type: i64, shape: [length(size)], per: axis, min: 1}
require: {low-fits: low < M}
define: {Y: {at: {n: N, i: size}, value: "X[n, low, min(i, sizes)] * length(axes)"}}
outputs: [{name: Y, type: T}]
reject:
  N.min: {level: should, why: Nothing is said of it.}
"""


@pytest.mark.parametrize(
    ("attributes", "shape", "sizes", "condition", "level"),
    [
        ({"low": 2}, (1, 2, 4, 4), (1, 1), "low-fits", "must"),
        ({"low": -1}, (1, 2, 4, 4), (1, 1), "low.min", "must"),
        ({"low": "two"}, (1, 2, 4, 4), (1, 1), "low.type", "must"),
        ({"axes": 1}, (1, 2, 4, 4), (1, 1), "axes.type", "must"),
        ({}, (0, 2, 4, 4), (1, 1), "N.min", "should"),
        ({}, (1, 2, 4, 4), (1, 0), "sizes.min", "must"),
    ],
)
def test_a_negative_test_of_another_name_is_of_what_it_breaks(
    attributes: Any, shape: tuple[int, ...], sizes: tuple[int, ...], condition: str, level: str
) -> None:
    named = read_operator(NAMED)
    case = Case(
        named.op, {"T": "f32"}, {"X": shape}, attributes, {"sizes": sizes}, "whole",
        reject="as-recorded",
    )  # fmt: skip
    assert specification.broken_conditions(named, case) == {condition}
    assert specification.level_of(named, case) == level
    assert specification.definition_problem(named, case) == ""
    assert conditions(named)[condition] in specification.build(named, case, level).description


def test_a_valid_case_is_no_negative_test() -> None:
    named = read_operator(NAMED)
    case = Case(
        named.op, {"T": "f32"}, {"X": (1, 2, 4, 4)}, {}, {"sizes": (1, 1)}, reject="as-recorded"
    )
    assert specification.definition_problem(named, case) == "own.Named does not reject as-recorded"


def test_what_may_be_refused_or_not_has_no_test() -> None:
    operator = load_operator("onnx.Gemm-13")
    case = Case(operator.op, {"T": "f32"}, {"A": (1, 1), "B": (1, 1)}, {}, {}, "whole+whole+whole")
    names = {test.case.reject for test in negative_tests(operator, [case])}
    assert names >= {"A.rank", "B.shape"}
    assert "transA.max" not in names
    assert "transA.max" in conditions(operator)
