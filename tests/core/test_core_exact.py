"""Exact numbers in arrays agree with fractions, and with IEEE arithmetic where they are none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from conformance.core import exact
from conformance.core.exact import Ball, MatrixLayout, Number, precision
from conformance.core.integers import Ties
from conformance.dtypes import DTYPES
from conformance.errors import EvaluationError

fractions = st.builds(
    Fraction,
    st.integers(-(2**70), 2**70) | st.integers(-9, 9),
    st.integers(1, 2**40) | st.integers(1, 9),
)
lists = st.lists(st.tuples(fractions, fractions), min_size=1, max_size=4)


def values(number: Number) -> list[Fraction]:
    num, den = np.broadcast_arrays(np.asarray(number.num, object), np.asarray(number.den, object))
    scale = Fraction(2) ** number.exp
    return [Fraction(int(n), int(d)) * scale for n, d in zip(num.ravel(), den.ravel(), strict=True)]


def both(pairs: list[tuple[Fraction, Fraction]]) -> tuple[Number, Number]:
    columns = zip(*pairs, strict=True)
    a, b = (exact.number(np.asarray([*column], object)) for column in columns)
    return a, b


@given(lists)
def test_arithmetic_is_that_of_fractions(pairs: list[tuple[Fraction, Fraction]]) -> None:
    a, b = both(pairs)
    assert values(exact.add(a, b)) == [x + y for x, y in pairs]
    assert values(exact.multiply(a, b)) == [x * y for x, y in pairs]
    assert values(exact.negative(a)) == [-x for x, _ in pairs]
    assert values(exact.power(a, 3)) == [x**3 for x, _ in pairs]
    assert list(exact.compared(a, b)) == [(x > y) - (x < y) for x, y in pairs]
    assert values(exact.total(a, (0,))) == [sum(x for x, _ in pairs)]
    order = list(exact.ordered(a))
    assert np.argsort(order, kind="stable").tolist() == sorted(
        range(len(pairs)), key=lambda k: pairs[k][0]
    )


def test_division_by_a_root_that_is_zero() -> None:
    root = exact.function("sqrt", exact.number(np.array([0, 0, 4])))
    quotient = exact.decided(exact.divide(exact.number(np.array([0, 1, 6])), root), DTYPES["f32"])
    assert quotient is not None
    np.testing.assert_array_equal(quotient, [np.nan, np.inf, 3])


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_a_nan_of_infinities_has_no_sign(dtype: str) -> None:
    """Processors differ in that of infinities that cancel: it would be in digests of vectors."""
    special = np.array([np.nan, -np.nan, np.copysign(np.nan, -1), -np.inf])
    zeros = Number(np.zeros(4, np.int64), special=special)
    for value in (zeros, exact.as_ball(zeros)):
        array = exact.decided(value, DTYPES[dtype])
        assert array is not None
        assert np.isnan(array[:3].astype("f8")).all()
        assert np.signbit(array.astype("f8")).tolist() == [False, False, False, True]


@given(lists)
def test_division_is_that_of_fractions(pairs: list[tuple[Fraction, Fraction]]) -> None:
    pairs = [(x, y or Fraction(1)) for x, y in pairs]
    a, b = both(pairs)
    assert values(exact.divide(a, b)) == [x / y for x, y in pairs]
    single = exact.number(pairs[0][1])
    assert values(exact.divide(a, single)) == [x / pairs[0][1] for x, _ in pairs]


@given(lists)
def test_a_choice_is_of_either_side(pairs: list[tuple[Fraction, Fraction]]) -> None:
    a, b = both(pairs)
    condition = np.arange(len(pairs)) % 2 == 0
    chosen = [x if k % 2 == 0 else y for k, (x, y) in enumerate(pairs)]
    assert values(exact.choose(condition, a, b)) == chosen


@given(st.lists(st.floats(width=32), min_size=1, max_size=5))
def test_arrays_are_decoded_without_loss(floats: list[float]) -> None:
    array = np.asarray(floats, np.float32)
    rounded = exact.rounded(exact.decode(array, DTYPES["f32"]), DTYPES["f32"])
    np.testing.assert_array_equal(rounded, array)


SPECIALS = np.asarray([0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("name", ["add", "multiply", "divide"])
def test_specials_are_those_of_ieee_arithmetic(name: str) -> None:
    a, b = np.meshgrid(SPECIALS, SPECIALS)
    run = {"add": np.add, "multiply": np.multiply, "divide": np.divide}[name]
    numbers = [exact.decode(array, DTYPES["f64"]) for array in (a, b)]
    with np.errstate(all="ignore"):
        expected = run(a, b)
    result = getattr(exact, name)(*numbers)
    np.testing.assert_array_equal(exact.rounded(result, DTYPES["f64"]), expected)
    low, high = exact.ends(getattr(exact, name)(*map(exact.as_ball, numbers)))
    if name == "divide":  # a ball cannot be divided by one that holds 0
        low, high, expected = (
            each.each(lambda x: x[b != 0]) if isinstance(each, Number) else each[b != 0]
            for each in (low, high, expected)
        )
    for end in (low, high):
        np.testing.assert_array_equal(exact.rounded(end, DTYPES["f64"]), expected)


def test_the_order_has_infinities_at_the_ends_and_nan_above_all() -> None:
    order = exact.ordered(exact.decode(SPECIALS, DTYPES["f64"]))
    ranks = np.unique(order, return_inverse=True)[1]
    assert ranks.tolist() == [2, 3, 1, 4, 0, 5]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("exp", [1, np.e, np.exp(-2), np.inf, 0, np.nan]),
        ("tanh", [0, np.tanh(1), np.tanh(-2), 1, -1, np.nan]),
        ("log", [-np.inf, 0, np.nan, np.inf, np.nan, np.nan]),
        ("sqrt", [0, 1, np.nan, np.inf, np.nan, np.nan]),
    ],
)
def test_functions_have_limits(name: str, expected: list[float]) -> None:
    with precision(100):
        ends = exact.ends(exact.function(name, exact.decode(SPECIALS, DTYPES["f64"])))
    for end in ends:
        np.testing.assert_array_max_ulp(exact.rounded(end, DTYPES["f64"]), np.asarray(expected), 1)


def test_the_sum_of_no_balls_is_a_ball() -> None:
    ones = exact.as_ball(exact.number(np.ones((2, 0), np.int64)))
    total = exact.total(ones, (1,))
    assert isinstance(total, Ball)
    assert total.mid.shape == (2, 1)
    assert all(ball == arb(0) for ball in total.mid.ravel())


@pytest.mark.parametrize("ties", ["even", "up", "down"])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@given(st.lists(st.floats(width=32), min_size=1, max_size=9), st.booleans())
def test_ends_of_balls_are_rounded_as_exact_numbers_are(
    dtype: str, ties: Ties, data: list[float], exact_ones: bool
) -> None:
    number = exact.decode(np.asarray(data), DTYPES["f64"])
    with precision(100):
        ball = exact.as_ball(number) if exact_ones else exact.function("tanh", number)
        for side, end in zip(("lower", "upper"), exact.ends(ball), strict=True):
            expected = exact.rounded(end, DTYPES[dtype], ties)
            result = exact.rounded_end(ball, side, DTYPES[dtype], ties)
            np.testing.assert_array_equal(result.astype(float), expected.astype(float))


def test_a_tie_that_no_precision_decides_gives_the_even_number() -> None:
    root = exact.function("sqrt", exact.number(2))
    halves = exact.number(np.array([2049, -2051, 2050, 131]) * np.array([1, 1, 1, 1000]))
    ball = exact.as_ball(
        exact.multiply(exact.multiply(halves, root), exact.divide(root, exact.number(2)))
    )
    result = exact.rounded_tie(ball, DTYPES["f16"])
    np.testing.assert_array_equal(result, [2048, -2052, 2050, np.inf])
    assert exact.decided(ball, DTYPES["f16"]) is None


def test_an_exponential_beyond_all_balls_is_infinite() -> None:
    data = exact.decode(np.array([1e308, 1e18, 710, -746, -1e18, -1e308]), DTYPES["f64"])
    with precision(100):
        for argument in (data, exact.as_ball(data)):
            result = exact.decided(exact.function("exp", argument), DTYPES["f64"])
            assert result is not None
            np.testing.assert_array_equal(result, [np.inf, np.inf, np.inf, 0, 0, 0])


def test_a_ball_is_narrower_at_a_higher_precision() -> None:
    third = exact.number(Fraction(1, 3))
    with precision(200):
        ball = exact.as_ball(third)
        low, high = exact.ends(ball)
    assert isinstance(ball, Ball)
    assert 0 < values(high)[0] - values(low)[0] < Fraction(1, 2**195)


@pytest.mark.parametrize("bits", [3, 24, 60, 300])
def test_products_of_matrices_never_round(bits: int) -> None:
    rng = np.random.default_rng(bits)

    def draw(*shape: int) -> Number:
        top = 2 ** min(bits, 53)
        drawn = rng.integers(-top, top, np.prod(shape))
        whole = [int(k) * 2 ** max(0, bits - 53) + int(k > 0) for k in drawn]
        array = np.empty(len(whole), object)
        array[:] = whole
        array = array.reshape(shape)
        return exact.number(array)

    a, b = draw(2, 3, 1, 4), draw(2, 1, 5, 4)
    layout = MatrixLayout.of((2, 3, 1, 4), (2, 1, 5, 4), (2, 3, 5, 4), 3)
    result = exact.contracted(a, b, layout)
    if bits == 300:
        assert result is None
        return
    assert result is not None
    wide = np.asarray(a.num, object) * np.asarray(b.num, object)
    assert result.num.shape == (2, 3, 5, 1)
    scale = Fraction(2) ** (a.exp + b.exp)
    assert values(result) == [Fraction(int(x)) * scale for x in wide.sum(axis=3).ravel()]


def test_a_single_wide_integer_is_added_to_infinity_and_compared_with_it() -> None:
    huge = exact.number(np.asarray(3**70, object))
    infinite = exact.decode(np.asarray(np.inf), DTYPES["f64"])
    assert exact.rounded(exact.add(huge, infinite), DTYPES["f32"]) == np.inf
    assert exact.compared(huge, infinite) == -1


@pytest.mark.parametrize("name", ["root", "signed_root"])
@pytest.mark.parametrize("degree", [0, -1])
def test_there_is_no_root_of_a_degree_below_1(name: str, degree: int) -> None:
    with pytest.raises(EvaluationError, match=f"degree {degree}"):
        exact.applied(name, arb(4), degree)


@pytest.mark.parametrize(
    ("number", "degree", "expected"), [(81, 4, 3), (0, 3, 0), (0.125, 3, 0.5), (1024, 5, 4)]
)
def test_the_root_of_a_perfect_power_is_exact(number: float, degree: int, expected: float) -> None:
    root = exact.applied("root", arb(number), degree)
    assert root.is_exact()
    assert root == expected


def test_numbers_differ_by_value_and_balls_by_what_they_are_of() -> None:
    thirds = exact.divide(exact.number(np.array([2, 3, 4])), exact.number(np.array([3, 3, 6])))
    sixths = exact.divide(exact.number(np.array([4, 5, 4])), exact.number(np.asarray(6)))
    assert exact.differ(thirds, sixths).tolist() == [False, True, False]
    again = exact.divide(exact.number(np.array([2, 3, 5])), exact.number(np.array([3, 3, 6])))
    roots = [exact.function("root", x, 2) for x in (thirds, again)]
    assert exact.differ(*roots).tolist() == [False, False, True]
    infinite = exact.decode(np.array([np.inf, np.nan, -np.inf]), DTYPES["f64"])
    other = exact.decode(np.array([np.inf, np.nan, np.inf]), DTYPES["f64"])
    assert exact.differ(infinite, other).tolist() == [False, False, True]


def test_a_root_is_computed_for_each_precision() -> None:
    with precision(40):
        rough = exact.function("sqrt", exact.number(np.array([2])))
    with precision(200):
        fine = exact.function("sqrt", exact.number(np.array([2])))
    assert fine.array[0].rel_accuracy_bits() > 150 > 60 > rough.array[0].rel_accuracy_bits()
