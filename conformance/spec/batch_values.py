"""Values of a batch: arrays with one entry for each case, or for each of its windows.

They are computed entry by entry, as far as nothing can go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]

_CODES: dict[str, int] = {}
_WORDS: list[str] = []


def code(word: str) -> int:
    """Return the number of an enum's member in arrays of this process."""
    if word not in _CODES:
        _CODES[word] = len(_WORDS)
        _WORDS.append(word)
    return _CODES[word]


def word(number: int) -> str:
    """Return the member that a code stands for."""
    return _WORDS[number]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a flat value: ``case`` is the case of each.

    ``places`` gives for other rows, of which these are combinations, the one that each row is of.
    """

    case: NDArray[np.intp]
    places: Mapping[Rows, NDArray[np.intp]]


@dataclass(frozen=True, slots=True, eq=False)
class BatchValue:
    """One value of all cases, or of all ``rows``.

    ``array`` has an element for each case or row, or none at all (shape ``()``) if it is the same
    for all; None for a number that is unknown. ``bound`` is at least the magnitude of every number.
    Of a truth value ``array`` says where it certainly holds, ``maybe`` where it may, if not there.
    """

    array: Any
    rows: Rows | None = None
    bound: int = 1
    maybe: Any = None

    @property
    def possible(self) -> Any:
        return self.array if self.maybe is None else self.maybe


Value = BatchValue | tuple[BatchValue, ...]
UNKNOWN = BatchValue(None)


def number(array: Any) -> BatchValue:
    """Make an entry of numbers, one per case."""
    peak = max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0
    return BatchValue(array, bound=max(1, peak))


@lru_cache(maxsize=1024, typed=True)
def constant(value: int | bool | str | None) -> BatchValue:
    """Make an entry with the same number for all cases."""
    if isinstance(value, bool):
        return BatchValue(np.bool_(value))
    if isinstance(value, str):
        return BatchValue(np.int64(code(value)))
    assert value is not None
    return BatchValue(np.int64(value), bound=max(1, abs(value)))


def _both(rows: Rows | None, a: BatchValue, b: BatchValue) -> BatchValue:
    maybe = None if a.maybe is b.maybe is None else np.logical_and(a.possible, b.possible)
    return BatchValue(a.array & b.array, rows, maybe=maybe)


def _either(rows: Rows | None, a: BatchValue, b: BatchValue) -> BatchValue:
    maybe = None if a.maybe is b.maybe is None else np.logical_or(a.possible, b.possible)
    return BatchValue(a.array | b.array, rows, maybe=maybe)


def _negated(rows: Rows | None, a: BatchValue) -> BatchValue:
    maybe = None if a.maybe is None else ~a.array
    return BatchValue(np.logical_not(a.possible), rows, maybe=maybe)


def chosen(rows: Rows | None, test: BatchValue, a: BatchValue, b: BatchValue) -> BatchValue:
    """Choose between two entries by a condition, as ``where`` does."""
    if a.array is None or b.array is None:
        return BatchValue(None, rows)
    if a.array.dtype == np.bool_:
        holds = (test.array & a.array) | (np.logical_not(test.possible) & b.array)
        if test.maybe is a.maybe is b.maybe is None:
            return BatchValue(holds, rows)
        may = (test.possible & a.possible) | (np.logical_not(test.array) & b.possible)
        return BatchValue(holds, rows, maybe=may)
    if test.maybe is not None:
        return BatchValue(None, rows)
    return BatchValue(np.where(test.array, a.array, b.array), rows, max(a.bound, b.bound))


COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
}
DIVISIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "//": np.floor_divide,
    "%": np.mod,
    "ceil_div": lambda a, b: -np.floor_divide(-a, b),
}
UNBOUNDED: Mapping[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "abs": np.abs,
    "negative": np.negative,
}
LOGIC: Mapping[str, Callable[..., BatchValue]] = {"and": _both, "or": _either, "not": _negated}
