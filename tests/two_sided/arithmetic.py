"""Formats and their rounded operations, as processors have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from windows import Windows

from conformance.dtypes import DTYPES, DType

Array = NDArray[Any]
Rounding = Literal["even", "away", "zero"]

TF32 = DType("tf32", "float", np.dtype("<f4"), np.dtype("<f4"), 11, -126, 127)
"""The 19 bits that tensor cores read of a float32, kept in a float32."""


@dataclass(frozen=True)
class Arithmetic:
    """Sums, products and quotients in one format, each rounded once to nearest even.

    numpy rounds so in f32 and f64, and in f16 and bf16 too: it works in f32, whose 24 digits are
    at least 2p + 2 (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30, 1995).
    With ``flushes`` subnormal operands and results are zero.
    """

    format: DType
    flushes: bool = False

    def load(self, array: Array) -> Array:
        """An array of a narrower type, or of whole numbers, in this format."""
        return self._kept(array.astype(self.format.numpy))

    def add(self, a: Array, b: Array) -> Array:
        return self._kept(a + b)

    def multiply(self, a: Array, b: Array) -> Array:
        return self._kept(a * b)

    def divide(self, a: Array, b: Array) -> Array:
        return self._kept(a / b)

    def _kept(self, array: Array) -> Array:
        assert array.dtype == self.format.numpy
        return flushed(array, self.format) if self.flushes else array


def flushed(array: Array, dtype: DType) -> Array:
    """The array with zeros for the subnormals of its type."""
    tiny = np.abs(array) < dtype.numpy.type(2.0**dtype.emin)
    return np.where(tiny, dtype.numpy.type(0), array)


def narrow(values: NDArray[np.float64], dtype: DType, rounding: Rounding = "even") -> Array:
    """Values of f64 in another type, rounded once: to nearest with ties to even or away, or cut.

    No library is asked for this: ml_dtypes rounds f64 to bf16 by way of f32.
    """
    finite = np.isfinite(values)
    magnitude = np.abs(np.where(finite, values, 0))
    place = np.maximum(np.frexp(magnitude)[1] - dtype.digits, dtype.quantum)
    scaled = np.ldexp(magnitude, -place)
    whole = np.floor(scaled)
    rest = scaled - whole
    if rounding == "even":
        whole += (rest > 0.5) | ((rest == 0.5) & (whole % 2 == 1))
    elif rounding == "away":
        whole += rest >= 0.5
    result = np.ldexp(whole, place)
    limit = (2 - 2.0 ** (1 - dtype.digits)) * 2.0**dtype.emax
    result = np.where(result > limit, limit if rounding == "zero" else np.inf, result)
    return np.where(finite, np.copysign(result, values), values).astype(dtype.numpy)


def fused_mean(windows: Windows, format_: DType) -> NDArray[np.float64]:
    """Each term times the rounded reciprocal of the divisor, added by fused multiply-add.

    Products and sums are whole numbers of the square of the format's smallest subnormal, so each
    step is exact before its one rounding to nearest even. Where a term is not finite the
    operations are numpy's, which are as good there.
    """
    kind = format_.numpy
    terms = windows.terms.astype(kind).reshape(*windows.terms.shape[: 2 + windows.axes], -1)
    reciprocal = kind.type(1) / windows.divisor.astype(kind)
    finite = np.isfinite(terms).all(axis=-1)
    factors = _units(reciprocal, format_)
    whole = _units(np.where(np.isfinite(terms), terms, kind.type(0)), format_)
    rounded = np.frompyfunc(lambda n: _nearest(n, format_), 1, 1)
    total = np.zeros(finite.shape, object)
    for k in range(terms.shape[-1]):
        total = rounded(whole[..., k] * factors + total)
    unit = 1 << (-2 * format_.quantum)
    sums = np.frompyfunc(lambda n: n / unit, 1, 1)(total).astype(np.float64)
    return np.asarray(np.where(finite, sums, terms.astype(np.float64).sum(axis=-1)))


def _units(array: Array, format_: DType) -> Array:
    """Finite values as whole numbers of the smallest subnormal of ``format_``."""
    unit = 1 << -format_.quantum

    def one(value: float) -> int:
        numerator, denominator = value.as_integer_ratio()
        return numerator * unit // denominator

    return np.asarray(np.frompyfunc(one, 1, 1)(array.astype(np.float64).astype(object)), object)


def _nearest(n: int, format_: DType) -> int:
    """``n`` squares of the smallest subnormal, rounded to a number of ``format_``."""
    drop = max(abs(n).bit_length() - format_.digits, -format_.quantum)
    quotient, rest = divmod(n, 1 << drop)
    half = 1 << (drop - 1)
    return (quotient + (rest > half or (rest == half and quotient & 1))) << drop


F16, BF16, F32, F64 = (DTYPES[name] for name in ("f16", "bf16", "f32", "f64"))
