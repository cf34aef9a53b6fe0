"""How much of its accepted interval an element uses, beside a count one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dtypes import DTYPES
from conformance.grade.compare import compare, interval_use
from conformance.model import INTERVAL_BINS, Answer

FLOATS = ("f16", "bf16", "f32", "f64")


def value(dtype: str, ordinal: int) -> np.ndarray:
    return DTYPES[dtype].from_ordinals(np.array([ordinal]))


@given(
    st.sampled_from(FLOATS),
    st.floats(-1, 1),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(-12, 12),
)
def test_parts_of_one_element(dtype: str, place: float, down: int, up: int, off: int) -> None:
    top = DTYPES[dtype].infinity
    right = max(-top + 30, min(top - 30, int(place * top)))
    answer = Answer(
        "result",
        dtype,
        np.zeros(1),
        rounded=value(dtype, right),
        lo=value(dtype, right - down),
        hi=value(dtype, right + up),
    )
    got = value(dtype, right + off)
    room = up if off > 0 else down
    expected = 0 if off == 0 else 5 if abs(off) > room else math.ceil(4 * abs(off) / room)
    found = interval_use(answer, got, "standard")
    assert found.tolist() == [int(part == expected) for part in range(len(INTERVAL_BINS))]
    assert (found[-1] == 1) == (compare(answer, got, "standard").count == 1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_not_a_number_is_right_where_it_is_expected(dtype: str) -> None:
    row = DTYPES[dtype].numpy
    values = np.array([np.nan, np.nan, 1, np.inf, -np.inf, np.inf]).astype(row)
    got = np.array([np.nan, 1, np.nan, np.inf, np.inf, 1]).astype(row)
    answer = Answer("result", dtype, np.zeros(6), rounded=values, lo=values, hi=values)
    assert interval_use(answer, got, "standard").tolist() == [2, 0, 0, 0, 0, 4]


def test_elements_that_are_not_graded_are_not_counted() -> None:
    ones = np.ones(3, "f4")
    mask = np.array([7, 0, 7], np.uint8)
    answer = Answer("result", "f32", np.ones(3), rounded=ones, lo=ones, hi=ones, open=mask)
    assert interval_use(answer, np.zeros(3, "f4"), "standard").tolist() == [0, 0, 0, 0, 0, 1]
