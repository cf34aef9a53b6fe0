"""Accepted intervals: equal to the formula in fractions, and never narrower than honest work."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.dtypes import DTYPES, DType
from conformance.families.pooling.patterns import fill
from conformance.reference.exact import decode
from conformance.reference.mean_bounds import Interval, Sums, accumulator, interval

FLOATS = ("f16", "bf16", "f32", "f64")


def sums_of(data: np.ndarray[Any, Any], dtype: str, divisor: int) -> Sums:
    """The sums of one window that holds all of ``data``."""
    decoded = decode(data, DTYPES[dtype], headroom=len(data).bit_length())
    significands = [int(s) for s in decoded.significand]
    lowest = [(s & -s).bit_length() - 1 for s in significands if s]

    def one(value: int) -> np.ndarray[Any, Any]:
        return np.array([value], object)

    return Sums(
        total=one(sum(significands)),
        magnitude=one(sum(map(abs, significands))),
        subnormal=one(
            sum(abs(s) for s, tiny in zip(significands, decoded.subnormal, strict=True) if tiny)
        ),
        count=np.array([len(data)]),
        divisor=np.array([divisor]),
        spacing=np.array([min(lowest, default=1 << 12)]),
        exponent=decoded.exponent,
    )


def nearest(value: Fraction, dtype: DType, *, up: bool) -> Fraction | float:
    """The number of ``dtype`` nearest to ``value``, the upper or lower one on a tie."""
    if value == 0:
        return Fraction(0)
    magnitude = abs(value)
    binade = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** binade > magnitude:
        binade -= 1
    unit = Fraction(2) ** (max(binade, dtype.emin) - (dtype.digits - 1))
    whole, rest = divmod(value, unit)
    half = unit / 2
    rounded = (whole + (rest > half or (rest == half and up))) * unit
    if abs(rounded) > (2 - Fraction(2) ** (1 - dtype.digits)) * Fraction(2) ** dtype.emax:
        return float("inf") if rounded > 0 else float("-inf")
    return rounded


def formula(data: np.ndarray[Any, Any], divisor: int, dtype: DType, acc: DType) -> tuple[Any, Any]:
    """The accepted interval, from the definition, in fractions."""
    taps = [Fraction(float(x)) for x in data]
    n = len(taps)
    u = Fraction(1, 2**acc.digits)
    odd = divisor
    while odd % 2 == 0:
        odd //= 2
    k = 0 if odd == 1 else 2 if odd < 2**acc.digits else 3
    total, magnitude = sum(taps), sum(map(abs, taps))
    bound = ((n - 1) * u * (1 + u) ** k + (1 + u) ** k - 1) * magnitude / divisor
    bound += (n + 1) * Fraction(2) ** acc.quantum
    low, high = total / divisor - bound, total / divisor + bound
    return nearest(low, dtype, up=False), nearest(high, dtype, up=True)


def is_exact(data: np.ndarray[Any, Any], divisor: int, acc: DType) -> bool:
    """Whether all sums of these taps, and the quotient, are numbers of the accumulator."""
    taps = [Fraction(float(x)) for x in data if x]
    if not taps:
        return True
    if divisor & (divisor - 1):
        return False
    unit = min((Fraction(x.numerator & -x.numerator, x.denominator) for x in taps), default=1)
    return (
        sum(map(abs, taps)) <= unit * 2**acc.digits
        and Fraction(unit) / divisor >= Fraction(2) ** acc.quantum
        and divisor <= 2**-acc.quantum
    )


def check_formula(data: np.ndarray[Any, Any], dtype: str, divisor: int, precision: str) -> None:
    acc = accumulator(DTYPES[dtype], precision)
    found = interval(sums_of(data, dtype, divisor), DTYPES[dtype], acc, flushed=False)
    if is_exact(data, divisor, acc):
        exact = sum(Fraction(float(x)) for x in data) / divisor
        low = nearest(exact, DTYPES[dtype], up=False)
        high = nearest(exact, DTYPES[dtype], up=True)
    else:
        low, high = formula(data, divisor, DTYPES[dtype], acc)
    assert found.lo[0] == low
    assert found.hi[0] == high


@st.composite
def windows(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], str, int]:
    dtype = draw(st.sampled_from(FLOATS))
    patterns = ("ramp", "negative", "subnormal", "cancel", "wide", "normal", "steady", "zeros")
    pattern = draw(st.sampled_from(patterns))
    n = draw(st.integers(1, 40))
    data = fill(pattern, draw(st.integers(0, 2**16)), (1, 1, n), dtype).ravel()
    divisor = n + draw(st.sampled_from([0, 0, 0, 1, 7, 4096]))
    return data, dtype, divisor


@given(windows(), st.sampled_from(["standard", "native"]))
@settings(max_examples=tiers.examples(400, few=100), deadline=None)
def test_equals_the_formula(window: tuple[Any, str, int], precision: str) -> None:
    check_formula(*window, precision)


def accumulate(terms: np.ndarray[Any, Any], acc: np.dtype[Any]) -> Any:
    total = acc.type(0)
    for term in terms:
        total = acc.type(total + term)
    return total


def pairwise(terms: np.ndarray[Any, Any], acc: np.dtype[Any]) -> Any:
    if len(terms) <= 1:
        return acc.type(terms[0] if len(terms) else 0)
    half = len(terms) // 2
    return acc.type(pairwise(terms[:half], acc) + pairwise(terms[half:], acc))


def lanes(width: int) -> Callable[..., Any]:
    def run(terms: np.ndarray[Any, Any], acc: np.dtype[Any]) -> Any:
        return accumulate(np.array([accumulate(terms[i::width], acc) for i in range(width)]), acc)

    return run


ORDERS: dict[str, Callable[..., Any]] = {
    "forward": accumulate,
    "backward": lambda terms, acc: accumulate(terms[::-1], acc),
    "pairwise": pairwise,
    "lanes-4": lanes(4),
    "lanes-16": lanes(16),
}


def honest(data: np.ndarray[Any, Any], divisor: int, acc: DType) -> dict[str, Any]:
    kind = acc.numpy
    terms = data.astype(kind)
    d = kind.type(divisor)
    reciprocal = kind.type(kind.type(1) / d)
    results = {}
    for name, order in ORDERS.items():
        results[f"{name}, divided"] = kind.type(order(terms, kind) / d)
        results[f"{name}, reciprocal"] = kind.type(order(terms, kind) * reciprocal)
        results[f"{name}, scaled first"] = order((terms * reciprocal).astype(kind), kind)
    return results


def accepts(found: Interval, value: Any, dtype: DType) -> bool:
    rounded = np.asarray(value).astype(dtype.numpy)
    return bool(found.ungraded[0] or (found.lo[0] <= rounded and rounded <= found.hi[0]))


@given(windows())
@settings(max_examples=tiers.examples(400, few=100), deadline=None)
def test_honest_evaluations_are_accepted(window: tuple[Any, str, int]) -> None:
    data, dtype, divisor = window
    row = DTYPES[dtype]
    with np.errstate(all="ignore"):
        for precision in ("standard", "native"):
            acc = accumulator(row, precision)
            found = interval(sums_of(data, dtype, divisor), row, acc, flushed=False)
            for name, value in honest(data, divisor, acc).items():
                assert accepts(found, value, row), (name, precision, value, found)


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_exact_mean_accepts_one_value(dtype: str) -> None:
    data = np.array([1, 2, 3, 4], DTYPES[dtype].numpy)
    for precision in ("standard", "native"):
        acc = accumulator(DTYPES[dtype], precision)
        found = interval(sums_of(data, dtype, 4), DTYPES[dtype], acc, flushed=False)
        assert found.lo[0] == found.hi[0] == 2.5


def test_a_sum_that_may_overflow_is_not_graded() -> None:
    data = np.array([3e38, 3e38], np.float32)
    f32 = DTYPES["f32"]
    assert interval(sums_of(data, "f32", 2), f32, f32, flushed=False).ungraded[0]
    half = np.array([6e4, 6e4], np.float16)
    assert not interval(sums_of(half, "f16", 2), DTYPES["f16"], f32, flushed=False).ungraded[0]
    assert interval(sums_of(half, "f16", 2), DTYPES["f16"], DTYPES["f16"], flushed=False).ungraded[
        0
    ]


@pytest.mark.parametrize("dtype", FLOATS)
def test_flushing_accepts_zero_for_a_subnormal(dtype: str) -> None:
    row = DTYPES[dtype]
    data = fill("subnormal", 3, (1, 1, 4), dtype).ravel()
    found = interval(sums_of(data, dtype, 4), row, accumulator(row, "standard"), flushed=True)
    assert found.lo[0] <= 0 <= found.hi[0]
