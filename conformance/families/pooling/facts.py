"""Facts about the data of each window, used by rules, coverage targets and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType, converted
from conformance.errors import EvaluationError
from conformance.families.pooling.windows import MAX_ELEMENTS, WindowEnvironment
from conformance.model import Case
from conformance.reference.exact import AxisWindows, Decoded, decode, reduce_windows
from conformance.spec.case_environment import Evaluable
from conformance.spec.model import OpSpec

MAX_TABLE = 1 << 25
"""Taps of all windows that are listed one by one, at most; reductions need no such list."""

DEPENDS: Mapping[str, tuple[str, ...]] = {
    "windows": ("out", "start", "taps", "step", "tap", "reads"),
    "i": ("out",),
    "on_data": ("windows",),
    "_headroom": ("windows",),
    "data": ("passes_through", "conversion"),
    "kept": ("data",),
    **{
        f"{what}_taps": ("windows", "data")
        for what in ("nan", "posinf", "neginf", "subnormal", "negative", "zero", "minus_zero")
    },
    "ranks": ("data", "subnormals", "order"),
    "_first_key": ("ranks", "windows"),
    "first": ("_first_key",),
    "last": ("ranks", "windows"),
    "table": ("windows",),
    "maxima_mask": ("table", "_first_key"),
    "maxima": ("maxima_mask",),
    "first_max": ("first",),
    "last_max": ("last",),
    "first_nan": ("windows", "data"),
    "first_minus_zero": ("windows", "data"),
    "position": ("first", "last", "ties", "begins", "passes_through", "conversion"),
    "total": ("windows", "data"),
}
"""What the values of an environment depend on that no expression defines."""

Ranks = tuple[Array, NDArray[np.int64]]
"""The distinct values in order, and each element's place among them."""

