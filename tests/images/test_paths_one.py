"""Backends of f32 images alone that are wrong in one specialised path of a pooling kernel.

Each bug is shown on an image and attributes that take its path, and is right beside it, where the
path is not taken. The bank was written from public kernels, by someone who had seen neither the
catalogue of mutants nor the suite.
"""

from __future__ import annotations

from typing import Any

import bank
import bank_paths_one as paths
import numpy as np
import pytest
import tiers
from test_images import failing, graded

from conformance.dtypes import Array

RIGHT = {op: run for op, run in paths.RIGHT.values() if op not in bank.RIGHT} | bank.RIGHT
"""One right version of each operator, in float64."""

Case = tuple[tuple[int, ...], dict[str, Any]]
"""The shape of an image, and attributes; output_size among them becomes the second input."""


def onnx(kernel: list[int], strides: list[int], pads: list[int] | None = None, **more: Any) -> Any:
    return {"kernel_shape": kernel, "strides": strides, "pads": pads or [0] * 4} | more


def openvino(
    kernel: list[int], strides: list[int], begin: list[int], end: list[int], **more: Any
) -> Any:
    given = {"kernel": kernel, "strides": strides, "pads_begin": begin, "pads_end": end}
    return given | more


AVERAGE = {"exclude-pad": True}
TWO, THREE, NONE, ONE = [2, 2], [3, 3], [0, 0], [1, 1]

