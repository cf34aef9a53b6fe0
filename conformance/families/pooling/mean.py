"""Expected values of means: exact sums, one rounding, accepted intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, converted
from conformance.families.pooling import integer_mean, machine, rounded_answer
from conformance.families.pooling.facts import DataEnvironment
from conformance.families.pooling.rounded_answer import special
from conformance.model import Answer
from conformance.reference.exact import round_ratio
from conformance.reference.mean_bounds import Sums, interval
from conformance.spec.model import OutputSpec


def answer(env: DataEnvironment, output: OutputSpec, open_mask: NDArray[np.bool_]) -> Answer:
    """The mean of each window: its correctly rounded value and the interval accepted."""
    if not env.dtype.is_float:
        return integer_mean.answer(env, output, open_mask)
    sums = exact_sums(env)
    flushed = env["subnormals"] == "flushed"
    found = rounded_answer.answer(
        env,
        output,
        open_mask,
        rounded=lambda name: _rounded(sums, name),
        within=lambda acc: interval(sums, env.dtype, acc, flushed=flushed),
    )
    negative = _negative(env)
    if not negative.any():
        return found
    ends = (found.lo, found.hi), (found.lo_native, found.hi_native)
    (lo, hi), (lo_native, hi_native) = (
        (None, None) if lo is None or hi is None else _swapped(lo, hi, negative) for lo, hi in ends
    )
    return replace(
        found,
        expected=_turned(found.expected, negative),
        rounded=None if found.rounded is None else _turned(found.rounded, negative),
        lo=lo,
        hi=hi,
        lo_native=lo_native,
        hi_native=hi_native,
    )


def values(env: DataEnvironment, dtype: str) -> Array:
    """The mean of each window alone, rounded once from the exact one to ``dtype``.

    Means of integers are of their own type.
    """
    if not env.dtype.is_float:
        return integer_mean.values(env)
    shape = (*env.data.shape[:2], *env.out)
    accumulator = env["accumulator"]
    if accumulator != "exact":
        own = env.dtype if accumulator == "own" else DTYPES[accumulator]
        means = machine.mean_in(env, own).astype(DTYPES[dtype].numpy)
        return _turned(means, _negative(env))
    rounded = round_ratio(
        machine.scaled(env, env.total),
        machine.whole(env, "divisor"),
        env.decoded.exponent,
        DTYPES[dtype],
        ties=machine.TIES.get(env["rounding"], "zero"),
    )
    rounded = np.broadcast_to(rounded, shape)
    means = special(env, shape)(np.ascontiguousarray(rounded), DTYPES[dtype].numpy)
    return _turned(means, _negative(env))


def ends(env: DataEnvironment) -> tuple[Array, Array]:
    """The ends of what the mean may be that is added up in the rule's accumulator, in any order.

    Both are (N, C, *out), in the type of the data: the taps are converted to the accumulator, and
    the mean is rounded there and then converted back. Where the rule ``quotient`` says how a sum is
    divided only the order of the taps is free.
    """
    if not env.dtype.is_float:
        found = integer_mean.values(env)
        return found, found
    own = env.dtype if env["accumulator"] == "own" else DTYPES[env["accumulator"]]
    with np.errstate(all="ignore"):
        data = converted(env.data, own, saturates=env["conversion"] == "saturates")
        taken = env.over(data.astype(env.dtype.numpy))
        shape = (*env.data.shape[:2], *env.out)
        divides = machine.named(env, "quotient") is not None
        sums = exact_sums(taken)
        bounds = interval(_undivided(taken, sums) if divides else sums, own, own, flushed=False)
        write = special(taken, shape)
        # A partial sum may be infinite, by the order of the taps.
        least, most = (
            np.broadcast_to(np.where(bounds.ungraded, own.numpy.type(infinity), end), shape)
            for end, infinity in ((bounds.lo, -np.inf), (bounds.hi, np.inf))
        )
        if divides:
            least, most = (machine.divided(env, end, own) for end in (least, most))
        lo, hi = (write(machine.stored(env, end), env.dtype.numpy) for end in (least, most))
    return _swapped(lo, hi, _negative(env))


def exact_sums(env: DataEnvironment) -> Sums:
    """The sums of each window as integers on one scale, times the rule ``factor``."""
    decoded = env.decoded
    significand = decoded.significand
    magnitude = np.abs(significand)
    count = _product(env["on_data"])
    spacing = env.reduce(_trailing_zeros(significand), np.minimum, 1 << 20)
    some_subnormal = bool(decoded.subnormal.any())
    return Sums(
        total=machine.scaled(env, env.total),
        magnitude=machine.scaled(env, env.reduce(magnitude, np.add, 0)),
        subnormal=(
            machine.scaled(env, env.reduce(np.where(decoded.subnormal, magnitude, 0), np.add, 0))
            if some_subnormal
            else np.zeros((1,) * env.data.ndim, np.int64)
        ),
        count=count,
        divisor=machine.whole(env, "divisor"),
        spacing=np.minimum(spacing, 1 << 12),
        exponent=decoded.exponent,
        factor=machine.scaling(env),
    )


def _undivided(env: DataEnvironment, sums: Sums) -> Sums:
    """The sums alone: divided by 1, and without the rule ``factor``."""
    magnitude = np.abs(env.decoded.significand)
    tiny = np.where(env.decoded.subnormal, magnitude, 0)
    return replace(
        sums,
        total=env.total,
        magnitude=env.reduce(magnitude, np.add, 0),
        subnormal=env.reduce(tiny, np.add, 0),
        divisor=np.ones_like(sums.divisor),
        factor=None,
    )


def _negative(env: DataEnvironment) -> NDArray[np.bool_]:
    """Where the divisor is below 0: such a mean is minus that of the same divisor above 0."""
    return np.asarray(env["divisor"]) < 0


def _turned(means: Array, negative: NDArray[np.bool_]) -> Array:
    return np.where(negative, -means, means) if negative.any() else means


def _swapped(lo: Array, hi: Array, negative: NDArray[np.bool_]) -> tuple[Array, Array]:
    """The ends of intervals, each turned about 0 where the divisor is negative."""
    if not negative.any():
        return lo, hi
    return np.where(negative, -hi, lo), np.where(negative, -lo, hi)


def _rounded(sums: Sums, dtype: str) -> Array:
    return round_ratio(sums.total, sums.divisor, sums.exponent, DTYPES[dtype])


def _product(per_axis: tuple[NDArray[np.int64], ...]) -> NDArray[np.int64]:
    product = np.ones((1,) * len(per_axis), np.int64)
    for one in per_axis:
        product = product * one
    return product


def _trailing_zeros(integers: NDArray[Any]) -> NDArray[np.int64]:
    """The exponent of the largest power of two that divides each integer; huge for 0."""
    lowest = integers & -integers
    if lowest.dtype == object:
        lengths = np.frompyfunc(int.bit_length, 1, 1)(lowest).astype(np.int64)
    else:
        lengths = np.frexp(lowest.astype(np.float64))[1].astype(np.int64)
    return np.where(lengths == 0, 1 << 20, lengths - 1)
