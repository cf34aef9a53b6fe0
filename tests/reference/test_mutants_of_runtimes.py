"""What some runtimes do, as mutants, against outputs that were worked out by hand.

Where a number was taken from a runtime, the comment says which.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from small_shapes import SMALL_SHAPES

from conformance.dtypes import Array
from conformance.implementations import EvaluatedCase, Implementation, implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, mutants_of

INF, NAN = float("inf"), float("nan")
LOWEST = float(np.finfo(np.float32).min)


def evaluated(op: str, inputs: list[Array], attributes: dict[str, Any]) -> EvaluatedCase[Any]:
    spec = find_spec(op)
    return subject_of(spec, case_from_inputs(spec, inputs, attributes), inputs, SMALL_SHAPES)


def altered(op: str, *mutants: str) -> Implementation:
    bank = {fault.id: fault.change for fault in mutants_of(find_spec(op))}
    return implementation_of(find_spec(op), *(bank[one] for one in mutants))


def under(op: str, mutants: str, data: Array, attributes: dict[str, Any]) -> list[Any]:
    """The outputs of some mutants together, joined by +."""
    some = altered(op, *mutants.split("+"))
    return [one.tolist() for one in evaluated(op, [data], attributes).under(some)]


def data(shape: tuple[int, ...], *values: float, dtype: Any = "f4") -> Array:
    """The values, or 1, 2, 3, ..., in row-major order."""
    return np.array(values or range(1, int(np.prod(shape)) + 1), dtype).reshape(shape)


@pytest.mark.parametrize(
    ("mutant", "shape", "expected"),
    [
        # Channels and width are reduced; the image is left, and one axis of one.
        ("global-over-channels-and-row", (2, 2, 3), [[6], [12]]),
        # Height and width are reduced; depth is left, and three axes of one.
        ("global-over-last-two-of-three-axes", (1, 1, 2, 1, 3), [[[[[[3]]], [[[6]]]]]]),
        ("global-over-channels-and-row", (1, 2, 2, 1), [[[[2]], [[4]]]]),
        ("global-over-last-two-of-three-axes", (1, 2, 2, 1), [[[[2]], [[4]]]]),
    ],
)
def test_the_last_two_dimensions_are_pooled(
    mutant: str, shape: tuple[int, ...], expected: Any
) -> None:
    op, shapes = "onnx.GlobalMaxPool-22", [np.shape(expected)]
    subject = subject_of(
        find_spec(op), case_from_inputs(find_spec(op), [data(shape)], {}), [data(shape)], shapes
    )
    assert [one.tolist() for one in subject.under(altered(op, mutant))] == [expected]


MAX, MEAN, LP = "onnx.MaxPool-22", "onnx.AveragePool-22", "onnx.LpPool-22"
LOOKED_UP = "unstrided-index-looked-up-in-output"


@pytest.mark.parametrize(
    ("values", "attributes", "indices"),
    [
        # Tap 8 in an output of one element is row 8, of three elements each.
        (data((1, 1, 3, 3)), {"kernel_shape": [3, 3]}, [[[[24]]]]),
        # Taps 6 in an output of 2 x 1 are row 6, of seven each; the second begins a row later.
        (data((1, 1, 2, 7)), {"kernel_shape": [1, 7]}, [[[[42], [49]]]]),
        # All elements are equal, so the first tap is named: padding at (-1, -1).
        (data((1, 1, 1, 1)), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, [[[[-2]]]]),
        # The channel is left out.
        (data((1, 2, 1, 1)), {"kernel_shape": [1, 1]}, [[[[0]], [[0]]]]),
        # With strides other code runs.
        (data((1, 2, 1, 1)), {"kernel_shape": [1, 1], "strides": [2, 2]}, [[[[0]], [[1]]]]),
    ],
)
def test_indices_that_are_looked_up_in_the_output(
    values: Array, attributes: dict[str, Any], indices: Any
) -> None:
    assert under(MAX, LOOKED_UP, values, attributes)[1] == indices


def test_pads_are_read_as_begin_and_end_of_each_axis_in_turn() -> None:
    """Of 1 0 0 0 one row is padded before; as top, bottom, left, right too. Of 0 1 0 0 the first
    column is padded, or else a row behind.
    """
    attributes = {"kernel_shape": [1, 1], "pads": [0, 1, 0, 0]}
    values, _ = under(MAX, LOOKED_UP, data((1, 1, 1, 1)), attributes)
    assert values == [[[[1], [-INF]]]]


NORM = {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "p": 1}
BF16 = ml_dtypes.bfloat16


@pytest.mark.parametrize(
    ("op", "mutants", "values", "attributes", "expected"),
    [
        # onnx's evaluator: a mean of what is there, times two.
        (LP, "nan-left-out-of-mean", data((1, 1, 3), 1, 3, 2), NORM, [[[4, 4]]]),
        (LP, "nan-left-out-of-mean", data((1, 1, 2), NAN, 3), NORM, [[[6]]]),
        (LP, "nan-left-out-of-mean", data((1, 1, 2), NAN, NAN), NORM, [[[NAN]]]),
        # Sums that are kept in the type leave NaN out as well.
        (
            LP,
            "sums-in-own-type+nan-left-out-of-mean",
            data((1, 1, 2), NAN, 3, dtype=BF16),
            NORM,
            [[[6]]],
        ),
        (
            MEAN,
            "nan-left-out-like-padding",
            data((1, 1, 2), NAN, 3),
            {"kernel_shape": [2]},
            [[[3]]],
        ),
        (
            MEAN,
            "nan-left-out-like-padding",
            data((1, 1, 2), NAN, NAN),
            {"kernel_shape": [2]},
            [[[NAN]]],
        ),
        # Until version 1.16 none was left out, and of the 9 that it overruns by 4 come first.
        (
            LP,
            "overhang-of-every-window-split-between-ends",
            data((1, 1, 3), 1, 2, 4),
            {"kernel_shape": [3], "strides": [10], "pads": [0, 1], "ceil_mode": 1, "p": 1},
            [[[0, 0]]],
        ),
        # Of the 2 here one comes first.
        (
            LP,
            "overhang-of-every-window-split-between-ends",
            data((1, 1, 4), 1, 2, 4, 8),
            {"kernel_shape": [3], "strides": [3], "ceil_mode": 1, "p": 1},
            [[[3, 12]]],
        ),
        (LP, "nan-left-out-of-mean-of-whole-kernel", data((1, 1, 3), NAN, 3, 2), NORM, [[[6, 2]]]),
        # One window of 10 is left out, as it begins in the padding; so nothing is split.
        (
            LP,
            "overhang-split-between-ends",
            data((1, 1, 3), 1, 2, 4),
            {"kernel_shape": [3], "strides": [10], "pads": [0, 1], "ceil_mode": 1, "p": 1},
            [[[7]]],
        ),
        # onnxruntime: padding of the window's two elements is -1 in all, at the end.
        (
            MEAN,
            "same-forgets-dilations-and-cuts-windows",
            data((1, 1, 3), 4, 5, 6),
            {
                "kernel_shape": [2],
                "strides": [3],
                "dilations": [2],
                "auto_pad": "SAME_LOWER",
                "count_include_pad": 1,
            },
            [[[4]]],
        ),
    ],
)
def test_values(
    op: str, mutants: str, values: Array, attributes: dict[str, Any], expected: Any
) -> None:
    (found,) = under(op, mutants, values, attributes)
    np.testing.assert_array_equal(np.array(found, "f8"), np.array(expected, "f8"))


PADS = {"pads_begin": [0, 0], "pads_end": [0, 0], "exclude-pad": False}


def test_what_ncnn_cuts_beside_padding() -> None:
    """The second of three columns is read, as -2 is halved; rows are cut at their end alone."""
    mutant = "same-below-zero-beside-padding"
    same = {**PADS, "kernel": [2, 1], "strides": [1, 3], "auto_pad": "same_upper"}
    assert under("AvgPool-1", mutant, data((1, 1, 2, 3)), same) == [[[[[3.5], [2.5]]]]]
    same |= {"kernel": [1, 2], "strides": [3, 1]}
    assert under("AvgPool-1", mutant, data((1, 1, 3, 2)), same) == [[[[[1.5, 1]]]]]


def test_ncnn_puts_the_odd_element_of_depth_at_the_end() -> None:
    same = {
        "kernel": [2, 1, 1],
        "strides": [1, 1, 1],
        "pads_begin": [0, 0, 0],
        "pads_end": [0, 0, 0],
        "exclude-pad": False,
        "auto_pad": "same_lower",
    }
    found = under("AvgPool-1", "same-lower-pads-depth-like-upper", data((1, 1, 2, 1, 1)), same)
    assert found == [[[[[[1.5]], [[1]]]]]]


def test_sums_of_one_channel_wrap() -> None:
    """As OpenVINO returned it."""
    taps = (-2014453385, 1719468473, -1941706473, -269035951, 202613434, -141096586, -1008856858)
    attributes = {
        "kernel": [7],
        "strides": [1],
        "pads_begin": [0],
        "pads_end": [0],
        "exclude-pad": True,
        "dilations": [1],
    }
    found = under(
        "AvgPool-16", "i32-sums-of-one-channel-wrap", data((1, 1, 7), *taps, dtype="i4"), attributes
    )
    assert found == [[[[120271432]]]]


def test_the_end_of_a_window_may_lie_beyond_the_data() -> None:
    """2367 * 7101 needs more than 24 bits, and a third of what it is rounded to is above 7101."""
    values = np.zeros((1, 1, 7101), "f4")
    values[..., -3:] = 4
    subject = evaluated("AdaptiveAvgPool-8", [values, np.array([2367])], {})
    (found,) = subject.under(altered("AdaptiveAvgPool-8", "float32-quotient-ends-beyond-data"))
    assert subject.outputs[0][0, 0, -1] == 4
    assert found[0, 0, -1] == 3


def test_the_lowest_are_those_of_the_type_that_data_pass_through() -> None:
    """As OpenVINO has it, which names the first element besides: its search begins there."""
    attributes = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    values = data((1, 1, 3), -1, -INF, -1e300, dtype="f8")
    found = under("MaxPool-14", "f64-clamped-to-f32", values, attributes)
    assert found[0] == [[[-1, LOWEST, LOWEST]]]


def test_a_negative_sum_in_a_type_has_no_root_there_either() -> None:
    """torch's norm of odd powers: NaN, and no interval of negative numbers."""
    spec = find_spec("torch.lp_pool-2")
    values = data((1, 1, 2), -1, -2, dtype="f2")
    subject = evaluated(spec.op, [values], {"kernel_size": [2], "norm_type": 3})
    some = altered(spec.op, "sums-in-own-type")
    ((low, high),) = subject.ends(some, "standard")
    assert np.isnan([subject.under(some)[0], low, high]).all()


