"""Patterns of data that fill a tensor, each for a class of bugs.

Filled by integer arithmetic from Philox's raw words, whose stream numpy guarantees (unlike that of
``standard_normal``), so that a case has the same data for ever. Every value is exact in its type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Pattern = Callable[[Words, tuple[int, ...], DType], Array]


def fill(pattern: str, key: int, shape: Sequence[int], dtype: DType) -> Array:
    """Return an array of a pattern.

    The same arguments give the same bits on every machine.
    """
    if dtype.kind == "bool":  # whether a whole number is odd
        return np.asarray(fill(pattern, key, shape, DTYPES["u8"]) % 2 == 1)
    count = prod(shape)
    words = np.random.Philox(key=key).random_raw(2 * max(count, 1)).reshape(2, -1)[:, :count]
    flat = PATTERNS[pattern](words, tuple(shape), dtype)
    return np.ascontiguousarray(flat).reshape(shape)


def can_hold(dtype: DType, pattern: str) -> bool:
    """Return whether a type can hold a pattern: integers have no fractions and no NaN."""
    return pattern not in (WHOLE if dtype.is_float else FRACTIONAL)


def _cast(values: Array, dtype: DType) -> Array:
    """Values that are exact in ``dtype`` and in float64, as an array of it.

    Negative ones are codes in an unsigned type: they have its topmost bit.
    """
    if not dtype.is_float:
        return values.astype(dtype.signed).view(dtype.numpy)
    return values.astype(np.float64).astype(dtype.numpy)


def _different(dtype: DType) -> int:
    """How many different positive integers are exact in a type, few enough for every type."""
    return (1 << min(dtype.digits, 40)) - (not dtype.is_float)


def _shuffled(words: Words, dtype: DType) -> Integers:
    """The integers from 1 in an arbitrary order, each once as long as the type has so many."""
    order = np.argsort(words[0], kind="stable").astype(np.int64)
    return order % _different(dtype) + 1


def _signs(words: Words) -> Integers:
    return 1 - 2 * (words[1] >> np.uint64(63)).astype(np.int64)


def _below(words: Words, bound: int) -> Integers:
    """Integers from 0 to ``bound - 1`` from the second row of words."""
    return ((words[1] >> np.uint64(20)) % np.uint64(bound)).astype(np.int64)


def _marked(words: Words, one_in: int) -> NDArray[np.bool_]:
    """About one element in so many; at least one, and never all of several."""
    marked = _below(words, one_in) == 0
    if marked.size:
        marked[int(np.argmin(words[0]))] = True
    if marked.size > 1:
        marked[int(np.argmax(words[0]))] = False
    return marked


def _significands(words: Words, dtype: DType) -> Integers:
    """Odd integers that use every bit of the type's significand, at most 53."""
    top = np.uint64(1) << np.uint64(dtype.digits - 1)
    kept = words[0] >> np.uint64(64 - dtype.digits)
    return (kept | top | np.uint64(1)).astype(np.int64)


def _small(words: Words, bound: int) -> Integers:
    """Whole numbers from 0 to ``bound`` - 1 from the first row of words."""
    return ((words[0] >> np.uint64(20)) % np.uint64(bound)).astype(np.int64)


def _signs_of(words: Words, dtype: DType) -> Integers:
    """Signs that a type has: all are positive in one without."""
    return np.ones(words.shape[1], np.int64) if dtype.kind == "uint" else _signs(words)


def _scaled(words: Words, dtype: DType, binades: int) -> Array:
    """Numbers of all digits, of so many binades and of both signs."""
    exponent = ((words[1] >> np.uint64(8)) % np.uint64(binades)).astype(np.int64) - binades // 2
    values = (_significands(words, dtype) * _signs(words)).astype(np.float64)
    return np.ldexp(values, (exponent - dtype.digits).astype(np.int32)).astype(dtype.numpy)


