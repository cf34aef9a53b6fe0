"""Maxima and means of integers, beside plain loops over the integers of Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.patterns import FRACTIONAL
from conformance.dtypes import DTYPES, converted
from conformance.generate.cases import case_strategy
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case, Status
from conformance.specification import (
    binding_of,
    build,
    case_from_inputs,
    find_spec,
    mutants_of,
)

INTEGERS = ("i8", "u8", "i32", "i64")
OPS = ("MaxPool-8", "MaxPool-14")


def pads(attributes: dict[str, Any], size: list[int], axis: int) -> int:
    """How many places of padding stand before the data of an axis."""
    kernel, stride, step = (
        attributes.get(name, [1] * len(size))[axis] for name in ("kernel", "strides", "dilations")
    )
    auto = attributes["auto_pad"]
    if auto == "explicit":
        return int(attributes["pads_begin"][axis])
    if auto == "valid":
        return 0
    total = max(0, (-(-size[axis] // stride) - 1) * stride + (kernel - 1) * step + 1 - size[axis])
    return total // 2 if auto == "same_upper" else total - total // 2


Place = tuple[int, ...]


def windows(
    case: Case, data: np.ndarray[Any, Any], out: Place
) -> Iterator[tuple[Place, dict[Place, int]]]:
    """Each output place, with the elements of its window by their spatial places, in order."""
    size, axes = list(data.shape[2:]), data.ndim - 2
    attributes = {"auto_pad": "explicit", "dilations": [1] * axes, **case.attributes}
    kernel, dilations = attributes["kernel"], attributes["dilations"]
    begin = [pads(attributes, size, axis) for axis in range(axes)]
    for place in np.ndindex(*out):
        start = [place[2 + a] * attributes["strides"][a] - begin[a] for a in range(axes)]
        taps = (
            range(start[a], start[a] + kernel[a] * dilations[a], dilations[a]) for a in range(axes)
        )
        on_data = (
            at for at in product(*taps) if all(0 <= x < n for x, n in zip(at, size, strict=True))
        )
        yield place, {at: int(data[(*place[:2], *at)]) for at in on_data}


@pytest.mark.parametrize("op", OPS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_largest_integer_and_its_first_place(op: str, data: st.DataObject) -> None:
    spec = find_spec(op)
    types = tuple(one for one in spec.types["T"] if one in INTEGERS)
    case = data.draw(case_strategy(spec, types, (3, 4)))
    assert case.pattern not in FRACTIONAL
    vector = build(spec, case)
    values = vector.inputs[0]
    value, index = vector.answers
    assert value.dtype == case.types["T"]
    assert value.rounded is None
    first_axis = case.attributes.get("axis", 0) % values.ndim
    for place, window in windows(case, values, value.expected.shape):
        if not window:
            assert value.open is not None
            assert value.open[place]
            continue
        best = max(window, key=lambda at: window[at])
        assert int(value.expected[place]) == window[best]
        flat = np.ravel_multi_index((*place[:2], *best), values.shape)
        assert int(index.expected[place]) == flat % int(np.prod(values.shape[first_axis:]))


def truncated(mean: Fraction) -> int:
    return math.trunc(mean)


def half_away(mean: Fraction) -> int:
    return math.floor(abs(mean) + Fraction(1, 2)) * (1 if mean > 0 else -1)


ROUNDED = {
    "": round,  # of halves, the even one
    "integer-mean-truncated": truncated,
    "integer-mean-half-away": half_away,
}


@settings(max_examples=60, deadline=None)
@given(case=case_strategy(find_spec("AvgPool-14"), ("i8", "u8", "i32"), (3,)))
def test_means_are_rounded_as_they_are_said_to_be(case: Case) -> None:
    spec = find_spec(case.op)
    if binding_of(spec, case).value("counts_pads"):
        return  # the divisor of those is in other tests
    vector = build(spec, case)
    by_reading = {"": vector.answers, **vector.readings}
    (plain,) = vector.answers
    for place, window in windows(case, vector.inputs[0], plain.expected.shape):
        if not window:
            assert plain.open is not None
            assert plain.open[place]
            continue
        mean = Fraction(sum(window.values()), len(window))
        for reading, how in ROUNDED.items():
            (answer,) = by_reading.get(reading, vector.answers)
            if answer.expected.shape == plain.expected.shape:
                assert int(answer.expected[place]) == how(mean)


def pairwise(dtype: str, size: int) -> Case:
    """The larger of every two elements, of the whole range of a type."""
    attributes = {"kernel": [2], "strides": [2], "pads_begin": [0], "pads_end": [0]}
    shapes = {"data": (1, 1, size)}
    return Case("MaxPool-8", {"T": dtype}, shapes, attributes, pattern="normal")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_wrong_integer_is_a_wrong_value(dtype: str) -> None:
    vector = build(find_spec("MaxPool-8"), pairwise(dtype, 8))
    right = [answer.expected for answer in vector.answers]
    wrong = [right[0] ^ right[0].dtype.type(1), right[1]]
    for returned, status, kind in ((right, Status.PASS, ""), (wrong, Status.FAIL, "value")):
        outcome = Outcome(Ending.RETURNED, returned=tuple(returned))
        verdict = judge(vector, outcome, level="should", precision={})
        assert (verdict.status, verdict.kind) == (status, kind)


@pytest.mark.parametrize(
    ("fault", "dtype"),
    [
        ("i8-compared-as-u8", "i8"),
        ("u8-compared-as-i8", "u8"),
        ("i32-read-as-f32", "i32"),
        ("i64-read-as-f64", "i64"),
        ("i64-read-as-i32", "i64"),
    ],
)
def test_faults_of_integers_show_in_their_type_alone(fault: str, dtype: str) -> None:
    (found,) = (one for one in mutants_of(find_spec("MaxPool-8")) if one.id == fault)
    for other in INTEGERS:
        case = pairwise(other, 300)
        vector = build(find_spec("MaxPool-8"), case)
        subject = subject_of(find_spec("MaxPool-8"), case, vector.inputs)
        values, _ = subject.under(implementation_of(find_spec("MaxPool-8"), found.change))
        assert bool((values != vector.answers[0].expected).any()) == (other == dtype)


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64"])
def test_what_a_type_cannot_hold_becomes_its_largest(dtype: str) -> None:
    row = DTYPES[dtype]
    far = np.array([1e30, -1e30, 2.0**row.digits, -(2.0**row.digits), 3.0])
    most, least = np.iinfo(row.numpy).max, np.iinfo(row.numpy).min
    assert converted(far, row).tolist() == [most, least, most, least, 3]


def test_a_sum_that_wraps_may_be_divided_in_another_type() -> None:
    bank = mutants_of(find_spec("AvgPool-14"))
    (found,) = (f for f in bank if f.id == "i32-sums-wrap-then-divided-in-f32")
    data = np.array([[[2**30, 2**30, 2**24 + 1, 2**24 + 2, 5, 6, -7, 0]]], np.int32)
    attributes = {
        "kernel": [2],
        "strides": [2],
        "pads_begin": [0],
        "pads_end": [0],
        "exclude-pad": True,
    }
    spec = find_spec("AvgPool-14")
    subject = subject_of(spec, case_from_inputs(spec, [data], attributes), [data])
    (means,) = subject.under(implementation_of(spec, found.change))
    # The sum of the second two, 2**25 + 3, is rounded to a multiple of 4 by f32; halves go to even.
    assert means[0, 0].tolist() == [-(2**30), 2**24 + 2, 6, -4]


def test_a_clamp_in_a_floating_point_type_ends_below_the_largest_integer() -> None:
    far = np.array([2.0**31, 1e30, -1e30, 2.0**30], np.float32)
    assert converted(far, DTYPES["i32"], saturates=True).tolist() == [
        2**31 - 128,
        2**31 - 128,
        -(2**31),
        2**30,
    ]
    assert converted(far, DTYPES["i8"], saturates=True).tolist() == [127, 127, -128, 127]
