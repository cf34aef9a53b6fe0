"""Non-negative numbers that are only ever rounded upward, far beyond the range of float64.

Bounds are made of these: data of f64 neither overflow nor vanish in them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from conformance.core.exact import FAR, Ball, Exact, Number, lengths
from conformance.core.integers import as_wide
from conformance.dtypes import Array

GROWTH = 1 + 2.0**-50
"""A factor above the error of a few operations of float64."""

ZERO_EXPONENT = -(1 << 40)


class Magnitude:
    """Non-negative numbers ``m * 2**e``, elementwise, with m in [0.5, 1), 0 or infinite."""

    __slots__ = ("e", "m")

    m: NDArray[np.float64]
    e: NDArray[np.int64]

    def __init__(self, m: Any, e: Any = 0) -> None:
        part, exponent = np.frexp(np.where(np.isnan(m), np.inf, m))
        self.m = np.asarray(part)
        self.e = np.where(part == 0, ZERO_EXPONENT, np.asarray(e, np.int64) + exponent)

    @classmethod
    def pair(cls, m: NDArray[np.float64], e: NDArray[np.int64]) -> Magnitude:
        """Return numbers of given parts, which are in form already."""
        result = cls.__new__(cls)
        result.m, result.e = m, e
        return result

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Where the numbers are not zero."""
        return np.asarray(self.m > 0)

    def __mul__(self, other: Magnitude | float | Array) -> Magnitude:
        other = other if isinstance(other, Magnitude) else Magnitude(other)
        with np.errstate(invalid="ignore"):
            m = np.where((self.m == 0) | (other.m == 0), 0.0, self.m * other.m * GROWTH)
        return Magnitude(m, self.e + other.e)

    def __add__(self, other: Magnitude) -> Magnitude:
        e = np.maximum(self.e, other.e)
        return Magnitude((self._at(e) + other._at(e)) * GROWTH, e)

    def __truediv__(self, other: Magnitude) -> Magnitude:
        """Divide by lower bounds; by 0 it is infinite."""
        with np.errstate(all="ignore"):
            m = np.where(self.m == 0, 0.0, self.m / other.m * GROWTH)
        endless = (other.m == 0) & (self.m != 0)
        return Magnitude(np.where(endless, np.inf, m), self.e - np.where(other.m == 0, 0, other.e))

    def less(self, other: Magnitude) -> Magnitude:
        """Return lower bounds of the difference, at least 0.

        Self may be a bit too large, as upper bounds are.
        """
        e = np.maximum(self.e, other.e)
        with np.errstate(invalid="ignore"):
            m = self._at(e) * (1 - 2.0**-44) - other._at(e) * GROWTH
        return Magnitude(np.where(m > 0, m, 0.0), e)

    def total(self, axes: tuple[int, ...], most: int = 0) -> Magnitude:
        """Sum over axes, which stay; room is left for ``most`` terms.

        Sums of integers are the same in any order, so on any processor.
        """
        if not all(self.m.shape[axis] for axis in axes):
            return Magnitude(self.m.sum(axis=axes, keepdims=True))
        e = self.e.max(axis=axes, keepdims=True)
        endless = np.isinf(self.m)
        count = max(most, prod(self.m.shape[axis] for axis in axes))
        bits = min(60 - count.bit_length(), 53)
        scaled = np.ceil(np.ldexp(np.where(endless, 0, self._at(e)), bits)).astype(np.int64)
        size = _integer(np.asarray(scaled.sum(axis=axes, keepdims=True)))
        some = endless.any(axis=axes, keepdims=True)
        return Magnitude(np.where(some, np.inf, size.m), size.e + e - bits)

    def largest(self, axes: tuple[int, ...]) -> Magnitude:
        """Return the largest over axes, which stay with an extent of 1."""
        if not all(self.m.shape[axis] for axis in axes):
            return Magnitude(self.m.sum(axis=axes, keepdims=True))
        e = self.e.max(axis=axes, keepdims=True)
        return Magnitude(self._at(e).max(axis=axes, keepdims=True), e).grown()

    def grown(self) -> Magnitude:
        """Return the numbers, larger by the error of a few operations."""
        return Magnitude(self.m * GROWTH, self.e)

    def order(self) -> NDArray[np.int64]:
        """Return the rank of each number."""
        by_size = np.lexsort([self.m.ravel(), self.e.ravel(), np.isinf(self.m).ravel()])
        order = np.empty(by_size.size, np.int64)
        order[by_size] = np.arange(by_size.size)
        return order.reshape(self.m.shape)

    def exceeds(self, other: Magnitude) -> NDArray[np.bool_]:
        """Return where self may be larger."""
        e = np.maximum(self.e, other.e)
        return np.asarray(self._at(e) > other._at(e))

    def fractions(self) -> NDArray[np.object_]:
        """Return finite numbers as fractions."""
        exponents = np.asarray(self.e).astype(object)
        return np.asarray(_fractions(self.m, exponents), object)

    def each(self, change: Callable[[Array], Array]) -> Magnitude:
        """Make a change to both arrays."""
        return Magnitude.pair(change(self.m), change(self.e))

    def where(self, condition: Any, other: Magnitude) -> Magnitude:
        """Return self where a condition holds, else the other."""
        return Magnitude.pair(
            np.where(condition, self.m, other.m), np.where(condition, self.e, other.e)
        )

    def number(self) -> tuple[Number, NDArray[np.bool_]]:
        """Return the finite numbers exactly, and where they are infinite."""
        endless = np.asarray(np.isinf(self.m))
        finite = (self.m > 0) & ~endless
        low = int(self.e[finite].min()) - 53 if finite.any() else 0
        whole = as_wide(np.asarray((np.where(finite, self.m, 0) * 2.0**53).astype(np.int64)))
        num = np.asarray(whole << np.where(finite, self.e - 53 - low, 0).astype(object), object)
        bits = int(lengths(num).max(initial=1))
        return Number(num, 1, low, bits), endless

    def balls(self) -> Ball:
        """Return the finite numbers as balls without a radius, 0 where they are infinite."""
        return Ball(np.asarray(_dyadics(self.m, self.e), object))

    def _at(self, e: NDArray[np.int64]) -> NDArray[np.float64]:
        """The numbers on a scale of at least their exponents; tiny ones are rounded up."""
        gap = self.e - e
        shifted = np.ldexp(self.m, np.maximum(gap, -1060).astype(np.int32))
        return shifted + np.where((gap < -1000) & (self.m > 0), 2.0**-1000, 0.0)


