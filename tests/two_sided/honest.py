"""Honest ways to compute a mean: orders of summation, ways to divide, formats, roundings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from arithmetic import F32, Arithmetic, Rounding, flushed, fused_mean, narrow
from numpy.typing import NDArray
from windows import Windows, asked

from conformance.dtypes import DTYPES, DType

Array = NDArray[Any]
Order = Callable[[Array, Arithmetic], Array]
"""Adds the last axis of an array up, in some order."""


def forward(terms: Array, arithmetic: Arithmetic) -> Array:
    total = terms[..., 0]
    for k in range(1, terms.shape[-1]):
        total = arithmetic.add(total, terms[..., k])
    return total


def backward(terms: Array, arithmetic: Arithmetic) -> Array:
    return forward(terms[..., ::-1], arithmetic)


def shuffled(terms: Array, arithmetic: Arithmetic) -> Array:
    """A random order, the same for all windows of an array."""
    places = np.random.default_rng(1).permutation(terms.shape[-1])
    return forward(terms[..., places], arithmetic)


def pairwise(terms: Array, arithmetic: Arithmetic) -> Array:
    while terms.shape[-1] > 1:
        terms = _padded(terms, 2)
        terms = arithmetic.add(terms[..., ::2], terms[..., 1::2])
    return terms[..., 0]


def lanes(width: int) -> Order:
    """As a vector unit adds: element i to lane i modulo ``width``, the lanes at the end."""

    def order(terms: Array, arithmetic: Arithmetic) -> Array:
        terms = _padded(terms, width)
        rows = terms.reshape(*terms.shape[:-1], -1, width)
        return pairwise(forward(np.moveaxis(rows, -2, -1), arithmetic), arithmetic)

    return order


def kahan(terms: Array, arithmetic: Arithmetic) -> Array:
    """Compensated summation (Kahan, 1965); without compensation where a sum is not finite."""
    total = terms[..., 0]
    lost = np.zeros_like(total)
    for k in range(1, terms.shape[-1]):
        term = arithmetic.add(terms[..., k], -lost)
        grown = arithmetic.add(total, term)
        lost = arithmetic.add(arithmetic.add(grown, -total), -term)
        total = grown
    return np.where(np.isfinite(total), total, forward(terms, arithmetic))


ORDERS: dict[str, Order] = {
    "forward": forward,
    "backward": backward,
    "shuffled": shuffled,
    "pairwise": pairwise,
    "4 lanes": lanes(4),
    "8 lanes": lanes(8),
    "16 lanes": lanes(16),
    "kahan": kahan,
}

MOST_FUSED = 1 << 14
"""Questions of more terms are not fused: that takes exact arithmetic, which is slow in Python."""

Scaling = Literal["divided", "times the reciprocal", "scaled first", "divided first"]
SCALINGS: tuple[Scaling, ...] = ("divided", "times the reciprocal", "scaled first", "divided first")


def mean(windows: Windows, order: Order, scaling: Scaling, arithmetic: Arithmetic) -> Array:
    """The mean of each window in the format of ``arithmetic``: (N, C, *out)."""
    terms = arithmetic.load(_flat(windows))
    # By way of f32: whole numbers below 2**24 are exact there, and bf16 is rounded once from it.
    divisor = arithmetic.load(windows.divisor.astype(np.float32))
    factor = arithmetic.divide(np.ones_like(divisor), divisor)
    if scaling == "divided":
        return arithmetic.divide(order(terms, arithmetic), divisor)
    if scaling == "times the reciprocal":
        return arithmetic.multiply(order(terms, arithmetic), factor)
    if scaling == "scaled first":
        return order(arithmetic.multiply(terms, factor[..., None]), arithmetic)
    return order(arithmetic.divide(terms, divisor[..., None]), arithmetic)


def axis_by_axis(windows: Windows, order: Order, arithmetic: Arithmetic) -> Array:
    """Sums along the last axis, then along the one before it, and so on; divided at the end.

    Where the divisor of a window is the product of the taps on data of its axes, and all of these
    are powers of two, each axis is divided by its own as soon as it is added up.
    """
    counts = np.broadcast_arrays(*windows.counts, windows.divisor)[:-1]
    apart = np.prod(counts, axis=0) == windows.divisor
    for count in counts:
        apart &= (count & (count - 1)) == 0
    total = arithmetic.load(windows.terms)
    for axis in reversed(range(windows.axes)):
        total = order(total, arithmetic)
        early = arithmetic.load(np.where(apart, counts[axis], 1).astype(np.float32))
        total = arithmetic.divide(total, early.reshape(*early.shape, *(1,) * axis))
    late = arithmetic.load(np.where(apart, 1, windows.divisor).astype(np.float32))
    return arithmetic.divide(total, late)


Place = Literal["inputs", "sums", "results"]
Flushes = frozenset[Place]


@dataclass(frozen=True)
class Evaluation:
    """A backend for means. Sums are kept in ``least``, or the element type if that is wider.

    ``least`` None keeps them in the element type whatever it is. The result is rounded to the
    element type by ``rounding``, with ``by_f32`` to f32 first. ``flushes`` says where subnormal
    numbers are replaced by zero.
    """

    order: str = "forward"
    scaling: Scaling | Literal["fused", "axis by axis"] = "divided"
    least: DType | None = F32
    rounding: Rounding = "even"
    by_f32: bool = False
    flushes: Flushes = frozenset()

    def __call__(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        return [self.answer(asked(op, inputs, attributes))]

    def answer(self, windows: Windows) -> Array:
        """The output for some windows, in the element type."""
        with np.errstate(all="ignore"):
            if "inputs" in self.flushes:
                windows = replace(windows, terms=flushed(windows.terms, windows.dtype))
            values = self.computed(windows).astype(np.float64)
            if self.by_f32 and windows.dtype.digits < F32.digits:
                values = values.astype(np.float32).astype(np.float64)
            result = narrow(values, windows.dtype, self.rounding)
            return flushed(result, windows.dtype) if "results" in self.flushes else result

    def computed(self, windows: Windows) -> Array:
        """The mean of each window before the last rounding, in the accumulator or f64."""
        dtype = windows.dtype
        format_ = dtype if self.least is None or self.least.digits < dtype.digits else self.least
        arithmetic = Arithmetic(format_, "sums" in self.flushes)
        if self.scaling == "fused":
            if windows.terms.size <= MOST_FUSED:
                return fused_mean(windows, format_)
            return mean(windows, ORDERS[self.order], "times the reciprocal", arithmetic)
        if self.scaling == "axis by axis":
            return axis_by_axis(windows, ORDERS[self.order], arithmetic)
        return mean(windows, ORDERS[self.order], self.scaling, arithmetic)

    def keeping(self, least: str | None, rounding: Rounding = "even") -> Evaluation:
        """The same with sums kept in another format."""
        return replace(self, least=DTYPES[least] if least else None, rounding=rounding)


EVALUATIONS: dict[str, Evaluation] = {
    **{
        f"{order}, {scaling}": Evaluation(order, scaling)
        for order in ORDERS
        for scaling in SCALINGS
        if order != "kahan" or scaling == "divided"
    },
    "axis by axis": Evaluation("forward", "axis by axis"),
    "axis by axis, pairwise": Evaluation("pairwise", "axis by axis"),
    "fused": Evaluation("forward", "fused"),
}


def _flat(windows: Windows) -> Array:
    return windows.terms.reshape(*windows.terms.shape[: 2 + windows.axes], -1)


def _padded(terms: Array, width: int) -> Array:
    """``terms`` with zeros at the end up to a multiple of ``width``; they change no sum."""
    more = -terms.shape[-1] % width
    zeros = np.zeros((*terms.shape[:-1], more), terms.dtype)
    return np.concatenate([terms, zeros], axis=-1) if more else terms
