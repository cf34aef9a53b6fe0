"""Accepted intervals of means: beside the formula in fractions, which they never exceed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.answers import accumulator, answers, readings
from conformance.core.patterns import fill
from conformance.dtypes import DTYPES, DType
from conformance.model import OPEN_BIT, Answer, Case
from conformance.specification import find_spec

FLOATS = ("f16", "bf16", "f32", "f64")
AVERAGE = find_spec("AvgPool-1")


def question(data: np.ndarray[Any, Any], dtype: str, divisor: int) -> Case:
    """One window that holds all of ``data``, and counted padding behind it."""
    attributes = {
        "kernel": [divisor],
        "strides": [1],
        "pads_begin": [0],
        "pads_end": [divisor - data.size],
        "exclude-pad": False,
    }
    return Case(AVERAGE.op, {"T": dtype}, {"data": (1, 1, data.size)}, attributes)


def answer(data: np.ndarray[Any, Any], dtype: str, divisor: int) -> Answer:
    (found,) = answers(AVERAGE, question(data, dtype, divisor), [data.reshape(1, 1, -1)])
    return found


def is_open(found: Answer, precision: str) -> bool:
    return found.open is not None and bool(found.open.item() & OPEN_BIT[precision])


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
    bound *= 1 + Fraction(1, 2**44)  # magnitudes are rounded upward
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


@st.composite
def windows(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], str, int]:
    dtype = draw(st.sampled_from(FLOATS))
    patterns = ("ramp", "negative", "subnormal", "cancel", "wide", "normal", "steady", "zeros")
    pattern = draw(st.sampled_from(patterns))
    n = draw(st.integers(1, 40))
    data = fill(pattern, draw(st.integers(0, 2**16)), (1, 1, n), DTYPES[dtype]).ravel()
    divisor = n + draw(st.sampled_from([0, 0, 0, 1, 7, 4096]))
    return data, dtype, divisor


@given(windows(), st.sampled_from(["standard", "native"]))
@settings(max_examples=tiers.examples(400, few=100), deadline=None)
def test_the_interval_holds_the_mean_and_is_within_the_formula(
    window: tuple[Any, str, int], precision: str
) -> None:
    data, dtype, divisor = window
    row = DTYPES[dtype]
    acc = accumulator(row, precision)
    found = answer(data, dtype, divisor)
    if is_open(found, precision):
        return
    exact = sum(Fraction(float(x)) for x in data) / divisor
    low, high = nearest(exact, row, up=False), nearest(exact, row, up=True)
    lo, hi = (float(end.item()) for end in found.interval(precision))
    assert lo <= low
    assert high <= hi
    if is_exact(data, divisor, acc):
        assert (lo, hi) == (low, high)
    elif divisor // (divisor & -divisor) < 2**acc.digits:
        # Of a divisor that the accumulator rounds, the formula counts that less often.
        least, most = formula(data, divisor, row, acc)
        assert least <= lo
        assert hi <= most


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_exact_mean_accepts_one_value(dtype: str) -> None:
    found = answer(np.array([1, 2, 3, 4], DTYPES[dtype].numpy), dtype, 4)
    for precision in ("standard", "native"):
        assert [end.item() for end in found.interval(precision)] == [2.5, 2.5]


@pytest.mark.parametrize(
    ("dtype", "precision", "number"),
    [("f32", "standard", 3e38), ("f16", "native", 6e4), ("f64", "standard", 1.6e308)],
)
def test_a_sum_that_overflows_may_be_infinite_or_have_any_sign(
    dtype: str, precision: str, number: float
) -> None:
    both = answer(np.array([number, number], DTYPES[dtype].numpy), dtype, 2)
    lo, hi = (float(end.item()) for end in both.interval(precision))
    assert lo <= float(both.rounded.item()) < hi == np.inf  # type: ignore[union-attr]
    several = np.array([number, number, -number, -number], DTYPES[dtype].numpy)
    assert is_open(answer(several, dtype, 4), precision)


def test_a_sum_in_a_wider_accumulator_does_not_overflow() -> None:
    half = answer(np.array([6e4, 6e4], np.float16), "f16", 2)
    assert [end.item() for end in half.interval("standard")] == [6e4, 6e4]


@pytest.mark.parametrize("dtype", FLOATS)
def test_flushing_accepts_zero_for_a_subnormal(dtype: str) -> None:
    data = fill("subnormal", 3, (1, 1, 4), DTYPES[dtype])
    case = question(data, dtype, 4)
    base = answers(AVERAGE, case, [data])
    (flushed,) = readings(AVERAGE, case, [data], base)["flushes-subnormals"]
    assert flushed.lo is not None
    assert flushed.hi is not None
    assert flushed.lo.item() <= 0 <= flushed.hi.item()
