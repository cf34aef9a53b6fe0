"""Machine arithmetic of means and maxima: rules on how, not what, is computed.

A specification leaves these rules at their defaults, under which a result is rounded once from
the exact one. Faults and dialects choose others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType, converted, narrowed
from conformance.families.pooling.facts import DataEnvironment, flat_planes
from conformance.reference.exact import Ties, as_wide

RECIPROCAL = "_reciprocal"
"""How the rule ``quotient`` ends where a sum is multiplied by one over its divisor."""

TIES: Mapping[str, Ties] = {"nearest": "even", "up_from_odd": "odd"}
"""How exact results are rounded by the rule ``rounding``; by its others toward zero."""

UNWRITTEN = {"zero": 0.0, "not_a_number": np.nan, "minus_infinity": -np.inf}
"""What elements hold that are not written, by the rule ``unwritten``."""


def named(env: DataEnvironment, rule: str) -> DType | None:
    """The type that a rule names; None for ``exact``."""
    name = str(env[rule]).removesuffix(RECIPROCAL)
    return env.dtype if name == "own" else DTYPES.get(name)


def mean_in(env: DataEnvironment, accumulator: DType) -> Array:
    """The mean of each window, its taps added one by one in ``accumulator``: (N, C, *out).

    The sum is divided in ``accumulator`` too, and then rounded to the type of the data.
    """
    return stored(env, quotient_in(env, accumulator))


def stored(env: DataEnvironment, values: Array) -> Array:
    """Floating-point results in the type of the data, as the rule ``rounding`` says."""
    return narrowed(values, env.dtype, env["rounding"])


def quotient_in(env: DataEnvironment, accumulator: DType) -> Array:
    """The mean of each window: its taps are added one by one in ``accumulator``, and divided in it
    or in the type that the rule ``quotient`` names."""
    with np.errstate(all="ignore"):
        return divided(env, _added(env, _converted(env, accumulator)), accumulator)


def divided(env: DataEnvironment, total: Array, accumulator: DType) -> Array:
    """What was added up in ``accumulator``, divided there or as the rule ``quotient`` says.

    It is in the type in which it was divided, and (N, C, *out).
    """
    dtype = named(env, "quotient") or accumulator
    with np.errstate(all="ignore"):
        total = total.astype(dtype.numpy)
        divisor = whole(env, "divisor").astype(dtype.numpy)
        if env["quotient"].endswith(RECIPROCAL):
            found = np.asarray(total * (dtype.numpy.type(1) / divisor))
        else:
            found = np.asarray(total / divisor)
        factor = scaling(env)
        return found if factor is None else np.asarray(found * factor.astype(dtype.numpy))


def power_sum_in(env: DataEnvironment, accumulator: DType) -> Array:
    """What the root is taken of, worked out in ``accumulator``, in that type: (N, C, *out).

    Powers are multiplied out and added one by one.
    """
    with np.errstate(all="ignore"):
        data = _converted(env, accumulator)
        if env["powers_of"] == "magnitudes":
            data = np.abs(data)
        powers = data
        for _ in range(env["power"] - 1):
            powers = powers * data
        scaled = _added(env, powers) / whole(env, "divisor").astype(accumulator.numpy)
        return np.asarray(scaled * whole(env, "factor").astype(accumulator.numpy))


def _converted(env: DataEnvironment, accumulator: DType) -> Array:
    return converted(env.data, accumulator, saturates=env["conversion"] == "saturates")


def whole(env: DataEnvironment, rule: str) -> NDArray[np.int64]:
    """What a rule gives as a divisor or factor, without its sign: at least 1.

    An empty window whose padding does not count has a divisor of 0, and no mean; the
    specification leaves it open.
    """
    return np.maximum(np.abs(np.asarray(env[rule], np.int64)), 1)


def scaling(env: DataEnvironment) -> NDArray[np.int64] | None:
    """What the rule ``factor`` gives, at least 1; None where it multiplies nothing."""
    if isinstance(env["factor"], int) and env["factor"] == 1:
        return None  # what almost every rule says, soon found
    factor = whole(env, "factor")
    return None if (factor == 1).all() else factor


def scaled(env: DataEnvironment, sums: NDArray[Any]) -> NDArray[Any]:
    """Exact sums times the rule ``factor``, in Python's integers where that is more than 1."""
    factor = scaling(env)
    return sums if factor is None else as_wide(sums) * as_wide(factor)


