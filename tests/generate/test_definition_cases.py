"""Cases that are drawn of operators, and the data of a case."""

from __future__ import annotations

from itertools import islice
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import conformance
from conformance import strategies
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator_reader import read_operator
from conformance.core.patterns import GENERAL, WHOLE, fill
from conformance.core.real import Machine
from conformance.dtypes import DTYPES
from conformance.errors import InvalidCase, SpecError, UsageError
from conformance.generate.cases import RESULT_TERMS, draw_cases
from conformance.generate.pool import MAX_LARGE_TERMS, drawn_large
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
        format_ = DTYPES["f64" if "f64" in case.types.values() else "f32"]
        evaluation = Evaluation(operator, case.attributes, given, Machine(format_))
        for output, interval in zip(evaluation.outputs(), evaluation.intervals(), strict=True):
            with np.errstate(invalid="ignore"):
                inside = (interval.lo <= output) & (output <= interval.hi)
            both_nan = np.isnan(interval.lo) & np.isnan(output)
            assert (inside | both_nan | interval.unspecified).all()
        (wide, *_) = conformance.reference(op, inputs, case.attributes)
        assert wide.shape == evaluation.outputs()[0].shape

    check()


def test_a_list_of_axes_has_some_from_either_end_and_none_twice() -> None:
    cases = draw_cases(load_operator("onnx.ReduceSum-11"), 300, seed=0)
    lists = [(case.attributes["axes"], case.rank) for case in cases if "axes" in case.attributes]
    assert {rank for _, rank in lists} == {1, 2, 3, 4, 5}
    assert {len(axes) for axes, _ in lists} == {1, 2, 3, 4, 5}
    assert {axis for axes, rank in lists if rank == 3 for axis in axes} == set(range(-3, 3))
    assert all(len({axis % rank for axis in axes}) == len(axes) for axes, rank in lists)


def test_a_function_of_single_elements_gets_fewer_of_them_than_a_sum_has_terms() -> None:
    """An answer is kept of each element, and none of each term."""
    drawn = [*islice(drawn_large(load_operator("onnx.Exp-13"), 1, 40), 40)]
    largest = max(prod(case.shapes["input"]) for case in drawn)
    assert 1 << 16 < largest <= MAX_LARGE_TERMS // RESULT_TERMS
    sums = [*islice(drawn_large(load_operator("onnx.ReduceSum-11"), 1, 40), 40)]
    assert max(prod(case.shapes["data"]) for case in sums) > 2 * largest


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
    patterns = {pattern for case in cases for pattern in case.pattern.split("+")}
    assert patterns == set(GENERAL) - WHOLE


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


def filled(pattern: str, seed: int, shape: tuple[int, int]) -> list[np.ndarray]:
    """Both factors of a product, of the same pattern and shape."""
    shapes = {"A": shape, "B": shape}
    types = {"T": "i32" if pattern in WHOLE else "f32"}
    case = Case("onnx.MatMul-13", types, shapes, {}, {}, f"{pattern}+{pattern}", seed)
    return [
        array for array in inputs_of(load_operator("onnx.MatMul-13"), case) if array is not None
    ]


@pytest.mark.parametrize("name", GENERAL)
def test_data_depend_on_seed_and_tensor(name: str) -> None:
    first, second = filled(name, 7, (12, 12))
    np.testing.assert_array_equal(first, filled(name, 7, (12, 12))[0])
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, filled(name, 8, (12, 12))[0])


def test_the_first_tensor_has_the_seed_as_its_key() -> None:
    first, _ = filled("whole", 1, (8, 1))
    np.testing.assert_array_equal(first, fill("whole", 1, (8, 1), DTYPES["f32"]))


def test_a_seed_gives_these_numbers() -> None:
    array = fill("whole", 1, (8,), DTYPES["f32"])
    assert array.tolist() == [2.0, 0.0, 4.0, 0.0, -2.0, -3.0, 2.0, 2.0]


def test_a_pattern_that_a_type_cannot_hold_is_refused() -> None:
    operator = read_operator("""
op: own.Double
types: {T: [i32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define: {Y: {at: {n: N}, value: "2 * X[n]"}}
outputs: [{name: Y, type: T}]
""")
    with pytest.raises(InvalidCase, match="X is of i32, which cannot hold nan"):
        inputs_of(operator, Case("own.Double", {"T": "i32"}, {"X": (3,)}, {}, {}, "nan"))


LISTS = """
op: own.Double
types: {T: [f32, i8]}
dims: {N: {per: axis}}
inputs: [{name: X, type: T, shape: [N], rank: [2, 3], patterns: [ramp, nan, ties]}]
define: {Y: {at: {n: N}, value: "2 * X[n]"}}
outputs: [{name: Y, type: T}]
"""


def test_an_input_lists_its_patterns_and_ranks() -> None:
    cases = draw_cases(read_operator(LISTS), 60, seed=0)
    assert {len(case.shapes["X"]) for case in cases} == {2, 3}
    assert {(case.dtype, case.pattern) for case in cases} == {
        ("f32", "ramp"), ("f32", "nan"), ("f32", "ties"), ("i8", "ramp"), ("i8", "ties"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "spoilt", "message"),
    [
        ("ramp, nan", "ramp, nam", "'nam' is no pattern of data"),
        ("[2, 3]", "[3, 2]", "the least rank is larger than the greatest"),
    ],
)
def test_patterns_and_ranks_that_make_no_sense(text: str, spoilt: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_operator(LISTS.replace(text, spoilt))
    assert [problem.message for problem in caught.value.problems] == [message]


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


def test_groups_that_an_attribute_tells_apart_may_have_no_axes() -> None:
    """Elements are gathered along the first and the last axis, too."""
    cases = draw_cases(load_operator("onnx.Gather-13"), 300, seed=1)
    ranks = [len(case.shapes["data"]) for case in cases]
    along = [case.attributes.get("axis", 0) for case in cases]
    last = [axis in (-1, rank - 1) for axis, rank in zip(along, ranks, strict=True) if rank > 1]
    assert set(ranks) == {1, 2, 3, 4, 5}
    assert 20 < sum(last) < len(last) / 2
    assert any(case.shapes["indices"] == () for case in cases)
