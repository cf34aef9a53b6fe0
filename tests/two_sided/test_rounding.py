"""The roundings that the evaluations are built on, against exact ones of integer division."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from arithmetic import BF16, F16, F32, F64, TF32, Arithmetic, Rounding, fused_mean, narrow
from numpy.typing import NDArray
from windows import Windows

from conformance.core.integers import round_ratio
from conformance.dtypes import DType

Array = NDArray[Any]
by_name = pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=lambda row: row.name)
small = pytest.mark.parametrize("dtype", [F16, BF16], ids=lambda row: row.name)


def rounded(value: Fraction, dtype: DType) -> Fraction:
    found = round_ratio(
        np.array([value.numerator], object), np.array([value.denominator], object), 0, dtype
    )
    return Fraction(float(found[0]))


@small
def test_narrow_at_every_midpoint_and_its_surroundings(dtype: DType) -> None:
    """All neighbours of the type, from zero to infinity, and half way between them."""
    lower = np.arange(dtype.infinity)
    values = dtype.from_ordinals(np.arange(dtype.infinity + 1)).astype(np.float64)
    values[-1] = 2.0 ** (dtype.emax + 1)
    middle = (values[:-1] + values[1:]) / 2  # exact: f64 has digits to spare
    top = np.minimum(lower + 1, dtype.infinity - 1)
    for values_at, even, away, zero in (
        (np.nextafter(middle, -np.inf), lower, lower, lower),
        (middle, lower + lower % 2, lower + 1, lower),
        (np.nextafter(middle, np.inf), lower + 1, lower + 1, lower),
        (values[1:], lower + 1, lower + 1, top),
    ):
        for sign in (1, -1):
            expected: dict[Rounding, Array] = {"even": even, "away": away, "zero": zero}
            for rounding, ordinals in expected.items():
                got = narrow(sign * values_at, dtype, rounding)
                np.testing.assert_array_equal(dtype.ordinals(got), sign * ordinals)


def test_narrow_keeps_special_values() -> None:
    special = np.array([np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(narrow(special, F16, "zero").astype(np.float64), special)
    assert narrow(np.array([1e300, -1e300]), F32).tolist() == [np.inf, -np.inf]


def test_tf32_keeps_ten_bits_of_the_fraction() -> None:
    assert narrow(np.array([1 + 2.0**-10, 1 + 2.0**-11]), TF32).tolist() == [1 + 2.0**-10, 1]


def test_a_library_rounds_f64_to_bf16_twice() -> None:
    """Why ml_dtypes is no oracle: it rounds to f32 first, which makes a tie of what is none."""
    just_above_a_tie = np.array([1 + 2.0**-8 + 2.0**-40])
    assert narrow(just_above_a_tie, BF16).astype(np.float64) == 1 + 2.0**-7
    assert rounded(Fraction(just_above_a_tie.item()), BF16) == 1 + Fraction(1, 2**7)
    if just_above_a_tie.astype(BF16.numpy).astype(np.float64) == 1 + 2.0**-7:
        pytest.skip("this version of ml_dtypes rounds once")
    assert just_above_a_tie.astype(BF16.numpy).astype(np.float64) == 1


@by_name
def test_operations_round_once(dtype: DType) -> None:
    """Over all magnitudes, and over neighbours of 1, whose results are never tiny or huge."""
    rng = np.random.default_rng(5)
    one = int(dtype.ordinals(np.ones(1, dtype.numpy))[0])
    near = one + rng.integers(-(4 << dtype.digits), 4 << dtype.digits, (2, 2000))
    anywhere = rng.integers(1 - dtype.infinity, dtype.infinity, (2, 2000))
    ordinals = np.concatenate([near, anywhere], axis=1)
    a, b = dtype.from_ordinals(np.where(ordinals == 0, 1, ordinals))
    arithmetic = Arithmetic(dtype)
    with np.errstate(all="ignore"):
        found = arithmetic.add(a, b), arithmetic.multiply(a, b), arithmetic.divide(a, b)
    exact = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    for got, wanted in zip(
        found,
        ([x + y for x, y in exact], [x * y for x, y in exact], [x / y for x, y in exact]),
        strict=True,
    ):
        numerators = np.array([value.numerator for value in wanted], object)
        denominators = np.array([value.denominator for value in wanted], object)
        right = round_ratio(numerators, denominators, 0, dtype)
        np.testing.assert_array_equal(dtype.ordinals(got), dtype.ordinals(right))


@by_name
def test_fused_sums_round_each_step_once(dtype: DType) -> None:
    """Of numbers near 1, of subnormal ones, and of numbers far apart."""
    rng = np.random.default_rng(7)
    one = int(dtype.ordinals(np.ones(1, dtype.numpy))[0])
    normal = 1 << (dtype.digits - 1)
    for low, high in ((one - normal, one + normal), (0, 3 * normal), (0, one)):
        ordinals = rng.integers(low, high, (1, 1, 40, 6)) * rng.choice([-1, 1], (1, 1, 40, 6))
        terms = dtype.from_ordinals(ordinals)
        divisor = rng.integers(6, 200, (1, 1, 40))
        found = fused_mean(Windows(terms, divisor, (np.ones((40, 6), np.bool_),), dtype), dtype)
        for k in range(40):
            factor = rounded(Fraction(1, int(divisor[0, 0, k])), dtype)
            total = Fraction(0)
            for term in terms[0, 0, k]:
                total = rounded(Fraction(float(term)) * factor + total, dtype)
            assert Fraction(float(found[0, 0, k])) == total
