"""Data that are varied differ from the plain ones just where their name says, in any tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.core.data import inputs_of, varied_case
from conformance.core.loader import load_operator
from conformance.core.varied_data import PLACES, VARIATIONS, variations_of, varied
from conformance.dtypes import DTYPES
from conformance.errors import InvalidCase
from conformance.generate.bounds import is_usable
from conformance.model import Case
from conformance.specification import build

GEMM = load_operator("onnx.Gemm-13")
BACKPROP = load_operator("ConvolutionBackpropData-1")
PRODUCT = Case(
    "onnx.Gemm-13",
    {"T": "f32"},
    {"A": (3, 40), "B": (40, 20), "C": (20,)},
    {},
    pattern="fractions+whole+whole",
    seed=7,
)
SHAPED = Case(
    "ConvolutionBackpropData-1",
    {"T": "f32", "T_IND": "i64"},
    {"X": (1, 2, 5), "W": (2, 3, 3)},
    {"strides": [1], "dilations": [1], "pads_begin": [0], "pads_end": [0]},
    {"output_shape": (7,)},
    pattern="whole+whole",
    seed=3,
)
NUMBERS = np.random.default_rng(3).integers(-50, 50, 200)


def data(dtype: str) -> np.ndarray[Any, Any]:
    """Two hundred numbers of all digits of a type, or whole ones."""
    row = DTYPES[dtype]
    if not row.is_float:
        return (NUMBERS % 50 if row.kind == "uint" else NUMBERS).astype(row.numpy)
    return (NUMBERS * 1.7320508).astype(row.numpy)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64", "i8", "u8", "i64"])
@pytest.mark.parametrize(("kind", "first"), [("late", 175), ("one", 0)])
def test_one_element_differs_late_or_anywhere(dtype: str, kind: str, first: int) -> None:
    before, places = data(dtype), set()
    for variation in variations_of(kind):
        (index,) = np.flatnonzero(before != varied(before, f"whole-{variation}", 5))
        assert index >= first
        places.add(index)
    assert len(places) > PLACES // 2


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64", "i8", "u8", "i64"])
def test_two_elements_change_places_and_the_sum_stays(dtype: str) -> None:
    before = data(dtype)
    for variation in variations_of("swap"):
        after = varied(before, f"whole-{variation}", 5)
        assert np.count_nonzero(before != after) == 2
        assert (np.sort(before) == np.sort(after)).all()


@pytest.mark.parametrize(
    ("dtype", "narrow"),
    [("f64", np.float32), ("f32", ml_dtypes.bfloat16), ("f16", ml_dtypes.bfloat16)],
)
def test_low_bits_differ_that_the_narrower_type_has_not(dtype: str, narrow: Any) -> None:
    before = data(dtype)
    after = varied(before, "whole-low", 5)
    assert (before != after).mean() > 0.6
    assert (before.astype(narrow) == after.astype(narrow)).all()


@pytest.mark.parametrize("dtype", ["i8", "u8", "i64"])
def test_the_last_bits_of_whole_numbers_differ(dtype: str) -> None:
    before = data(dtype)
    after = varied(before, "whole-low", 5)
    assert (np.abs(before.astype(int) - after.astype(int)) == 1).all()


@pytest.mark.parametrize("variation", VARIATIONS)
@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_equal_elements_and_none_at_all_can_be_varied(variation: str, value: float) -> None:
    for size in (0, 1, 5):
        before = np.full(size, value, np.float32)
        assert varied(before, f"special-{variation}", 5).shape == before.shape


@pytest.mark.parametrize("tensor", ["A", "B", "C"])
def test_one_of_several_tensors_differs(tensor: str) -> None:
    case = varied_case(GEMM, PRODUCT, tensor, "one3")
    changed = {
        one.name
        for one, before, after in zip(
            GEMM.inputs, inputs_of(GEMM, PRODUCT), inputs_of(GEMM, case), strict=True
        )
        if before is not None and after is not None and before.tobytes() != after.tobytes()
    }
    assert changed == {tensor}
    assert case.id != PRODUCT.id


def test_a_varied_case_follows_from_its_own_text() -> None:
    case = varied_case(GEMM, PRODUCT, "B", "swap2")
    assert case.pattern == "fractions+whole-swap2+whole"
    assert replace(varied_case(GEMM, case, "B", "low"), pattern=PRODUCT.pattern) == PRODUCT
    assert is_usable(GEMM, case)
    first, again = (build(GEMM, case) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first.inputs, again.inputs, strict=True))
    assert first.edges == build(GEMM, replace(case, pattern=PRODUCT.pattern)).edges


def test_an_absent_tensor_stays_absent() -> None:
    shapes = {name: shape for name, shape in PRODUCT.shapes.items() if name != "C"}
    case = varied_case(GEMM, replace(PRODUCT, shapes=shapes), "A", "low")
    assert [array is None for array in inputs_of(GEMM, case)] == [False, False, True]


def test_entries_that_decide_shapes_stay() -> None:
    (x, w, entries), (_, other, same) = (
        inputs_of(BACKPROP, case) for case in (SHAPED, varied_case(BACKPROP, SHAPED, "W", "one1"))
    )
    assert x is not None
    assert w is not None
    assert other is not None
    assert (w != other).sum() == 1
    assert entries is not None
    assert same is not None
    assert entries.tolist() == same.tolist() == [7]


@pytest.mark.parametrize("pattern", ["whole-none", "whole-one8", "whole-", "nothing-low"])
def test_another_name_is_refused(pattern: str) -> None:
    case = replace(PRODUCT, pattern=f"{pattern}+whole+whole")
    assert not is_usable(GEMM, case)
    with pytest.raises(InvalidCase, match="the pattern is"):
        inputs_of(GEMM, case)
