"""Hypothesis strategies for operators that are definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import conformance
from conformance import strategies
from conformance.core.bounds import Machine
from conformance.core.data import PATTERNS, fill
from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator, shipped_names
from conformance.dtypes import DTYPES
from conformance.errors import UsageError
from conformance.model import Case

quick = settings(
    max_examples=15, deadline=None, database=None, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip


@pytest.mark.parametrize("op", shipped_names())
def test_drawn_cases_are_valid(op: str) -> None:
    operator = load_operator(op)

    @quick
    @given(strategies.cases(op))
    def check(case: Case) -> None:
        inputs = strategies.inputs(case)
        given = dict(zip(operator.tensors, inputs, strict=True))
        evaluation = Evaluation(operator, case.attributes, given, Machine(DTYPES["f32"]))
        for output, interval in zip(evaluation.outputs(), evaluation.intervals(), strict=True):
            with np.errstate(invalid="ignore"):
                inside = (interval.lo <= output) & (output <= interval.hi)
            both_nan = np.isnan(interval.lo) & np.isnan(output)
            assert (inside | both_nan | interval.unspecified).all()
        (wide, *_) = conformance.reference(op, inputs, case.attributes)
        assert wide.shape == evaluation.outputs()[0].shape

    check()


def seen(op: str, count: int) -> list[Case]:
    cases: list[Case] = []

    @settings(quick, max_examples=count, derandomize=True)
    @given(strategies.cases(op))
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    return cases


def test_much_of_a_convolution_is_drawn() -> None:
    cases = seen("onnx.Conv-22", 500)
    assert {len(case.shapes["X"]) for case in cases} == {3, 4, 5}
    assert {case.types["T"] for case in cases} == {"f16", "bf16", "f32", "f64"}
    assert {"B" in case.shapes for case in cases} == {True, False}
    assert {name for case in cases for name in case.attributes} >= {
        "auto_pad", "dilations", "group", "pads", "strides",
    }  # fmt: skip
    assert any(case.attributes.get("group", 1) > 1 for case in cases)
    assert {pattern for case in cases for pattern in case.pattern.split("+")} == set(PATTERNS)


def test_batches_and_vectors_of_a_product_are_drawn() -> None:
    shapes = [case.shapes for case in seen("onnx.MatMul-13", 400)]
    ranks = {(len(shape["A"]), len(shape["B"])) for shape in shapes}
    assert {(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3), (3, 3)} <= ranks
    assert any(1 in (*s["A"][:-2], *s["B"][:-2]) for s in shapes)


@given(strategies.cases("onnx.Conv-22", dtypes=["f16"], ranks=[4]))
@quick
def test_types_and_ranks_can_be_chosen(case: Case) -> None:
    assert case.types == {"T": "f16"}
    assert len(case.shapes["X"]) == 4


def test_a_type_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match=r"onnx\.Conv-22 has no element type 'i8'"):
        strategies.cases("onnx.Conv-22", dtypes=["i8"])


@pytest.mark.parametrize("name", PATTERNS)
def test_data_depend_on_seed_and_tensor(name: str) -> None:
    array = fill(name, 7, "X", (3, 50), DTYPES["f32"])
    np.testing.assert_array_equal(array, fill(name, 7, "X", (3, 50), DTYPES["f32"]))
    assert not np.array_equal(array, fill(name, 8, "X", (3, 50), DTYPES["f32"]))
    assert not np.array_equal(array, fill(name, 7, "W", (3, 50), DTYPES["f32"]))


def test_a_seed_gives_these_numbers() -> None:
    array = fill("whole", 1, "X", (8,), DTYPES["f32"])
    assert array.tolist() == [3.0, 2.0, 1.0, -3.0, -4.0, 4.0, 3.0, 1.0]


def test_entries_of_tensors_are_drawn_and_not_filled() -> None:
    cases = seen("ConvolutionBackpropData-1", 60)
    sizes = [case.operands.get("output_shape") for case in cases]
    assert {None} < {size and len(size) for size in sizes} <= {None, 1, 2, 3}
    assert all(case.pattern.count("+") == 1 for case in cases)
    assert all("output_shape" not in case.shapes for case in cases)
    case = next(case for case in cases if case.operands)
    assert strategies.inputs(case)[2].tolist() == list(case.operands["output_shape"])


def test_words_that_stand_for_numbers_are_drawn() -> None:
    paddings = [case.attributes.get("padding") for case in seen("torch.conv-2", 60)]
    assert {"same", "valid"} <= {p for p in paddings if isinstance(p, str)}
    assert any(isinstance(p, list) for p in paddings)


def test_few_ranks_do_not_fail_the_health_check_of_hypothesis() -> None:
    @settings(max_examples=15, deadline=None, database=None, phases=[Phase.generate])
    @given(strategies.cases("onnx.Conv-22", dtypes=["f32"], ranks=[4]))
    def check(case: Case) -> None:
        assert (case.dtype, case.rank) == ("f32", 4)

    check()
