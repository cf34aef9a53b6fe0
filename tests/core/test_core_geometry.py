"""What geometry decides of thousands of cases is so when they are evaluated."""

from __future__ import annotations

import time
from typing import Any

import pytest
import tiers
from core_draws import drawn, same_values

from conformance.core.case_geometry import may_differ
from conformance.core.data import inputs_of
from conformance.core.implementation import Implementation
from conformance.core.kills import implementation_of, is_killed
from conformance.core.loader import load_operator
from conformance.core.mutant_changes import PathChange, TextChange
from conformance.core.mutants import mutants_of
from conformance.core.subject import Subject
from conformance.model import Case

CONV = load_operator("onnx.Conv-22")


def conv(**attributes: Any) -> Case:
    shapes = {"X": (1, 2, 7, 7), "W": (4, 2 // attributes.get("group", 1), 3, 3)}
    return Case(CONV.op, {"T": "f32"}, shapes, attributes, pattern="whole+whole+whole")


def marked(change: TextChange | PathChange, *cases: Case) -> list[bool]:
    return may_differ(CONV, cases, [Implementation(CONV, change)])[:, 0].tolist()


def test_a_value_decides() -> None:
    cases = (conv(), conv(dilations=[1, 2]), conv(dilations=[2, 2]))
    undilated = TextChange("u", (("define.Y.with.x", "k * dilations", "k"),))
    reversed_ = TextChange("r", (("define.Y.with.x", "dilations", "reverse(dilations)"),))
    assert marked(undilated, *cases) == [False, True, True]
    assert marked(reversed_, *cases) == [False, True, False]


def test_a_branch_decides() -> None:
    always = "where(auto_pad == VALID, 0 * size, half)"
    change = TextChange("b", (("let.pad_begin", always, "half"),))
    cases = (conv(), conv(auto_pad="VALID"), conv(auto_pad="SAME_UPPER"))
    assert marked(change, *cases) == [False, True, False]


@pytest.mark.parametrize("condition", ["lowest(X) == bottom(X)", "small"])
def test_a_condition_on_numbers_decides_nothing(condition: str) -> None:
    """Restated pooling compares the largest number with the lowest of its type."""
    either = f"where({condition}, 0 * total, total)"
    named = ("define.Y.with.small", "", "lowest(X) == bottom(X)")
    change = TextChange("c", (named, ("define.Y.finish", "", either)))
    assert marked(change, conv()) == [True]


def test_a_condition_and_an_extent_decide() -> None:
    change = TextChange("f", (("define.Y.term", "n", "0"),), where="group == 2")
    assert marked(change, conv(), conv(group=2)) == [False, False]  # a batch of 1
    path = PathChange("p", "Y", "m", 2, "zero", where="group == 1")
    assert marked(path, conv(), conv(group=2)) == [False, False]
    path = PathChange("p", "Y", "m", 3, "zero", where="group == 1")
    assert marked(path, conv(), conv(group=2)) == [True, False]


@pytest.mark.parametrize(
    "op", tiers.first(["onnx.Gemm-13", "onnx.Conv-22", "onnx.ConvTranspose-22", "MatMul-1"])
)
def test_what_is_not_marked_has_the_right_outputs(op: str) -> None:
    operator = load_operator(op)
    cases = drawn(op, 8)
    implementations = [implementation_of(operator, mutant) for mutant in mutants_of(operator)]
    table = may_differ(operator, cases, implementations)
    same = 0
    for case, row in zip(cases, table, strict=True):
        here = Subject(operator, case, inputs_of(operator, case))
        for implementation, may in zip(implementations, row, strict=True):
            outputs = here.computed(implementation)
            if not may:
                assert outputs is not None
                assert all(map(same_values, outputs, here.outputs))
            same += outputs is here.outputs
    # Nearly all that has no effect is known without any evaluation.
    assert (~table).sum() > 0.9 * same


@pytest.mark.parametrize(
    ("op", "shapes", "attributes"),
    [
        ("onnx.MatMul-13", {"A": (2, 0), "B": (0, 3)}, {}),
        ("onnx.MatMul-13", {"A": (0, 2, 3), "B": (3, 3)}, {}),
        ("onnx.MatMul-13", {"A": (3,), "B": (3,)}, {}),
        ("MatMul-1", {"A": (3,), "B": (2, 3, 4)}, {"transpose_a": True}),
        ("onnx.Gemm-13", {"A": (5, 3), "B": (5, 4)}, {"transA": 1}),
        ("onnx.ConvTranspose-22", {"X": (1, 2, 4), "W": (2, 2, 3)}, {"strides": [3]}),
    ],
)
def test_of_odd_shapes_every_mutant_can_be_asked_everything(
    op: str, shapes: dict[str, tuple[int, ...]], attributes: dict[str, Any]
) -> None:
    operator = load_operator(op)
    pattern = "+".join(["special"] * len(operator.inputs))
    case = Case(op, {"T": "f32"}, shapes, attributes, pattern=pattern)
    here = Subject(operator, case, inputs_of(operator, case))
    mutants = mutants_of(operator)
    implementations = [implementation_of(operator, mutant) for mutant in mutants]
    (row,) = may_differ(operator, [case], implementations)
    for mutant, implementation, may in zip(mutants, implementations, row, strict=True):
        (output,) = here.under(implementation)
        for precision in ("standard", "native", "exact"):
            ((lo, hi),) = here.ends(implementation, precision)
            assert lo.shape == hi.shape == output.shape
        assert here.unspecified(implementation)[0].shape == output.shape
        assert may or not is_killed(here, mutant)


def test_a_thousand_cases_take_a_moment() -> None:
    begin = time.process_time()
    total = 0
    for k in range(2_000_000):
        total += k
    calibrated = 0.33 / 5 / (time.process_time() - begin)
    cases = drawn(CONV.op, 60) * 16
    implementations = [implementation_of(CONV, mutant) for mutant in mutants_of(CONV)]
    may_differ(CONV, cases[:60], implementations)
    begin = time.process_time()
    may_differ(CONV, cases, implementations)
    assert (time.process_time() - begin) * calibrated < 5


def test_a_grid_of_six_long_axes_is_not_made() -> None:
    """Its 2**66 positions are 0 in 64 bits, as if it were small."""
    operator = load_operator("AdaptiveAvgPool-8")
    types, shapes = {"T": "f32", "T_SHAPE": "i64"}, {"data": (1, 1, *[2046 * 2048] * 3)}
    case = Case(operator.op, types, shapes, {}, {"output_size": (2048, 2048, 2048)})
    change = TextChange("later", (("define.result.keep", "", "all(x <= end)"),))
    assert may_differ(operator, [case], [Implementation(operator, change)]).all()


def test_another_type_of_an_output_may_differ() -> None:
    change = TextChange("type", (("outputs.Y.type", "", "f64"),))
    assert marked(change, conv()) == [True]
