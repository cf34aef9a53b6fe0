"""The rules of the error analysis, tried exhaustively in toy formats: all orders, fused."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from core_operators import operator
from hypothesis import given as drawn
from hypothesis import strategies as st

from conformance.core import bounds, exact
from conformance.core.changes import changed
from conformance.core.evaluate import Evaluation
from conformance.core.machine import Simulation, Style
from conformance.core.operator_reader import read_operator
from conformance.core.real import Machine, Real, constant
from conformance.core.real import source as given
from conformance.dtypes import DTYPES, DType
from conformance.errors import EvaluationError

F64 = DTYPES["f64"]


@lru_cache
def toy(digits: int) -> Machine:
    """A machine of few digits, with subnormal numbers below 2**-8."""
    double = np.dtype("<f8")
    return Machine(DType(f"toy{digits}", "float", double, double, digits, -8, 8))


@cache
def rounded(value: Fraction, format_: DType) -> Fraction:
    """To nearest even, gradually below the normal numbers."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - format_.digits + 1, format_.quantum)
    return round(value / unit) * unit


@dataclass(frozen=True)
class Term:
    """A number to be added; a product may be fused with the addition."""

    factors: tuple[Fraction, ...]

    def computed(self, format_: DType) -> Fraction:
        result = self.factors[0]
        for factor in self.factors[1:]:
            result = rounded(result * factor, format_)
        return result


def sums(terms: Sequence[Term], format_: DType) -> frozenset[Fraction]:
    """What the terms may add up to: in any order and grouping, with and without fusing."""

    @cache
    def results(chosen: frozenset[int]) -> frozenset[Fraction]:
        if len(chosen) == 1:
            return frozenset({terms[next(iter(chosen))].computed(format_)})
        found: set[Fraction] = set()
        first, *others = sorted(chosen)
        for size in range(len(others)):
            for beside in combinations(others, size):
                left = frozenset({first, *beside})
                right = chosen - left
                for a, b in product(results(left), results(right)):
                    found.add(rounded(a + b, format_))
                for single, rest in ((left, right), (right, left)):
                    factors = terms[next(iter(single))].factors
                    if len(single) == 1 and len(factors) == 2:
                        exactly = factors[0] * factors[1]
                        found |= {rounded(exactly + b, format_) for b in results(rest)}
        return frozenset(found)

    return results(frozenset(range(len(terms))))


