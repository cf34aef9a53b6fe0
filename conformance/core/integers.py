"""Exact arithmetic on arrays: integers on a common power of two, rounded by integer division.

An array of floats is a whole number of units of its smallest bit, so its sums are sums of
integers and a mean is a ratio of two integers, rounded once. The same numpy expressions run on
int64 where that is provably wide enough and on object arrays of Python integers where it is not;
numbers move to Python integers *before* they could overflow, never after. No step passes through
floating point (``frexp`` only counts bits of integers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DType

Array = NDArray[Any]
Integers = NDArray[Any]  # int64, or object with Python integers
Ties = Literal["even", "up", "down", "zero", "odd"]

# What int64 is trusted with: sums of at most NARROW_BITS bits, since the division in round_ratio
# needs two more, and there WORD_BITS.
NARROW_BITS = 60
WORD_BITS = 62


@dataclass(frozen=True, eq=False)
class Decoded:
    """An array of floats as integers on one common power of two, each field of its shape.

    A finite element is ``significand * 2**exponent``; ``significand`` is 0 where the element is
    not finite. Signed zeros are 0. ``exponent`` is 0 if all significands are.
    """

    significand: Integers
    exponent: int
    nan: NDArray[np.bool_]
    posinf: NDArray[np.bool_]
    neginf: NDArray[np.bool_]
    subnormal: NDArray[np.bool_]


def as_wide(ints: Integers) -> Integers:
    """Return the same integers as Python integers, for arithmetic that may outgrow int64."""
    return ints.astype(object, copy=False)


def decode(array: Array, dtype: DType, *, headroom: int = 0) -> Decoded:
    """Take an array of at least one axis apart from its bits.

    ``headroom`` is the number of bits that later sums need: ``(n - 1).bit_length()`` for sums of
    ``n`` elements. Raises ValueError if ``array`` is not of ``dtype``.

    Bits: write each non-zero element as an odd number times ``2**place``, below ``2**top``. In
    units of the smallest place it is an integer of at most ``max(top) - min(place)`` bits, and a
    sum of ``2**headroom`` of them has at most ``headroom`` bits more. If these are at most
    ``NARROW_BITS`` the significands are int64, else Python integers.

    An integer is its own significand; the lowest of its type, below which nothing is, stands where
    minus infinity does among floating-point numbers.
    """
    if not dtype.is_float:
        return _decode_integers(array, dtype, headroom)
    fraction_bits = dtype.digits - 1
    code = dtype.to_storage(array).view(dtype.signed).astype(np.int64)
    magnitude = code & np.iinfo(dtype.signed).max
    negative = code < 0
    infinite = magnitude == dtype.infinity
    # An element is significand * 2**(lift + quantum); subnormals share the lift of the first
    # normal binade, and taking the lift off the code leaves the hidden bit in place.
    lift = np.maximum(magnitude >> fraction_bits, 1) - 1
    significand = magnitude - (lift << fraction_bits)
    significand *= magnitude < dtype.infinity
    present = significand != 0
    trailing = np.frexp(significand & -significand)[1] - present
    place = lift + trailing
    lowest, width = 0, 0
    if present.any():
        lowest = int(place[present].min())
        width = int(lift[present].max()) + dtype.digits - lowest
    np.negative(significand, out=significand, where=negative)
    significand >>= trailing
    if width + headroom > NARROW_BITS:
        significand = as_wide(significand)
    return Decoded(
        significand=significand << np.maximum(place - lowest, 0),
        exponent=lowest + dtype.quantum if width else 0,
        nan=magnitude > dtype.infinity,
        posinf=infinite & ~negative,
        neginf=infinite & negative,
        subnormal=present & (magnitude >> fraction_bits == 0),
    )


def _decode_integers(array: Array, dtype: DType, headroom: int) -> Decoded:
    significand = array.astype(np.int64)
    never = np.zeros(array.shape, np.bool_)
    wide = dtype.digits + 1 + headroom > NARROW_BITS
    return Decoded(
        significand=as_wide(significand) if wide else significand,
        exponent=0,
        nan=never,
        posinf=never,
        neginf=np.asarray(array == dtype.bottom),
        subnormal=never,
    )


def round_ratio(
    numerator: Integers,
    denominator: Integers | int,
    exponent: int | NDArray[np.int64],
    dtype: DType,
    *,
    ties: Ties = "even",
) -> Array:
    """Round ``numerator / denominator * 2**exponent``, each once, to the nearest of ``dtype``.

    ``numerator`` (int64 or object) and the positive ``denominator`` broadcast against each other;
    the result has their common shape, which an array of exponents has, too. ``ties`` go to the even
    neighbour, toward plus infinity ("up") or toward minus infinity ("down"). "zero" rounds
    everything toward zero, not to the nearest, and "odd" all whose neighbour toward zero is even.
    Results below the normal range are subnormal, those at or beyond half a unit above the largest
    finite number infinite (IEEE 754-2019, section 4.3.1; "up" and "down" decide on that tie as on
    any other); zeros are +0.
    Raises ValueError for a denominator below 1.

    Bits, for ``n / d`` with p digits: the quotient is below ``2**p``, so ``n << shift`` is below
    ``d * 2**p``; ``d << -shift`` is at most ``4 * n``. Both fit where n has at most
    ``NARROW_BITS`` and d at most ``WORD_BITS - p``.
    """
    above, below = np.atleast_1d(numerator), np.atleast_1d(denominator)
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    if below.size and below.min() < 1:
        raise ValueError("round_ratio needs positive denominators")
    if not (_fits(above, NARROW_BITS) and _fits(below, WORD_BITS - dtype.digits)):
        above, below = as_wide(above), as_wide(below)
    negative = above < 0
    above = np.abs(above)

    # above / below lies between 2**(gap - 1) and 2**(gap + 1); one comparison settles its binade.
    gap = bit_length(above) - bit_length(below)
    short = (above << np.maximum(-gap, 0)) < (below << np.maximum(gap, 0))
    binade = gap - short
    # The result is a multiple of 2**(quantum + lift), its last place.
    offset = exponent - dtype.quantum
    lift = np.maximum(binade + (offset - (dtype.digits - 1)), 0)
    # Beyond the second limit the quotient is below a half and rounds to zero all the same.
    shift = np.maximum(offset - lift, -2 - binade)
    above = above << np.maximum(shift, 0)
    below = below << np.maximum(-shift, 0)
    quotient = above // below
    rest = above - quotient * below
    quotient = quotient.astype(np.int64)
    if ties != "zero":
        odd = quotient & 1
        toward: Any = odd if ties in ("even", "odd") else negative ^ (ties == "up")
        higher = rest + toward > below - rest
        quotient = quotient + (higher & (odd == 1) if ties == "odd" else higher)

    # A significand of 2**digits carries into the exponent by itself, up to the infinity.
    most = dtype.emax - dtype.emin
    ordinal = (np.minimum(lift, most).astype(np.int64) << (dtype.digits - 1)) + quotient
    ordinal = np.where(lift > most, dtype.infinity, ordinal)
    ordinal = np.where(quotient == 0, 0, ordinal)
    return dtype.from_ordinals(np.where(negative, -ordinal, ordinal)).reshape(shape)


def _fits(ints: Integers, bits: int) -> bool:
    """Whether ``ints`` are int64 of at most ``bits`` bits, without the sign."""
    # The absolute value of -2**63 is -2**63 in int64, which read as uint64 is right.
    return ints.dtype == np.int64 and not int(np.abs(ints).view(np.uint64).max(initial=0)) >> bits


_bit_length_wide = np.frompyfunc(int.bit_length, 1, 1)


def bit_length(ints: Integers) -> NDArray[Any]:
    """Return the bit lengths of non-negative integers."""
    if ints.dtype == object:
        return np.asarray(_bit_length_wide(ints), np.int64)
    # Clearing the bit below the highest one keeps float64 from rounding up to a power of two.
    return np.asarray(np.frexp(ints & ~(ints >> 1))[1])
