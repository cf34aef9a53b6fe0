"""Answers for averages: exact sums, one rounding, accepted intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, converted
from conformance.model import Answer
from conformance.reference import bounded, machine, whole
from conformance.reference.bounded import special
from conformance.reference.bounds import Sums, interval
from conformance.reference.exact import Ties, round_ratio
from conformance.reference.facts import DataEnvironment
from conformance.spec.model import OutputSpec


def answer(env: DataEnvironment, output: OutputSpec, open_mask: NDArray[np.bool_]) -> Answer:
    """The mean of each window: its correctly rounded value and the interval accepted."""
    if not env.dtype.is_float:
        return whole.answer(env, output, _divisor(env), open_mask)
    sums = exact_sums(env)
    flushed = env["subnormals"] == "flushed"
    return bounded.answer(
        env,
        output,
        open_mask,
        rounded=lambda name: _rounded(sums, name),
        within=lambda acc: interval(sums, env.dtype, acc, flushed=flushed),
    )


def values(env: DataEnvironment, dtype: str) -> Array:
    """The mean of each window alone, rounded once from the exact one to ``dtype``.

    Means of integers are of their own type.
    """
    if not env.dtype.is_float:
        return whole.values(env, _divisor(env))
    shape = (*env.data.shape[:2], *env.out)
    accumulator = env["accumulator"]
    if accumulator != "exact":
        own = env.dtype if accumulator == "own" else DTYPES[accumulator]
        return machine.mean_in(env, own).astype(DTYPES[dtype].numpy)
    ties: Ties = "even" if env["rounding"] == "nearest" else "zero"
    rounded = round_ratio(env.total, _divisor(env), env.decoded.exponent, DTYPES[dtype], ties=ties)
    rounded = np.broadcast_to(rounded, shape)
    return special(env, shape)(np.ascontiguousarray(rounded), DTYPES[dtype].numpy)


def ends(env: DataEnvironment) -> tuple[Array, Array]:
    """The ends of what the mean may be that is added up in the rule's accumulator, in any order.

    Both are (N, C, *out), in the type of the data: the taps are converted to the accumulator, and
    the mean is rounded there and then converted back.
    """
    if not env.dtype.is_float:
        found = whole.values(env, _divisor(env))
        return found, found
    own = env.dtype if env["accumulator"] == "own" else DTYPES[env["accumulator"]]
    with np.errstate(all="ignore"):
        data = converted(env.data, own, saturates=env["conversion"] == "saturates")
        taken = env.over(data.astype(env.dtype.numpy))
        shape = (*env.data.shape[:2], *env.out)
        bounds = interval(exact_sums(taken), own, own, flushed=False)
        write = special(taken, shape)
        # A partial sum may be infinite, by the order of the taps.
        least, most = (
            np.broadcast_to(np.where(bounds.ungraded, own.numpy.type(infinity), end), shape)
            for end, infinity in ((bounds.lo, -np.inf), (bounds.hi, np.inf))
        )
        lo, hi = (write(end.astype(env.dtype.numpy), env.dtype.numpy) for end in (least, most))
    return lo, hi


def exact_sums(env: DataEnvironment) -> Sums:
    """The sums of each window as integers on one scale."""
    decoded = env.decoded
    significand = decoded.significand
    magnitude = np.abs(significand)
    count = _product(env["on_data"])
    spacing = env.reduce(_trailing_zeros(significand), np.minimum, 1 << 20)
    some_subnormal = bool(decoded.subnormal.any())
    return Sums(
        total=env.total,
        magnitude=env.reduce(magnitude, np.add, 0),
        subnormal=(
            env.reduce(np.where(decoded.subnormal, magnitude, 0), np.add, 0)
            if some_subnormal
            else np.zeros((1,) * env.data.ndim, np.int64)
        ),
        count=count,
        divisor=_divisor(env),
        spacing=np.minimum(spacing, 1 << 12),
        exponent=decoded.exponent,
    )


def _divisor(env: DataEnvironment) -> NDArray[np.int64]:
    """What each sum is divided by: 1 for an element that has no divisor.

    That is an empty window whose padding does not count, which the specification leaves open.
    """
    return np.maximum(np.asarray(env["divisor"], dtype=np.int64), 1)


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
