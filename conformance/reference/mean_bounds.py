r"""Error bounds of means: how far a correct evaluation may be from the exact value.

For one mean let x be its n taps on data, S the sum of \|x\|, d >= n the divisor, r the exact
result, and of the accumulator's format u the unit roundoff, eta the smallest subnormal and lambda
the smallest normal number.

**In any order.** n - 1 additions, in any order and with any grouping, err by at most (n - 1) u S
(Jeannerod and Rump, "Improved error bounds for inner products in floating-point arithmetic",
SIAM J. Matrix Anal. Appl. 34, 2013; an addition that underflows is exact). Dividing adds a factor
1 + u; multiplying by a rounded reciprocal two of them, and a third one where d itself is not exact
in the accumulator. Scaling each term before adding it, with or without fused multiply-add, has
the same factors and at most n eta / 2 more where products underflow. Where d is a power of two none
of these factors is rounded. With k = 0 there, 3 where d is not exact, else 2, any of these computes
a v with

    |v - r| <= E = [(n - 1) u (1 + u)^k + (1 + u)^k - 1] S / d + (n + 1) eta.

**Times a factor.** Some implementations multiply a mean by a whole number f, and divide it by
another: the exact result is f times a sum over d, the product of both divisors. That is a product,
and a division or a product with a rounded reciprocal, more: 3 factors 1 + u. What underflowed
before is multiplied, too. With k + 3 in place of k, f S in place of S, and (2 n + 4) f eta in place
of (n + 1) eta the bound holds; no evaluation counts as exact.

**Exact sums.** Where every partial sum is a multiple of one power of two and small enough, d is a
power of two, and nothing underflows, each of these evaluations is exact, and E = 0. (With another
d a reciprocal or terms scaled before adding are still rounded, so E stays as it is.) So it is where
all taps are zero.

**The last rounding** is monotone: v in [r - E, r + E] implies that its nearest value in T lies
between the nearest values of the two ends. That is the accepted interval, with both ends computed
exactly; where an end is halfway between two values either is accepted. Beyond T's overflow
threshold the nearest value is the infinity, which then is accepted too.

**Overflow.** Where S (1 + n u) exceeds the accumulator's largest number, a partial sum may become
infinite and two of them NaN though the mean is finite: such an element is not graded at this
precision. Nor is one whose d is so large that its reciprocal is subnormal: that rounds with no
relative bound (beyond 16384 taps in f16, never in practice elsewhere).

**Flushing subnormals** to zero moves a result by at most the sum of \|x\| over subnormal x, over d,
and by lambda for each of n products and n - 1 sums (not over d, since terms may be scaled before
they are added); a result that may be subnormal in T may also be zero. Where no tap is subnormal and
everything on the way is a multiple of some number >= lambda, nothing but the result is flushed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType
from conformance.reference.exact import as_wide, round_ratio


@dataclass(frozen=True)
class Sums:
    """The exact parts of means, elementwise: integers on the common scale ``2**exponent``.

    ``total`` is the sum of the taps, ``magnitude`` of their absolute values, ``subnormal`` of
    those of subnormal taps; ``count`` is n and ``divisor`` d. ``spacing`` is the exponent of the
    largest power of two that divides every non-zero tap. ``factor`` is f, which the first three
    are multiplied by already, None for 1. All broadcast to (N, C, *out).
    """

    total: NDArray[Any]
    magnitude: NDArray[Any]
    subnormal: NDArray[Any]
    count: NDArray[np.int64]
    divisor: NDArray[np.int64]
    spacing: NDArray[np.int64]
    exponent: int
    factor: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Interval:
    """The values accepted, inclusive, in T; ``ungraded`` marks elements that have none."""

    lo: Array
    hi: Array
    ungraded: NDArray[np.bool_]


def accumulator(dtype: DType, precision: str) -> DType:
    """The format that a sum is at least kept in: T for native, f32 or f64 for standard."""
    if precision == "native" or dtype.name == "f64":
        return dtype
    return DTYPES["f32"]


def interval(sums: Sums, dtype: DType, acc: DType, *, flushed: bool) -> Interval:
    """The accepted interval of each mean in ``dtype``, accumulated at least in ``acc``."""
    shape = np.broadcast_shapes(sums.total.shape, sums.divisor.shape)
    total, magnitude, divisor = (as_wide(a) for a in (sums.total, sums.magnitude, sums.divisor))
    count = as_wide(sums.count)
    underflows, flushes = count + 1, np.maximum(2 * count - 1, 0)
    if sums.factor is not None:
        underflows = flushes = (2 * count + 4) * as_wide(sums.factor)
    slope, scale = _slope(sums, acc)
    exact = _exact(sums, acc)

    # The bound over the common denominator d, on the scale 2**exponent.
    exponent = min(sums.exponent - scale, acc.quantum)
    lift = sums.exponent - exponent
    bound = (slope * magnitude << (lift - scale)) + (
        underflows * divisor << (acc.quantum - exponent)
    )
    bound = np.where(exact | (magnitude == 0), 0, bound)
    if flushed:
        moved = (as_wide(sums.subnormal) << lift) + (flushes * divisor << (acc.emin - exponent))
        bound = bound + np.where(_undisturbed(sums, acc, exact), 0, moved)
    centre = total << lift
    lo = round_ratio(centre - bound, divisor, exponent, dtype, ties="down")
    hi = round_ratio(centre + bound, divisor, exponent, dtype, ties="up")
    if flushed:
        # Before the last rounding: a value just below the smallest normal may round up to it, or
        # be found too small and flushed.
        tiny = divisor << (dtype.emin - exponent)
        may_vanish = np.asarray((centre - bound < tiny) & (centre + bound > -tiny), np.bool_)
        zero = dtype.numpy.type(0)
        lo = np.where(may_vanish, np.minimum(lo, zero), lo)
        hi = np.where(may_vanish, np.maximum(hi, zero), hi)
    return Interval(lo, hi, np.broadcast_to(_overflows(sums, acc), shape))


@lru_cache(maxsize=4096)
def _factor(n: int, k: int, digits: int) -> int:
    """[(n - 1) u (1 + u)^k + (1 + u)^k - 1] * 2**(digits * (k + 1)), a whole number."""
    unit = 1 << digits
    grown = (unit + 1) ** k
    return max(0, n - 1) * grown + (grown - unit**k) * unit


def _slope(sums: Sums, acc: DType) -> tuple[NDArray[Any], int]:
    """The factor of S / d for each element, as an integer on the scale 2**-(second value)."""
    more = 0 if sums.factor is None else 3
    scale = acc.digits * (4 + more)
    odd = sums.divisor // (sums.divisor & -sums.divisor)
    k = np.where(odd == 1, 0, np.where(odd < (1 << acc.digits), 2, 3))
    n, k = np.broadcast_arrays(sums.count, k)
    table = {
        (a, b): _factor(a, b + more, acc.digits) << (scale - acc.digits * (b + more + 1))
        for a, b in set(zip(n.ravel().tolist(), k.ravel().tolist(), strict=True))
    }
    slope = np.empty(n.shape, object)
    slope.ravel()[:] = [
        table[key] for key in zip(n.ravel().tolist(), k.ravel().tolist(), strict=True)
    ]
    return slope, scale


def _exact(sums: Sums, acc: DType) -> NDArray[np.bool_]:
    """Where every honest evaluation is exact, before the last rounding."""
    if sums.factor is not None:
        return np.zeros(np.broadcast_shapes(sums.divisor.shape, sums.spacing.shape), np.bool_)
    power = (sums.divisor & (sums.divisor - 1)) == 0
    shift = np.frexp(sums.divisor.astype(np.float64))[1] - 1  # log2 of a power of two
    narrow = as_wide(sums.magnitude) <= np.left_shift(
        as_wide(np.ones_like(sums.spacing)), as_wide(sums.spacing + acc.digits)
    )
    above = sums.spacing + sums.exponent - shift >= acc.quantum
    representable = shift <= -acc.quantum  # the reciprocal of d is a number of this format
    return np.asarray(power & narrow.astype(np.bool_) & above & representable)


def _undisturbed(sums: Sums, acc: DType, exact: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where no term, sum or product on the way can be subnormal in the accumulator."""
    if sums.factor is not None:
        return np.zeros_like(exact)
    length = np.frexp(sums.divisor.astype(np.float64))[1]
    spacing = sums.spacing + sums.exponent - np.where(exact, length - 1, length + acc.digits)
    return np.asarray((sums.subnormal == 0) & (spacing >= acc.emin))


def _overflows(sums: Sums, acc: DType) -> NDArray[np.bool_]:
    # S (1 + n u) beside the largest number, both times 2**digits and on the scale of S.
    grown = as_wide(sums.magnitude) * ((1 << acc.digits) + as_wide(sums.count))
    largest = (1 << acc.digits) - 1
    lift = acc.emax + 1 - sums.exponent
    limit = largest << lift if lift >= 0 else largest >> -lift
    return np.asarray(grown > limit).astype(np.bool_) | (sums.divisor > 1 << min(62, -acc.emin))
