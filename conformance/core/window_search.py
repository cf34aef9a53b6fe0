"""The best element of a tensor for each element of a result, one dimension after the other.

Where every dimension is read at indices of its own, as by a window, a search of k * k taps is two
searches of k: the best along the last dimension at every position of those before, then the best of
these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import Array, DType

Positions = NDArray[np.int64]

LEFT_OUT = np.iinfo(np.int64).min
"""Below the order of any element: a position that does not exist."""


MOST = 1 << 18
"""Elements that are compared at once."""

FEW = 16
"""Taps that are looked at one by one, at most."""


@dataclass(frozen=True)
class Dimension:
    """The positions along a dimension of a tensor: a row for each index of the result.

    Its columns are the taps. ``axes`` are those of the result that the rows are of.
    """

    positions: Positions
    axes: tuple[int, ...]
    size: int

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Where a position exists."""
        return (self.positions >= 0) & (self.positions < self.size)

    @cached_property
    def clipped(self) -> Positions:
        """The positions, or the next that exist."""
        return self.positions.clip(0, self.size - 1)

    @cached_property
    def is_whole(self) -> bool:
        """Whether each row has one tap, and these are all positions in their order."""
        return bool(np.array_equal(self.positions, np.arange(self.size)[:, None]))


@dataclass(frozen=True)
class Window:
    """A read of a tensor whose dimensions have indices of their own.

    ``shape`` is that of the result, with an extent of 1 for what no position depends on.
    """

    dimensions: tuple[Dimension, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(
        cls, at: Sequence[Positions], sizes: Sequence[int], extents: Sequence[int], rows: int
    ) -> Window | None:
        """Return the window of positions over an index space; None where dimensions share indices.

        None also of an empty space. The first ``rows`` of ``extents`` are those of the result. Taps
        must be in the order of the dimensions, so that the first is the first along each.
        """
        if not all(extents):
            return None
        dimensions, axes = [], list[int]()
        for position, size in zip(at, sizes, strict=True):
            position = position.reshape((1,) * (len(extents) - position.ndim) + position.shape)
            varying = [axis for axis, n in enumerate(position.shape) if n > 1]
            axes += varying
            row_axes = tuple(axis for axis in varying if axis < rows)
            count = prod(position.shape[:rows])
            dimensions.append(Dimension(position.reshape(count, -1), row_axes, size))
        taps = [axis for axis in axes if axis >= rows]
        every = [axis for axis in range(rows, len(extents)) if extents[axis] != 1]
        if len({*axes}) < len(axes) or taps != every:
            return None
        shape = tuple(n if axis in axes else 1 for axis, n in enumerate(extents[:rows]))
        return cls(tuple(dimensions), shape)

    @property
    def is_inside(self) -> bool:
        """Whether all positions exist."""
        return all(dimension.inside.all() for dimension in self.dimensions)

    def arranged(self, array: Array) -> Array:
        """Return an array with an axis for each dimension in the shape of the result."""
        axes = [axis for dimension in self.dimensions for axis in dimension.axes]
        array = array.reshape([self.shape[axis] for axis in axes])
        return array.transpose(np.argsort(axes)).reshape(self.shape)

    def count(self) -> NDArray[np.int64]:
        """Return how many positions exist for each element of the result."""
        count: Array = np.ones((), np.int64)
        for dimension in self.dimensions:
            count = np.multiply.outer(count, dimension.inside.sum(axis=1))
        return self.arranged(count)

    def best(self, order: NDArray[np.int64], *, last: bool) -> tuple[Positions, list[Positions]]:
        """Return the best tap for each element of the result, and its positions.

        The best is the first or the ``last`` of those with the largest ``order``.
        """
        chosen: list[Array] = []
        for axis in reversed(range(len(self.dimensions))):
            order, tap = self._along(order, axis, last)
            if not self.dimensions[axis].is_whole:
                at = self._positions(axis, tap)
                chosen = [np.take_along_axis(later, at, axis) for later in chosen]
            chosen = [tap, *chosen]
        number: Array = np.zeros((), np.int64)
        for dimension, tap in zip(self.dimensions, chosen, strict=True):
            number = number * dimension.positions.shape[1] + tap
        places = [self.arranged(self._positions(a, tap)) for a, tap in enumerate(chosen)]
        return self.arranged(number), places

    def _along(
        self, order: NDArray[np.int64], axis: int, last: bool
    ) -> tuple[NDArray[np.int64], Positions]:
        """The largest along an axis for each row of its positions, and at which tap it is."""
        dimension = self.dimensions[axis]
        if dimension.is_whole:
            return order, np.zeros(order.shape, np.int64)
        used = np.flatnonzero(dimension.inside.any(axis=0))
        used = used[::-1] if last else used
        if 0 < len(used) <= FEW:
            return self._best_of_few(order, axis, used)
        count = max(1, MOST * order.shape[axis] // max(1, order.size * len(dimension.positions)))
        best, tap = self._best_of(order, axis, used[:count])
        for first in range(count, len(used), count):
            here, at = self._best_of(order, axis, used[first : first + count])
            better = here > best
            best, tap = np.where(better, here, best), np.where(better, at, tap)
        return best, tap

    def _best_of_few(
        self, order: NDArray[np.int64], axis: int, taps: Positions
    ) -> tuple[NDArray[np.int64], Positions]:
        """The first of the largest of some taps, one tap after the other.

        Of rows of few numbers numpy is slow to find the largest of each.
        """
        dimension = self.dimensions[axis]
        best: Array | None = None
        for tap in taps.tolist():
            inside = dimension.inside[:, tap]
            here = order.take(dimension.clipped[:, tap], axis)
            if not inside.all():
                np.moveaxis(here, axis, -1)[..., ~inside] = LEFT_OUT
            if best is None:
                best, chosen = here, np.full(here.shape, tap, np.int64)
            else:
                better = here > best
                np.copyto(best, here, where=better)
                np.copyto(chosen, tap, where=better)
        assert best is not None
        return best, chosen

    def _best_of(
        self, order: NDArray[np.int64], axis: int, taps: Positions
    ) -> tuple[NDArray[np.int64], Positions]:
        """The first of the largest of some taps."""
        dimension = self.dimensions[axis]
        if not len(taps):
            taps = np.zeros(1, np.int64)
        inside = dimension.inside[:, taps]
        order = np.moveaxis(order, axis, -1)
        gathered = order[..., dimension.clipped[:, taps]]
        gathered = gathered if inside.all() else np.where(inside, gathered, LEFT_OUT)
        best = gathered.argmax(-1)
        largest = np.take_along_axis(gathered, best[..., None], -1)[..., 0]
        return np.moveaxis(largest, -1, axis), np.moveaxis(taps[best], -1, axis)

    def _positions(self, axis: int, tap: Positions) -> Positions:
        """The position of a tap for each row of an axis, inside of the tensor."""
        dimension = self.dimensions[axis]
        rows = np.arange(len(dimension.positions))
        rows = rows.reshape([-1 if d == axis else 1 for d in range(tap.ndim)])
        return dimension.clipped[rows, tap]


def order_of(array: Array, dtype: DType, *, largest: bool) -> NDArray[np.int64]:
    """Return whole numbers in the order of floating-point numbers, or in the reverse order.

    NaN is above all.
    """
    order = dtype.ordinals(array)
    return np.where(np.isnan(array), np.iinfo(np.int64).max, order if largest else -order)


def ranked(order: Array) -> NDArray[np.int64]:
    """Return integers of any length as their ranks, which are int64."""
    if order.dtype != object:
        return order
    return np.unique(order, return_inverse=True)[1].reshape(order.shape)
