"""Families of inputs of which some may tell two ways of adding or dividing apart.

Inputs of more than ``RAGGED`` numbers are made of at most ``RUNS`` runs of one number each, so that
they can be written down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType
from conformance.generate.chance import Chance

Family = Callable[[DType, int, Chance], Array]

RAGGED, RUNS = 64, 32

EXPONENTS = {"bf16": (-24, 24), "f32": (-30, 30), "f64": (-60, 60)}


def _exponents(kind: DType) -> tuple[int, int]:
    """Return the exponents of numbers whose sums are normal and finite."""
    return EXPONENTS.get(kind.name, ((kind.emin + 2) // 2, kind.emax - 2))


def _runs(n: int, chance: Chance) -> NDArray[np.int64]:
    """The lengths of the runs of one input."""
    if n <= RAGGED:
        return np.ones(n, np.int64)
    ends = np.unique(chance.below(n, RUNS - 1))
    return np.diff(np.concatenate([[0], ends[ends > 0], [n]]))


def _numbers(kind: DType, exponents: Any, signs: Any, chance: Chance) -> Array:
    """Numbers of random significands with these exponents and signs, exact in the type."""
    count = len(exponents)
    top = 1 << (kind.digits - 1)
    significands = top + chance.below(top, count)
    return np.asarray(
        np.ldexp(signs * significands.astype(np.float64), exponents - kind.digits + 1)
    )


def _of(kind: DType, values: Array, lengths: NDArray[np.int64]) -> Array:
    return np.repeat(values, lengths).astype(kind.numpy)


def wide(kind: DType, n: int, chance: Chance) -> Array:
    """Numbers of either sign and of most magnitudes."""
    lengths = _runs(n, chance)
    low, high = _exponents(kind)
    exponents = low + chance.below(high - low, len(lengths))
    return _of(kind, _numbers(kind, exponents, _signs(len(lengths), chance), chance), lengths)


def near(kind: DType, n: int, chance: Chance) -> Array:
    """Numbers of one magnitude, some with another sign or all with the same."""
    lengths = _runs(n, chance)
    count = len(lengths)
    signs = _signs(count, chance) if chance.below(2, 1)[0] else np.ones(count)
    return _of(kind, _numbers(kind, chance.below(2, count), signs, chance), lengths)


def cancelling(kind: DType, n: int, chance: Chance) -> Array:
    """Small numbers with a few large ones among them, which cancel each other."""
    low, high = _exponents(kind)
    digits = (8, 11, 24, 53)[int(chance.below(4, 1)[0])]
    gap = min(digits - 2 + int(chance.below(7, 1)[0]), high - low + 4)
    small = max(high + 1 - gap, low - 4) if kind.name == "f16" else -int(chance.below(4, 1)[0])
    lengths = _runs(n, chance)
    count = len(lengths)
    exponents = np.full(count, small) if chance.below(2, 1)[0] else small + chance.below(2, count)
    values = _numbers(kind, exponents, np.ones(count), chance)
    if chance.below(2, 1)[0]:
        values = np.full(count, np.ldexp(1.0, small))
    found = np.repeat(values, lengths)
    pairs = 1 + int(chance.below(min(4, n // 2), 1)[0])
    places = np.argsort(chance.below(1 << 40, n), kind="stable")[: 2 * pairs]
    found[places] = np.resize([1.0, -1.0], 2 * pairs) * np.ldexp(1.0, small + gap)
    return found.astype(kind.numpy)


def _top(kind: DType) -> int:
    """The largest exponent that is drawn: what a conversion to f32 makes of more is not asked."""
    return min(kind.emax, DTYPES["f32"].emax)


def large(kind: DType, n: int, chance: Chance) -> Array:
    """Numbers whose sum is beyond the range of the type, and whose mean is not."""
    lengths = _runs(n, chance)
    exponents = _top(kind) - 1 + chance.below(2, len(lengths))
    return _of(kind, _numbers(kind, exponents, np.ones(len(lengths)), chance), lengths)


def alone(kind: DType, n: int, chance: Chance) -> Array:
    """One number among zeros, whose sum is itself in every order."""
    found = np.zeros(n)
    # High enough that a mean of thousands is a normal number.
    exponent = np.array([_top(kind) - 2 - int(chance.below(2, 1)[0])])
    found[int(chance.below(n, 1)[0])] = _numbers(kind, exponent, np.ones(1), chance)[0]
    return found.astype(kind.numpy)


def halfway(kind: DType, n: int, chance: Chance) -> Array:
    """Numbers whose mean lies halfway between two of the type, or hardly beside: there it shows
    whether a result is rounded twice, and how well it was divided before.
    """
    bits = kind.digits + 1
    mean = (1 << (bits - 1)) + 2 * int(chance.below(1 << (bits - 2), 1)[0]) + 1
    beside = n > 2 and int(chance.below(3, 1)[0]) > 0
    # All but one or two are alike and even, so that the type has them; one makes up for the rest.
    count = n - 1 - beside
    if count < 1:
        return near(kind, n, chance)
    alike = n * mean // count
    step = 2
    while alike >= 1 << (bits - 1) and alike // step >= 1 << kind.digits:
        step *= 2
    alike -= alike % step
    found = np.full(n, float(alike))
    places = np.argsort(chance.below(1 << 40, n), kind="stable")
    found[places[0]] = float(n * mean - count * alike)
    if beside:
        odd = 1 + int(chance.below(3, 1)[0])
        sign = 1 - 2 * int(chance.below(2, 1)[0])
        found[places[1]] = sign * np.ldexp(float(odd), -int(chance.below(12, 1)[0]))
    found = np.ldexp(found, 8 - bits)
    exact = found.astype(kind.numpy)
    return exact if np.array_equal(exact.astype(np.float64), found) else near(kind, n, chance)


def _signs(count: int, chance: Chance) -> Array:
    return np.asarray(1.0 - 2.0 * chance.below(2, count))


FAMILIES: tuple[Family, ...] = (cancelling, near, wide, halfway, cancelling, alone, large, halfway)


def fractions(kind: DType, n: int, chance: Chance) -> Array:
    """Whole numbers whose mean lies a given part of the way between two others."""
    part = (1, 2, n // 2, n // 2, n // 2 + 1, n - 1)[int(chance.below(6, 1)[0])]
    base = int(chance.below(40, 1)[0]) - (20 if kind.kind == "int" else 0)
    found = np.full(n, base, np.int64)
    found[: max(0, min(part, n))] += 1
    return np.roll(found, int(chance.below(n, 1)[0])).astype(kind.numpy)


def full(kind: DType, n: int, chance: Chance) -> Array:
    """Whole numbers whose sums are beyond the type; what rounding may make of its end itself is
    not asked."""
    end = int(np.iinfo(kind.numpy).max)
    lengths = _runs(n, chance)
    values = end // 4 * 3 - chance.below(30, len(lengths))
    sign = -1 if kind.kind == "int" and chance.below(2, 1)[0] else 1
    return np.repeat((sign * values).astype(kind.numpy), lengths)


def digits(kind: DType, n: int, chance: Chance) -> Array:
    """Whole numbers with as many digits as f32 and f64 just lack, as far as the type has them."""
    bits = min((25, 26, 30, 54)[int(chance.below(4, 1)[0])], kind.digits)
    lengths = _runs(n, chance)
    sign = -1 if kind.kind == "int" and chance.below(2, 1)[0] else 1
    rest = chance.below(1 << (bits - 1), len(lengths))
    return np.repeat((sign * ((1 << (bits - 1)) + rest)).astype(kind.numpy), lengths)


INTEGER_FAMILIES: tuple[Family, ...] = (fractions, fractions, digits, full)