OVERRUN = {"kernel_size": [2, 2], "stride": [1, 2], "ceil_mode": True}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # 1 2 3 over 4 5 6: the second window has 3 and 6 alone. Its mean 4.5 times 4, over 3.
        ({**OVERRUN, "divisor_override": 3}, [[4, 6]]),
        # A mean of four taps, times four, is their sum.
        ({"kernel_size": [2, 2], "divisor_override": 2}, [[6]]),
        # Without a divisor that is given there is nothing to multiply.
        (OVERRUN, [[3, 4.5]]),
    ],
)
def test_paddle_divides_the_mean_times_the_kernel(
    attributes: dict[str, Any], expected: Any
) -> None:
    mutant = "override-divides-mean-times-kernel"
    assert under("torch.avg_pool-2", mutant, data((1, 1, 2, 3)), attributes) == [[[expected]]]


@pytest.mark.parametrize(
    ("kernel", "stride", "size", "expected"),
    [
        # The window begins right behind three elements: 0 elements to divide by.
        (1, 3, 3, [1, NAN]),
        # One element further on Paddle divides 0 by -1.
        (1, 3, 2, [1, 0]),
        # It begins on the last element and holds it.
        (2, 2, 3, [1.5, 3]),
    ],
)
def test_a_window_behind_the_data_divides_by_zero(
    kernel: int, stride: int, size: int, expected: list[float]
) -> None:
    attributes = {"kernel_size": [kernel], "stride": [stride], "ceil_mode": True}
    mutant = "window-behind-data-stays-and-divides-by-zero"
    (found,) = under("torch.avg_pool-2", mutant, data((1, 1, size)), attributes)
    np.testing.assert_array_equal(found[0][0], expected)