CASES: dict[str, tuple[Case, Case]] = {
    "onnx_max_2x2s2_odd_width": (
        ((1, 1, 4, 5), onnx(TWO, TWO)),
        ((1, 1, 4, 6), onnx(TWO, TWO)),
    ),
    "onnx_max_3x3s2_third_row_of_block": (
        ((2, 3, 9, 9), onnx(THREE, TWO)),
        ((2, 3, 9, 8), onnx(THREE, TWO)),
    ),
    "onnx_max_rest_of_six_taps": (
        ((2, 3, 9, 9), onnx([3, 5], ONE)),
        ((2, 3, 9, 9), onnx([4, 4], ONE)),
    ),
    "onnx_avg_stride_2_divisor_lags": (
        ((1, 1, 6, 7), onnx(THREE, TWO, [1] * 4)),
        ((1, 1, 6, 7), onnx(THREE, TWO, [1] * 4, count_include_pad=1)),
    ),
    "onnx_avg_3x3s1_scales_transposed": (
        ((1, 1, 6, 6), onnx(THREE, ONE, [1] * 4)),
        ((1, 1, 6, 6), onnx(THREE, ONE)),
    ),
    "lp_7x7_eighth_column": (
        ((1, 2, 8, 9), onnx([7, 7], ONE)),
        ((1, 2, 7, 7), onnx([7, 7], ONE)),
    ),
    "lp_rest_of_row_not_squared": (
        ((1, 2, 8, 9), onnx([5, 5], ONE)),
        ((1, 2, 8, 9), onnx([4, 4], ONE)),
    ),
    "torch_avg_channels_left_over": (
        ((1, 9, 4, 4), {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
        ((1, 8, 4, 4), {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
    ),
    "torch_avg_2x2s2_half_kept": (
        ((1, 2, 5, 8), {"kernel_size": 2, "ceil_mode": True}),
        ((1, 2, 5, 6), {"kernel_size": 2, "ceil_mode": True}),
    ),
    "torch_max_first_index_of_left_over": (
        ((1, 9, 4, 4), {"kernel_size": 2}),
        ((1, 8, 4, 4), {"kernel_size": 2}),
    ),
    "torch_max_3x3s1p1_last_vector": (
        ((1, 2, 6, 8), {"kernel_size": 3, "stride": 1, "padding": 1}),
        ((1, 2, 6, 9), {"kernel_size": 3, "stride": 1, "padding": 1}),
    ),
    "avg1_right_pad_before_last_block": (
        ((1, 2, 6, 13), openvino([5, 5], ONE, TWO, TWO, **AVERAGE)),
        ((1, 2, 6, 15), openvino([5, 5], ONE, TWO, TWO, **AVERAGE)),
    ),
    "avg1_column_window_ignores_stride": (
        ((1, 2, 6, 7), openvino([3, 1], [1, 2], NONE, NONE, **AVERAGE)),
        ((1, 2, 6, 7), openvino([3, 1], [2, 1], NONE, NONE, **AVERAGE)),
    ),
    "avg16_dilated_3x3_inside_too_far": (
        ((1, 2, 6, 6), openvino(THREE, ONE, NONE, ONE, dilations=TWO, **AVERAGE)),
        ((1, 2, 6, 6), openvino(THREE, ONE, ONE, NONE, dilations=TWO, **AVERAGE)),
    ),
    "max14_long_rows_forget_left_pad": (
        ((1, 2, 3, 20), openvino(TWO, ONE, [0, 1], NONE)),
        ((1, 2, 3, 20), openvino(TWO, ONE, [1, 0], NONE)),
    ),
    "max14_3x3s2_top_pad_for_both": (
        ((1, 2, 6, 7), openvino(THREE, TWO, [1, 0], NONE)),
        ((1, 2, 6, 7), openvino(THREE, TWO, ONE, NONE)),
    ),
    "adaptive_avg_same_width_first_height": (
        ((1, 2, 8, 4), {"output_size": [3, 4]}),
        ((1, 2, 6, 4), {"output_size": [3, 4]}),
    ),
    "adaptive_avg_divisible_height_only": (
        ((1, 2, 6, 7), {"output_size": [3, 3]}),
        ((1, 2, 7, 6), {"output_size": [3, 3]}),
    ),
    "global_avg_rest_of_six_pixels": (
        ((2, 3, 4, 5), {}),
        ((1, 3, 4, 5), {}),
    ),
    "global_avg_rest_read_too_far": (
        ((1, 2, 4, 5), {}),
        ((1, 2, 4, 4), {}),
    ),
}
"""For each bug a case that takes its path, and one beside it."""


def image(shape: tuple[int, ...]) -> Array:
    """Numbers of both signs, of which some are minus infinity: a window's worth in each channel."""
    data = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    data[..., 2:4, 2:4] = -np.inf
    return data


def differs(name: str, case: Case) -> bool:
    """Whether the bug gives other outputs than the right version."""
    op, run = paths.BUGS[name]
    shape, given = case
    attributes = {key: value for key, value in given.items() if key != "output_size"}
    inputs = [image(shape)]
    if "max" not in name:
        inputs = [np.where(np.isinf(inputs[0]), np.float32(-8), inputs[0])]
    if "output_size" in given:
        inputs.append(np.array(given["output_size"]))
    outputs = zip(run(op, inputs, attributes), RIGHT[op](op, inputs, attributes), strict=True)
    return not all(np.allclose(bad, good, rtol=1e-5) for bad, good in outputs)


def test_each_bug_is_shown() -> None:
    assert CASES.keys() == paths.BUGS.keys()
    assert len(CASES) == 20


@pytest.mark.parametrize("name", CASES)
def test_a_bug_shows_in_its_path_alone(name: str) -> None:
    taken, beside = CASES[name]
    assert differs(name, taken)
    assert not differs(name, beside)


MISSED = {"onnx_max_rest_of_six_taps": "of two windows the first row of the next is never larger"}
"""What core does not notice, and why."""


@pytest.mark.parametrize("name", tiers.first(sorted(paths.BUGS.keys() - MISSED.keys())))
def test_a_bug_in_a_path_is_refused(name: str) -> None:
    assert any(failing(*paths.BUGS[name]))


@pytest.mark.parametrize("name", tiers.first(list(MISSED)))
def test_a_bug_that_core_misses_is_still_missed(name: str) -> None:
    """Once it is refused, it belongs to the others."""
    assert not any(failing(*paths.BUGS[name]))


@pytest.mark.parametrize("name", tiers.first(list(paths.RIGHT)))
def test_what_is_right_is_conformant(name: str) -> None:
    run = graded(*paths.RIGHT[name])
    assert [result.message for result in run.results if result.status == "fail"] == []
    assert run.conformant
