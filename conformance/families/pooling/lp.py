"""Expected values of norms: the root of an exact sum of powers, with accepted intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType, converted
from conformance.families.pooling import machine, rounded_answer
from conformance.families.pooling.facts import DataEnvironment
from conformance.families.pooling.rounded_answer import special
from conformance.model import Answer
from conformance.reference.exact import NARROW_BITS, Integers, Ties, as_wide, decode
from conformance.reference.mean_bounds import Interval
from conformance.reference.norm_bounds import PowerSums, interval
from conformance.reference.roots import round_root
from conformance.spec.model import OutputSpec


def answer(env: DataEnvironment, output: OutputSpec, open_mask: NDArray[np.bool_]) -> Answer:
    """The norm of each window: its correctly rounded value and the interval accepted."""
    sums = power_sums(env)
    flushed = env["subnormals"] == "flushed"
    return rounded_answer.answer(
        env,
        output,
        open_mask,
        rounded=lambda name: _rounded(env, sums.total, sums, DTYPES[name]),
        within=lambda acc: _real(env, interval(sums, env.dtype, acc, flushed=flushed), sums),
        signed=sums.signed,
    )


def values(env: DataEnvironment, dtype: str) -> Array:
    """The norm of each window alone, rounded once from the exact one to ``dtype``."""
    shape = (*env.data.shape[:2], *env.out)
    rule = env["accumulator"]
    if rule != "exact":
        acc = env.dtype if rule == "own" else DTYPES[rule]
        return machine.stored(env, _root_in(env, acc)).astype(DTYPES[dtype].numpy)
    sums = power_sums(env)
    ties = machine.TIES.get(env["rounding"], "zero")
    rounded = np.broadcast_to(_rounded(env, sums.total, sums, DTYPES[dtype], ties=ties), shape)
    write = special(env, shape, signed=sums.signed)
    return write(np.ascontiguousarray(rounded), DTYPES[dtype].numpy)


def ends(env: DataEnvironment) -> tuple[Array, Array]:
    """The ends of what the norm may be that is worked out in the rule's accumulator, in any order.

    Both are (N, C, *out), in the type of the data.
    """
    own = env.dtype if env["accumulator"] == "own" else DTYPES[env["accumulator"]]
    with np.errstate(all="ignore"):
        data = converted(env.data, own, saturates=env["conversion"] == "saturates")
        taken = env.over(data.astype(env.dtype.numpy))
        shape = (*env.data.shape[:2], *env.out)
        sums = power_sums(taken)
        bounds = _real(taken, interval(sums, own, own, flushed=False), sums)
        write = special(taken, shape, signed=sums.signed)
        lo, hi = (
            np.broadcast_to(np.where(bounds.ungraded, own.numpy.type(infinity), end), shape)
            for end, infinity in ((bounds.lo, -np.inf), (bounds.hi, np.inf))
        )
        lo, hi = (write(machine.stored(env, end), env.dtype.numpy) for end in (lo, hi))
    return lo, hi


def power_sums(env: DataEnvironment) -> PowerSums:
    """The sums of powers of each window as integers on one scale."""
    decoded, power = env.decoded, env["power"]
    signed = env["powers_of"] == "elements" and power % 2 == 1
    powers = _powers(env, decoded.significand, power)
    magnitudes = np.abs(powers)
    magnitude = env.reduce(magnitudes, np.add, 0)
    tiny = np.where(decoded.subnormal, magnitudes, 0)
    count, taps = (_product(env[name]) for name in ("on_data", "taps"))
    return PowerSums(
        total=env.reduce(powers, np.add, 0) if signed else magnitude,
        magnitude=magnitude,
        subnormal=env.reduce(tiny, np.add, 0) if tiny.any() else np.zeros_like(count),
        count=count,
        taps=taps,
        factor=np.maximum(np.asarray(env["factor"], np.int64), 1),
        divisor=np.maximum(np.asarray(env["divisor"], np.int64), 1),
        exponent=decoded.exponent * power,
        power=power,
        root=env["root"],
        signed=signed,
    )


def _powers(env: DataEnvironment, significands: Integers, power: int) -> Integers:
    """The significands to a power, in Python integers where their sums may outgrow int64."""
    widest = int(np.abs(significands).max(initial=0)).bit_length()
    room = _product(env["taps"]).max(initial=1).item().bit_length()
    if widest * power + room > NARROW_BITS:
        significands = as_wide(significands)
    return significands**power


def _rounded(
    env: DataEnvironment, total: Integers, sums: PowerSums, dtype: DType, *, ties: Ties = "even"
) -> Array:
    """The roots of sums of powers, NaN where a negative sum has none."""
    lost = _without_root(env, total, sums.root)
    numerator = np.where(lost, 0, as_wide(total)) * as_wide(sums.factor)
    roots = round_root(numerator, sums.divisor, sums.exponent, sums.root, dtype, ties=ties)
    return np.where(lost, dtype.numpy.type(np.nan), roots)


def _without_root(env: DataEnvironment, total: Integers, root: int) -> NDArray[np.bool_]:
    """Where a negative sum has no root that is a number."""
    if _is_real(env, root):
        return np.zeros(total.shape, np.bool_)
    return np.asarray(total < 0, np.bool_)


def _is_real(env: DataEnvironment, root: int) -> bool:
    """Whether every sum has a root that is a number."""
    return root == 1 or (root % 2 == 1 and env["negative_root"] == "real")


def _real(env: DataEnvironment, found: Interval, sums: PowerSums) -> Interval:
    """The interval where a root of a negative sum may be no number.

    Where rounding errors decide which side of zero the sum is on, nothing is accepted or refused;
    beside an infinity they decide nothing.
    """
    if not sums.signed or _is_real(env, sums.root):
        return found
    lost = _without_root(env, sums.total, sums.root)
    nan, zero = found.lo.dtype.type(np.nan), found.lo.dtype.type(0)
    infinite = env.count(env.decoded.posinf | env.decoded.neginf) > 0
    undecided = (found.lo < 0) & (found.hi > 0) & ~infinite
    return Interval(
        lo=np.where(lost, nan, np.maximum(found.lo, zero)),
        hi=np.where(lost, nan, found.hi),
        ungraded=found.ungraded | undecided,
    )


def _root_in(env: DataEnvironment, acc: DType) -> Array:
    """The root of what a machine adds up in ``acc``, rounded to nearest there: (N, C, *out)."""
    total = machine.power_sum_in(env, acc)
    parts = decode(total, acc)
    lost = _without_root(env, parts.significand, env["root"])
    numerator = np.where(lost, 0, as_wide(parts.significand))
    roots = round_root(numerator, 1, parts.exponent, env["root"], acc)
    return np.where(lost, acc.numpy.type(np.nan), np.where(np.isfinite(total), roots, total))


def _product(per_axis: tuple[NDArray[np.int64], ...]) -> NDArray[np.int64]:
    product = np.ones((1,) * len(per_axis), np.int64)
    for one in per_axis:
        product = product * one
    return product
