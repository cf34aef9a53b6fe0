"""Expected values of integer means: the exact mean, rounded as the rules say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import Array, DType, converted
from conformance.families.pooling import machine
from conformance.families.pooling.facts import DataEnvironment
from conformance.families.pooling.rounded_answer import open_bits
from conformance.model import Answer
from conformance.reference.exact import as_wide
from conformance.spec.model import OutputSpec


def answer(env: DataEnvironment, output: OutputSpec, open_mask: NDArray[np.bool_]) -> Answer:
    """The mean of each window; no other is accepted."""
    found = values(env)
    return Answer(output.name, env.dtype.name, found, open=open_bits(open_mask, found.shape))


def values(env: DataEnvironment) -> Array:
    """The mean of each window, rounded by the rule ``rounding``: (N, C, *out).

    A sum that the rule ``accumulator`` keeps in a type of integers wraps
    around in it; in a floating-point type it is rounded. So is a quotient in such a type, and then
    again to the nearest whole number that the type of the data has.
    """
    total, negative = env.total, np.asarray(env["divisor"]) < 0
    accumulator, quotient = machine.named(env, "accumulator"), machine.named(env, "quotient")
    if accumulator is not None and quotient is not None and quotient.is_float:
        means = np.rint(machine.quotient_in(env, accumulator))
        means = np.where(negative, -means, means)
        return converted(means, env.dtype, saturates=env["conversion"] == "saturates")
    if accumulator is not None:
        total = _wrapped(total, accumulator).astype(np.int64)
    total = machine.scaled(env, np.where(negative, -total, total))
    rounded = _rounded(as_wide(total), as_wide(machine.whole(env, "divisor")), env["rounding"])
    shape = (*env.data.shape[:2], *env.out)
    return np.broadcast_to(_wrapped(rounded, env.dtype), shape).copy()


def _rounded(total: Array, divisor: Array, rounding: str) -> Array:
    """The quotients as whole numbers; all are Python's integers."""
    down = total // divisor
    rest = total - down * divisor
    if rounding == "down":
        return down
    if rounding == "toward_zero":
        return down + ((total < 0) & (rest != 0))
    half = 2 * rest == divisor
    up = total > 0 if rounding == "away" else down % 2 == 1
    return down + np.where(half, up, 2 * rest > divisor).astype(np.bool_)


def _wrapped(integers: Array, dtype: DType) -> Array:
    """Integers as a type of them keeps them, which drops the bits that it has not."""
    low = as_wide(np.asarray(integers)) & ((1 << (dtype.digits + 1)) - 1)
    return low.astype(dtype.code).view(dtype.numpy)