Made = TypeVar("Made")


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
        self.of = spec, case
        self.dtype: DType = DTYPES[case.types[spec.data.type]]
        self.given_data = data
        self._without_data = data.size == 0
        self._worked_out: dict[tuple[Any, ...], tuple[object, Any]] = {}

    sources: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        **WindowEnvironment.sources,
        "n": lambda env: _positions(env.given_data.shape[0], 0, env.given_data.ndim),
        "c": lambda env: _positions(env.given_data.shape[1], 1, env.given_data.ndim),
        "nan_taps": lambda env: env.count(env.marked.nan),
        "posinf_taps": lambda env: env.count(env.marked.posinf),
        "neginf_taps": lambda env: env.count(env.marked.neginf),
        "subnormal_taps": lambda env: env.count(env.marked.subnormal),
        "negative_taps": lambda env: env.count(
            np.asarray(env.marked.significand < 0) | env.marked.neginf
        ),
        "zero_taps": lambda env: env.count(np.asarray(env.data == 0)),
        "minus_zero_taps": lambda env: env.count(env.minus_zero),
        "maxima": lambda env: np.moveaxis(env.maxima_mask, -1, 0).sum(axis=0, dtype=np.int64),
        "first_max": lambda env: env.coordinates(env.first),
        "last_max": lambda env: env.coordinates(env.last),
        "first_nan": lambda env: env.coordinates(env.first_of(env.marked.nan)),
        "first_minus_zero": lambda env: env.coordinates(env.first_of(env.minus_zero)),
        "position": lambda env: env.once("position", env.chosen, env.coordinates),
    }

    @cached_property
    def data(self) -> Array:
        """The data as they are read; one element for an axis that has none."""
        data = self.given_data
        if self._without_data:
            axes = (max(1, extent) for extent in data.shape[2:])
            data = np.zeros([*data.shape[:2], *axes], data.dtype)
        through = self["passes_through"]
        if through != "own":
            saturates = self["conversion"] == "saturates"
            data = converted(data, DTYPES[through], saturates=saturates)
            data = converted(data, self.dtype)
        return data

    @cached_property
    def _headroom(self) -> int:
        taps = math.prod(max(1, one.most) for one in self.windows)
        return taps.bit_length()

    @property
    def decoded(self) -> Decoded:
        """The data as integers, with room for the sums of the windows at hand."""
        return self._with_room(self._headroom)

    @property
    def marked(self) -> Decoded:
        """The same where only masks and signs are asked for, so that no windows are worked out."""
        return self._with_room(0)

    def _with_room(self, headroom: int) -> Decoded:
        kept: tuple[Decoded, int] | None = self.__dict__.get("kept")
        if kept is None or kept[1] < headroom:
            # Room to spare, so that an environment with somewhat larger windows can use it too.
            room = headroom + 3
            kept = self.__dict__["kept"] = decode(self.data, self.dtype, headroom=room), room
        return kept[0]

    def over(self, data: Array) -> Self:
        """The same case under the same definitions, with other data of the same type and shape."""
        return type(self)(*self.of, data, self.definitions)

    def reduce(self, array: Array, ufunc: np.ufunc, identity: Any) -> NDArray[Any]:
        """``array`` (N, C, *size) reduced over the elements of each window: (N, C, *out)."""
        return reduce_windows(array, self.windows, ufunc, identity)

    @cached_property
    def total(self) -> NDArray[Any]:
        """The sum of each window, in units of ``2**decoded.exponent``; NaN and infinities are 0."""
        return self.once("total", self.decoded, lambda of: self.reduce(of.significand, np.add, 0))

    def once(self, what: Hashable, of: Made, make: Callable[[Made], Any]) -> Any:
        """What is made of something by the windows. Environments of one case that have the same of
        both share it."""
        key = what, id(of), *self.windows
        if key not in self._worked_out:
            # It is kept, so that nothing else has its id.
            self._worked_out[key] = of, make(of)
        return self._worked_out[key][1]

    def count(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many elements of each window the mask holds."""
        if not mask.any():
            return np.zeros((1,) * self.data.ndim, np.int64)
        return self.reduce(mask.astype(np.int64), np.add, 0)

    @cached_property
    def ranks(self) -> Ranks:
        """The distinct values in order, and each element's place among them (NaN lowest of all).

        Subnormals count as zero where the rule ``subnormals`` says ``flushed``.
        """
        data = np.where(self.marked.nan, self.dtype.bottom, self.data)
        if self["subnormals"] == "flushed":
            data = np.where(self.marked.subnormal, self.dtype.numpy.type(0), data)
        ordinals = self.dtype.ordinals(data)
        if self["order"] == "numeric":
            values, places = np.unique(ordinals, return_inverse=True)
            return self.dtype.from_ordinals(values), places.reshape(data.shape)
        keys = self._keys(ordinals)
        _, where, places = np.unique(keys, return_index=True, return_inverse=True)
        return data.ravel()[where], places.reshape(data.shape)

    def _keys(self, ordinals: NDArray[np.int64]) -> Array:
        """What another rule ``order`` compares instead of the values."""
        if self["order"] == "magnitude":
            return np.abs(ordinals).view(np.uint64)  # an i64 may have no negative in its type
        if self["order"] == "reversed":
            return ~ordinals
        if self["order"] == "signed_zeros":
            if not self.dtype.is_float:
                return ordinals
            return ordinals - ((ordinals < 0) | self.minus_zero)
        if self["order"] == "unsigned_code":
            return self.data.view(self.dtype.code)
        if not self.dtype.is_float:
            return self.data.view(self.dtype.signed)
        # Codes read as signed integers: the more negative a number, the larger its code.
        return np.where(ordinals < 0, np.iinfo(np.int64).min - ordinals, ordinals)

    @cached_property
    def _flat(self) -> NDArray[np.int64]:
        spatial = self.data.shape[2:]
        return np.arange(math.prod(spatial), dtype=np.int64).reshape(spatial)

    @property
    def _position_bits(self) -> int:
        return (self._flat.size - 1).bit_length()

    @property
    def _end(self) -> int:
        """The largest position that the bits for one hold, from which positions count back."""
        return (1 << self._position_bits) - 1

    @cached_property
    def _first_key(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.once("first key", self.ranks, self._first_keys)
        return found

    def _first_keys(self, ranks: Ranks) -> NDArray[np.int64]:
        # One integer orders by value, then by position from the end: its maximum over a window,
        # which may be taken axis by axis, is the first of the largest elements.
        keys = ranks[1] << self._position_bits | self._end - self._flat
        return self.reduce(keys, np.maximum, -1)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The flat spatial position of each window's first largest element; 0 if it has none."""
        found: NDArray[np.int64] = self.once("first", self._first_key, self._counted_back)
        return found

    def _counted_back(self, key: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(key < 0, 0, self._end - (key & self._end))

    @cached_property
    def last(self) -> NDArray[np.int64]:
        """The flat spatial position of each window's last largest element; 0 if it has none."""
        keys = self.ranks[1] << self._position_bits | self._flat
        key = self.reduce(keys, np.maximum, -1)
        return np.where(key < 0, 0, key & self._end)

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
        """The flat spatial position of the largest element that the rule ``ties`` names.

        It is 0 where nothing exceeds what the search begins with.
        """
        rules = tuple(self[name] for name in ("ties", "begins", "passes_through", "conversion"))
        found: NDArray[np.int64] = self.once(("chosen", *rules), self.ranks, self._chosen)
        return found

    def _chosen(self, _ranks: Ranks) -> NDArray[np.int64]:
        place = self.last if self["ties"] == "last" else self.first
        if self["begins"] == "nothing":
            return place
        return np.where(self.exceeds_start, place, 0)

    @property
    def exceeds_start(self) -> NDArray[np.bool_]:
        """Which windows hold an element that is not below what the search begins with."""
        if self["begins"] == "nothing":
            return np.ones_like(self._largest_tap, np.bool_)
        with np.errstate(invalid="ignore"):  # ml_dtypes warns of a NaN that is compared
            if self._passing is not self.dtype and self["conversion"] == "saturates":
                # What lay below the start has become equal to it, and is not taken.
                return np.asarray(self._largest_tap > self._start_value)
            return np.asarray(self._largest_tap >= self._start_value)

    @property
    def _passing(self) -> DType:
        """The type in which floating-point data are compared."""
        through = self["passes_through"]
        return self.dtype if through == "own" or not self.dtype.is_float else DTYPES[through]

    @property
    def _start_value(self) -> Array:
        lowest = self._passing.lowest if self["begins"] == "lowest" else 0
        with np.errstate(over="ignore"):
            value: Array = self.dtype.numpy.type(lowest)
        return value

    @property
    def largest(self) -> Array:
        """The largest element of each window, +0 for a zero, and -infinity for an empty one.

        It is at least what the search begins with, by the rule ``begins``.
        """
        if self["begins"] == "nothing":
            return self._largest_tap
        return np.maximum(self._largest_tap, self._start_value)

    @property
    def _largest_tap(self) -> Array:
        found: Array = self.once("largest tap", self.ranks, self._largest_taps)
        return found

    def _largest_taps(self, ranks: Ranks) -> Array:
        largest = ranks[0][np.maximum(self._first_key, 0) >> self._position_bits]
        if self["order"] == "magnitude":  # elements of one rank may have either sign
            planes = flat_planes(self.data)
            chosen = flat_planes(self.first)
            largest = np.take_along_axis(planes, chosen, axis=-1).reshape(self.first.shape)
        return np.where(self._first_key < 0, self.dtype.bottom, largest)

    def coordinates(self, flat: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Flat spatial positions as one coordinate an axis.

        Not by ``numpy.unravel_index``, which is wrong in numpy 2.4 for arrays of several dimensions
        and more than 8192 elements.
        """
        found = []
        for extent in reversed(self.data.shape[2:]):
            whole = flat // extent  # much faster than divmod, by one number
            found.append(flat - whole * extent)
            flat = whole
        return tuple(reversed(found))

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
        taps = flat_planes(places)[:, :, flat]
        place = np.maximum(self._first_key, 0) >> self._position_bits
        return np.asarray((taps == place[..., None]) & counted)


def flat_planes(array: Array) -> Array:
    """(N, C, *axes) as (N, C, elements), where there is no image or channel, too."""
    return array.reshape(*array.shape[:2], math.prod(array.shape[2:]))


def _positions(count: int, axis: int, rank: int) -> NDArray[np.int64]:
    shape = [1] * rank
    shape[axis] = count
    return np.arange(count, dtype=np.int64).reshape(shape)


def _table(
    windows: tuple[AxisWindows, ...], spatial: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    axes = len(windows)
    elements = math.prod(one.indices.size for one in windows)
    if elements > MAX_TABLE:
        raise EvaluationError(f"{elements} taps of all windows are too many to be listed")
    flat = np.zeros((1,) * (2 * axes), np.int64)
    counted = np.ones((1,) * (2 * axes), np.bool_)
    for axis, one in enumerate(windows):
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = one.indices.shape
        flat = flat * spatial[axis] + one.indices.reshape(shape)
        counted = counted & one.counted.reshape(shape)
    shape = [*flat.shape[:axes], math.prod(flat.shape[axes:])]
    return flat.reshape(shape), counted.reshape(shape)
