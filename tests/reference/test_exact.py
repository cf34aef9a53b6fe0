"""Exact means against fractions.Fraction and against every code of the small types."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from conformance import reference
from conformance.core.integers import (
    NARROW_BITS,
    WORD_BITS,
    Ties,
    bit_length,
    decode,
    round_ratio,
)
from conformance.dtypes import DTYPES, DType
from conformance.specification import find_spec, outputs

FLOATS = tuple(row for row in DTYPES.values() if row.is_float)
SMALL = (DTYPES["f16"], DTYPES["bf16"])
NEAREST: tuple[Ties, ...] = ("even", "up", "down")
TIES: tuple[Ties, ...] = (*NEAREST, "zero", "odd")
F64 = DTYPES["f64"]

every_float = pytest.mark.parametrize("dtype", FLOATS, ids=lambda row: row.name)
every_small = pytest.mark.parametrize("dtype", SMALL, ids=lambda row: row.name)
every_ties = pytest.mark.parametrize("ties", TIES)


def bits(array: NDArray[Any], dtype: DType) -> list[int]:
    assert array.dtype == dtype.numpy
    return array.view(dtype.code).ravel().tolist()


def rounded_by_fraction(value: Fraction, dtype: DType, ties: str = "even") -> int:
    """The ordinal that ``value`` is rounded to, by rational arithmetic alone."""
    size = abs(value)
    unit = Fraction(2) ** dtype.quantum
    if size >= Fraction(2) ** (dtype.emin + 1):
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        unit = Fraction(2) ** (exponent - dtype.digits + 1)
    whole = value / unit
    nearest = round(whole)  # of a Fraction: half to even
    if ties == "up":
        nearest = math.floor(whole + Fraction(1, 2))
    elif ties == "down":
        nearest = math.ceil(whole - Fraction(1, 2))
    elif ties in ("zero", "odd"):
        cut_off = math.trunc(whole)
        nearest = nearest if ties == "odd" and cut_off % 2 else cut_off
    result = nearest * unit
    if abs(result) >= Fraction(2) ** (dtype.emax + 1):
        return dtype.infinity if result > 0 else -dtype.infinity
    # Representable, so that neither conversion rounds.
    return int(dtype.ordinals(np.array([float(result)]).astype(dtype.numpy))[0])


def finite_ordinals(dtype: DType) -> NDArray[np.int64]:
    return np.arange(1 - dtype.infinity, dtype.infinity)


# --- decode ---------------------------------------------------------------------------------


@every_small
def test_decode_of_every_code(dtype: DType) -> None:
    codes = np.arange(1 << 16, dtype=np.uint16)
    array = codes.view(dtype.numpy)
    decoded = decode(array, dtype)
    with np.errstate(invalid="ignore"):  # some versions warn of NaN
        values = array.astype(np.float64)  # exact: float64 holds every value of these types
    finite = np.isfinite(values)
    units = [Fraction(value) / Fraction(2) ** decoded.exponent for value in values[finite]]
    assert decoded.significand[finite].tolist() == units
    assert not decoded.significand[~finite].any()
    np.testing.assert_array_equal(decoded.nan, np.isnan(values))
    np.testing.assert_array_equal(decoded.posinf, values == np.inf)
    np.testing.assert_array_equal(decoded.neginf, values == -np.inf)
    tiny = (values != 0) & (np.abs(values) < 2.0**dtype.emin)
    np.testing.assert_array_equal(decoded.subnormal, tiny)
    assert decoded.exponent == dtype.quantum


@every_small
def test_every_code_survives_decoding_and_rounding(dtype: DType) -> None:
    array = dtype.from_ordinals(finite_ordinals(dtype))
    decoded = decode(array, dtype)
    again = round_ratio(decoded.significand, 1, decoded.exponent, dtype)
    assert bits(again, dtype) == bits(array, dtype)


@every_float
def test_decode_takes_the_unit_of_the_smallest_bit(dtype: DType) -> None:
    decoded = decode(np.array([0.0, -0.0, 12.0, -40.0]).astype(dtype.numpy), dtype)
    assert decoded.significand.dtype == np.int64
    assert decoded.significand.tolist() == [0, 0, 3, -10]
    assert decoded.exponent == 2


@every_float
@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (3,)])
def test_decode_of_nothing_but_zeros_has_exponent_zero(
    dtype: DType, shape: tuple[int, ...]
) -> None:
    decoded = decode(np.zeros(shape, dtype.numpy), dtype)
    assert decoded.significand.shape == decoded.nan.shape == shape
    assert decoded.exponent == 0
    assert not decoded.significand.any()


def test_decode_moves_to_python_integers_at_the_limit() -> None:
    f32 = DTYPES["f32"]
    spread = NARROW_BITS - f32.digits
    array = np.ldexp(np.array([1, 2**24 - 1], np.float32), [0, spread])  # odd, and all 24 bits set
    assert decode(array, f32).significand.dtype == np.int64
    wide = decode(array, f32, headroom=1)
    assert wide.significand.dtype == object
    assert wide.significand.tolist() == [1, (2**24 - 1) << spread]
    assert all(type(value) is int for value in wide.significand)


def test_decode_reads_arrays_of_any_layout() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (array.T, array[::-2, 1::2], np.broadcast_to(array[2], (2, 6))):
        decoded = decode(view, DTYPES["f32"])
        assert (decoded.significand * 2.0**decoded.exponent).tolist() == view.tolist()


def test_decode_refuses_another_type() -> None:
    with pytest.raises(ValueError, match="f32 needs an array"):
        decode(np.zeros(3), DTYPES["f32"])


# --- round_ratio ----------------------------------------------------------------------------


def check_rounding(
    numerator: list[int],
    denominator: list[int],
    exponent: int,
    dtype: DType,
    ties: Ties,
    expected: NDArray[np.int64],
) -> None:
    """Both paths give ``expected`` (ordinals); int64 only where the numbers fit."""
    want = bits(dtype.from_ordinals(expected), dtype)
    wide = np.array([*numerator, None], object)[:-1], np.array([*denominator, None], object)[:-1]
    assert bits(round_ratio(*wide, exponent, dtype, ties=ties), dtype) == want
    if max(map(abs, [*numerator, *denominator])) < 2**63:
        narrow = np.array(numerator, np.int64), np.array(denominator, np.int64)
        assert bits(round_ratio(*narrow, exponent, dtype, ties=ties), dtype) == want


@pytest.mark.parametrize("ties", NEAREST)
@every_small
def test_every_midpoint_and_its_surroundings(dtype: DType, ties: Ties) -> None:
    """Halfway between any two neighbours, and a little to both sides, infinity as 2**(emax+1)."""
    lower = np.arange(-dtype.infinity, dtype.infinity)
    edge = 1 << (dtype.emax + 1 - dtype.quantum)
    decoded = decode(dtype.from_ordinals(finite_ordinals(dtype)), dtype)
    units = [-edge, *map(int, decoded.significand), edge]
    middle = [a + b for a, b in itertools.pairwise(units)]  # in half units
    tie_up = {"even": lower % 2 != 0, "up": True, "down": False}[ties]
    exponent = dtype.quantum - 1
    ones = [1] * len(middle)
    check_rounding(middle, ones, exponent, dtype, ties, lower + tie_up)
    thirds = [3] * len(middle)
    for side in (-1, 1):
        beside = [3 * m + side for m in middle]
        check_rounding(beside, thirds, exponent, dtype, ties, lower + (side > 0))


@every_ties
@every_float
def test_hostile_ratios(dtype: DType, ties: Ties, exhaustive: bool) -> None:
    """Near-ties, subnormals, both thresholds and powers of two, at many divisors and scales."""
    p = dtype.digits
    borders = [2**p - 1, 2**p, 2**p + 1, 2 ** (p + 1) - 1, 2 ** (p + 1) + 1, 2 ** (p + 1) + 3]
    far = [m * 2**40 + e for m in borders for e in (-1, 0, 1)]
    divisors = [1, 2, 3, 7, 9, 48, 49, 511, 512, 513, 4095, 10**6 + 3, 2**40 - 1, 2**70 + 1]
    pairs = [
        (sign * (n * d + e), d)
        for n in [0, 1, 2, 3, *borders, *far]
        for d in divisors
        for e in (-1, 0, 1)
        for sign in (-1, 1)
    ]
    numerator, denominator = (list(part) for part in zip(*pairs, strict=True))
    exponents = [
        *(dtype.quantum + k for k in (-p - 41, -p - 2, -p, -3, -2, -1, 0)),
        *(dtype.emax - p + k for k in (-41, -1, 0, 1)),
        -p,
        5000,
        -5000,
    ]
    for exponent in exponents if exhaustive else exponents[::5]:
        scale = Fraction(2) ** exponent
        expected = [rounded_by_fraction(Fraction(n, d) * scale, dtype, ties) for n, d in pairs]
        check_rounding(numerator, denominator, exponent, dtype, ties, np.array(expected))
        # Those that stay on int64, by themselves: one wide number widens all.
        narrow = [
            i
            for i, (n, d) in enumerate(pairs)
            if abs(n) < 2**NARROW_BITS and d < 2 ** (WORD_BITS - p)
        ]
        chosen = [numerator[i] for i in narrow], [denominator[i] for i in narrow]
        check_rounding(*chosen, exponent, dtype, ties, np.array(expected)[narrow])


@settings(max_examples=tiers.examples(300, few=75), deadline=None)
@given(
    st.integers(-(2**62), 2**62) | st.integers(-(2**700), 2**700),
    st.integers(1, 600) | st.integers(1, 2**300),
    st.integers(-1300, 1300),
    st.sampled_from(FLOATS),
    st.sampled_from(TIES),
)
def test_any_ratio(n: int, d: int, exponent: int, dtype: DType, ties: Ties) -> None:
    expected = rounded_by_fraction(Fraction(n, d) * Fraction(2) ** exponent, dtype, ties)
    check_rounding([n], [d], exponent, dtype, ties, np.array([expected]))


@every_float
def test_overflow_threshold(dtype: DType) -> None:
    """Half a unit above the largest finite number is the first that becomes infinite."""
    threshold = 2 ** (dtype.digits + 1) - 1
    exponent = dtype.emax - dtype.digits
    most = dtype.infinity - 1
    numerator = [threshold * 4 - 1, threshold * 4, threshold * 4 + 1]
    both = np.array(numerator + [-n for n in numerator])
    cases: list[tuple[Ties, int, int]] = [("even", 1, 1), ("up", 1, 0), ("down", 0, 1)]
    for ties, up, down in cases:
        got = dtype.ordinals(round_ratio(both, 4, exponent, dtype, ties=ties))
        assert (got - most * np.sign(both)).tolist() == [0, up, 1, 0, -down, -1]


def test_bit_lengths_around_powers_of_two() -> None:
    """Also beyond 2**53, where float64 rounds up to the next power."""
    ints = [0, *(2**k + e for k in range(1, 63) for e in (-1, 0, 1))]
    want = [n.bit_length() for n in ints]
    assert bit_length(np.array(ints)).tolist() == want
    assert bit_length(np.array(ints, object)).tolist() == want


def test_the_extremes_of_int64() -> None:
    ends = np.array([-(2**63), 2**63 - 1, -(2**63) + 1])
    assert round_ratio(ends, 1, 0, F64).tolist() == [-(2.0**63), 2.0**63, -(2.0**63)]
    assert round_ratio(ends, 2**62, 0, F64).tolist() == [-2.0, 2.0, -2.0]


def test_a_quotient_just_below_a_power_of_two() -> None:
    """Where an estimate by floating point would take the wrong binade, and round at a wrong bit."""
    n = 2**59 - 1
    for d in (1, 3, 2**9 - 1):
        got = round_ratio(np.array([n]), d, 0, F64)
        assert got.tolist() == [float(Fraction(n, d))]
    below = np.array([2**53 * 3 - 1])
    assert round_ratio(below, 3, 0, F64, ties="down").tolist() == [2.0**53]
    assert round_ratio(np.array([2**54 - 1]), 2, 0, F64, ties="down").tolist() == [2.0**53 - 1]


def test_zero_is_positive() -> None:
    for dtype in FLOATS:
        got = round_ratio(np.array([0, -1, 1]), 3, dtype.quantum, dtype)
        assert bits(got, dtype) == [0, 0, 0]


def test_shapes_broadcast() -> None:
    numerator = np.arange(6).reshape(2, 3)
    assert round_ratio(numerator, np.array([1, 2, 4]), 0, F64).tolist() == [
        [0, 0.5, 0.5],
        [3, 2, 1.25],
    ]
    assert round_ratio(np.array([6]), np.array([[1], [2]]), 1, F64).tolist() == [[12], [6]]
    assert round_ratio(np.array(6), 4, 0, F64).shape == ()
    assert round_ratio(np.array(6, object), 4, 0, F64).tolist() == 1.5
    assert round_ratio(np.zeros((0, 3), np.int64), 4, 0, F64).shape == (0, 3)
    assert round_ratio(np.zeros((0, 3), object), 4, 0, F64).shape == (0, 3)


@pytest.mark.parametrize("denominator", [0, -2])
def test_denominators_must_be_positive(denominator: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        round_ratio(np.array([1]), denominator, 0, F64)


def test_known_double_roundings() -> None:
    """Rounded through float64 first these come out one unit lower."""
    f32 = DTYPES["f32"]
    decoded = decode(np.array([2 + 2**-22, 2, 2**-100, 0], np.float32), f32, headroom=2)
    total = np.array([sum(decoded.significand.tolist())], object)
    assert round_ratio(total, 4, decoded.exponent, f32).tolist() == [1 + 2**-23]
    through = round_ratio(total, 4, decoded.exponent, F64)
    assert through.astype(np.float32).tolist() == [1.0]
    for dtype in SMALL:
        half_way = (1 << 60) + (1 << (60 - dtype.digits)) + 1
        got = round_ratio(np.array([half_way]), 1, -60, dtype)
        assert dtype.ordinals(got) == dtype.ordinals(np.ones(1, dtype.numpy)) + 1
        assert float(Fraction(half_way, 1 << 60)) == 1 + 2.0**-dtype.digits


# --- means ----------------------------------------------------------------------------------

AVERAGE = find_spec("AvgPool-1")


@dataclass(frozen=True)
class Geometry:
    """One axis: padding is read by windows and not counted."""

    size: int
    kernel: int
    stride: int
    begin: int
    end: int

    def taps(self) -> list[list[int]]:
        """The positions that each window reads."""
        count = (self.size + self.begin + self.end - self.kernel) // self.stride + 1
        starts = (i * self.stride - self.begin for i in range(count))
        return [[k for k in range(s, s + self.kernel) if 0 <= k < self.size] for s in starts]


PER_DTYPE = 25_000  # elements; 100,000 for the four types


def hostile(kind: str, shape: tuple[int, ...], dtype: DType, rng: Any) -> NDArray[Any]:
    """Finite values of ``dtype`` of one hostile kind."""
    most = dtype.infinity - 1
    magnitude = rng.integers(0, most, shape, endpoint=True)
    if kind == "subnormal":
        magnitude = rng.integers(0, 3 << (dtype.digits - 1), shape)
    elif kind == "largest":
        magnitude = most - rng.integers(0, 4 << (dtype.digits - 1), shape)
    elif kind == "near":  # a few binades around 1, where sums of narrow types stay on int64
        one = (-dtype.emin + 1) << (dtype.digits - 1)
        magnitude = one + rng.integers(-(2 << dtype.digits), 2 << dtype.digits, shape)
    elif kind == "cancel":  # neighbours of one number with either sign, and dust
        magnitude = rng.integers(2, most - 2) + rng.integers(-2, 3, shape)
        dust = rng.integers(0, most, shape, endpoint=True)
        magnitude = np.where(rng.random(shape) < 0.2, dust, magnitude)
    ordinals = magnitude.clip(0, most) * rng.choice([-1, 1], shape)
    return dtype.from_ordinals(np.where(rng.random(shape) < 0.05, 0, ordinals))


def random_geometry(rng: Any) -> list[Geometry]:
    axes = int(rng.integers(1, 4))
    found = []
    for _ in range(axes):
        size = int(rng.integers(1, (60, 16, 9)[axes - 1]))
        kernel = int(rng.integers(1, 1 + min(size, (9, 5, 3)[axes - 1])))
        begin, end = (int(rng.integers(0, kernel)) for _ in range(2))
        found.append(Geometry(size, kernel, int(rng.integers(1, 3)), begin, end))
    return found


@every_float
def test_means_equal_fractions(dtype: DType, exhaustive: bool) -> None:
    """Means of hostile values over random windows, rounded to T and to float64: none differs."""
    rng = np.random.default_rng(20_240_229)
    elements = 0
    kinds = itertools.cycle(("full", "near", "cancel", "subnormal", "largest"))
    wanted = PER_DTYPE if exhaustive else PER_DTYPE // 5
    while elements < wanted:
        geometry = random_geometry(rng)
        shape = (1, 2, *(axis.size for axis in geometry))
        data = hostile(next(kinds), shape, dtype, rng)
        excluded = bool(rng.integers(0, 2)) or not any(g.begin or g.end for g in geometry)
        attributes = {
            "kernel": [axis.kernel for axis in geometry],
            "strides": [axis.stride for axis in geometry],
            "pads_begin": [axis.begin for axis in geometry],
            "pads_end": [axis.end for axis in geometry],
            "exclude-pad": excluded,
        }
        (rounded,) = outputs(AVERAGE, [data], attributes)
        (wide,) = reference(AVERAGE.op, [data], attributes)
        volume = math.prod(axis.kernel for axis in geometry)
        places = list(itertools.product(*(axis.taps() for axis in geometry)))
        divisors = [math.prod(map(len, place)) if excluded else volume for place in places]

        # Fractions on one denominator add as their numerators, without a gcd for each sum.
        unit = 2**-F64.quantum
        exact = [
            [(f := Fraction(float(x))).numerator * (unit // f.denominator) for x in channel.flat]
            for channel in data[0]
        ]
        flat = np.arange(math.prod(shape[2:])).reshape(shape[2:])
        means = [
            Fraction(sum(channel[i] for i in flat[np.ix_(*place)].flat), unit * divisor)
            for channel in exact
            for place, divisor in zip(places, divisors, strict=True)
        ]
        ordinals = [rounded_by_fraction(mean, dtype) for mean in means]
        assert dtype.ordinals(rounded).ravel().tolist() == ordinals
        assert wide.ravel().tolist() == [as_float64(mean) for mean in means]
        elements += rounded.size


def as_float64(value: Fraction) -> float:
    """Python's own division of integers, which is correctly rounded."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)