NOTHING = Magnitude(np.zeros(()))


_fractions = np.frompyfunc(lambda m, e: Fraction(m) * Fraction(2) ** e if m else Fraction(0), 2, 1)


def power_of_two(exponent: Any) -> Magnitude:
    """Return powers of two."""
    return Magnitude(np.ones(np.shape(exponent)), exponent)


_dyadics = np.frompyfunc(
    lambda m, e: arb((fmpz(int(m * 2**53)), int(e) - 53)) if 0 < m < np.inf else arb(0), 2, 1
)


def _upper(ball: arb) -> tuple[float, int]:
    """An upper bound of a magnitude as ``m * 2**e``; what no format reaches is not told apart."""
    if not ball.is_finite():
        return 1.0, 1 << 20
    man, exp = ball.abs_upper().man_exp()
    num = int(man)
    cut = max(num.bit_length() - 53, 0)
    top = num >> cut
    places = max(-FAR, min(FAR, int(exp) + cut))
    return float(top) * (GROWTH if top << cut != num else 1.0), places


_uppers = np.frompyfunc(_upper, 1, 2)


def magnitude(value: Exact) -> Magnitude:
    """Return upper bounds of the magnitudes of numbers, 0 where they are not finite."""
    if isinstance(value, Ball):
        parts = _uppers(value.mid)
        m, e = (np.asarray(part, object) for part in parts)
        return Magnitude(m.astype(np.float64), e.astype(np.int64))
    size = _integer(np.asarray(abs(np.asarray(value.num))))
    size = Magnitude(size.m, size.e + value.exp)
    if isinstance(value.den, int) and value.den == 1:
        return size
    return size / _integer(np.asarray(value.den)).less(NOTHING)


def _integer(ints: Array) -> Magnitude:
    """Whole numbers that are not negative; those of which no set bit is cut off stay exact."""
    if ints.dtype == object:
        cut = np.maximum(lengths(ints) - 53, 0)
        bits = cut.astype(object)
        top = np.asarray(ints >> bits, object)
        grown = np.where((top << bits) != ints, GROWTH, 1.0)
        return Magnitude(top.astype(np.float64) * grown, cut)
    exact = (ints < 1 << 53) | (ints & 1023 == 0)
    return Magnitude(ints.astype(np.float64) * np.where(exact, 1.0, GROWTH))
