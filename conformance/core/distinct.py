"""Elements that are made of the same numbers, so that each combination is computed once.

Data of tests have few different numbers, and balls (``core/exact.py``) are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import Array

FEW = 128
"""Elements up to which nothing is gained."""


class Numbers(Protocol):
    """Numbers in arrays, all of one shape or single values."""

    def each(self, change: Callable[[Array], Array]) -> Self:
        """Make a change to every array."""


Kept = TypeVar("Kept", bound=Numbers)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Which elements of a shape are made of the same numbers.

    ``first`` has the position of an element of each kind, in a flat array, ``kinds`` the kind of
    each element. Arrays of kinds have an axis of them and as many axes of 1 as the shape has more.
    """

    first: NDArray[np.intp]
    kinds: NDArray[np.intp]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[Numbers | Array], shape: tuple[int, ...]) -> Distinct | None:
        """Find the kinds of elements; None where most are of a kind of their own.

        The values broadcast to ``shape``.
        """
        size = int(np.prod(shape))
        if size < FEW:
            return None
        arrays: list[Array] = []

        def note(array: Array) -> Array:
            arrays.append(array)
            return array

        for value in values:
            if isinstance(value, np.ndarray):
                note(value)
            else:
                value.each(note)
        kinds, first = np.zeros(size, np.intp), np.zeros(1, np.intp)
        for array in arrays:
            if np.size(array) == 1:
                continue
            codes = np.broadcast_to(_codes(array), shape).reshape(-1)
            if np.array_equal(codes[first][kinds], codes):
                continue
            _, codes = np.unique(codes, return_inverse=True)
            both = kinds * (int(codes.max()) + 1) + codes
            _, first, kinds = np.unique(both, return_index=True, return_inverse=True)
            if 2 * len(first) > size:
                return None
        return cls(first, kinds.reshape(-1), shape)

    @property
    def _single(self) -> tuple[int, ...]:
        return (len(self.first), *[1] * (len(self.shape) - 1))

    def one_of_each(self, value: Any) -> Any:
        """Return the numbers of one element of each kind; single values are those of all."""

        def pick(array: Array) -> Array:
            flat = np.broadcast_to(array, self.shape).reshape(-1)
            return np.asarray(flat[self.first]).reshape(self._single)

        if isinstance(value, np.ndarray):
            return pick(value)
        return value.each(pick) if hasattr(value, "each") else value

    def of_each(self, value: Kept) -> Kept:
        """Return the numbers of every element, given those of each kind."""
        return value.each(self.spread)

    def spread(self, array: Array) -> Array:
        """Return an array of every element, given that of each kind."""
        of_kinds = np.broadcast_to(array, self._single).reshape(-1)
        return np.asarray(of_kinds[self.kinds]).reshape(self.shape)


def _codes(array: Array) -> NDArray[np.int64]:
    """Numbers that are equal where entries are; of balls, where they are the same object."""
    if array.dtype != object:
        return np.ascontiguousarray(array).view(f"i{array.itemsize}").astype(np.int64)
    seen: dict[Any, int] = {}
    entries = array.ravel().tolist()
    keys = entries if isinstance(entries[0], int) else map(id, entries)
    codes = np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.int64, len(entries))
    return codes.reshape(array.shape)
