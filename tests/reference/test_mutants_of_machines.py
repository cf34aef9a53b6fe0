"""What machines and searches do with numbers, as mutants, against outputs worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_shapes import SMALL_SHAPES

from conformance.dtypes import DTYPES, Array
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case
from conformance.specification import build, case_from_inputs, find_spec, mutants_of

AVG, MAX = "AvgPool-1", "AdaptiveMaxPool-8"
INF, NAN = float("inf"), float("nan")
TINY, NORMAL = 2.0**-24, 2.0**-14
"""The smallest number of f16, and its smallest normal one."""


def outputs_under(op: str, mutant: str, inputs: list[Array], attributes: dict[str, Any]) -> Any:
    """The outputs under a mutant, or the right ones without; each as a flat list."""
    spec = find_spec(op)
    changes = [one.change for one in mutants_of(spec) if mutant and one.id == mutant]
    assert len(changes) == bool(mutant)
    case = case_from_inputs(spec, inputs, attributes)
    subject = subject_of(spec, case, inputs, SMALL_SHAPES)
    found = subject.under(implementation_of(spec, *changes))
    return [output.astype(np.float64).ravel().tolist() for output in found]


def pool(mutant: str, values: Any, dtype: str = "f32", **more: Any) -> Any:
    """The means of AvgPool-1 on one channel of values; the kernel spans them if none is given."""
    data = np.array(values, DTYPES[dtype].numpy).reshape(1, 1, -1)
    given = {
        "kernel": [data.size],
        "strides": [1],
        "pads_begin": [0],
        "pads_end": [0],
        "exclude-pad": False,
        **more,
    }
    (means,) = outputs_under(AVG, mutant, [data], given)
    return means


def largest(mutant: str, values: Any, out: int, dtype: str = "f32") -> Any:
    """The maxima and indices of AdaptiveMaxPool-8 on (N, C, size), or on one channel."""
    data = np.array(values, DTYPES[dtype].numpy)
    data = data.reshape(1, 1, -1) if data.ndim == 1 else data
    return outputs_under(MAX, mutant, [data, np.array([out])], {})


@pytest.mark.parametrize(
    ("mutant", "dtype", "values", "mean"),
    [
        # 2048 + 1 is 2048 in f16, twice; 2048 / 3 = 682.67, in units of 0.5.
        ("", "f16", [2048, 1, 1], 683.5),
        ("sums-in-own-type", "f16", [2048, 1, 1], 682.5),
        ("sums-in-own-type", "f16", [1, 1, 2048], 683.5),
        ("sums-in-own-type", "f16", [60000, 60000], INF),
        # 2**24 + 1 is 2**24 in f32.
        ("", "f64", [2**24, 1, 1, 0], 2**22 + 0.5),
        ("f64-summed-in-f32", "f64", [2**24, 1, 1, 0], 2**22),
        ("bf16-summed-in-f16", "bf16", [2.0**20] * 2, INF),
        ("f16-read-as-bf16", "f16", [257], 256),
        ("bf16-read-as-f16", "bf16", [2.0**17], INF),
        # The mean is 2049.5, and f16 has 2048 and 2050 there. Exactly 3 / 2 stays.
        ("", "f16", [2048, 2050, 2052, 2048], 2050),
        ("means-of-f16-truncated", "f16", [2048, 2050, 2052, 2048], 2048),
        ("means-of-f16-truncated", "f16", [-2048, -2050, -2052, -2048], -2048),
        ("means-of-f16-truncated", "f16", [1, 2], 1.5),
        ("nan-left-out-of-means", "f32", [NAN, 2, 4], 3),
        ("nan-left-out-of-means", "f32", [NAN, INF], INF),
        ("nan-counts-as-zero", "f32", [NAN, 2, 4], 2),
    ],
)
def test_a_mean(mutant: str, dtype: str, values: list[float], mean: float) -> None:
    assert pool(mutant, values, dtype) == [mean]


@pytest.mark.parametrize(
    ("mutant", "expected"),
    [
        ("", [INF, NAN, -INF, 2]),
        ("infinities-count-as-zero", [0.5, 0, 1, 2]),
        ("infinities-become-nan", [NAN, NAN, NAN, 2]),
        ("infinities-become-largest", [65504, NAN, -65504, 2]),
    ],
)
def test_infinities_of_a_mean(mutant: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(pool(mutant, [1, INF, -INF, 2, 2], "f16", kernel=[2]), expected)


def test_subnormals_flushed() -> None:
    values = [TINY, TINY, NORMAL, NORMAL]
    middle = float(np.float16((TINY + NORMAL) / 2))
    assert pool("", values, "f16", kernel=[2]) == [TINY, middle, NORMAL]
    assert pool("subnormals-flushed", values, "f16", kernel=[2]) == [0, 0, NORMAL]
    values = [-TINY, -NORMAL, TINY, NORMAL]
    assert largest("subnormals-flushed", values, 2, "f16")[0] == [0, NORMAL]


@pytest.mark.parametrize(
    ("mutant", "dtype", "values", "out", "expected"),
    [
        # 1 + 2**-30 equals 1 in f32, so the first of the two is the largest.
        ("", "f64", [1, 1 + 2.0**-30], 1, [[1 + 2.0**-30], [1]]),
        ("f64-read-as-f32", "f64", [1, 1 + 2.0**-30], 1, [[1], [0]]),
        ("infinities-become-largest", "f16", [INF, 1, -INF, -INF], 2, [[65504, -65504], [0, 2]]),
        ("last-of-equals", "f32", [5, 1, 5, 2, 2, 2], 2, [[5, 2], [2, 5]]),
        # What never exceeds the beginning leaves index 0.
        ("", "f16", [-3, -1, 2, -INF, -INF, -INF], 3, [[-1, 2, -INF], [1, 2, 4]]),
        ("search-begins-at-zero", "f16", [-3, -1, 2, -INF, -INF, -INF], 3, [[0, 2, 0], [0, 2, 0]]),
        (
            "search-begins-at-lowest",
            "f16",
            [-3, -1, 2, -INF, -INF, -INF],
            3,
            [[-1, 2, -65504], [1, 2, 0]],
        ),
    ],
)
def test_a_maximum(
    mutant: str, dtype: str, values: list[float], out: int, expected: list[list[float]]
) -> None:
    assert largest(mutant, values, out, dtype) == expected


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_what_largest_means(dtype: str) -> None:
    values = [-3, 2, 1, -1, -2, -0.5]
    assert largest("", values, 2, dtype) == [[2, -0.5], [1, 5]]
    assert largest("largest-magnitude", values, 2, dtype) == [[-3, -2], [0, 4]]
    assert largest("largest-magnitude", [-2, 2, 2, -2], 2, dtype) == [[-2, 2], [0, 2]]
    assert largest("smallest-element", values, 2, dtype) == [[-3, -2], [0, 4]]
    # Signed codes: positive numbers in order, and of negative ones the lowest wins.
    assert largest("codes-compared", values, 2, dtype) == [[2, -2], [1, 4]]


def test_where_results_are_put() -> None:
    data = np.arange(12).reshape(2, 3, 2)
    assert largest("", data, 1) == [[1, 3, 5, 7, 9, 11], [1] * 6]
    assert largest("every-image-shows-the-first", data, 1)[0] == [1, 3, 5, 1, 3, 5]
    assert largest("every-channel-shows-the-first", data, 1)[0] == [1, 1, 1, 7, 7, 7]
    unwritten = largest("images-after-first-unwritten", data, 1)[0]
    assert unwritten[:3] == [1, 3, 5]
    assert not set(unwritten[3:]) & {7, 9, 11}


@pytest.mark.parametrize(
    ("mutant", "expected"),
    [
        # Padded by two, 1 2 6 is 1 | 1 2 | 1 2 6, and padding does not count.
        ("", [1, 1.5, 3]),
        ("edge-repeated-as-padding", [1, float(np.float32(4 / 3)), 3]),
        ("negative-positions-wrap", [3, 3, 3]),
    ],
)
def test_what_a_tap_in_padding_reads(mutant: str, expected: list[float]) -> None:
    given = {"kernel": [3], "pads_begin": [2], "exclude-pad": True}
    assert pool(mutant, [1, 2, 6], **given) == expected


def test_an_attribute_that_is_misread() -> None:
    values = [1, 2, 3, 4]
    assert pool("strides-ignored", values, kernel=[2], strides=[2]) == [1.5, 2.5, 3.5]
    assert pool("begin-pads-dropped", values, kernel=[2], pads_begin=[1]) == [1.5, 2.5, 3.5]
    # The third window begins behind the data: nothing is divided by nothing.
    np.testing.assert_array_equal(
        pool("windows-move-by-kernel", values, kernel=[2]), [1.5, 3.5, NAN]
    )


def test_an_index_of_another_type() -> None:
    spec = find_spec(MAX)
    changes = {one.id: one.change for one in mutants_of(spec)}
    case = Case(MAX, {"T": "f32", "T_SHAPE": "i64"}, {"data": (1, 1, 4)}, {}, {"output_size": (2,)})
    subject = subject_of(spec, case, build(spec, case).inputs)
    _, index = subject.under(implementation_of(spec, changes["index-always-i32"]))
    assert (subject.outputs[1].dtype, index.dtype) == (np.int64, np.int32)


def test_what_changes_nothing_gives_the_right_outputs_themselves() -> None:
    spec = find_spec(AVG)
    changes = {one.id: one.change for one in mutants_of(spec)}
    data = np.ones((1, 1, 3), np.float32)
    given = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0], "exclude-pad": True}
    subject = subject_of(spec, case_from_inputs(spec, [data], given), [data])
    for mutant in ("strides-ignored", "begin-pads-dropped", "valid-uses-given-pads"):
        assert subject.under(implementation_of(spec, changes[mutant])) is subject.outputs
