"""Functions of reals agree with mpmath at 60 digits; whole numbers, rests and bits with numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from independent import FORMATS, ordinals, rounded

import conformance
from conformance.core import bounds, exact
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.exact import Number
from conformance.core.loader import load_operator
from conformance.core.real import Machine, Real, constant, source
from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import EvaluationError
from conformance.generate.cases import draw_cases

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[..., Any]]] = {
    "onnx.Sin-22": (mpmath.sin, np.sin),
    "onnx.Cos-22": (mpmath.cos, np.cos),
    "onnx.Tan-22": (mpmath.tan, np.tan),
    "onnx.Asin-22": (mpmath.asin, np.arcsin),
    "onnx.Acos-22": (mpmath.acos, np.arccos),
    "onnx.Atan-22": (mpmath.atan, np.arctan),
    "onnx.Sinh-22": (mpmath.sinh, np.sinh),
    "onnx.Cosh-22": (mpmath.cosh, np.cosh),
    "onnx.Asinh-22": (mpmath.asinh, np.arcsinh),
    "onnx.Acosh-22": (mpmath.acosh, np.arccosh),
    "onnx.Atanh-22": (mpmath.atanh, np.arctanh),
}
NUMBERS = [
    *(0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 2.5, -2.5, 1e300, -1e300, 5e-324, 1e22, -3.0),
    *(np.inf, -np.inf, np.nan, 1 - 2.0**-53, 1 + 2.0**-52),
]
LARGE = 300
F32 = Machine(DTYPES["f32"])


def code(value: Any, dtype: str) -> Any:
    """Return the ordinal of a number that is rounded to a type, or a word for NaN."""
    if isinstance(value, mpmath.mpc) or mpmath.isnan(value):
        return "nan"
    form = FORMATS[dtype]
    if mpmath.isinf(value) or abs(value) > mpmath.mpf(2) ** 2000:
        return form.infinity if value > 0 else -form.infinity
    value = mpmath.mpf(value)
    sign, significand, exponent, _ = value._mpf_
    number = Fraction(int(significand)) * Fraction(2) ** max(-9999, exponent)
    return rounded(-number if sign else number, form)


def codes(array: Array) -> list[Any]:
    lost = np.isnan(array.astype(np.float64)).ravel()
    return ["nan" if nan else n for n, nan in zip(ordinals(array), lost, strict=True)]


def checked(op: str, run: Callable[..., Any]) -> int:
    """Compare drawn cases with a function of numbers, and return how many elements there were."""
    operator, count = load_operator(op), 0
    for case in draw_cases(operator, 25, seed=5):
        inputs = [array for array in inputs_of(operator, case) if array is not None]
        if sum(array.size for array in inputs) > LARGE:
            continue
        given = dict(zip(operator.tensors, inputs, strict=True))
        (output,) = Evaluation(operator, case.attributes, given).outputs()
        wide = np.broadcast_arrays(*(array.astype(np.float64) for array in inputs))
        with mpmath.workdps(60):
            expected = [
                code(run(*map(float, numbers)), name_of(output.dtype))
                for numbers in zip(*(array.ravel() for array in wide), strict=True)
            ]
        assert codes(output) == expected, case
        count += len(expected)
    return count


@pytest.mark.parametrize("op", FUNCTIONS)
def test_a_function_is_rounded_once(op: str) -> None:
    function, limit = FUNCTIONS[op]

    def run(x: float) -> Any:
        with np.errstate(all="ignore"):
            value = limit(x)
        return value if not math.isfinite(x) or abs(x) == 1 else function(mpmath.mpf(x))

    assert checked(op, run) > 100


def test_a_power_is_rounded_once() -> None:
    def run(x: float, y: float) -> Any:
        if not (math.isfinite(x) and math.isfinite(y)) or x == 0:
            with np.errstate(all="ignore"):
                return np.power(x, y)
        return mpmath.power(mpmath.mpf(x), mpmath.mpf(y))

    assert checked("onnx.Pow-15", run) > 100


@pytest.mark.parametrize("op", FUNCTIONS)
def test_infinities_and_ends_of_domains(op: str) -> None:
    data = np.array(NUMBERS)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[op][1](data)
    (output,) = conformance.reference(op, [data], {})
    np.testing.assert_allclose(output, expected, rtol=4e-16)


def test_powers_of_special_numbers_are_those_of_ieee() -> None:
    x, y = (np.array(each) for each in zip(*product(NUMBERS, NUMBERS), strict=True))
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    (output,) = conformance.reference("onnx.Pow-15", [x, y], {})
    np.testing.assert_allclose(output, expected, rtol=4e-16)


@pytest.mark.parametrize(
    ("x", "y", "expected"), [(81, 0.25, 3), (2.25, 1.5, 3.375), (-2, 3, -8), (16, -0.75, 0.125)]
)
def test_a_power_that_is_a_number_of_few_digits_is_exact(
    x: float, y: float, expected: float
) -> None:
    with exact.precision(60):
        numbers = (exact.decode(np.array(float(each)), DTYPES["f64"]) for each in (x, y))
        low, high = exact.ends(exact.real_power(*numbers))
    assert low.scalar == high.scalar == Fraction(expected)


def test_a_power_by_a_number_that_is_no_fraction() -> None:
    with exact.precision(80):
        root = exact.function("sqrt", exact.number(np.array([2])))
        low, high = exact.ends(exact.real_power(exact.number(np.array([1, 3])), root))
    for end in (low, high):
        np.testing.assert_allclose(exact.rounded(end, DTYPES["f64"]), [1, 3**2**0.5])


@pytest.mark.parametrize(("fmod", "run"), [(1, np.fmod), (0, np.mod)])
def test_rests_of_whole_numbers(fmod: int, run: Any) -> None:
    whole = [n for n in range(-7, 8) if n] + [-(2**63), 2**63 - 1]
    a, b = (np.array(each) for each in zip(*product(whole, whole), strict=True))
    (output,) = conformance.reference("onnx.Mod-13", [a, b], {"fmod": fmod})
    np.testing.assert_array_equal(output, run(a, b))


def test_rests_are_those_of_c() -> None:
    a, b = (np.array(each) for each in zip(*product(NUMBERS, NUMBERS), strict=True))
    with np.errstate(all="ignore"):
        expected = np.fmod(a, b)
    (output,) = conformance.reference("onnx.Mod-13", [a, b], {"fmod": 1})
    np.testing.assert_array_equal(output, expected)


def drawn(size: int, seed: int) -> Array:
    return (np.random.default_rng(seed).normal(size=size) * 8).astype(np.float32)


def within(real: Real, array: Array) -> bool:
    low, high, anything = bounds.interval(real, DTYPES["f32"])
    return bool((((low <= array) & (array <= high)) | anything).all())


def test_a_rest_with_the_sign_of_the_divisor_is_rounded_once() -> None:
    a, b = drawn(200, 1), drawn(200, 2)
    real = bounds.remainder(*(source(each, DTYPES["f32"], F32) for each in (a, b)))
    assert within(real, np.mod(a, b))
    assert not within(real, np.fmod(a, b))


@pytest.mark.parametrize(
    ("name", "run"), [("floor", np.floor), ("ceil", np.ceil), ("round", np.rint)]
)
def test_whole_numbers_of_what_is_computed(name: str, run: Any) -> None:
    """A third is computed on either side of a whole number, or of a half."""
    array = np.concatenate([drawn(100, 3), np.arange(-30, 31, dtype=np.float32) * 3 / 2])
    argument = bounds.divide(source(array, DTYPES["f32"], F32), constant(3, F32))
    real = bounds.RULES[name](argument)
    third = np.float32(1) / np.float32(3)
    for quotient in (array / np.float32(3), array * third):
        assert within(real, run(quotient))
    low, high, _ = bounds.interval(real, DTYPES["f32"])
    assert 0 < np.count_nonzero(low != high) < 61


@pytest.mark.parametrize(
    ("name", "run"), [("floor", np.floor), ("ceil", np.ceil), ("round", np.rint)]
)
def test_whole_numbers_of_balls(name: str, run: Any) -> None:
    roots = exact.function("sqrt", exact.number(np.arange(1, 40)))
    with exact.precision(80):
        whole = bounds.RULES[name](Real(roots)).value
    assert isinstance(whole, Number)
    np.testing.assert_array_equal(whole.num, run(np.sqrt(np.arange(1, 40))))


def test_a_ball_that_does_not_decide_gives_all_that_it_may_be() -> None:
    with exact.precision(20):
        logarithm = exact.function("log", exact.number(np.array([3])))
        assert exact.whole(logarithm, "down").array.tolist() == [1]
        wide = exact.whole(exact.multiply(logarithm, exact.number(2**40)), "down")
        (ball,) = exact.as_ball(wide).mid
    assert ball.contains(math.floor(math.log(3) * 2**40))


def test_a_sine_is_taken_over_all_that_its_argument_may_be() -> None:
    """Near its largest value a sine is not monotone."""
    array = np.linspace(4.6, 4.8, 100, dtype=np.float32)
    with exact.precision(100):
        argument = bounds.divide(source(array, DTYPES["f32"], F32), constant(3, F32))
        low, high, _ = bounds.interval(bounds.function("sin", argument), DTYPES["f32"])
    for shift in (-1, 0, 1):
        quotient = array.astype(np.float64) / 3 * (1 + shift * 2.0**-24)
        sine = np.sin(quotient).astype(np.float32)
        assert ((low <= sine) & (sine <= high)).all()
    assert (high - low < 3e-6).all()


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "i64"])
def test_bits(op: str, dtype: str) -> None:
    kind = DTYPES[dtype].numpy
    limits = np.iinfo(kind)
    a, b = np.random.default_rng(4).integers(limits.min, limits.max, (2, 100), kind, endpoint=True)
    run = {"And": np.bitwise_and, "Or": np.bitwise_or, "Xor": np.bitwise_xor}[op]
    (output,) = conformance.reference(f"onnx.Bitwise{op}-18", [a, b], {})
    np.testing.assert_array_equal(output, run(a, b))
    (turned,) = conformance.reference("onnx.BitwiseNot-18", [a], {})
    np.testing.assert_array_equal(turned, ~a)


def test_only_whole_numbers_have_bits() -> None:
    halves = exact.divide(exact.number(np.array([1, 3])), exact.number(2))
    with pytest.raises(EvaluationError, match="only whole numbers have bits"):
        exact.bitwise(lambda a, b: a & b, halves, halves)
