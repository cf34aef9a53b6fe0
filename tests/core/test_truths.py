"""Truth values: comparisons, what is joined of them, and choices by them agree with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conformance
from conformance.core.patterns import PATTERNS, can_hold, fill
from conformance.core.varied_data import VARIATIONS, varied
from conformance.dtypes import DTYPES
from conformance.grade.compare import compare
from conformance.model import Answer

COMPARISONS = {
    "onnx.Equal-19": np.equal,
    "onnx.Less-13": np.less,
    "onnx.LessOrEqual-16": np.less_equal,
    "onnx.Greater-13": np.greater,
    "onnx.GreaterOrEqual-16": np.greater_equal,
}
JOINED = {
    "onnx.And-7": np.logical_and,
    "onnx.Or-7": np.logical_or,
    "onnx.Xor-7": np.logical_xor,
}
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.0, np.nextafter(1, 2), -1.0]
WHOLE = [0, -1, 1, 2**31, 2**53, 2**53 + 1, 2**62 + 1, 2**63 - 1, 2**63 - 2, -(2**63), 1 - 2**63]
TRUTHS = np.array([False, True])


def output(op: str, *inputs: Any, **attributes: Any) -> Any:
    (found,) = conformance.reference(op, inputs, attributes)
    assert found.dtype == np.bool_
    return found


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=list(DTYPES))
def test_comparisons_are_those_of_numpy(op: str, dtype: Any) -> None:
    if dtype.name == "bool" and op != "onnx.Equal-19":
        with pytest.raises(conformance.errors.InvalidCase):
            output(op, TRUTHS, TRUTHS)
        return
    values = (
        ENDS if dtype.is_float else [n for n in WHOLE if dtype.limits[0] <= n <= dtype.limits[1]]
    )
    with np.errstate(all="ignore"):
        data = np.array(values, np.float64 if dtype.is_float else np.int64).astype(dtype.numpy)
        expected = COMPARISONS[op](data[:, None], data)
    np.testing.assert_array_equal(output(op, data[:, None], data), expected)


@pytest.mark.parametrize("op", JOINED)
def test_truth_values_are_joined(op: str) -> None:
    found = output(op, TRUTHS[:, None], TRUTHS)
    np.testing.assert_array_equal(found, JOINED[op](TRUTHS[:, None], TRUTHS))


def test_a_truth_value_is_turned() -> None:
    assert output("onnx.Not-1", TRUTHS).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_what_is_no_number_and_what_is_infinite(dtype: str) -> None:
    row = DTYPES[dtype]
    largest = row.from_ordinals(np.array([row.infinity - 1, 1 - row.infinity]))
    data = np.concatenate([np.array(ENDS).astype(row.numpy), largest])
    np.testing.assert_array_equal(output("onnx.IsNaN-20", data), np.isnan(data))
    for negative in (0, 1):
        for positive in (0, 1):
            flags = {"detect_negative": negative, "detect_positive": positive}
            expected = np.isinf(data) & np.where(np.signbit(data), bool(negative), bool(positive))
            np.testing.assert_array_equal(output("onnx.IsInf-20", data, **flags), expected)


def test_a_choice_by_truth_values_stretches_all_three() -> None:
    x, y = np.arange(3.0), -np.arange(2.0)[:, None, None]
    condition = np.array([[True], [False]])
    (found,) = conformance.reference("onnx.Where-16", [condition, x, y], {})
    np.testing.assert_array_equal(found, np.where(condition, x, y))


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if can_hold(DTYPES["bool"], p)])
def test_data_are_truth_values(pattern: str) -> None:
    data = fill(pattern, 3, (4, 50), DTYPES["bool"])
    assert data.dtype == np.bool_
    assert set(data.view(np.uint8).ravel().tolist()) <= {0, 1}
    if pattern not in ("signs", "factors", "long"):  # odd numbers, so all of them hold
        assert {*data.ravel().tolist()} == {False, True}


@pytest.mark.parametrize("variation", [v for v in VARIATIONS if not v.startswith("swap")])
def test_varied_data_differ(variation: str) -> None:
    data = fill("whole", 5, (40,), DTYPES["bool"])
    other = varied(data, f"whole-{variation}", 5)
    assert (other != data).sum() == (40 if variation == "low" else 1)


def test_only_a_byte_of_0_or_1_is_a_truth_value() -> None:
    answer = Answer("C", "bool", np.array([True, True, False]))
    got = np.array([1, 255, 0], np.uint8).view(np.bool_)
    assert compare(answer, got, "standard").wrong.tolist() == [False, True, False]


def test_a_truth_value_without_dimensions_is_an_array() -> None:
    assert type(fill("whole", 1, (), DTYPES["bool"])) is np.ndarray
