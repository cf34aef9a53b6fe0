"""Mutants of the catalogue against outputs that were worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_shapes import SMALL_SHAPES

from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, mutants_of

INF, NAN = float("inf"), float("nan")
LOWEST = float(np.finfo(np.float32).min)


def row(*values: float, dtype: str = "f4") -> Array:
    return np.array([[values]], dtype)


def image(rows: int, columns: int) -> Array:
    """1, 2, 3, ... in row-major order."""
    return np.arange(1, rows * columns + 1, dtype="f4").reshape(1, 1, rows, columns)


def under(op: str, mutant: str, data: Array, attributes: dict[str, Any]) -> list[Any]:
    """The outputs of a mutant, of one image with one channel."""
    spec = find_spec(op)
    (fault,) = (one for one in mutants_of(spec) if one.id == mutant)
    case = case_from_inputs(spec, [data], attributes)
    subject = subject_of(spec, case, [data], SMALL_SHAPES)
    return [
        output[0, 0].tolist() for output in subject.under(implementation_of(spec, fault.change))
    ]


MEAN, MAX, LP = "onnx.AveragePool-22", "onnx.MaxPool-22", "onnx.LpPool-22"
OVERRUN = {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "count_include_pad": 1}
VALID = {"kernel_shape": [2], "dilations": [2], "auto_pad": "VALID"}
OV_MAX = {"strides": [1], "pads_begin": [0], "pads_end": [0], "kernel": [1]}


@pytest.mark.parametrize(
    ("op", "mutant", "data", "attributes", "expected"),
    [
        # Padded by one, 1 2 3 4 is 0 1 | 2 3 | 4 and one beyond.
        (
            MEAN,
            "divisor-counts-overhang",
            row(1, 2, 3, 4),
            {**OVERRUN, "pads": [1, 0]},
            [0.5, 2.5, 2],
        ),
        # Without padding OpenVINO divides by what is there.
        (MEAN, "divisor-counts-overhang", row(1, 2, 3), {**OVERRUN}, [1.5, 3]),
        (
            MEAN,
            "excluded-taps-counted-undilated",
            row(4, 8, 12),
            {"kernel_shape": [2], "dilations": [2], "pads": [2, 0], "strides": [2]},
            # Taps -2 and 0: its two places next to each other hold no data, so one is taken;
            # taps 0 and 2: both places do.
            [4, 8],
        ),
        (MEAN, "valid-forgets-dilations", row(1, 3, 5, 9), VALID, [3, 6, 5]),
        (MEAN, "valid-forgets-dilations-and-leaves-zeros", row(1, 3, 5, 9), VALID, [3, 6, 0]),
        (
            MEAN,
            "pads-halved-at-both-ends",
            row(6, 9),
            {"kernel_shape": [3], "pads": [1, 2]},
            [7.5, 7.5],
        ),
        (
            MEAN,
            "edge-repeated-as-uneven-padding",
            row(10, 20),
            {"kernel_shape": [3], "strides": [2], "pads": [0, 1]},
            [50 / 3],
        ),
        # Of 1 2 3 with a stride of 4 one is needed, and two are cut: one at each end.
        (
            MEAN,
            "same-below-zero-towards-zero",
            row(1, 2, 3),
            {"kernel_shape": [1], "strides": [4], "auto_pad": "SAME_UPPER"},
            [2],
        ),
        (
            LP,
            "unpadded-overrunning-window-scaled-up",
            row(1, 2, 3),
            {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "p": 1},
            [3, 6],
        ),
        (
            LP,
            "unpadded-overrunning-window-scaled-up",
            row(1, 2),
            {"kernel_shape": [2], "strides": [2], "pads": [1, 0], "ceil_mode": 1, "p": 1},
            [1, 2],
        ),
        ("MaxPool-14", "i64-clamped-to-i32", row(2**40, 5, dtype="i8"), OV_MAX, [2**31 - 1, 5]),
        ("MaxPool-14", "i64-read-as-i32", row(2**40, 5, dtype="i8"), OV_MAX, [0, 5]),
    ],
)
def test_values(
    op: str, mutant: str, data: Array, attributes: dict[str, Any], expected: list[float]
) -> None:
    assert under(op, mutant, data, attributes)[0] == pytest.approx(expected)


def test_means_of_masked_arrays() -> None:
    spec = find_spec("AdaptiveAvgPool-8")
    (fault,) = (one for one in mutants_of(spec) if one.id == "nan-left-out-of-means")
    data, sizes = row(NAN, 1, 3), np.array([1], "i8")
    inputs = [data, sizes]
    subject = subject_of(spec, case_from_inputs(spec, inputs, {}), inputs)
    assert subject.under(implementation_of(spec, fault.change))[0].tolist() == [[[2]]]


@pytest.mark.parametrize(
    ("mutant", "data", "attributes", "values", "indices"),
    [
        (
            "padding-holds-lowest",
            row(-INF, -INF, -INF),
            {"kernel_shape": [2], "pads": [1, 0]},
            [LOWEST, -INF, -INF],
            [0, 0, 1],
        ),
        (
            "search-takes-only-more-than-lowest",
            row(5, -INF, -INF),
            {"kernel_shape": [1]},
            [5, LOWEST, LOWEST],
            [0, 0, 0],
        ),
        (
            "search-takes-only-more-than-lowest",
            row(5, 0, 0, dtype="u1"),
            {"kernel_shape": [1]},
            [5, 0, 0],
            [0, 0, 0],
        ),
        (
            "index-in-padded-data",
            row(1, 2),
            {"kernel_shape": [1], "pads": [1, 0]},
            # The index of a window without data is that of its tap.
            [-INF, 1, 2],
            [0, 1, 2],
        ),
        (
            "dilated-window-starts-at-data",
            row(1, 9, 2, 8),
            {"kernel_shape": [2], "dilations": [2], "pads": [1, 0]},
            # The first window is -1 and 1; moved to 0 it ends before 2, so it reads 0 alone.
            [1, 2, 9],
            [0, 2, 1],
        ),
        # Windows of 1 and 3, and one behind the data.
        (
            "ceil-mode-rounds-up-whatever-auto-pad",
            row(1, 2, 3, 4),
            {"kernel_shape": [1], "strides": [2], "auto_pad": "SAME_UPPER", "ceil_mode": 1},
            [1, 3, -INF],
            [0, 2, 4],
        ),
        (
            "index-zero-of-minus-infinity",
            row(7, -INF, -INF),
            {"kernel_shape": [2], "pads": [0, 1]},
            [7, -INF, -INF],
            [0, 0, 0],
        ),
    ],
)
def test_maxima(
    mutant: str,
    data: Array,
    attributes: dict[str, Any],
    values: list[float],
    indices: list[int],
) -> None:
    assert under(MAX, mutant, data, attributes) == [values, indices]


def test_storage_order_transposes_the_tensor_of_indices() -> None:
    attributes = {"kernel_shape": [1, 1], "storage_order": 1}
    values, indices = under(MAX, "storage-order-transposes-indices", image(2, 3), attributes)
    assert values == [[1, 2, 3], [4, 5, 6]]
    assert indices == [[0, 3], [1, 4], [2, 5]]
