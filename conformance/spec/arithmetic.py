"""Exact arithmetic on integers, booleans and arrays of them (int64 and bool).

Plain Python integers never overflow and are checked where a result leaves an expression. Arrays
are checked at every step: what enters an operation lies within ``LIMIT``, and what leaves it too.
All functions raise :class:`ArithmeticError` (ZeroDivisionError, OverflowError) otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

LIMIT = 1 << 62
"""The largest magnitude of a value. A sum of two such values still fits, or wraps to below it."""

FEW = 16
"""Of so many numbers, Python finds the largest sooner than numpy does."""

Operation = Callable[..., Any]


def bounded(value: Any) -> Any:
    """Return ``value``, an int or an int64 array, if it is within the limit."""
    if _peak(value) > LIMIT:
        raise OverflowError("a number is larger than 2**62")
    return value


def _operand(value: Any) -> Any:
    """An operand about to meet an array: a Python integer of any size is not for numpy to see."""
    return bounded(value) if value.__class__ is int else value


def add(x: Any, y: Any) -> Any:
    return bounded(_operand(x) + _operand(y))


def subtract(x: Any, y: Any) -> Any:
    return bounded(_operand(x) - _operand(y))


def multiply(x: Any, y: Any) -> Any:
    if x.__class__ is int and y.__class__ is int:
        return x * y
    if _peak(_operand(x)) * _peak(_operand(y)) <= LIMIT:
        return x * y
    # The largest factors need not meet: multiply as Python integers, and see.
    product = np.multiply(x, y, dtype=object)
    if (abs(product) > LIMIT).any():
        raise OverflowError("a product is larger than 2**62")
    return product.astype(np.int64)


def _peak(value: Any) -> int:
    """The largest magnitude. That of -2**63 is no int64, so it is read as unsigned."""
    if isinstance(value, np.ndarray):
        if value.size <= FEW:
            return max(map(abs, value.ravel().tolist()), default=0)
        return int(np.abs(value).view(np.uint64).max())
    return abs(int(value))


def floor_divide(x: Any, y: Any) -> Any:
    return _operand(x) // _nonzero(y, x)


def modulo(x: Any, y: Any) -> Any:
    return _operand(x) % _nonzero(y, x)


def ceil_divide(x: Any, y: Any) -> Any:
    return -(-_operand(x) // _nonzero(y, x))


def _nonzero(divisor: Any, dividend: Any) -> Any:
    """The divisor of a dividend. Where there is nothing to divide it may be zero: of an output of 0
    elements no window is asked for its place."""
    zero = (divisor == 0).any() if isinstance(divisor, np.ndarray) else divisor == 0
    if zero and isinstance(dividend, np.ndarray) and not dividend.size:
        return 1
    if zero:
        raise ZeroDivisionError("division by zero")
    return _operand(divisor)


def smaller(x: Any, y: Any) -> Any:
    return np.minimum(_operand(x), _operand(y)) if _array(x, y) else min(x, y)


def larger(x: Any, y: Any) -> Any:
    return np.maximum(_operand(x), _operand(y)) if _array(x, y) else max(x, y)


def invert(x: Any) -> Any:
    return ~x if isinstance(x, np.ndarray) else not x


def select(condition: Any, x: Any, y: Any) -> Any:
    """Return ``x`` where the condition holds, else ``y``."""
    if not isinstance(condition, np.ndarray):
        return x if condition else y
    return np.where(condition, _typed(x), _typed(y))


def _typed(value: Any) -> Any:
    # A Python integer would become the platform's own integer type.
    return np.int64(bounded(value)) if value.__class__ is int else value


def _array(x: Any, y: Any) -> bool:
    return isinstance(x, np.ndarray) or isinstance(y, np.ndarray)


# Over the axes of a per-axis value.


def every(entries: Sequence[Any]) -> Any:
    return reduce(lambda x, y: x & y, entries, True)


def some(entries: Sequence[Any]) -> Any:
    return reduce(lambda x, y: x | y, entries, False)


def total(entries: Sequence[Any]) -> Any:
    return reduce(add, entries, 0)


def product(entries: Sequence[Any]) -> Any:
    return reduce(multiply, entries, 1)


def least(entries: Sequence[Any]) -> Any:
    return reduce(smaller, _any_axes(entries))


def greatest(entries: Sequence[Any]) -> Any:
    return reduce(larger, _any_axes(entries))


def _any_axes(entries: Sequence[Any]) -> Sequence[Any]:
    if not entries:
        raise ArithmeticError("there is no axis to take the smallest or largest value of")
    return entries


def distinct(entries: Sequence[int]) -> bool:
    return len(set(entries)) == len(entries)


def entry(entries: Sequence[Any], number: int) -> Any:
    """Return the entry of one axis."""
    if not 0 <= number < len(entries):
        raise ArithmeticError(f"there is no axis {number}")
    return entries[number]


def flat(position: Sequence[Any], size: Sequence[Any]) -> Any:
    """Compute the row-major flat index of ``position`` in a box of ``size``."""
    if len(position) != len(size):
        raise ArithmeticError("a position and a size have different numbers of axes")
    index: Any = 0
    for at, extent in zip(position, size, strict=True):
        index = add(multiply(index, extent), at)
    return index


def rounded(x: Any, bits: Any) -> Any:
    """Round to the nearest number of at most ``bits`` significant bits, ties to even."""
    x, bits = np.asarray(_operand(x), dtype=np.int64), np.asarray(bits)
    if bits.size and (bits < 1).any():
        raise ArithmeticError("a number has at least one significant bit")
    # The length of a number near a power of two may come out one bit long: it rounds to that power.
    length = np.frexp(np.abs(x).astype(np.float64))[1]
    unit = np.left_shift(1, np.maximum(length - bits, 0))
    below = x // unit
    doubled_remainder = 2 * (x - below * unit)
    up = (doubled_remainder > unit) | ((doubled_remainder == unit) & (below % 2 == 1))
    result = bounded((below + up) * unit)
    return result if result.ndim else int(result)


# Over all windows.


def somewhere(value: Any) -> bool:
    return bool(value.any()) if isinstance(value, np.ndarray) else bool(value)