def whole(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw small whole numbers: sums of their products are exact in any order."""
    return (_small(words, 5) * _signs_of(words, dtype)).astype(dtype.numpy)


def signs(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw ones, some of them negative."""
    return _signs_of(words, dtype).astype(dtype.numpy)


def fractions(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw numbers of all digits, of three binades."""
    return _scaled(words, dtype, 3)


def binades(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw numbers of all digits, of sixteen binades."""
    return _scaled(words, dtype, 16)


def positive(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw positive numbers of all digits, of eight binades."""
    return np.abs(_scaled(words, dtype, 8))


def halves(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw small halves of both signs, as near to one whole number as to another."""
    return (_small(words, 12) * _signs(words) / 2).astype(dtype.numpy)


def factors(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Odd integers whose products need all digits but a few, which leave room for sums."""
    length = max(1, dtype.digits // 2 - 2)
    values = (words[0] >> np.uint64(64 - length)).astype(np.int64) | 1
    return (values * _signs_of(words, dtype)).astype(dtype.numpy)


def long(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw odd integers of nearly all digits, whose sums the type has, too."""
    kept = words[0] >> np.uint64(64 - (dtype.digits - 2))
    return ((kept | np.uint64(1)).astype(np.int64) * _signs_of(words, dtype)).astype(dtype.numpy)


def offset(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw numbers around a large one: differences of their moments leave no digits."""
    base = dtype.digits // 2 - 2
    below = dtype.digits - base - 2
    values = (1 << base + below) + _below(words, 1 << below) * _signs_of(words[::-1], dtype)
    return np.ldexp(values.astype(np.float64), -below).astype(dtype.numpy)


def special(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw small whole numbers, some infinities and some NaN."""
    values = whole(words, shape, dtype)
    kind = (words[1] >> np.uint64(4)) % np.uint64(24)
    for code, value in enumerate((np.nan, np.inf, -np.inf)):
        values = np.where(kind == code, dtype.numpy.type(value), values)
    return values


def ramp(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw distinct integers: any misplaced element shows, and sums are exact in every order."""
    return _cast(_shuffled(words, dtype), dtype)


def negative(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw distinct negative integers: a maximum that starts at zero shows."""
    return _cast(-_shuffled(words, dtype), dtype)


def impulse(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Put one non-zero element in each plane, another value and place in each."""
    planes = prod(shape[:2])
    values = np.zeros((planes, words.shape[1] // max(planes, 1)), np.int64)
    if values.size:
        places = words[0][:planes] % np.uint64(values.shape[1])
        values[np.arange(planes), places.astype(np.int64)] = (
            np.arange(planes) % min(128, _different(dtype)) + 1
        )
    return _cast(values, dtype)


def ties(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw three small integers: the largest of several often stands there more than once."""
    return _cast(_below(words, 3) + 1, dtype)


def nan(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw a ramp with some NaN."""
    return np.where(_marked(words, 9), dtype.numpy.type(np.nan), ramp(words, shape, dtype))


def infinite(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw a ramp with some infinities of both signs."""
    infinities = _cast(_signs(words) * np.inf, dtype)
    return np.where(_marked(words, 6), infinities, ramp(words, shape, dtype))


def lowest(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw mostly minus infinity (of integers the lowest), and some negative integers."""
    numbers = negative(words, shape, dtype)
    return np.where(_below(words, 4) != 0, dtype.bottom, numbers)


def zeros(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw zeros of both signs, and some small negative integers."""
    numbers = np.where(_below(words, 5) == 0, -(_below(words, 15) % 3 + 1), 0)
    return np.where(numbers == 0, _cast(_signs(words) * 0.0, dtype), _cast(numbers, dtype))


def subnormal(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw subnormal numbers of both signs, and some of the smallest normal ones."""
    kept = (words[0] >> np.uint64(64 - dtype.digits)).astype(np.int64)
    normal = np.int64(1) << (dtype.digits - 1)
    below = kept % normal | 1
    size = np.where(_below(words, 6) == 0, normal | kept, below)
    return np.ldexp((size * _signs(words)).astype(np.float64), dtype.quantum).astype(dtype.numpy)


def cancel(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw large numbers of both signs with small differences: sums cancel and leave those."""
    large = np.int64(1) << (dtype.digits - 1)
    return _cast(_signs(words) * (large + _below(words, 8)), dtype)


def wide(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw full significands with exponents over the whole range of the type, of both signs."""
    low, high = dtype.emin, dtype.emax - 12
    exponents = low + _below(words, high - low + 1) - (dtype.digits - 1)
    values = (_signs(words) * _significands(words, dtype)).astype(np.float64)
    return np.ldexp(values, exponents).astype(dtype.numpy)


def normal(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw bell-shaped numbers around zero with full significands (a sum of four uniform ones).

    Integers are of the whole range of their type, each as likely.
    """
    if not dtype.is_float:
        return (words[0] >> np.uint64(63 - dtype.digits)).astype(dtype.code).view(dtype.numpy)
    quarters = [(words[0] >> np.uint64(16 * k)) & np.uint64(0xFFFF) for k in range(4)]
    bell = sum(quarter.astype(np.int64) for quarter in quarters) - 2 * 0xFFFF
    fine = (bell << 34) + (words[1] & np.uint64((1 << 34) - 1)).astype(np.int64)
    magnitude = np.abs(fine)
    lengths = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
    dropped = np.maximum(lengths - dtype.digits, 0)
    kept = (magnitude >> dropped) << dropped
    return np.ldexp(np.where(fine < 0, -kept, kept).astype(np.float64), -49).astype(dtype.numpy)


def large(words: Words, _shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw numbers in the largest binade, most of them positive: sums overflow the type.

    Integers are among the eight largest, some with the other sign if the type has one.
    """
    if not dtype.is_float:
        values = np.iinfo(dtype.numpy).max - _below(words, 8)
        turned = (_below(words, 9) == 0) & (dtype.kind == "int")
        return np.where(turned, -values, values).astype(dtype.numpy)
    sign = np.where(_below(words, 8) == 0, -1, 1)
    values = (sign * _significands(words, dtype)).astype(np.float64)
    return np.ldexp(values, dtype.emax - (dtype.digits - 1)).astype(dtype.numpy)


def steady(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw quarters in a cycle of seven: a long sum stalls in a narrow accumulator.

    Integers are whole. Neighbours in a plane always differ, and so do the means of planes and of
    stretches of hundreds that are next to each other; an array of thousands takes little room in a
    file.
    """
    place = np.arange(words.shape[1])
    start = int(words[0][0] % np.uint64(7)) if words.size else 0
    plane = place // max(1, prod(shape[2:]))
    level = 4 + plane % 4 * 3 + place // 500 % 4 * 2
    return _cast(((place + start) * 3 % 7 + level) * (0.25 if dtype.is_float else 1), dtype)


def slopes(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Draw distinct integers that rise through one plane and fall through the next.

    They are in no order in the third: an element that is read too far on is larger than its own.
    """
    planes = prod(shape[:2])
    numbers = np.arange(words.shape[1], dtype=np.int64).reshape(max(planes, 1), -1)
    for plane, row in enumerate(numbers):
        if plane % 3 == 1:
            row[:] = row[::-1].copy()
        elif plane % 3 == 2:
            row[:] = row[np.argsort(words[0][row], kind="stable")]
    return _cast(numbers.ravel() % _different(dtype) + 1, dtype)


IN_TURN = (
    normal,
    negative,
    zeros,
    subnormal,
    cancel,
    wide,
    large,
    impulse,
    nan,
    infinite,
    lowest,
    ties,
)
"""What the planes of ``mixed`` hold, the first again after the last."""


def mixed(words: Words, shape: tuple[int, ...], dtype: DType) -> Array:
    """Fill each plane by another pattern: one geometry meets every kind of number."""
    planes = prod(shape[:2])
    plane = (1, 1, *shape[2:])
    turns = [pattern for pattern in IN_TURN if can_hold(dtype, pattern.__name__)]
    filled = [
        turns[number % len(turns)](part, plane, dtype).ravel()
        for number, part in enumerate(np.split(words, max(planes, 1), axis=1))
    ]
    return np.concatenate(filled)


PATTERNS: dict[str, Pattern] = {
    pattern.__name__: pattern
    for pattern in (
        whole,
        signs,
        fractions,
        binades,
        special,
        offset,
        factors,
        long,
        ramp,
        negative,
        impulse,
        ties,
        nan,
        infinite,
        lowest,
        zeros,
        subnormal,
        cancel,
        wide,
        normal,
        large,
        steady,
        slopes,
        mixed,
        halves,
        positive,
    )
}

GENERAL = ("whole", "signs", "fractions", "binades", "special", "factors", "long")
"""The ways to fill a tensor that lists none, a plain one first."""

FRACTIONAL = frozenset({
    "fractions", "binades", "special", "offset", "nan", "infinite", "zeros", "subnormal", "cancel",
    "wide", "halves", "positive",
})  # fmt: skip
"""Those that make no sense in an integer type."""

WHOLE = frozenset({"factors", "long"})
"""Those that say nothing of a type with fractions: others there have all its digits."""
