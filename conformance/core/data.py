"""Data of a case: each tensor is filled by a pattern of its own, if it has no entries.

Patterns are computed by integers from Philox's raw words, whose stream numpy guarantees, so a case
has the same data for ever. Every value is exact in its type.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES, Array, DType
from conformance.errors import InvalidCase
from conformance.model import Case

Words = NDArray[np.uint64]
SEPARATOR = "+"
"""What stands between the patterns of a case, one for each tensor."""


def fill(pattern: str, key: int, shape: Sequence[int], dtype: DType) -> Array:
    """Return an array of a pattern; the same arguments give the same bits on every machine."""
    count = prod(shape)
    words = np.random.Philox(key=key).random_raw(2 * max(count, 1)).reshape(2, -1)[:, :count]
    return PATTERNS[pattern](words, dtype).reshape(shape)


def inputs_of(operator: Operator, case: Case) -> list[Array | None]:
    """Return the tensors of a case in the operator's order.

    Those that are not given are None.
    Raises :class:`~conformance.errors.InvalidCase` for a pattern that there is not.
    """
    patterns = case.pattern.split(SEPARATOR)
    filled = [tensor.name for tensor in operator.inputs if tensor.entries is None]
    if len(patterns) != len(filled) or not set(patterns) <= PATTERNS.keys():
        expected = f"{len(filled)} of {', '.join(PATTERNS)}"
        raise InvalidCase(f"the pattern is {case.pattern!r}, not {expected}")
    pattern_by_name = dict(zip(filled, patterns, strict=True))
    first = next((name for name in filled if name in case.shapes), "")
    arrays: list[Array | None] = []
    for tensor in operator.inputs:
        name, dtype = tensor.name, DTYPES[case.types.get(tensor.type, tensor.type)]
        if name in case.operands:
            arrays.append(np.array(case.operands[name], dtype.numpy))
        elif name in case.shapes:
            key = case.seed if name == first else _key(case.seed, name)
            arrays.append(fill(pattern_by_name[name], key, case.shapes[name], dtype))
        else:
            arrays.append(None)
    return arrays


def _key(seed: int, name: str) -> int:
    """The key of a tensor's own stream of words; that of the first is the seed itself."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:16], "big")


def patterns_for(dtype: DType) -> tuple[str, ...]:
    """List the patterns that a type can hold: integers hold no fractions and no NaN."""
    return tuple(PATTERNS) if dtype.is_float else ("whole", "signs")


def _small(words: Words, bound: int) -> NDArray[np.int64]:
    """Whole numbers from 0 to ``bound`` - 1."""
    return ((words[0] >> np.uint64(20)) % np.uint64(bound)).astype(np.int64)


def _signs(words: Words) -> NDArray[np.int64]:
    return 1 - 2 * (words[1] >> np.uint64(63)).astype(np.int64)


def _signs_of(words: Words, dtype: DType) -> NDArray[np.int64]:
    """Signs that a type has: all are positive in one without."""
    return np.ones(words.shape[1], np.int64) if dtype.kind == "uint" else _signs(words)


def whole(words: Words, dtype: DType) -> Array:
    """Draw small whole numbers: sums of their products are exact in any order."""
    return (_small(words, 5) * _signs_of(words, dtype)).astype(dtype.numpy)


def signs(words: Words, dtype: DType) -> Array:
    """Draw ones, some of them negative."""
    return _signs_of(words, dtype).astype(dtype.numpy)


def _significands(words: Words, dtype: DType) -> NDArray[np.int64]:
    """Odd numbers of all digits of a type, of both signs."""
    top = np.uint64(1) << np.uint64(dtype.digits - 1)
    kept = words[0] >> np.uint64(64 - dtype.digits)
    return (kept | top | np.uint64(1)).astype(np.int64) * _signs(words)


def _scaled(words: Words, dtype: DType, binades: int) -> Array:
    exponent = ((words[1] >> np.uint64(8)) % np.uint64(binades)).astype(np.int64) - binades // 2
    values = np.ldexp(
        _significands(words, dtype).astype(np.float64), (exponent - dtype.digits).astype(np.int32)
    )
    return values.astype(dtype.numpy)


def fractions(words: Words, dtype: DType) -> Array:
    """Draw numbers of all digits, of three binades."""
    return _scaled(words, dtype, 3)


def binades(words: Words, dtype: DType) -> Array:
    """Draw numbers of all digits, of sixteen binades."""
    return _scaled(words, dtype, 16)


def special(words: Words, dtype: DType) -> Array:
    """Draw small whole numbers, some infinities and some NaN."""
    values = whole(words, dtype)
    kind = (words[1] >> np.uint64(4)) % np.uint64(24)
    for code, value in enumerate((np.nan, np.inf, -np.inf)):
        values = np.where(kind == code, dtype.numpy.type(value), values)
    return values


PATTERNS: dict[str, Callable[[Words, DType], Array]] = {
    "whole": whole,
    "signs": signs,
    "fractions": fractions,
    "binades": binades,
    "special": special,
}
"""The ways to fill a tensor, a plain one first."""
