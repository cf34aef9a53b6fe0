"""Norms rounded once: each root is the nearest number, by comparing powers of exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tiers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.dtypes import DTYPES, Array, DType
from conformance.specification import find_spec, outputs

NORM = find_spec("onnx.LpPool-22")
by_name = pytest.mark.parametrize("dtype", [DTYPES[name] for name in ("f16", "bf16", "f32", "f64")])


def norm(data: Array, degree: int) -> np.generic:
    """The root of the sum of powers of all elements, in their type."""
    attributes = {"kernel_shape": [data.size], "p": degree}
    (found,) = outputs(NORM, [data.reshape(1, 1, -1)], attributes)
    return found.ravel()[0]


def number(place: int, dtype: DType) -> Fraction:
    """A number by its ordinal; the infinity stands one step beyond the largest."""
    if place == dtype.infinity:
        return Fraction(2) ** (dtype.emax + 1)
    return Fraction(float(dtype.from_ordinals(np.array([place]))[0]))


def check(dtype: DType, ordinals: list[int], degree: int) -> None:
    data = dtype.from_ordinals(np.array(ordinals, np.int64))
    got = norm(data, degree)
    exact = sum(abs(number(one, dtype)) ** degree for one in ordinals)
    place = int(dtype.ordinals(np.array([got]))[0])
    for step in (-1, 1):
        if (place, step) in ((0, -1), (dtype.infinity, 1)):
            continue
        compared = ((number(place, dtype) + number(place + step, dtype)) / 2) ** degree
        odd = place % 2 == 1
        if step == 1:
            assert exact < compared if odd else exact <= compared
        else:
            assert exact > compared if odd else exact >= compared


@by_name
@settings(max_examples=tiers.examples(60, few=20), deadline=None)
@given(data=st.data())
def test_no_number_is_nearer(dtype: DType, data: st.DataObject) -> None:
    most = dtype.infinity - 1
    one = (-dtype.emin + 1) << (dtype.digits - 1)
    near = st.integers(-3 << dtype.digits, 3 << dtype.digits).map(lambda off: one + off)
    element = st.one_of(near, near, st.integers(0, most), st.integers(0, 9))
    sign = st.sampled_from((1, -1))
    signed = st.builds(lambda place, s: s * min(max(place, 0), most), element, sign)
    ordinals = data.draw(st.lists(signed, min_size=1, max_size=5))
    check(dtype, ordinals, data.draw(st.integers(1, 5)))


@settings(max_examples=tiers.examples(200, few=50), deadline=None)
@given(st.integers(1, 40), st.integers(1, 40))
@example(2, 1)
def test_the_third_side_of_a_right_triangle_is_exact(m: int, n: int) -> None:
    legs = np.array([m * m - n * n, 2 * m * n], np.float32)
    assert norm(legs, 2) == np.float32(m * m + n * n)


@by_name
def test_ends_of_the_range(dtype: DType) -> None:
    most, least = (
        dtype.from_ordinals(np.array([place, place])) for place in (dtype.infinity - 1, 1)
    )
    assert norm(most, 2) == np.inf
    assert norm(most[:1], 3) == most[0]
    assert norm(least[:1], 5) == least[0]
    check(dtype, [1, 1], 2)
    assert norm(np.zeros(3, dtype.numpy), 4) == 0
