r"""Error bounds of norms.

For one norm let x be its n taps on data of k taps in all, S the sum of \|x\|^p, A the sum of x^p or
of \|x\|^p (then A = S), q the degree of the root, and of the accumulator's format u the unit
roundoff, eta the smallest subnormal and lambda the smallest normal number.

**Powers.** p - 1 products in any order have as many factors 1 + d, \|d\| <= u (Higham, "Accuracy
and Stability of Numerical Algorithms", 2nd edition, SIAM 2002, lemma 3.1); a function ``pow`` that
is right to two units in the last place errs by at most 4u. Both are covered by a = max(p - 1, 4)
factors, and by a eta where a power or a product on its way underflows: then \|x\| < 1, so no later
product enlarges that. With p = 1 nothing is computed, and a = 0.

**The sum** of n terms in any order and with any grouping errs by at most (n - 1) u times the sum of
their magnitudes (Jeannerod and Rump, "Improved error bounds for inner products in floating-point
arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013; an addition that underflows is exact). Many
implementations have only a mean at hand, and multiply it by k: that is a division or a product with
a rounded reciprocal, and a product, b = 3 factors more (none where k is a power of two), and
k eta / 2 where the mean underflows. With g = (1 + (n - 1) u) (1 + u)^(a + b) any of these computes
a B with

    |B - A| <= E = (g - 1) S + g (n a + k) eta.

**The root** is monotone, so that of B lies between those of A - E and A + E. A function ``pow``
gets 1/q, which is rounded where q is no power of two: B^(d/q) with \|d\| <= u is a factor between
exp(-z) and exp(z), z = u \|log B\| / q, and exp(z) <= 1 + z + z^2 where z <= 1. Two units in the
last place make it r = (1 + 4u)(1 + z + z^2) - 1 in all, and a square root or a correctly rounded
one is within. So the computed root lies between those of (A - E)(1 - r)^q and (A + E)(1 + r)^q, and
its relative error is about E / (q S) and r. With q = 1 nothing is computed, and r = 0.

**The last rounding** is monotone: the accepted interval has the values nearest to both ends in T,
computed exactly; where an end is halfway between two values either is accepted.

**Overflow.** Powers leave a format's range long before their root does: 1e30 squared is infinite in
f32. Where g S + g (n a + k) eta exceeds the accumulator's largest number a power or a partial sum
may be infinite. Terms that are not negative then add up to infinity, never to NaN, so the interval
reaches from its lower end to infinity: a norm that avoids the overflow by scaling passes, one that
does not passes too, and all that is too small, or NaN, is refused. Where terms of both signs are
added an infinity of each may make NaN, and the element is not graded at this precision.

**Flushing subnormals** to zero moves B by at most the sum of \|x\|^p over subnormal x, and by
lambda for each of n powers and n - 1 sums and k times for a mean; a result that may be subnormal in
T may also be zero. A power that passes through a flushed product is itself below lambda.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import Array, DType
from conformance.reference.exact import Integers, Ties, as_wide, bit_length
from conformance.reference.mean_bounds import Interval
from conformance.reference.roots import round_root


@dataclass(frozen=True)
class PowerSums:
    """The exact parts of norms, elementwise: integers on the common scale ``2**exponent``.

    ``total`` is A, ``magnitude`` S, ``subnormal`` the same of subnormal taps alone; ``count`` is n
    and ``taps`` k. The root is taken of ``total * factor / divisor``. ``signed`` is whether terms
    may be negative. Arrays broadcast to (N, C, *out).
    """

    total: Integers
    magnitude: Integers
    subnormal: Integers
    count: NDArray[np.int64]
    taps: NDArray[np.int64]
    factor: NDArray[np.int64]
    divisor: NDArray[np.int64]
    exponent: int
    power: int
    root: int
    signed: bool


def interval(sums: PowerSums, dtype: DType, acc: DType, *, flushed: bool) -> Interval:
    """The accepted interval of each norm in ``dtype``, worked out at least in ``acc``."""
    total, magnitude, count, taps, factor = (
        as_wide(a) for a in (sums.total, sums.magnitude, sums.count, sums.taps, sums.factor)
    )
    rounded = 0 if sums.power == 1 else max(sums.power - 1, 4)
    unit = 1 << acc.digits
    # Everything on the scale 2**exponent: g has this many bits after the point.
    scale = acc.digits * (rounded + 4)
    exponent = min(sums.exponent, acc.quantum) - scale
    lift = sums.exponent - exponent - scale
    scaling = as_wide(np.where(taps & (taps - 1) == 0, 0, 3))
    factors = (unit + 1) ** (rounded + scaling) * unit ** (3 - scaling)
    grown = (unit + np.maximum(count - 1, 0)) * factors
    underflows = (count * rounded + taps) << (acc.quantum - exponent - scale)
    some = magnitude > 0
    most = np.where(some, grown * ((magnitude << lift) + underflows), 0)
    centre = total << (lift + scale)
    error = np.where(some, most - (magnitude << (lift + scale)), 0)
    if flushed:
        flushes = (2 * count + taps) << (acc.emin - exponent)
        error = error + np.where(some, (as_wide(sums.subnormal) << (lift + scale)) + flushes, 0)
    lower, upper = (centre - error) * factor, (centre + error) * factor
    if not sums.signed or sums.root % 2 == 0:
        lower, upper = np.maximum(lower, 0), np.maximum(upper, 0)

    def end(which: Integers, *, up: bool, ties: Ties) -> Array:
        """The root of one end, moved away from the middle by the root's own error."""
        grows = (which > 0) == up
        slack, bits = _slack(which, sums, exponent, acc)
        moved = which * np.where(grows, (1 << bits) + slack, (1 << bits) - slack) ** sums.root
        scaled = exponent - bits * sums.root
        return round_root(moved, sums.divisor, scaled, sums.root, dtype, ties=ties)

    lo, hi = end(lower, up=False, ties="down"), end(upper, up=True, ties="up")
    if flushed:
        tiny, zero = dtype.numpy.type(2.0**dtype.emin), dtype.numpy.type(0)
        least, largest = end(lower, up=False, ties="zero"), end(upper, up=True, ties="zero")
        may_vanish = (least < tiny) & (largest > -tiny)
        lo = np.where(may_vanish, np.minimum(lo, zero), lo)
        hi = np.where(may_vanish, np.maximum(hi, zero), hi)
    overflows = np.asarray(most > (unit - 1) << (acc.emax + 1 - acc.digits - exponent), np.bool_)
    if sums.signed:
        return Interval(lo, hi, overflows)
    infinity = dtype.numpy.type(np.inf)
    return Interval(lo, np.where(overflows, infinity, hi), np.zeros_like(overflows))