def _added(env: DataEnvironment, terms: Array) -> Array:
    """The terms of each window, of one type, added one by one in it: (N, C, *out)."""
    flat, counted = env.table
    taken = flat_planes(terms)[:, :, flat]
    if env["nan"] == "ignored":
        counted = counted & (taken == taken)
    taken = np.where(counted, taken, terms.dtype.type(0))
    if not taken.shape[-1]:
        return np.zeros(taken.shape[:-1], terms.dtype)
    added = np.add.accumulate(taken, axis=-1, dtype=terms.dtype)[..., -1]
    return np.asarray(added + terms.dtype.type(0))  # a sum begins with 0, so it is never -0


def over_zero(env: DataEnvironment, values: Array) -> Array:
    """Sums divided by 0 where the rule ``zero_divisor`` says that they are; and NaN where every
    term was a NaN that is left out of the sum and of what divides it.

    ``values`` are such sums where the divisor is 0, since they were divided by 1.
    """
    if env["reduce"] == "max" or values.dtype.kind in "iu":
        return values
    if env["zero_divisor"] == "divides":
        zero = values.dtype.type(0)
        with np.errstate(all="ignore"):
            values = np.where(np.asarray(env["divisor"]) == 0, values / zero, values)
    if env["nan"] != "ignored":
        return values
    lost = (np.asarray(env["divisor"]) == 0) & (np.asarray(env["nan_taps"]) > 0)
    return np.where(lost, values.dtype.type(np.nan), values)


def without_infinities(env: DataEnvironment, values: Array) -> Array:
    """Values as the rule ``infinities`` leaves them; integers as they are."""
    rule = env["infinities"]
    if rule == "kept" or values.dtype.kind in "iu":
        return values
    infinite = np.isinf(values)
    if rule == "not_a_number":
        return np.where(infinite, values.dtype.type(np.nan), values)
    dtype = next(row for row in DTYPES.values() if row.numpy == values.dtype)
    largest = dtype.from_ordinals(np.asarray([dtype.infinity - 1]))[0]
    return np.where(infinite, np.copysign(largest, values), values)


def without_subnormals(env: DataEnvironment, values: Array) -> Array:
    """Values as the rule ``subnormals`` leaves them; integers as they are."""
    if env["subnormals"] == "kept" or values.dtype.kind in "iu":
        return values
    dtype = next(row for row in DTYPES.values() if row.numpy == values.dtype)
    tiny = np.abs(dtype.ordinals(values)) < 1 << (dtype.digits - 1)
    return np.where(tiny, values.dtype.type(0), values)


def placed(env: DataEnvironment, outputs: Array) -> Array:
    """Each output element as ``image``, ``channel``, ``written`` and ``unwritten`` leave it.

    ``outputs`` and the result are (N, C, *out).
    """
    result = outputs
    if env["image"] is not env["n"] or env["channel"] is not env["c"]:
        image, channel = (
            np.clip(np.asarray(env[name]), 0, outputs.shape[axis] - 1)
            for axis, name in enumerate(("image", "channel"))
        )
        places = np.indices(outputs.shape, sparse=True)
        result = outputs[(np.broadcast_to(image, outputs.shape), channel, *places[2:])]
    if env["written"] is not True:
        written: NDArray[np.bool_] = np.asarray(env["written"])
        rule = 0 if result.dtype.kind in "iu" else UNWRITTEN[env["unwritten"]]
        result = np.where(written, result, result.dtype.type(rule))
    return result
