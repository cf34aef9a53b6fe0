"""What the data holds, window by window: facts that rules, edges and bounds speak of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType
from conformance.errors import EvaluationError
from conformance.model import Case
from conformance.reference.exact import AxisWindows, Decoded, decode, reduce_windows
from conformance.reference.windows import MAX_ELEMENTS, WindowEnvironment
from conformance.spec.environment import Evaluable
from conformance.spec.model import OpSpec


class DataEnvironment(WindowEnvironment):
    """A window environment with the data: counts of special elements and the largest ones.

    Element values have shape (N, C, *out). NaN never counts as the largest element here; a
    specification says with its ``open`` rule what becomes of windows that hold one.
    """

    def __init__(
        self,
        spec: OpSpec,
        case: Case,
        data: Array,
        definitions: Mapping[str, Evaluable] | None = None,
    ) -> None:
        super().__init__(spec, case, definitions)
        self.dtype: DType = DTYPES[case.types[spec.data.type]]
        self.data = data if data.size else np.zeros([max(1, n) for n in data.shape], data.dtype)
        self.empty = data.size == 0
        self.sources.update(
            n=lambda: _positions(data.shape[0], 0, data.ndim),
            c=lambda: _positions(data.shape[1], 1, data.ndim),
            nan_taps=lambda: self.count(self.decoded.nan),
            posinf_taps=lambda: self.count(self.decoded.posinf),
            neginf_taps=lambda: self.count(self.decoded.neginf),
            subnormal_taps=lambda: self.count(self.decoded.subnormal),
            negative_taps=lambda: self.count(
                np.asarray(self.decoded.significand < 0) | self.decoded.neginf
            ),
            zero_taps=lambda: self.count(np.asarray(self.data == 0)),
            minus_zero_taps=lambda: self.count(self.minus_zero),
            maxima=lambda: np.moveaxis(self.maxima_mask, -1, 0).sum(axis=0, dtype=np.int64),
            first_max=lambda: self.coordinates(self.first),
            last_max=lambda: self.coordinates(self.last),
            first_nan=lambda: self.coordinates(self.first_of(self.decoded.nan)),
            first_minus_zero=lambda: self.coordinates(self.first_of(self.minus_zero)),
            position=lambda: self.coordinates(self.chosen),
        )

    @cached_property
    def decoded(self) -> Decoded:
        taps = math.prod(max(1, windows.indices.shape[1]) for windows in self.windows)
        return decode(self.data, self.dtype, headroom=taps.bit_length())

    def reduce(self, array: Array, ufunc: np.ufunc, identity: Any) -> NDArray[Any]:
        """``array`` (N, C, *size) reduced over the elements of each window: (N, C, *out)."""
        return reduce_windows(array, self.windows, ufunc, identity)

    def count(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many elements of each window the mask holds."""
        if not mask.any():
            return np.zeros((1,) * self.data.ndim, np.int64)
        return self.reduce(mask.astype(np.int64), np.add, 0)

    @cached_property
    def ranks(self) -> tuple[Array, NDArray[np.int64]]:
        """The distinct values in order, and each element's place among them (NaN lowest of all).

        Subnormals count as zero where the rule ``subnormals`` says ``flushed``.
        """
        data = np.where(self.decoded.nan, self.dtype.numpy.type(-np.inf), self.data)
        if self["subnormals"] == "flushed":
            data = np.where(self.decoded.subnormal, self.dtype.numpy.type(0), data)
        values, places = np.unique(self.dtype.ordinals(data), return_inverse=True)
        return self.dtype.from_ordinals(values), places.reshape(data.shape)

    @cached_property
    def _flat(self) -> NDArray[np.int64]:
        spatial = self.data.shape[2:]
        return np.arange(math.prod(spatial), dtype=np.int64).reshape(spatial)

    @cached_property
    def _first_key(self) -> NDArray[np.int64]:
        # One integer orders by value, then by position from the end: its maximum over a window,
        # which may be taken axis by axis, is the first of the largest elements.
        size = self._flat.size
        return self.reduce(self.ranks[1] * size + (size - 1 - self._flat), np.maximum, -1)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The flat spatial position of each window's first largest element; 0 if it has none."""
        size = self._flat.size
        return np.where(self._first_key < 0, 0, size - 1 - self._first_key % size)

    @cached_property
    def last(self) -> NDArray[np.int64]:
        """The flat spatial position of each window's last largest element; 0 if it has none."""
        size = self._flat.size
        key = self.reduce(self.ranks[1] * size + self._flat, np.maximum, -1)
        return np.where(key < 0, 0, key % size)

    @property
    def minus_zero(self) -> NDArray[np.bool_]:
        """Which elements are -0."""
        return np.asarray((self.data == 0) & np.signbit(self.data))

    def first_of(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The flat spatial position of each window's first element in ``mask``; 0 without one."""
        size = self._flat.size
        key = self.reduce(np.where(mask, size - 1 - self._flat, -1), np.maximum, -1)
        return np.where(key < 0, 0, size - 1 - key)

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The flat spatial position of the largest element that the rule ``ties`` names."""
        return self.last if self["ties"] == "last" else self.first

    @cached_property
    def largest(self) -> Array:
        """The largest element of each window, +0 for a zero, and -infinity for an empty one."""
        values, _ = self.ranks
        place = np.maximum(self._first_key, 0) // self._flat.size
        return np.where(self._first_key < 0, self.dtype.numpy.type(-np.inf), values[place])

    def coordinates(self, flat: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Flat spatial positions as one coordinate an axis."""
        return tuple(np.asarray(c) for c in np.unravel_index(flat, self.data.shape[2:]))

    @cached_property
    def table(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The flat positions that each window reads, (*out, taps), and which of them count."""
        return _table(self.windows, self.data.shape[2:])

    @cached_property
    def maxima_mask(self) -> NDArray[np.bool_]:
        """Which entries of the table equal the window's largest element: (N, C, *out, taps)."""
        flat, counted = self.table
        if self.data.shape[0] * self.data.shape[1] * flat.size > MAX_ELEMENTS:
            raise EvaluationError("windows with this many elements cannot be listed")
        _, places = self.ranks
        batch, channels = self.data.shape[:2]
        taps = places.reshape(batch, channels, -1)[:, :, flat]
        place = np.maximum(self._first_key, 0) // self._flat.size
        return np.asarray((taps == place[..., None]) & counted)


def _positions(count: int, axis: int, rank: int) -> NDArray[np.int64]:
    shape = [1] * rank
    shape[axis] = count
    return np.arange(count, dtype=np.int64).reshape(shape)


def _table(
    windows: tuple[AxisWindows, ...], spatial: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    axes = len(windows)
    flat = np.zeros((1,) * (2 * axes), np.int64)
    counted = np.ones((1,) * (2 * axes), np.bool_)
    for axis, one in enumerate(windows):
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = one.indices.shape
        flat = flat * spatial[axis] + one.indices.reshape(shape)
        counted = counted & one.counted.reshape(shape)
    out = flat.shape[:axes]
    return flat.reshape(*out, -1), counted.reshape(*out, -1)