def numbers(digits: int, rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of a toy format, in a few binades, some of them zero or equal."""
    whole = rng.integers(2 ** (digits - 1), 2**digits, shape) * rng.choice([-1, 1, 1], shape)
    values = whole * 2.0 ** rng.integers(-digits - 1, 2 - digits, shape)
    return values * (rng.random(shape) > 0.1)


def source(array: np.ndarray, machine: Machine) -> Real:
    return given(array, F64, machine)


def worst(real: Real) -> list[tuple[Fraction, Fraction]]:
    """Each exact value, and the bound of what may be computed instead."""
    (value, _), (bound, endless) = exact.ends(real.value), real.wrong.number()
    assert not endless.any()
    shape = np.broadcast_shapes(np.shape(value.num), np.shape(value.den), np.shape(bound.num))

    def flat(array: object) -> list[int]:
        return [int(x) for x in np.broadcast_to(np.asarray(array, object), shape).ravel()]

    scales = Fraction(2) ** value.exp, Fraction(2) ** bound.exp
    columns = zip(flat(value.num), flat(value.den), flat(bound.num), strict=True)
    return [(Fraction(n, d) * scales[0], Fraction(b) * scales[1]) for n, d, b in columns]


def fractions(row: np.ndarray) -> list[Fraction]:
    return [Fraction(float(x)) for x in row]


def check(real: Real, computed: Iterator[frozenset[Fraction]]) -> float:
    """All that may be computed is within the bound; returns the share that is used at most."""
    share = 0.0
    for (value, bound), results in zip(worst(real), computed, strict=True):
        off = max(abs(result - value) for result in results)
        assert off <= bound, (value, bound, off)
        share = max(share, float(off / bound) if bound else 0.0)
    return share


@pytest.fixture(params=[3, 4, 5])
def machine(request: pytest.FixtureRequest) -> Machine:
    return toy(request.param)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_sums(machine: Machine, count: int) -> None:
    format_ = machine.format
    array = numbers(format_.digits, np.random.default_rng(count), 400, count)
    real = bounds.summed(source(array, machine), (1,))
    share = check(real, (sums([Term((x,)) for x in fractions(row)], format_) for row in array))
    assert count == 1 or share > 0.3


@pytest.mark.parametrize("divisor", [2, 3, 5, 7])
def test_means(machine: Machine, divisor: int) -> None:
    """Divided at last or at first, or multiplied by a rounded reciprocal, perhaps fused."""
    format_ = machine.format
    array = numbers(format_.digits, np.random.default_rng(divisor), 300, 3)
    real = bounds.divide(bounds.summed(source(array, machine), (1,)), constant(divisor, machine))
    inverse = rounded(Fraction(1, divisor), format_)

    def means(row: np.ndarray) -> frozenset[Fraction]:
        terms = fractions(row)
        late = sums([Term((x,)) for x in terms], format_)
        return frozenset(
            {rounded(total / divisor, format_) for total in late}
            | {rounded(total * inverse, format_) for total in late}
            | sums([Term((rounded(x / divisor, format_),)) for x in terms], format_)
            | sums([Term((x, inverse)) for x in terms], format_)
        )

    assert check(real, map(means, array)) > 0.2


@pytest.mark.parametrize("divisor", [2, 3, 4, 7])
def test_means_where_subnormal_numbers_are_flushed(
    divisor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs or none of them, and what any operation gives, may be 0 where they are too small."""
    machine = replace(toy(4), flushes=True)
    format_ = machine.format
    smallest = Fraction(2) ** format_.emin

    def flushed(value: Fraction, format_: DType) -> Fraction:
        return Fraction(0) if abs(value) < smallest else to_nearest(value, format_)

    to_nearest = rounded
    monkeypatch.setattr(sys.modules[__name__], "rounded", flushed)
    array = numbers(format_.digits, np.random.default_rng(divisor), 300, 3) * 2.0**-6
    real = bounds.divide(bounds.summed(source(array, machine), (1,)), constant(divisor, machine))

    def means(row: np.ndarray) -> frozenset[Fraction]:
        results = set[Fraction]()
        for terms in (fractions(row), [flushed(x, format_) for x in fractions(row)]):
            late = sums([Term((x,)) for x in terms], format_)
            results |= {flushed(total / divisor, format_) for total in late}
            early = [Term((flushed(x / divisor, format_),)) for x in terms]
            results |= sums(early, format_)
        return frozenset(results)

    assert check(real, map(means, array)) > 0.2


def test_a_quotient_is_a_multiple_of_none_of_what_was_divided() -> None:
    """640 smallest numbers over 240 and 3: what is computed is flushed, 8/9 of the smallest."""
    machine = replace(toy(4), flushes=True)
    smallest = Fraction(2) ** machine.format.emin
    real = source(np.array([640 * float(smallest)]), machine)
    for divisor in (240, 3):
        real = bounds.divide(real, constant(divisor, machine))
    ((value, bound),) = worst(real)
    assert value == smallest * 8 / 9
    assert bound > value


def test_what_is_subnormal_in_its_type_may_be_read_as_zero() -> None:
    """Though it is normal in the wider format that a machine computes in."""
    for flushes, lowest in ((False, 2.0**-20), (True, 0.0)):
        machine = Machine(DTYPES["f32"], flushes)
        real = given(np.array([2.0**-20], np.float16), DTYPES["f16"], machine)
        assert bounds.interval(real, DTYPES["f32"])[0].tolist() == [lowest]


@pytest.mark.parametrize(
    ("divisor", "anything"),
    [(2.0**14, False), (2.0**14 + 16, True), (2.0**-15, False), (2.0**-16, True)],
)
def test_a_reciprocal_may_be_too_small_or_too_large(divisor: float, anything: bool) -> None:
    machine = Machine(DTYPES["f16"])
    one, by = (given(np.float16(x), DTYPES["f16"], machine) for x in (2.0**-10, divisor))
    assert bounds.interval(bounds.divide(one, by), DTYPES["f16"])[2].tolist() == anything


def test_what_may_have_become_infinite_stays_so() -> None:
    machine = Machine(DTYPES["f32"])
    square = bounds.power(given(np.array([2e19], np.float32), DTYPES["f32"], machine), 2)
    huge = bounds.divide(square, constant(1024, machine))
    assert huge.endless.all()
    assert np.isinf(bounds.widened(huge, huge.mass).err.m).all()


def test_a_divisor_that_is_exact_adds_nothing_to_the_bound(machine: Machine) -> None:
    """It is (n - 1) u S / d and 2 u + u**2 of what that makes, as derived."""
    total = bounds.summed(source(np.array([[5.0, 6.0, 7.0]]), machine), (1,))
    ((_, bound),) = worst(bounds.divide(total, constant(3, machine)))
    unit, mass = Fraction(machine.unit), Fraction(18, 3)
    lost = 4 * Fraction(2) ** machine.format.quantum
    derived = 2 * unit * mass * (1 + unit) ** 2 + ((1 + unit) ** 2 - 1) * mass + lost
    assert derived <= bound <= derived * (1 + Fraction(1, 2**46))


def test_nothing_is_flushed_where_all_on_the_way_is_large_enough() -> None:
    """The bound is that of a machine that keeps subnormal numbers."""
    ends = []
    for machine in (toy(4), replace(toy(4), flushes=True)):
        mean = bounds.divide(
            bounds.summed(source(np.array([[3.0, -2.0, 6.0]]), machine), (1,)),
            constant(3, machine),
        )
        ends += [float(bound) for _, bound in worst(mean)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)


@pytest.mark.parametrize("whole", [False, True])
def test_products_with_a_bias_among_them(machine: Machine, whole: bool) -> None:
    """A bias may be added first, last or in between, where the products alone are exact, too."""
    format_, rng = machine.format, np.random.default_rng(int(whole))
    a, b = (numbers(format_.digits, rng, 200, 3) for _ in range(2))
    if whole:
        a, b = (rng.integers(-1, 2, (200, 3)).astype(float) for _ in range(2))
    bias = numbers(format_.digits, rng, 200)
    products = bounds.multiply(source(a, machine), source(b, machine))
    real = bounds.add(bounds.summed(products, (1,)), source(bias[:, None], machine))

    def results(k: int) -> frozenset[Fraction]:
        pairs = zip(fractions(a[k]), fractions(b[k]), strict=True)
        return sums([*map(Term, pairs), Term((Fraction(float(bias[k])),))], format_)

    assert check(real, map(results, range(200))) > 0.2


def test_scales_early_and_late(machine: Machine) -> None:
    """alpha * (a + b + c): the factor on the sum, on each term, or fused."""
    format_, rng = machine.format, np.random.default_rng(9)
    array = numbers(format_.digits, rng, 300, 3)
    factor = Fraction(7, 4)
    real = bounds.multiply(constant(factor, machine), bounds.summed(source(array, machine), (1,)))

    def scaled(row: np.ndarray) -> frozenset[Fraction]:
        terms = fractions(row)
        late = sums([Term((x,)) for x in terms], format_)
        early = sums([Term((x, factor)) for x in terms], format_)
        return early | {rounded(total * factor, format_) for total in late}

    check(real, map(scaled, array))


def test_sums_of_sums_may_be_taken_apart(machine: Machine) -> None:
    """(a + b) * (c + d), multiplied out or not, where the sums nearly cancel."""
    format_, rng = machine.format, np.random.default_rng(5)
    x, y = (numbers(format_.digits, rng, 150, 2) for _ in range(2))
    near = rng.integers(-1, 2, (150, 2)) * 2.0**-format_.digits
    y[:, 1] = -y[:, 0]
    x[:, 1] = np.where(near[:, 0] == 0, x[:, 1], -x[:, 0])
    y[:, 1] += np.where(y[:, 0] == 0, 0, near[:, 1])
    left, right = (bounds.summed(source(z, machine), (1,)) for z in (x, y))

    def results(k: int) -> frozenset[Fraction]:
        (a, b), (c, d) = fractions(x[k]), fractions(y[k])
        two = [sums([Term((p,)), Term((q,))], format_) for p, q in ((a, b), (c, d))]
        apart = sums([Term((p, q)) for p in (a, b) for q in (c, d)], format_)
        half = {
            result
            for total in two[0]
            for result in sums([Term((total, c)), Term((total, d))], format_)
        }
        return apart | half | {rounded(p * q, format_) for p in two[0] for q in two[1]}

    check(bounds.multiply(left, right), map(results, range(150)))


@pytest.mark.parametrize("scale", [0, -6])
def test_sums_of_products_which_may_underflow(machine: Machine, scale: int) -> None:
    format_ = machine.format
    rng = np.random.default_rng(2)
    a, b = (numbers(format_.digits, rng, 200, 3) * 2.0**scale for _ in range(2))
    real = bounds.summed(bounds.multiply(source(a, machine), source(b, machine)), (1,))
    by_matrices = _products(a, b, machine)

    def results(k: int) -> frozenset[Fraction]:
        pairs = zip(fractions(a[k]), fractions(b[k]), strict=True)
        return sums([*map(Term, pairs)], format_)

    assert check(real, map(results, range(200))) > 0.1
    assert check(by_matrices, map(results, range(200))) > 0.1


def _products(a: np.ndarray, b: np.ndarray, machine: Machine) -> Real:
    """The same sums of products, as a definition has them evaluated by products of matrices."""
    text = """
    op: own.Products
    types: {T: [f64]}
    dims: {N: {}, K: {}}
    inputs: [{name: A, type: T, shape: [N, K]}, {name: B, type: T, shape: [N, K]}]
    define: {Y: {at: {i: N}, over: {k: K}, term: "A[i, k] * B[i, k]", combine: sum}}
    outputs: [{name: Y, type: T}]
    """
    value = Evaluation(read_operator(text), {}, {"A": a, "B": b}, machine).value("Y")
    assert isinstance(value, Real)
    return value


def test_a_sum_of_sevens_is_not_exact_when_its_terms_are_scaled_first() -> None:
    machine = Machine(DTYPES["f32"])
    sevens = np.full((1, 49), 7, np.float32)
    evaluation = Evaluation(operator("ReduceMean"), {"axes": [1]}, {"X": sevens}, machine)
    (interval,) = evaluation.intervals()
    scaled = np.float32(0)
    for _ in range(49):
        scaled += np.float32(7) * (np.float32(1) / np.float32(49))
    assert scaled != 1
    assert interval.lo <= scaled <= interval.hi
    sums_alone = Evaluation(operator("ReduceSum"), {"axes": [1]}, {"X": sevens}, machine)
    assert sums_alone.intervals()[0].lo == sums_alone.intervals()[0].hi == 343


@pytest.mark.parametrize("form", ["{} / spread_of[{}]", "{} * (1 / spread_of[{}])"])
def test_the_error_of_a_mean_multiplies_a_value_and_not_its_mass(form: str) -> None:
    """Normalised data with an offset accept no more than what an honest machine may have.

    By masses the interval was 55 times as wide as this.
    """
    at = "where(reduced, 0, i)"
    value = form.format(f"(X[i] - mean[{at}])", at) + " * Scale[i]"
    normalisation = changed(operator("LayerNormalization"), {"define.Y.value": value})
    rng = np.random.default_rng(0)
    data = (rng.normal(size=(20, 64)) * 0.1 + 10).astype(np.float32)
    scale = np.ones(64, np.float32)
    machine = Machine(DTYPES["f32"])
    evaluation = Evaluation(normalisation, {"from_axis": -1}, {"X": data, "Scale": scale}, machine)
    (interval,) = evaluation.intervals()
    mean = np.abs(data.astype(float)).mean(1, keepdims=True)
    spread = data.astype(float).std(1, keepdims=True)
    # The mean is off by at most 64 units of it, and so is the deviation, divided by the spread.
    honest = 64 * 2.0**-24 * mean / spread
    width = interval.hi.astype(float) - interval.lo
    assert (width < 8 * honest).all()


@pytest.mark.parametrize("name", ["exp", "sqrt", "tanh"])
def test_a_function_is_taken_over_all_that_its_argument_may_be(name: str) -> None:
    machine = Machine(DTYPES["f32"])
    array = np.abs(np.random.default_rng(1).normal(size=50)).astype(np.float32)
    with exact.precision(100):
        argument = bounds.divide(source(array.astype(np.float64), machine), constant(3, machine))
        results = worst(bounds.function(name, argument))
    run = getattr(np, name)
    for (value, bound), x, (_, off) in zip(results, array, worst(argument), strict=True):
        for end in (-1, 1):
            shifted = float(Fraction(float(x)) / 3 + end * off)
            assert abs(Fraction(float(run(shifted))) - value) <= bound * Fraction(1001, 1000)


GATE = """
op: own.Gate
types: {T: [f32]}
dims: {size: {per: axis}}
inputs: [{name: X, type: T, shape: [size]}]
define: {Y: {at: {i: size}, value: "where(exp(X[i]) > exp(X[i] * 1), 1, 0)"}}
outputs: [{name: Y, type: T}]
"""


def test_what_balls_do_not_decide_is_an_error_and_no_guess() -> None:
    ones = np.ones(3, np.float32)
    with pytest.raises(EvaluationError, match="too near to be compared"):
        Evaluation(read_operator(GATE), {}, {"X": ones}).outputs()
    largest = GATE.replace(
        'at: {i: size}, value: "where(exp(X[i]) > exp(X[i] * 1), 1, 0)"',
        'at: {}, over: {k: size}, term: "exp(X[k])", combine: max',
    )
    with pytest.raises(EvaluationError, match="no fractions cannot be told"):
        Evaluation(read_operator(largest), {}, {"X": ones}).outputs()


def test_where_a_decision_may_fall_either_way_any_value_passes() -> None:
    text = """
    op: own.Gate
    types: {T: [f32]}
    dims: {size: {per: axis}}
    inputs: [{name: X, type: T, shape: [size]}]
    define:
      third: {at: {i: size}, value: "X[i] / 3"}
      Y: {at: {i: size}, value: "where(third[i] * 3 <= 1, X[i], 0)"}
    outputs: [{name: Y, type: T}]
    """
    evaluation = Evaluation(
        read_operator(text), {}, {"X": np.asarray([0.5, 1, 2], np.float32)}, Machine(DTYPES["f32"])
    )
    (interval,) = evaluation.intervals()
    assert interval.unspecified.tolist() == [False, True, False]
    assert [interval.lo[0], interval.lo[2]] == [0.5, 0]


def test_any_value_passes_where_a_whole_number_does_not_fit_its_type() -> None:
    text = """
    op: own.Successor
    types: {T: [i32]}
    dims: {N: {}}
    inputs: [{name: X, type: T, shape: [N]}]
    define: {Y: {at: {i: N}, value: "X[i] + 1"}}
    outputs: [{name: Y, type: T}]
    """
    inputs = {"X": np.asarray([2**31 - 2, 2**31 - 1, -(2**31)], np.int32)}
    (interval,) = Evaluation(read_operator(text), {}, inputs).intervals()
    assert interval.unspecified.tolist() == [False, True, False]
    assert [interval.lo[0], interval.hi[0]] == [2**31 - 1, 2**31 - 1]


NORM = """
op: own.Norm
types: {T: [f32]}
attributes: {p: {min: 1}}
dims: {K: {}}
inputs: [{name: X, type: T, shape: [K]}]
define:
  Y: {at: {}, over: {k: K}, term: "X[k] ** p", combine: sum, finish: "ROOT(total, p)"}
outputs: [{name: Y, type: T}]
"""


def norm(function: str, data: Sequence[float], p: int) -> tuple[float, float, float, bool]:
    """The rounded value, what is accepted of it, and whether any value passes."""
    operator_ = read_operator(NORM.replace("ROOT", function))
    inputs = {"X": np.array(data, np.float32)}
    evaluation = Evaluation(operator_, {"p": p}, inputs, Machine(DTYPES["f32"]))
    (value,), (interval,) = evaluation.outputs(), evaluation.intervals()
    return float(value), float(interval.lo), float(interval.hi), bool(interval.unspecified)


def test_a_root_lies_between_those_of_the_ends() -> None:
    """1e-40 squared vanishes: the norm may be 0, never negative."""
    value, lo, hi, anything = norm("root", [1e-40], 2)
    assert (np.float32(value), lo, anything) == (np.float32(1e-40), 0, False)
    assert hi == pytest.approx((2 * 2.0**-149) ** 0.5)


LARGEST = """
op: own.Largest
types: {T: [f32]}
dims: {R: {}, K: {}}
inputs: [{name: X, type: T, shape: [R, K]}]
define:
  S: {at: {r: R}, over: {k: K}, term: "X[r, k] ** 2", combine: sum}
  Y: {at: {}, over: {r: R}, term: "S[r] / 1024", combine: max}
outputs: [{name: Y, type: T}]
"""


def test_the_largest_of_what_may_be_infinite_may_be_anything() -> None:
    inputs = {"X": np.array([[1, 1], [1.5e19, 1.5e19]], np.float32)}
    evaluation = Evaluation(read_operator(LARGEST), {}, inputs, Machine(DTYPES["f32"]))
    assert evaluation.intervals()[0].unspecified


def test_a_root_of_what_is_not_negative_is_not_negative() -> None:
    _, lo, _, anything = norm("signed_root", [1e-20, 1e-20], 4)
    assert (lo, anything) == (0, False)


def test_what_is_flushed_has_no_power() -> None:
    """A number or 0 to the third power: off by that power, and no more than it is rounded by."""
    machine = Machine(DTYPES["f32"], flushes=True)
    real = given(np.array([-(2.0**-20)], np.float16), DTYPES["f16"], machine)
    ((value, bound),) = worst(bounds.power(bounds.absolute(real), 3))
    assert value == Fraction(1, 2**60)
    assert value <= bound <= value * (1 + Fraction(1, 2**20))


def test_the_mean_of_ones_is_not_negative_on_any_machine() -> None:
    """Though 998 additions in bf16 may be further off than it is large."""
    for flushes in (False, True):
        machine = Machine(DTYPES["bf16"], flushes)
        ones = given(np.ones((1, 999), DTYPES["bf16"].numpy), DTYPES["bf16"], machine)
        mean = bounds.divide(bounds.summed(ones, (1,)), constant(999, machine))
        low, high, _ = bounds.interval(mean, DTYPES["bf16"])
        assert (low.item(), high.item()) == (0, 4.96875)


def test_what_overflows_on_the_way_to_a_root_is_infinite_and_nothing_else() -> None:
    value, lo, hi, anything = norm("root", [3e30, 4e30], 2)
    assert value == pytest.approx(5e30)
    assert lo == pytest.approx(5e30, rel=1e-6)
    assert (hi, anything) == (np.inf, False)


@pytest.mark.parametrize(
    ("data", "expected"), [([np.nan, 1e30], np.nan), ([np.inf, 1e30], np.inf), ([0.0], 0.0)]
)
def test_a_root_of_what_is_not_finite_is_certain(data: list[float], expected: float) -> None:
    value, lo, hi, anything = norm("root", data, 4)
    np.testing.assert_array_equal([value, lo, hi], expected)
    assert not anything


@pytest.mark.parametrize(("function", "expected"), [("root", np.nan), ("signed_root", -2.0)])
def test_an_odd_root_of_a_negative_number_is_that_of_its_sign_or_none(
    function: str, expected: float
) -> None:
    value, lo, hi, anything = norm(function, [-2.0], 3)
    np.testing.assert_equal(value, expected)
    np.testing.assert_allclose([lo, hi], expected, rtol=1e-6)
    assert not anything


def test_where_errors_decide_whether_there_is_a_root_any_value_passes() -> None:
    """10**3 - 10**3 + 1e-3 is 1e-3, or -6e-5 where the sum has lost it."""
    assert norm("root", [10.0, -10.0, 0.01], 3)[3]
    _, lo, hi, anything = norm("signed_root", [10.0, -10.0, 0.01], 3)
    assert (lo < 0 < hi, anything) == (True, False)


THIRDS = """
op: own.Thirds
types: {T: [i8, f32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define: {Y: {at: {i: N}, value: "X[i] / (X[i] - 8)", unspecified: i == 3, rounding: nearest}}
outputs: [{name: Y, type: T}]
"""


@pytest.mark.parametrize(
    ("rounding", "expected"),
    # -1 / -9, 4 / -4, 5 / -3, none, 16 / 8, 24 / 16, 40 / 32, 10 / 2, -8 / -16
    [
        ("nearest", [0, -1, -2, 2, 2, 1, 5, 0]),
        ("away", [0, -1, -2, 2, 2, 1, 5, 1]),
        ("toward_zero", [0, -1, -1, 2, 1, 1, 5, 0]),
    ],
)
def test_numbers_are_rounded_where_the_output_is_of_integers(
    rounding: str, expected: list[int]
) -> None:
    operator = read_operator(THIRDS.replace("nearest", rounding))
    inputs = {"X": np.asarray([-1, 4, 5, 9, 16, 24, 40, 10, -8], np.int8)}
    (interval,) = Evaluation(operator, {}, inputs).intervals()
    assert interval.unspecified.nonzero()[0].tolist() == [3]
    assert interval.lo[~interval.unspecified].tolist() == expected
    style = Simulation(operator, {}, inputs, Style(computes="f64"))
    assert style.outputs()[0][~interval.unspecified].tolist() == expected


def test_without_a_rounding_what_is_not_whole_or_divided_by_0_has_no_value() -> None:
    operator = read_operator(THIRDS.replace(", rounding: nearest", ""))
    (interval,) = Evaluation(operator, {}, {"X": np.asarray([5, 8, 16], np.int8)}).intervals()
    assert interval.unspecified.tolist() == [True, True, False]


NOWHERE = """
op: own.Halves
types: {T: [f32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define: {Y: {at: {i: N}, value: "1 / (X[i] - 8)", unspecified: i == 1}}
outputs: [{name: Y, type: T}]
"""


@pytest.mark.parametrize("digits", [24, 1 << 15])
def test_what_is_unspecified_needs_no_ends(digits: int) -> None:
    """A quotient by NaN is NaN, and one by an infinity is 0."""
    form = DType("wide", "float", np.dtype("f8"), np.dtype("f8"), digits, -(1 << 12), 1 << 12)
    data = np.array([7, 7, 8, np.nan, np.inf], np.float32)
    evaluation = Evaluation(read_operator(NOWHERE), {}, {"X": data}, Machine(form))
    (interval,) = evaluation.intervals()
    marked = evaluation.unspecified(evaluation.operator.outputs[0])
    assert marked.tolist() == interval.unspecified.tolist()
    assert marked.tolist() == [False, True, True, False, False]
    assert np.isnan(interval.lo[3])
    assert interval.lo[4] == interval.hi[4] == 0


LOGISTIC = """
op: own.Logistic
types: {T: [f16, f32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define: {Y: {at: {i: N}, value: "1 / (1 + exp(-X[i]))"}}
outputs: [{name: Y, type: T}]
"""


@pytest.mark.parametrize("flushes", [False, True])
@drawn(st.lists(st.floats(-300, 300, width=32) | st.floats(width=32), min_size=1, max_size=9))
def test_a_quotient_by_what_may_be_infinite_holds_what_a_machine_computes(
    flushes: bool, data: list[float]
) -> None:
    """Where the exponential overflows the quotient is 0, or what it would be without."""
    x = np.array(data, np.float32)
    evaluation = Evaluation(read_operator(LOGISTIC), {}, {"X": x}, Machine(DTYPES["f32"], flushes))
    (interval,) = evaluation.intervals()
    with np.errstate(all="ignore"):
        plain = 1 / (1 + np.exp(-x))
        wide = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    for result in (plain, wide, np.where(np.abs(plain) < 2.0**-126, 0, plain) if flushes else wide):
        held = (interval.lo <= result) & (result <= interval.hi) | (np.isnan(x) & np.isnan(result))
        assert (held | interval.unspecified).all()
    # Only where the reciprocal is subnormal and the exponential not infinite all is open.
    assert not (interval.unspecified & ~((x < -87) & (x > -89))).any()


@pytest.mark.parametrize("dtype", ["f16", "f32"])
@drawn(st.lists(st.tuples(st.integers(-2047, 2047), st.integers(-20, 12)), min_size=1, max_size=4))
def test_products_in_any_order(dtype: str, factors: list[tuple[int, int]]) -> None:
    row = DTYPES[dtype]
    with np.errstate(over="ignore"):
        data = np.array([n * 2.0**e for n, e in factors]).astype(row.numpy)
    operator_ = operator("ReduceProd")
    evaluation = Evaluation(operator_, {"keepdims": False}, {"X": data}, Machine(row))
    (interval,) = evaluation.intervals()
    if interval.unspecified.any():
        return
    for order in permutations(data):
        with np.errstate(all="ignore"):
            for result in all_products(order):
                inside = interval.lo <= result <= interval.hi
                assert inside or (np.isnan(interval.lo) and np.isnan(result))


def all_products(factors: Sequence[Any]) -> Iterator[Any]:
    """Multiply factors in every way of putting brackets."""
    if len(factors) == 1:
        yield factors[0]
    for cut in range(1, len(factors)):
        for left, right in product(all_products(factors[:cut]), all_products(factors[cut:])):
            yield left * right
