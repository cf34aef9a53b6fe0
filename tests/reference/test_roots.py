"""Roots rounded once: each is the nearest number, by comparing powers of exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.dtypes import DTYPES, DType
from conformance.reference.exact import Ties, round_ratio
from conformance.reference.roots import integer_root, round_root

by_name = pytest.mark.parametrize("dtype", [DTYPES[name] for name in ("f16", "bf16", "f32", "f64")])
degrees = st.integers(1, 7)
naturals = st.one_of(st.integers(0, 40), st.integers(0, 1 << 120))


def rooted(
    above: int, below: int, exponent: int, degree: int, dtype: DType, ties: Ties = "even"
) -> np.floating:
    found: np.floating = round_root(
        np.array([above], object), below, exponent, degree, dtype, ties=ties
    )[0]
    return found


@given(naturals, degrees)
def test_an_integer_root_is_the_largest_below(number: int, degree: int) -> None:
    root = integer_root(number, degree)
    assert root**degree <= number < (root + 1) ** degree


@by_name
@given(
    above=st.integers(1, 1 << 90),
    below=st.integers(1, 1 << 20),
    exponent=st.integers(-200, 60),
    degree=degrees,
)
@example(above=9, below=1, exponent=0, degree=2)
# Just above half way between two numbers of f16; what tells is lost in the division.
@example(above=(2049**2 << 40) + 1, below=1, exponent=-40, degree=2)
def test_no_number_is_nearer(
    dtype: DType, above: int, below: int, exponent: int, degree: int
) -> None:
    got = rooted(above, below, exponent, degree, dtype)
    exact = Fraction(above, below) * Fraction(2) ** exponent
    place = int(dtype.ordinals(np.array([got]))[0])
    # Half way to either neighbour, the infinity standing one step beyond the largest number.
    for step in (-1, 1):
        if (place, step) in ((0, -1), (dtype.infinity, 1)):
            continue
        middle = (_number(place, dtype) + _number(place + step, dtype)) / 2
        compared = middle**degree
        odd = place % 2 == 1
        if step == 1:
            assert exact < compared if odd else exact <= compared
        else:
            assert exact > compared if odd else exact >= compared


def _number(place: int, dtype: DType) -> Fraction:
    if place == dtype.infinity:
        return Fraction(2) ** (dtype.emax + 1)
    return Fraction(float(dtype.from_ordinals(np.array([place]))[0]))


@by_name
@given(
    significand=st.integers(1, 1 << 30),
    exponent=st.integers(-30, 3),
    degree=degrees,
    data=st.data(),
)
def test_a_power_has_its_base_for_a_root(
    dtype: DType, significand: int, exponent: int, degree: int, data: st.DataObject
) -> None:
    """Every tie among them: the base may lie half way between two numbers of the type."""
    ties: Ties = data.draw(st.sampled_from(["even", "up", "down", "zero"]))
    sign = data.draw(st.sampled_from([1, -1])) if degree % 2 else 1
    got = rooted((sign * significand) ** degree, 1, exponent * degree, degree, dtype, ties)
    base = round_ratio(np.array([sign * significand]), 1, exponent, dtype, ties=ties)[0]
    assert got == base


@by_name
def test_ends_of_the_range(dtype: DType) -> None:
    far = 4 * (dtype.emax + 2)
    assert rooted(1, 1, far, 2, dtype) == np.inf
    assert rooted(-1, 1, 3 * far, 3, dtype) == -np.inf
    assert rooted(1, 1, -3 * far - 300, 3, dtype) == 0
    assert rooted(1, 1, 2 * dtype.quantum, 2, dtype) == _number(1, dtype)
    assert rooted(0, 3, 5, 4, dtype) == 0


def test_shapes_broadcast_and_equal_ratios_agree() -> None:
    found = round_root(np.array([[4], [9]]), np.array([1, 4, 1]), 0, 2, DTYPES["f32"])
    assert found.tolist() == [[2, 1, 2], [3, 1.5, 3]]


@pytest.mark.parametrize(
    ("above", "below", "degree", "message"),
    [(1, 0, 2, "denominators"), (-1, 1, 2, "even root"), (1, 1, 0, "degree")],
)
def test_what_has_no_root(above: int, below: int, degree: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rooted(above, below, 0, degree, DTYPES["f32"])
