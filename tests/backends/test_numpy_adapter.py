"""The plain numpy backend against worked examples and an exact loop."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from worked import (
    CEIL_TORCH,
    FULL_KERNEL,
    INVALID,
    ONE_AXIS,
    OVERRUN,
    adaptive_windows,
    avg,
    exact_avg_pool,
    plane,
)

from conformance.backends.numpy import ROUNDING_TYPES, NumPy
from conformance.errors import Unsupported

# For means below 4: half an ulp for the last rounding, and the errors of the sum before it.
TOLERANCES: dict[Any, float] = {
    np.float16: 2**-9 + 2**-18,
    ml_dtypes.bfloat16: 2**-6 + 2**-18,
    np.float32: 2**-16,
    np.float64: 2**-45,
}


def run(op: str, *inputs: Any, **attributes: Any) -> list[Any]:
    return NumPy().run(op, list(inputs), attributes)


@pytest.mark.parametrize(("size", "attributes", "expected"), ONE_AXIS)
def test_avg_pool_on_one_axis(size: int, attributes: Any, expected: list[float]) -> None:
    (result,) = NumPy().run("AvgPool-1", [plane(range(1, size + 1))], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


@pytest.mark.parametrize(("size", "attributes", "expected"), CEIL_TORCH)
def test_ceil_torch(size: int, attributes: Any, expected: list[float]) -> None:
    (result,) = NumPy().run("AvgPool-14", [plane(range(1, size + 1))], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


def test_the_divisor_of_an_overrunning_window_is_the_full_kernel() -> None:
    (result,) = NumPy().run("AvgPool-1", [plane(np.arange(1, 17).reshape(4, 4))], OVERRUN)
    np.testing.assert_allclose(result[0, 0], FULL_KERNEL, rtol=1e-6)


def drawn(
    rng: np.random.Generator, axes: int, roundings: Sequence[str]
) -> tuple[Any, tuple[int, ...]]:
    """Valid attributes and a data shape, different on every axis more often than not."""
    auto_pad = rng.choice(["explicit", "explicit", "same_upper", "same_lower", "valid"])
    exclude = bool(rng.integers(2))
    kernel = rng.integers(1, 5, axes)
    most = kernel - 1 if exclude else kernel + 1
    begin, end = rng.integers(0, most + 1), rng.integers(0, most + 1)
    used = begin + end if auto_pad == "explicit" else 0 * begin
    least = np.ones_like(kernel) if auto_pad.startswith("same") else np.maximum(1, kernel - used)
    attributes = avg(
        kernel.tolist(),
        exclude,
        strides=rng.integers(1, 5, axes).tolist(),
        pads_begin=begin.tolist(),
        pads_end=end.tolist(),
        auto_pad=str(auto_pad),
        rounding_type=str(rng.choice(roundings)),
    )
    return attributes, (2, 2, *(least + rng.integers(0, 5, axes)).tolist())


@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("op", ROUNDING_TYPES)
def test_avg_pool_agrees_with_exact_sums(op: str, axes: int, dtype: Any) -> None:
    rng = np.random.default_rng(axes)
    for _ in range(25 if axes < 3 else 6):
        attributes, shape = drawn(rng, axes, ROUNDING_TYPES[op])
        data = rng.standard_normal(shape).astype(dtype)
        (result,) = NumPy().run(op, [data], attributes)
        exact = exact_avg_pool(data, attributes)
        assert result.dtype == dtype
        empty = np.full(result.shape, True)
        for index, mean in exact.items():
            empty[index] = False
            assert abs(Fraction(float(result[index])) - mean) <= TOLERANCES[dtype], attributes
        assert np.isnan(result[empty].astype(np.float64)).all()


@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_adaptive_pools_agree_with_exact_windows(axes: int, dtype: Any) -> None:
    rng = np.random.default_rng(10 + axes)
    for _ in range(20 if axes < 3 else 5):
        data = rng.integers(-4, 5, (2, 2, *rng.integers(1, 7, axes))).astype(dtype)
        output_size = rng.integers(1, 8, axes)
        (means,) = run("AdaptiveAvgPool-8", data, output_size)
        values, indices = run("AdaptiveMaxPool-8", data, output_size, index_element_type="i32")
        assert (means.dtype, values.dtype, indices.dtype) == (dtype, dtype, np.int32)
        assert means.shape == values.shape == indices.shape == (2, 2, *output_size)
        for index, taps in adaptive_windows(data, output_size.tolist()).items():
            mean = sum(taps.values(), Fraction()) / len(taps)
            largest = max(taps.values())
            first = next(flat for flat, value in taps.items() if value == largest)
            assert abs(Fraction(float(means[index])) - mean) <= TOLERANCES[dtype]
            assert (values[index], indices[index]) == (largest, first)


def test_adaptive_windows_have_no_floating_point_in_them() -> None:
    data = plane(np.arange(4097) % 64)
    (means,) = run("AdaptiveAvgPool-8", data, np.array([4098]))
    assert means[0, 0, 4096] == 31.5  # (63 + 0) / 2: the last but one window has two elements


def test_sums_of_half_precision_do_not_stall() -> None:
    ones = np.ones((1, 1, 4097), np.float16)
    assert NumPy().run("AvgPool-1", [ones], avg([4097]))[0].item() == 1
    assert run("AdaptiveAvgPool-8", ones, np.array([1]))[0].item() == 1


def test_special_values() -> None:
    inf, nan = np.inf, np.nan
    (means,) = NumPy().run("AvgPool-1", [plane([inf, 1, -inf, inf, nan, 2, 3])], avg([2]))
    np.testing.assert_array_equal(means[0, 0], [inf, -inf, nan, nan, nan, 2.5])
    values, indices = run("AdaptiveMaxPool-8", plane([-inf, -inf, -0.0, 0.0]), np.array([2]))
    np.testing.assert_array_equal(values[0, 0], [-inf, 0])
    np.testing.assert_array_equal(indices[0, 0], [0, 2])
    assert indices.dtype == np.int64


@pytest.mark.parametrize(
    "attributes",
    [
        *INVALID,
        avg([3], pads_end=[-1]),
        avg([2], True, pads_begin=[2]),
        avg([2], auto_pad="same"),
        avg([2], rounding_type="ceil_torch"),
    ],
)
def test_invalid_attributes_are_refused(attributes: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        NumPy().run("AvgPool-1", [plane(range(8))], attributes)


@pytest.mark.parametrize("shape", [(0, 1, 4), (1, 0, 4), (4, 4), (1, 1, 2, 2, 2, 2)])
def test_invalid_data_is_refused(shape: tuple[int, ...]) -> None:
    axes = len(shape) - 2
    with pytest.raises(ValueError, match=r"rank|empty"):
        NumPy().run("AvgPool-1", [np.zeros(shape, np.float32)], avg([1] * axes))


@pytest.mark.parametrize("output_size", [[2], [2, 2, 2], [2, -1]])
@pytest.mark.parametrize("op", ["AdaptiveAvgPool-8", "AdaptiveMaxPool-8"])
def test_invalid_output_sizes_are_refused(op: str, output_size: list[int]) -> None:
    with pytest.raises(ValueError, match="output size"):
        run(op, plane(np.zeros((3, 3))), np.array(output_size))


@pytest.mark.parametrize(
    ("op", "shapes"),
    [
        ("onnx.Gemm-13", [(1, 2, 2), (2, 2)]),
        ("onnx.Gemm-13", [(1, 2), (2, 2), (3, 2)]),
        ("onnx.Gemm-13", [(2, 2), (2, 2), (1, 2, 2)]),
        ("torch.linear-2", [(2, 2), (3, 2), (1,)]),
        ("torch.linear-2", [(2, 2), (2,), (1,)]),
        ("onnx.MatMul-13", [(), (2, 2)]),
    ],
)
def test_products_of_other_shapes_are_refused(op: str, shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        NumPy().run(op, [np.ones(shape, np.float32) for shape in shapes], {})


def test_other_index_types_and_operators_are_refused() -> None:
    with pytest.raises(ValueError, match="u8"):
        run("AdaptiveMaxPool-8", plane([1, 2]), np.array([1]), index_element_type="u8")
    with pytest.raises(Unsupported, match="LpPool-1 is not implemented"):
        run("LpPool-1", plane([1, 2]))
