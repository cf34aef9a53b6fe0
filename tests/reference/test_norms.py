"""Norms of ONNX and PyTorch by hand: what the documents say, and what they leave open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conformance

INF, NAN = float("inf"), float("nan")


def onnx(data: list[float], **attributes: Any) -> list[float]:
    given = {
        key: value if key in ("p", "auto_pad", "ceil_mode", "pads") else [value]
        for key, value in attributes.items()
    }
    (out,) = conformance.reference("onnx.LpPool-22", [np.array([[data]], np.float32)], given)
    return list(np.round(out.ravel(), 6))


def torch(data: list[float], p: int, size: int, stride: int, **attributes: Any) -> list[float]:
    given = {"norm_type": p, "kernel_size": [size], "stride": [stride], **attributes}
    (out,) = conformance.reference("torch.lp_pool-2", [np.array([[data]], np.float32)], given)
    return list(np.round(out.ravel(), 6))


@pytest.mark.parametrize(
    ("p", "expected"), [(1, [7, 5]), (2, [5, 4.123106]), (3, [4.497941, 4.020726])]
)
def test_magnitudes_are_taken_by_onnx(p: int, expected: list[float]) -> None:
    assert onnx([-3, 4, -1], kernel_shape=2, p=p) == expected


def test_p_is_2_by_default_and_padding_adds_nothing() -> None:
    assert onnx([3, 4], kernel_shape=2, pads=[1, 3]) == [3, 5, 4, 0, 0]


def test_windows_of_onnx() -> None:
    data = [1, 2, 3, 4, 5, 6]
    assert onnx(data, kernel_shape=3, strides=2, ceil_mode=1)[-1] == 7.81025
    assert len(onnx(data, kernel_shape=2, strides=2, pads=[0, 1], ceil_mode=1)) == 4
    assert len(onnx(data, kernel_shape=3, strides=2, auto_pad="VALID", ceil_mode=1)) == 2
    assert onnx(data, kernel_shape=3, strides=2, dilations=2, auto_pad="SAME_UPPER") == [
        4.472136,
        7.483315,
        7.211103,
    ]


def test_infinities_never_cancel_in_onnx() -> None:
    np.testing.assert_equal(onnx([NAN, 1, INF, -INF, 2], kernel_shape=2), [NAN, INF, INF, INF])


def test_signs_are_kept_by_torch() -> None:
    assert torch([-3, 4, -1, -5], 1, 2, 2) == [1, -6]
    np.testing.assert_equal(torch([-3, 4, -1, -5], 3, 2, 1), [3.332222, 3.979057, NAN])
    assert torch([-3, 4], 2, 2, 1) == [5]


def test_windows_of_torch() -> None:
    """A window that overruns adds what it holds; one that starts behind the data is dropped."""
    assert torch([1, 2, 3, 4, 5, 6], 2, 3, 2, ceil_mode=True)[-1] == 7.81025
    assert torch([1, 2, 3], 1, 2, 4, ceil_mode=True) == [3]
