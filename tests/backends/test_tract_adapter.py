"""tract behind ONNX models: what a vector says reaches it, and what comes back is as it was."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from worked import plane

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.dtypes import name_of
from conformance.errors import Unsupported
from conformance.model import Case
from conformance.specification import find_spec

pytestmark = pytest.mark.needs("tract")


@pytest.fixture(scope="module")
def tract() -> Backend:
    return load_backend("tract")


def pool(kernel: list[int], **attributes: Any) -> dict[str, Any]:
    return {"kernel_shape": kernel} | attributes


ONE_AXIS = [
    # version, size of 1..n, attributes, expected
    (7, 5, pool([2], strides=[2], pads=[1, 0]), [1, 2.5, 4.5]),
    (7, 5, pool([2], strides=[2], pads=[1, 0], count_include_pad=1), [0.5, 2.5, 4.5]),
    (7, 5, pool([2], strides=[2], auto_pad="SAME_LOWER"), [1, 2.5, 4.5]),
    (7, 5, pool([2], auto_pad="VALID"), [1.5, 2.5, 3.5, 4.5]),
    (10, 5, pool([2], strides=[2], ceil_mode=1), [1.5, 3.5, 5]),
    (19, 5, pool([2], dilations=[3]), [2.5, 3.5]),
    (22, 4, pool([2], strides=[2], ceil_mode=1, pads=[0, 1]), [1.5, 3.5]),
]
"""AveragePool of one axis with the values 1 to n."""


@pytest.mark.parametrize(("version", "size", "attributes", "expected"), ONE_AXIS)
def test_averages_of_one_axis(
    tract: Backend, version: int, size: int, attributes: Any, expected: list[float]
) -> None:
    data = plane(range(1, size + 1))
    (result,) = tract.run(f"onnx.AveragePool-{version}", [data], attributes)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result[0, 0], expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_type_keeps_its_values(tract: Backend, dtype: Any) -> None:
    data = plane([[1, 1.5, -3], [-3, 5, 0]], dtype)
    for op in ("onnx.AveragePool-22", "onnx.MaxPool-22"):
        result = tract.run(op, [data.copy()], pool([1, 1]))[0]
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, data)


def test_both_outputs_come_back(tract: Backend) -> None:
    data = np.concatenate([plane([[1, 5], [7, 3]]), plane([[4, 2], [0, 1]])], axis=1)
    values, indices = tract.run("onnx.MaxPool-12", [data], pool([1, 2], strides=[1, 2]))
    np.testing.assert_array_equal(values[0, :, :, 0], [[5, 7], [4, 1]])
    assert indices.dtype == np.int64
    np.testing.assert_array_equal(indices[0, :, :, 0], [[1, 2], [4, 7]])


def test_operators_without_attributes(tract: Backend) -> None:
    data = plane([[1, 2], [3, 6]])
    (mean,) = tract.run("onnx.GlobalAveragePool-1", [data], {})
    (largest,) = tract.run("onnx.GlobalMaxPool-1", [data], {})
    assert (mean.tolist(), largest.tolist()) == ([[[[3.0]]]], [[[[6.0]]]])


def test_what_is_invalid_is_refused_by_tract(tract: Backend) -> None:
    with pytest.raises(Exception, match="non-negative") as caught:
        tract.run("onnx.AveragePool-22", [plane(range(4))], pool([2], pads=[-1, 0]))
    assert not isinstance(caught.value, Unsupported)


@pytest.mark.parametrize(
    ("op", "dtype", "claimed"),
    [
        ("onnx.AveragePool-22", np.float16, True),
        ("onnx.GlobalMaxPool-1", np.float64, True),
        ("onnx.LpPool-22", np.float32, False),
        ("onnx.MaxPool-22", ml_dtypes.bfloat16, False),
        ("AvgPool-1", np.float32, False),
    ],
)
def test_what_it_has_not_is_not_claimed(tract: Backend, op: str, dtype: Any, claimed: bool) -> None:
    declared = capabilities_of(tract)
    assert declared is not None
    case = Case(op, {"T": name_of(np.dtype(dtype))}, {"data": (1, 1, 4)}, pool([2]))
    assert (declared.reason_against(find_spec(op), case) is None) == claimed


@pytest.mark.parametrize("op", ["onnx.AveragePool-22", "onnx.MaxPool-22"])
def test_the_script_says_the_same(tract: Backend, op: str) -> None:
    data, attributes = plane([3, 1, 4, 1, 5]), pool([2], strides=[2], pads=[1, 0])
    names = {"np": np, "op": op, "inputs": [data.copy()], "attributes": attributes}
    exec(tract.reproduce(op, [data], attributes), names)  # type: ignore[attr-defined]
    for one, other in zip(names["outputs"], tract.run(op, [data], attributes), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_a_log_should_know_is_told(tract: Backend) -> None:
    import onnx

    assert tract.version.count(".") == 2
    assert environment_of(tract)["onnx"] == onnx.__version__
