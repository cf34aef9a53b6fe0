"""Mutants made from what old wheels returned, against outputs that were worked out by hand.

Where a number was taken from a wheel, the comment says which.
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
MAX, MEAN, LP = "onnx.MaxPool-22", "onnx.AveragePool-22", "onnx.LpPool-22"
UP_FROM_ODD, RECIPROCAL = "bf16-means-up-from-odd", "f16-sums-times-f16-reciprocal"


def made(
    op: str, values: Array, attributes: dict[str, Any], mutant: str, *shapes: tuple[int, ...]
) -> tuple[EvaluatedCase[Any], Implementation]:
    spec = find_spec(op)
    bank = {fault.id: fault.change for fault in mutants_of(spec)}
    case = case_from_inputs(spec, [values], attributes)
    subject = subject_of(spec, case, [values], shapes or SMALL_SHAPES)
    return subject, implementation_of(spec, bank[mutant])


def under(op: str, values: Array, attributes: dict[str, Any], mutant: str) -> Any:
    """The first output of a mutant."""
    subject, altered = made(op, values, attributes, mutant)
    return subject.under(altered)[0].astype("f8").tolist()


def row(*values: float, dtype: Any = "f4") -> Array:
    return np.array([[values]], dtype)


STEP = 2.0**-7
"""From 1 to the next number of bf16: 1 is an even number of steps."""


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # 128 2/3 steps are nearest to 129, and 128 is even.
        ((0, 1, 1), 0),
        # 129 1/3 and 129 2/3: 129 is odd.
        ((1, 1, 2), 1),
        ((1, 2, 2), 2),
        # A tie goes to the even number from either side.
        ((0, 1), 0),
        ((1, 2), 2),
        ((2, 2), 2),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_means_in_bf16_are_rounded_up_from_odd(
    steps: tuple[int, ...], expected: int, sign: int
) -> None:
    values = row(*(sign * (1 + one * STEP) for one in steps), dtype=ml_dtypes.bfloat16)
    found = under(MEAN, values, {"kernel_shape": [len(steps)]}, UP_FROM_ODD)
    assert found == [[[sign * (1 + expected * STEP)]]]


def test_sums_of_bf16_may_overflow_in_f32() -> None:
    values = row(3e38, 3e38, dtype=ml_dtypes.bfloat16)
    assert under(MEAN, values, {"kernel_shape": [2]}, UP_FROM_ODD) == [[[INF]]]


def test_what_another_order_gives_is_rounded_up_from_odd_too() -> None:
    """In f32 the sum of 2 ** 24, 1 and -2 ** 24 is 0 or 1, and a third of 1 is 170 2/3 steps."""
    values = row(2.0**24, 1, -(2.0**24), dtype=ml_dtypes.bfloat16)
    subject, altered = made(MEAN, values, {"kernel_shape": [3]}, UP_FROM_ODD)
    ((low, high),) = subject.ends(altered, "standard")
    assert subject.under(altered)[0].tolist() == [[[0]]]
    assert low.item() <= 0
    assert float(high.item()) >= 170 * 2.0**-9


@pytest.mark.parametrize(
    ("taps", "counted", "expected"),
    [
        # A third is 1365 / 4096 in f16, and five of them 1706.25 / 1024.
        ((1, 2, 2), 0, 1706 / 1024),
        # 2050 / 3, whose last place is 1 / 2; added in f16 the sum would stay 2048.
        ((2048, 1, 1), 0, 683),
        # Where padding counts tinygrad has a mean of its own.
        ((1, 2, 2), 1, 1707 / 1024),
    ],
)
def test_sums_of_f16_times_a_reciprocal(
    taps: tuple[int, ...], counted: int, expected: float
) -> None:
    attributes = {"kernel_shape": [3], "count_include_pad": counted}
    assert under(MEAN, row(*taps, dtype="f2"), attributes, RECIPROCAL) == [[[expected]]]


def test_only_the_order_of_a_sum_is_free_where_a_product_follows() -> None:
    subject, altered = made(MEAN, row(1, 2, 2, dtype="f2"), {"kernel_shape": [3]}, RECIPROCAL)
    ((low, high),) = subject.ends(altered, "standard")
    assert low.item() == high.item() == 1706 / 1024


def test_infinities_of_f16_are_clamped_before_they_are_added() -> None:
    """OpenVINO 2024.0 gave a third and two thirds of 65504, rounded."""
    values = row(INF, 0, 0, -INF, -INF, 0, INF, NAN, dtype="f2")
    found = under(
        MEAN, values, {"kernel_shape": [3], "strides": [1]}, "infinities-of-f16-read-as-largest"
    )
    third = 21840
    np.testing.assert_array_equal(found, [[[third, -third, -43680, -43680, 0, NAN]]])


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (MEAN, [1]),
        (MAX, [1]),
        # Of this operator the document does not say that such a window is left out.
        (LP, [1, 0]),
    ],
)
def test_valid_may_round_up(op: str, expected: list[float]) -> None:
    """One tap, three apart, on three elements: the second window would begin right behind them."""
    attributes = {"kernel_shape": [1], "strides": [3], "auto_pad": "VALID", "ceil_mode": 1}
    shape = (1, 1, len(expected))
    subject, altered = made(op, row(1, 2, 3), attributes, "valid-rounds-up-like-explicit", shape)
    assert subject.under(altered)[0].tolist() == [[expected]]


def test_valid_rounds_up_to_a_window_that_begins_on_the_data() -> None:
    attributes = {"kernel_shape": [2], "strides": [2], "auto_pad": "VALID", "ceil_mode": 1}
    found = under(MEAN, row(1, 2, 4), attributes, "valid-rounds-up-like-explicit")
    assert found == [[[1.5, 4]]]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        # Padding of -3 leaves two elements, and two taps two apart take three: as ONNX Runtime
        # 1.17 has it.
        (5, []),
        # Padding of -2, of which the beginning gets half of -1, rounded towards zero. Of the two
        # windows that there should be one has room.
        (9, [2]),
        # Padding of -3, of which it gets -1.
        (10, [3]),
    ],
)
def test_same_padding_below_zero_and_of_undilated_windows(size: int, expected: list[float]) -> None:
    attributes = {
        "kernel_shape": [2],
        "strides": [5],
        "dilations": [2],
        "auto_pad": "SAME_LOWER",
    }
    values = row(*range(1, size + 1))
    found = under(MEAN, values, attributes, "same-below-zero-and-forgets-dilations")
    assert found == [[expected]]


@pytest.mark.parametrize(
    ("shape", "kernel", "strides", "auto_pad", "expected"),
    [
        # As ONNX Runtime 1.23 has it: the single row ends where width begins, at -1.
        ((1, 6), [2, 1], [3, 3], "SAME_UPPER", [[0, 0]]),
        # On one axis the padding of its own end, -2, cuts off the second of two taps.
        ((4,), [2], [4], "SAME_LOWER", [1]),
    ],
)
def test_what_same_padding_below_zero_cuts_off(
    shape: tuple[int, ...],
    kernel: list[int],
    strides: list[int],
    auto_pad: str,
    expected: list[Any],
) -> None:
    values = np.arange(1, 1 + np.prod(shape), dtype="f4").reshape(1, 1, *shape)
    attributes = {"kernel_shape": kernel, "strides": strides, "auto_pad": auto_pad}
    if len(shape) == 1:
        attributes["dilations"] = [2]
    found = under(MEAN, values, attributes, "same-below-zero-cuts-windows-on-other-axes")
    assert found == [[expected]]


@pytest.mark.parametrize(
    ("values", "attributes", "expected"),
    [
        # Taps at -2 and 2, -1 and 3, 0 and 4 of three elements; undilated they would be -2 and -1,
        # -1 and 0, 0 and 1, of which 0, 1 and 2 are on the data. As IREE 3.8 has it.
        (
            (1, 2, 3),
            {"kernel_shape": [2], "dilations": [4], "auto_pad": "SAME_UPPER"},
            [INF, 0, 0.5],
        ),
        (
            (1, 2, -3),
            {"kernel_shape": [2], "dilations": [4], "auto_pad": "SAME_UPPER"},
            [-INF, 0, 0.5],
        ),
        (
            (1, 2, 0),
            {"kernel_shape": [2], "dilations": [4], "auto_pad": "SAME_UPPER"},
            [NAN, 0, 0.5],
        ),
        # Undilated the first window would end one before the data: a count of -1.
        (
            (2,),
            {"kernel_shape": [3], "dilations": [2], "strides": [4], "pads": [4, 4]},
            [-2, 2],
        ),
        # The last window holds the last element alone, and counts its two taps.
        (
            (1, 2, 3, 4, 5, 6, 7, 8),
            {
                "kernel_shape": [2],
                "dilations": [2],
                "strides": [2],
                "ceil_mode": 1,
                "count_include_pad": 1,
            },
            [2, 4, 6, 3.5],
        ),
        # Without ceil_mode counted padding is counted.
        (
            (1, 2, 3),
            {"kernel_shape": [2], "dilations": [2], "pads": [1, 1], "count_include_pad": 1},
            [1, 2, 1],
        ),
    ],
)
def test_undilated_counts(
    values: tuple[float, ...], attributes: dict[str, Any], expected: list[float]
) -> None:
    found = under(MEAN, row(*values), attributes, "taps-counted-undilated-and-unclamped")
    np.testing.assert_array_equal(found, [[expected]])