def _slack(
    which: Integers, sums: PowerSums, exponent: int, acc: DType
) -> tuple[NDArray[np.object_], int]:
    """The factor r of the root of each sum, as an integer on the scale 2**-(second value)."""
    bits = acc.digits + 16
    places = np.atleast_1d(bit_length(np.abs(which)))
    # The sum lies between two neighbouring powers of two; nothing divides it but in faults.
    lengths = np.maximum(np.abs(places + exponent), np.abs(places + exponent - 1))
    slack = np.empty(lengths.shape, object)
    slack.ravel()[:] = [
        _root_error(n, sums.root, acc.digits, bits) for n in lengths.ravel().tolist()
    ]
    return slack.reshape(np.shape(which)), bits


@lru_cache(maxsize=4096)
def _root_error(length: int, root: int, digits: int, bits: int) -> int:
    """r for a number B with \\|log2 B\\| <= ``length``, as an integer on the scale 2**-bits."""
    if root == 1:
        return 0
    unit = Fraction(1, 1 << digits)
    # The natural logarithm of 2 is below 7/10.
    z = Fraction(0) if root & (root - 1) == 0 else min(unit * length * 7 / (10 * root), Fraction(1))
    return ceil(((1 + 4 * unit) * (1 + z + z * z) - 1) * (1 << bits))