@pytest.mark.parametrize(
    ("op", "values", "attributes", "expected"),
    [
        # The pads 1 0 0 0 of top, left, bottom, right are a row before, and that is right. The
        # shape has room for another row, in which nothing is written.
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 2, 1)),
            {"kernel_shape": [1, 1], "pads": [1, 0, 0, 0], "count_include_pad": 1},
            [[0], [1], [2], [0]],
        ),
        # 0 1 0 0, a column before, are taken for a row behind; VALID has one window, rounded up.
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 1, 2)),
            {"kernel_shape": [1, 1], "pads": [0, 1, 0, 0], "count_include_pad": 1},
            [[1, 2], [0, 0], [0, 0]],
        ),
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 1, 3)),
            {"kernel_shape": [1, 2], "strides": [1, 2], "auto_pad": "VALID"},
            [[1.5, 3]],
        ),
        # Two windows more, as two elements are padded before, and both behind the data.
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 2)),
            {"kernel_shape": [1], "pads": [2, 5], "count_include_pad": 1},
            [1, 2, NAN, NAN],
        ),
        # Rounded down 1D data are not padded at all, and windows not spread.
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 3)),
            {"kernel_shape": [2], "pads": [1, 1], "dilations": [2], "ceil_mode": 0},
            [1.5, 2.5],
        ),
        # NaN is left out where padding is.
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 1, 2), NAN, 3),
            {"kernel_shape": [1, 2], "ceil_mode": 0},
            [[3]],
        ),
        # Padding enters no divisor.
        (
            "averages-know-no-dilations-and-other-pads",
            data((1, 1, 2)),
            {"kernel_shape": [2], "pads": [1, 0], "count_include_pad": 1},
            [1.5, 2],
        ),
    ],
)
def test_old_averages_of_the_evaluator(
    op: str, values: Array, attributes: dict[str, Any], expected: Any
) -> None:
    (found,) = under(MEAN, op, values, {"ceil_mode": 1, **attributes})
    np.testing.assert_array_equal(found[0][0], expected)


@pytest.mark.parametrize(("stride", "expected"), [(2, [-INF, -INF, 5.5, INF]), (3, [NAN, 4, 6.5])])
def test_a_clamp_loses_nan(stride: int, expected: list[float]) -> None:
    """Where the stride exceeds the kernel XNNPACK does not take the pool."""
    values = data((1, 1, 8), NAN, 1, INF, -INF, 5, 6, 7, INF)
    if stride == 3:
        values = data((1, 1, 8), NAN, 1, INF, 3, 5, -INF, 6, 7)
    attributes = {"kernel_shape": [2], "strides": [stride]}
    (found,) = under(MEAN, "nan-clamped-to-minus-infinity", values, attributes)
    np.testing.assert_array_equal(found[0][0], expected)
