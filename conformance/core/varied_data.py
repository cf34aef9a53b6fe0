"""Data that differ little from those of a pattern: in one element, in low bits, in their order.

A program that recognises its data by a part of them takes both for the same. The name of the
pattern says how data are varied, as in ``ramp-late3``, so that a case follows from its own text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from conformance.core.patterns import PATTERNS
from conformance.dtypes import Array

MARK = "-"
"""What stands between a pattern and how its data are varied."""

PLACES = 8
"""How many elements may be the one that differs, or the first of two that change places."""

PART = 8
"""One element in so many is in the last part."""

LOW_BITS = {8: 0x0F00_0000, 4: 0x0F00, 2: 0x3}
HALF = {8: 1 << 28, 4: 1 << 15, 2: 1 << 2}
"""By size in bytes: bits of f64 that f32 has not, of f32 and f16 that bf16 has not, and half of the
last bit that these have."""

Words = list[int]
Variation = Callable[[Array, Words], None]


def plain_pattern(pattern: str) -> str:
    """Return the pattern whose data a varied one varies; a plain one is its own."""
    return pattern.partition(MARK)[0]


def is_pattern(name: str) -> bool:
    """Return whether a name is that of a pattern, or of one that is varied."""
    plain, mark, variation = name.partition(MARK)
    return plain in PATTERNS and (not mark or variation in VARIATIONS)


def varied(array: Array, pattern: str, key: int) -> Array:
    """Return the data of a plain pattern varied as the whole pattern says."""
    name = pattern.partition(MARK)[2]
    if not name or array.size == 0:
        return array
    words = np.random.Philox(key=key).random_raw(2 * PLACES)
    flat = array.flatten()
    VARIATIONS[name](flat, [int(word) for word in words])
    return flat.reshape(array.shape)


def _one(flat: Array, words: Words, *, place: int, late: bool) -> None:
    """Make one element another one, which stands in the last part of the array if ``late``."""
    part = max(1, flat.size // PART) if late else flat.size
    index = flat.size - 1 - words[place] % part
    flat[index] = _beyond(flat, index)


def _low(flat: Array, _words: Words) -> None:
    """Flip low bits of all numbers, of floats only of normal ones; of bf16 none."""
    if flat.dtype.kind in "iub":
        flat ^= flat.dtype.type(1)
    elif flat.dtype.kind == "f":
        usual = np.isfinite(flat) & (np.abs(flat) >= np.finfo(flat.dtype).tiny)
        bits = flat.view(f"u{flat.itemsize}")
        low, half = (bits.dtype.type(own[flat.itemsize]) for own in (LOW_BITS, HALF))
        dropped = bits & (half | (half - bits.dtype.type(1)))
        usual &= (dropped != half) & (dropped ^ low != half)  # a tie may be rounded otherwise
        bits ^= np.where(usual, low, bits.dtype.type(0))


def _swap(flat: Array, words: Words, *, place: int) -> None:
    """Let two different elements change places, every other time the nearest: sums stay."""
    first = words[place] % flat.size
    others = np.flatnonzero(flat != flat[first])
    if others.size:
        behind = int(np.searchsorted(others, first))
        at = behind if place % 2 else words[PLACES + place]
        second = others[at % others.size]
        flat[[first, second]] = flat[[second, first]]


def _beyond(flat: Array, index: int) -> int | float:
    """A number so much larger than all that a mean of all shows it, as far as the type allows.

    Of truth values it is the other one.
    """
    if flat.dtype.kind == "b":
        return not flat[index]
    times = 1 << flat.size.bit_length() + 1
    if flat.dtype.kind in "iu":
        most = np.iinfo(flat.dtype)
        top = max(abs(int(flat.max())), abs(int(flat.min())))
        new = min(int(most.max), times * top + 1)
        return new if new != flat[index] else int(most.min)
    numbers = flat.astype(np.float64)
    finite = np.abs(numbers[np.isfinite(numbers)])
    largest = float(finite.max(initial=0)) or 1.0
    with np.errstate(over="ignore"):
        while times > 1 and not np.isfinite(np.float64(largest * times).astype(flat.dtype)):
            times //= 2
    largest *= times
    return largest if largest != numbers[index] else -largest


ONE, LATE, SWAP, LOW = "one", "late", "swap", "low"
"""The kinds of variations."""

VARIATIONS: dict[str, Variation] = {
    **{f"{ONE}{place}": partial(_one, place=place, late=False) for place in range(PLACES)},
    **{f"{LATE}{place}": partial(_one, place=place, late=True) for place in range(PLACES)},
    **{f"{SWAP}{place}": partial(_swap, place=place) for place in range(PLACES)},
    LOW: _low,
}


def variations_of(kind: str) -> list[str]:
    """List the variations of a kind."""
    return [name for name in VARIATIONS if name.startswith(kind)]
