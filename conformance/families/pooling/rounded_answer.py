"""What means and norms share: one rounding of an exact value, and the accepted interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType
from conformance.families.pooling.facts import DataEnvironment
from conformance.model import ALL_OPEN, OPEN_BIT, Answer
from conformance.reference.mean_bounds import Interval, accumulator
from conformance.spec.model import OutputSpec


def answer(
    env: DataEnvironment,
    output: OutputSpec,
    open_mask: NDArray[np.bool_],
    *,
    rounded: Callable[[str], Array],
    within: Callable[[DType], Interval],
    signed: bool = True,
) -> Answer:
    """The answer of one output, from the finite part of each window.

    ``rounded`` gives the exact results rounded once to the named type, ``within`` the interval of
    an accumulator; both broadcast to (N, C, *out). ``signed`` is that of :func:`special`.
    """
    shape = (*env.data.shape[:2], *env.out)
    dtype = env.dtype
    write = special(env, shape, signed=signed)
    narrow = accumulator(dtype, "native")
    standard, native = within(accumulator(dtype, "standard")), within(narrow)
    has_native = narrow != accumulator(dtype, "standard")

    def full(values: Array, name: str = dtype.name) -> Array:
        values = np.broadcast_to(values, shape)
        return write(np.ascontiguousarray(values), DTYPES[name].numpy)

    decided = env.count(env.decoded.nan) > 0
    if signed:
        both = (env.count(env.decoded.posinf) > 0) & (env.count(env.decoded.neginf) > 0)
        decided = decided | both
    decided = np.broadcast_to(decided, shape)
    bits = _open_everywhere(open_mask, shape)
    bits |= np.where(standard.ungraded & ~decided, OPEN_BIT["standard"], 0).astype(np.uint8)
    bits |= np.where(native.ungraded & ~decided, OPEN_BIT["native"], 0).astype(np.uint8)
    return Answer(
        name=output.name,
        dtype=dtype.name,
        expected=full(rounded("f64"), "f64"),
        rounded=full(rounded(dtype.name)),
        lo=full(standard.lo),
        hi=full(standard.hi),
        lo_native=full(native.lo) if has_native else None,
        hi_native=full(native.hi) if has_native else None,
        open=bits if bits.any() else None,
    )


def open_bits(open_mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """The mask of an answer whose elements are open at every precision, or None if none is."""
    bits = _open_everywhere(open_mask, shape)
    return bits if bits.any() else None


def _open_everywhere(open_mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    return np.where(np.broadcast_to(open_mask, shape), ALL_OPEN, 0).astype(np.uint8)


def special(
    env: DataEnvironment, shape: tuple[int, ...], *, signed: bool = True
) -> Callable[[Array, np.dtype[Any]], Array]:
    """A function that writes NaN and infinities over the results of windows that hold them.

    NaN gives NaN, infinities of both signs NaN, one of them itself; padding adds nothing. Where
    terms are not ``signed`` every infinity is positive.
    """
    decoded = env.decoded
    infinite = env["infinities"] != "ignored" and (decoded.posinf.any() or decoded.neginf.any())
    if not infinite and (env["nan"] == "ignored" or not decoded.nan.any()):
        return lambda array, _dtype: array
    positive = np.broadcast_to(env.count(decoded.posinf) > 0, shape)
    negative = np.broadcast_to(env.count(decoded.neginf) > 0, shape)
    if not signed:
        positive, negative = positive | negative, np.zeros_like(negative)
    keeps = env["infinities"] != "ignored"
    nan = positive & negative & keeps
    if env["nan"] == "propagates":
        nan = nan | np.broadcast_to(env.count(decoded.nan) > 0, shape)

    def write(array: Array, dtype: np.dtype[Any]) -> Array:
        if keeps:
            array = np.where(positive, dtype.type(np.inf), array)
            array = np.where(negative, dtype.type(-np.inf), array)
        return np.where(nan, dtype.type(np.nan), array)

    return write
