"""Worked examples of each operator, small enough to check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance import reference
from conformance.dtypes import DTYPES
from conformance.errors import InvalidCase
from conformance.specification import find_spec, outputs

AVG, ADAPTIVE_AVG, ADAPTIVE_MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"


def avg(data: Any, **attributes: Any) -> np.ndarray[Any, Any]:
    """AvgPool-1 of one plane; attributes not given are those of a plain kernel."""
    array = np.asarray(data, np.float32)
    array = array.reshape(1, 1, *array.shape)
    kernel = attributes["kernel"]
    given = {
        "strides": [1] * len(kernel),
        "pads_begin": [0] * len(kernel),
        "pads_end": [0] * len(kernel),
        "exclude-pad": attributes.pop("exclude", False),
        **attributes,
    }
    return reference(AVG, [array], given)[0][0, 0]


def count(n: int) -> np.ndarray[Any, Any]:
    return np.arange(1, n + 1, dtype=np.float32)


@pytest.mark.parametrize(
    ("size", "attributes", "expected"),
    [
        (8, dict(kernel=[3], strides=[2], rounding_type="ceil"), [2, 4, 6, 7.5]),
        (8, dict(kernel=[3], strides=[2], rounding_type="ceil", pads_end=[1]), [2, 4, 6, 5]),
        (5, dict(kernel=[3], strides=[2], rounding_type="ceil", pads_begin=[1]), [1, 3, 3]),
        (
            5,
            dict(kernel=[3], strides=[2], rounding_type="ceil", pads_begin=[1], exclude=True),
            [1.5, 3, 4.5],
        ),
        (5, dict(kernel=[2], strides=[2], auto_pad="same_lower"), [0.5, 2.5, 4.5]),
        (5, dict(kernel=[2], strides=[2], auto_pad="same_lower", exclude=True), [1, 2.5, 4.5]),
        (5, dict(kernel=[2], strides=[2], auto_pad="same_upper"), [1.5, 3.5, 2.5]),
        (5, dict(kernel=[2], strides=[2], rounding_type="ceil"), [1.5, 3.5, 5]),
        (5, dict(kernel=[2], strides=[2]), [1.5, 3.5]),
        (5, dict(kernel=[2], strides=[2], auto_pad="valid", rounding_type="ceil"), [1.5, 3.5, 5]),
    ],
)
def test_avg_pool_on_one_axis(size: int, attributes: Any, expected: list[float]) -> None:
    np.testing.assert_array_equal(avg(count(size), **attributes), expected)


def test_windows_in_counted_padding_are_zero() -> None:
    result = avg([5.0], kernel=[2], pads_begin=[2], pads_end=[2])
    np.testing.assert_array_equal(result, [0, 2.5, 2.5, 0])


def test_overrun_divides_by_the_whole_kernel_where_padding_counts() -> None:
    result = avg(
        np.arange(1, 17).reshape(4, 4),
        kernel=[3, 3],
        strides=[2, 2],
        pads_begin=[1, 1],
        pads_end=[1, 1],
        rounding_type="ceil",
    )
    assert result[0, 2] == np.float64(12) / 9


@pytest.mark.parametrize(
    ("attributes", "out"),
    [
        (dict(kernel=[5, 5], strides=[3, 3], pads_begin=[1, 1], pads_end=[1, 1]), 10),
        (dict(kernel=[5, 5], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1]), 15),
        (dict(kernel=[5, 5], strides=[2, 2], auto_pad="valid"), 14),
        (dict(kernel=[2, 2], strides=[2, 2], auto_pad="same_upper"), 16),
    ],
)
def test_the_documents_examples(attributes: Any, out: int) -> None:
    assert avg(np.zeros((32, 32)), **attributes).shape == (out, out)


def test_same_with_ceil_may_give_one_window_more() -> None:
    same = dict(kernel=[2], strides=[4], auto_pad="same_upper")
    assert avg(count(11), **same).shape == (3,)
    assert avg(count(11), rounding_type="ceil", **same).shape == (4,)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([1.0, np.nan], np.nan),
        ([1.0, np.inf], np.inf),
        ([1.0, -np.inf], -np.inf),
        ([np.inf, -np.inf], np.nan),
        ([3e38, 3e38], float(np.float32(3e38))),
    ],
)
def test_special_values(data: list[float], expected: float) -> None:
    np.testing.assert_array_equal(avg(data, kernel=[2]), [expected])


def test_a_mean_is_rounded_once_into_its_type() -> None:
    data = np.array([2 + 2.0**-22, 2, 2.0**-100, 0], np.float32).reshape(1, 1, 4)
    attributes = {"kernel": [4], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    inputs, given = [data], {**attributes, "exclude-pad": True}
    assert outputs(find_spec(AVG), inputs, given)[0].item() == 1 + 2.0**-23
    assert np.float32(reference(AVG, inputs, given)[0].item()) == 1.0


def windows(size: int, out: int) -> list[tuple[int, int]]:
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


@pytest.mark.parametrize(
    "sizes", [(6, 7), (7, 13), (3, 7), (25, 5), (26, 22), (10, 3), (4097, 4098)]
)
@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_adaptive_windows(sizes: tuple[int, int], dtype: str) -> None:
    size, out = sizes
    data = (np.arange(size) * 37 % 101).astype(np.float64).reshape(1, 1, size)
    operand = np.array([out], DTYPES[dtype].numpy)
    (mean,) = reference(ADAPTIVE_AVG, [data, operand], {})
    largest, index = reference(ADAPTIVE_MAX, [data, operand], {"index_element_type": dtype})
    spans = windows(size, out)
    flat = data.ravel()
    np.testing.assert_array_equal(mean.ravel(), [flat[a:b].sum() / (b - a) for a, b in spans])
    np.testing.assert_array_equal(largest.ravel(), [flat[a:b].max() for a, b in spans])
    np.testing.assert_array_equal(index.ravel(), [a + flat[a:b].argmax() for a, b in spans])
    assert index.dtype == DTYPES[dtype].numpy


def test_adaptive_max_index_counts_spatial_positions_only() -> None:
    data = np.zeros((2, 3, 2, 2), np.float32)
    data[..., 1, 0] = 5
    (largest, index) = reference(ADAPTIVE_MAX, [data, np.array([1, 1])], {})
    assert (largest == 5).all()
    assert (index == 2).all()
    assert index.dtype == np.int64


def test_adaptive_max_takes_the_first_of_equals() -> None:
    data = np.array([[1, 7], [7, 7]], np.float32).reshape(1, 1, 2, 2)
    _, index = reference(ADAPTIVE_MAX, [data, np.array([1, 1])], {})
    assert index.item() == 1


def test_adaptive_max_of_minus_infinity_is_minus_infinity() -> None:
    data = np.full((1, 1, 3), -np.inf)
    largest, index = reference(ADAPTIVE_MAX, [data, np.array([2])], {})
    assert (largest == -np.inf).all()
    np.testing.assert_array_equal(index.ravel(), [0, 1])


GIVEN = {
    "kernel": [2],
    "strides": [1],
    "pads_begin": [0],
    "pads_end": [0],
    "exclude-pad": False,
}


@pytest.mark.parametrize(
    ("attributes", "condition"),
    [
        ({"kernel": [0]}, "kernel.min"),
        ({"kernel": [9]}, "kernel-fits"),
        ({"strides": [0]}, "strides.min"),
        ({"strides": [1, 1]}, "strides.length"),
        ({"pads_begin": [-1]}, "pads-begin-not-negative"),
        ({"pads_end": [2], "exclude-pad": True}, "pads-end-below-kernel"),
        ({"auto_pad": "same"}, "auto_pad.values"),
        ({"kernel": "two"}, "kernel.type"),
        ({"kernel": [2.0]}, "kernel.type"),
    ],
)
def test_invalid_cases_are_refused_by_condition(attributes: Any, condition: str) -> None:
    with pytest.raises(InvalidCase) as caught:
        reference(AVG, [np.zeros((1, 1, 4), np.float32)], {**GIVEN, **attributes})
    assert caught.value.violations == (condition,)


def test_an_attribute_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(InvalidCase, match="AvgPool-1 has no attribute 'padding'"):
        reference(AVG, [np.zeros((1, 1, 4), np.float32)], {**GIVEN, "padding": 1})


class TestNone:
    """An attribute that is None is not given."""

    def test_of_what_has_a_default(self) -> None:
        data = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        given = {"kernel_size": [2, 2], "stride": None, "divisor_override": None}
        (result,) = reference("torch.avg_pool-2", [data], given)
        assert result[0, 0].tolist() == [[2.5, 4.5], [10.5, 12.5]]

    def test_of_what_is_required(self) -> None:
        data = np.zeros((1, 1, 4), np.float32)
        with pytest.raises(InvalidCase, match="'kernel_size' is missing"):
            reference("torch.max_pool-2", [data], {"kernel_size": None})

    @pytest.mark.parametrize("name", ["torch.avg_pool-2", "torch.max_pool-2"])
    def test_as_a_stride_is_the_kernel(self, name: str) -> None:
        data = np.arange(1, 43, dtype=np.float32).reshape(1, 1, 6, 7)
        asked = [{}, {"stride": []}, {"stride": [2, 3]}, {"stride": None}]
        found = [reference(name, [data], {"kernel_size": [2, 3], **more})[0] for more in asked]
        assert [one.tolist() for one in found[1:]] == [found[0].tolist()] * 3
        (other, *_) = reference(name, [data], {"kernel_size": [2, 3], "stride": [1, 1]})
        assert other.shape == (1, 1, 5, 5)
