"""The core against a second implementation: values bit for bit, and the widths of intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawn_cases import SHAPES, Case, cases
from independent import (
    FORMATS,
    ZERO,
    Element,
    Format,
    evaluate,
    grid_of,
    ordinals,
    power,
    rounded,
    spread,
    tensor,
)

from conformance.dtypes import DTYPES


class TestRounding:
    @pytest.mark.parametrize(
        ("value", "form", "ties", "code"),
        [
            (Fraction(1), "f32", "even", 0x3F800000),
            (Fraction(1, 10), "f32", "even", 0x3DCCCCCD),
            (Fraction(-1, 10), "f64", "even", -0x3FB999999999999A),
            (Fraction(1, 3), "bf16", "even", 0x3EAB),
            (1 + power(-11), "f16", "even", 0x3C00),
            (1 + power(-11), "f16", "up", 0x3C01),
            (-1 - power(-11), "f16", "up", -0x3C00),
            (-1 - power(-11), "f16", "down", -0x3C01),
            (1 + 3 * power(-11), "f16", "even", 0x3C02),
            (1 + 3 * power(-11), "f16", "down", 0x3C01),
            (2 - power(-12), "f16", "even", 0x4000),
            (3 * power(-25), "f16", "even", 2),
            (power(-25), "f16", "even", 0),
            (power(-25), "f16", "up", 1),
            (power(-14) - power(-26), "f16", "even", 0x400),
            (Fraction(65519), "f16", "even", 0x7BFF),
            (Fraction(65520), "f16", "even", 0x7C00),
            (-power(5000), "f64", "even", -0x7FF0000000000000),
        ],
    )
    def test_gives_the_code(self, value: Fraction, form: str, ties: str, code: int) -> None:
        assert rounded(value, FORMATS[form], ties) == code

    @pytest.mark.parametrize("dtype", ["f16", "bf16"])
    def test_is_that_of_numpy(self, dtype: str) -> None:
        rng = np.random.default_rng(1)
        singles = (rng.normal(size=300) * 2.0 ** rng.integers(-140, 120, 300)).astype("f4")
        with np.errstate(over="ignore"):
            expected = singles.astype(DTYPES[dtype].numpy)
        values = [Fraction(x) for x in singles.tolist()]
        assert [rounded(value, FORMATS[dtype]) for value in values] == ordinals(expected)


def _check_values(case: Case) -> None:
    (output,) = case.core().outputs()
    expected = evaluate(case.operator, case.attributes, case.inputs)
    assert output.shape == expected.shape, case
    form = FORMATS[case.dtype]
    for i, (element, code) in enumerate(zip(expected.elements, ordinals(output), strict=True)):
        if element is not None:
            assert code == rounded(element.value, form), (str(case), i, element.value)


@pytest.mark.parametrize("operator", SHAPES)
class TestValues:
    def test_are_equal(self, operator: str) -> None:
        for case in cases(operator, 40):
            _check_values(case)

    @pytest.mark.exhaustive
    def test_are_equal_in_many_cases(self, operator: str) -> None:
        for case in cases(operator, 500, seed=1):
            _check_values(case)


def _plain(case: Case) -> Case:
    """Drop the bias and the factors of a case, so that it is a plain sum of products."""
    attributes = {k: v for k, v in case.attributes.items() if k not in ("alpha", "beta")}
    bias = {"Gemm": "C", "Conv": "B", "ConvTranspose": "B"}.get(case.operator)
    return replace(case, attributes=attributes, inputs=case.inputs | ({bias: None} if bias else {}))


def _check_intervals(case: Case) -> None:
    (interval,) = case.core().intervals()
    assert not interval.unspecified.any(), str(case)
    form, accumulator = FORMATS[case.dtype], FORMATS[case.accumulator]
    grid = sum(grid_of(tensor(a).values) for a in case.inputs.values() if a is not None)
    ends = zip(ordinals(interval.lo), ordinals(interval.hi), strict=True)
    for i, (element, (lo, hi)) in enumerate(zip(case.elements(), ends, strict=True)):
        least, most = _half_widths(element, accumulator, grid)
        value = element.value
        widest = rounded(value - most, form, "down"), rounded(value + most, form, "up")
        narrowest = rounded(value - least, form, "up"), rounded(value + least, form, "down")
        assert widest[0] <= lo <= narrowest[0], (str(case), i, value, lo)
        assert narrowest[1] <= hi <= widest[1], (str(case), i, value, hi)


def _half_widths(element: Element, form: Format, operands_grid: int) -> tuple[Fraction, Fraction]:
    """Return the least and the most that an interval may reach from the value.

    Where a sum is exact, but not on the grid of all operands, the core may accept more than the
    value: see TestExactSums.test_zero_product_has_no_grid.
    """
    small = Fraction(1, 10**6)
    error = spread(element, form)
    most = least = error.relative + error.underflow
    if all(b == 1 for _, b in element.terms):
        # N numbers, which are no products, are rounded N - 1 times; no addition underflows.
        least = error.relative - power(-form.digits) * error.mass
    if error.is_exact(form, error.grid):
        least = ZERO
    if error.is_exact(form, operands_grid):
        most = ZERO
    return least * (1 - small), most * (1 + small)


def _narrow(operator: str, count: int, seed: int) -> Iterator[Case]:
    """Yield plain sums, except of f64 data that spread so far that the core has other intervals.

    See TestF64.
    """
    for case in cases(operator, count, seed=seed):
        arrays = [a for a in case.inputs.values() if a is not None and case.dtype == "f64"]
        if all((abs(a[a != 0]) > 2.0**-400).all() for a in arrays):
            yield _plain(case)


@pytest.mark.parametrize("operator", ["MatMul", "Gemm", "Conv", "ConvTranspose", "ReduceSum"])
class TestPlainSums:
    def test_have_the_stated_interval(self, operator: str) -> None:
        for case in _narrow(operator, 20, seed=2):
            _check_intervals(case)

    @pytest.mark.exhaustive
    def test_have_the_stated_interval_in_many_cases(self, operator: str) -> None:
        for case in _narrow(operator, 300, seed=3):
            _check_intervals(case)


class TestExactSums:
    def test_a_zero_beside_many_digits_may_cost_the_single_value(self) -> None:
        # 3 + 5 + 0 is exact in any order. Digits are those of a row and of a column, whose least is
        # that of the product which is 0: sound, and no wider than three roundings.
        inputs = {"A": np.array([1, 1, 0], "f4"), "B": np.array([3, 5, 1 + 2.0**-23], "f4")}
        (interval,) = Case("MatMul", {}, inputs).core().intervals()
        assert 8 - 3 * 2.0**-21 <= interval.lo <= 8 <= interval.hi <= 8 + 3 * 2.0**-20


def _f64_interval(a: list[float], b: list[list[float]]) -> tuple[Any, Any]:
    """Return the accepted ends of a vector times a matrix in f64, as numbers."""
    inputs = {"A": np.array(a), "B": np.array(b)}
    (interval,) = Case("MatMul", {}, inputs, "f64", "f64").core().intervals()
    return interval.lo, interval.hi


ETA = 2.0**-1074


class TestF64:
    def test_subnormal(self) -> None:
        # The value is 18.4 eta and E is 5.00 eta.
        lo, hi = _f64_interval([5 * ETA, 7 * ETA], [[1.3], [1.7]])
        assert (lo.tolist(), hi.tolist()) == ([13 * ETA], [23 * ETA])

    def test_whose_products_are_far_apart(self) -> None:
        # The value is 18.27 eta. Two products may lose half an eta each, and E is 4 to 5 eta.
        lo, hi = _f64_interval([5 * ETA, 1.1], [[1.2345678912345], [11 * ETA]])
        assert 13 * ETA <= lo[0] <= 14 * ETA
        assert 22 * ETA <= hi[0] <= 23 * ETA

    def test_far_apart(self) -> None:
        lo, hi = _f64_interval([1.1], [[1.1e300, 1.1]])
        assert lo[1] > 1.2099999999999997
        assert hi[1] < 1.2100000000000006


def _pool(values: list[float], **attributes: object) -> Case:
    x = np.array([[values]], "f4")
    return Case("AveragePool", {"kernel": [2], **attributes}, {"X": x})


class TestAveragePool:
    def test_valid_padding_rounds_down(self) -> None:
        # With ceil_mode, VALID has ceil((size - span + 1) / stride) windows: ceil(2 / 2).
        case = _pool([1, 2, 3], auto_pad="VALID", ceil_mode=True, strides=[2])
        assert evaluate(case.operator, case.attributes, case.inputs).shape == (1, 1, 1)
        assert case.core().outputs()[0].tolist() == [[[1.5]]]

    def test_mean_of_nothing_is_unspecified(self) -> None:
        case = _pool([1, 2], dilations=[3], pads_begin=[1], pads_end=[1])
        assert evaluate(case.operator, case.attributes, case.inputs).elements == [None]
        assert case.core().intervals()[0].unspecified.tolist() == [[[True]]]

    def test_window_beyond_the_padding_does_not_count_what_lies_there(self) -> None:
        case = _pool([4, 8, 12], strides=[2], pads_end=[0], ceil_mode=True, count_include_pad=True)
        assert case.core().outputs()[0].tolist() == [[[6, 12]]]
        _check_values(case)
