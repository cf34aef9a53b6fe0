"""One row per element type: codes, rounding to nearest even, neighbours, ULP distance.

Arrays that leave or enter the package are of the *logical* numpy type (``bf16`` is
``ml_dtypes.bfloat16``); arrays in files are of the *storage* type (``bf16`` is its code as
``uint16``), since numpy files lose types that numpy itself does not know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_UP, Context
from functools import cache, cached_property
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class DType:
    """An element type.

    For floating-point types ``digits`` is the number of significand bits with the hidden one,
    ``emin`` and ``emax`` the exponents of the smallest and largest normal binade (IEEE 754-2019,
    section 3.3): the largest finite value is ``(2 - 2**(1 - digits)) * 2**emax`` and the smallest
    subnormal ``2**quantum``. Of integer types ``digits`` is the number of bits below the topmost
    one, which signed and unsigned types of a width share; truth values are 0 and 1, and have none.
    """

    name: str
    kind: str  # "float", "int", "uint" or "bool"
    numpy: np.dtype[Any]
    storage: np.dtype[Any]
    digits: int = 0
    emin: int = 0
    emax: int = 0
    onnx: str = ""  # as onnx.TensorProto calls it

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @cached_property
    def limits(self) -> tuple[int, int]:
        """The lowest and the largest number of a type without fractions."""
        top = 1 << self.digits
        return (-top, top - 1) if self.kind == "int" else (0, 2 * top - 1)

    @cached_property
    def lowest(self) -> Any:
        """The lowest finite number, as a numpy scalar of this type."""
        if self.is_float:
            return self.from_ordinals(np.asarray([1 - self.infinity]))[0]
        return self.numpy.type(self.limits[0])

    @cached_property
    def bottom(self) -> Any:
        """The smallest value: minus infinity, or an integer type's lowest number."""
        return self.numpy.type(-np.inf) if self.is_float else self.lowest

    @property
    def quantum(self) -> int:
        """The exponent of the smallest subnormal."""
        return self.emin - (self.digits - 1)

    @cached_property
    def infinity(self) -> int:
        """The ordinal of +infinity, which is also its code."""
        return (self.emax - self.emin + 2) << (self.digits - 1)

    @cached_property
    def code(self) -> np.dtype[Any]:
        """The unsigned integer type that holds a value's bits."""
        return np.dtype(f"<u{self.numpy.itemsize}")

    @cached_property
    def signed(self) -> np.dtype[Any]:
        """The signed integer type of a value's width: its codes are negative where values are."""
        return np.dtype(f"<i{self.numpy.itemsize}")

    @cached_property
    def _unsigned_bits(self) -> int:
        """All bits of a value but its sign."""
        return int(np.iinfo(self.signed).max)

    def from_storage(self, stored: Array) -> Array:
        """View an array of the storage type as its logical type.

        Raises ValueError for an array of another type.
        """
        if stored.dtype != self.storage:
            raise ValueError(f"{self.name} is stored as {self.storage}, not {stored.dtype}")
        return stored if self.storage == self.numpy else stored.view(self.numpy)

    def to_storage(self, array: Array) -> Array:
        """View an array of the logical type as its storage type.

        Raises ValueError for an array of another type.
        """
        if array.dtype != self.numpy:
            raise ValueError(f"{self.name} needs an array of {self.numpy}, not {array.dtype}")
        return array if self.storage == self.numpy else array.view(self.storage)

    def ordinals(self, array: Array) -> NDArray[np.int64]:
        """Return integers in the order of the values: neighbours differ by 1; zeros are 0.

        ``array`` must be of this type. NaN lies beyond the infinities.
        """
        if not self.is_float:
            return array.astype(np.int64)
        code = array.view(self.signed).astype(np.int64)
        return np.where(code < 0, -(code & self._unsigned_bits), code)

    def from_ordinals(self, ordinals: NDArray[np.int64]) -> Array:
        """Return values from their ordinals, the inverse of :meth:`ordinals`; 0 becomes +0."""
        if not self.is_float:
            return ordinals.astype(self.numpy)
        code = np.where(ordinals < 0, np.iinfo(self.signed).min | -ordinals, ordinals)
        return code.astype(self.signed).view(self.numpy)

    def shortest(self, value: Any) -> str:
        """Return the shortest decimal that reads back as the same value of this type.

        A whole number that is written out is exact: f16 has 60352.0, not 60350.0.
        """
        if not self.is_float:
            return str(value)
        number = float(value)
        if not math.isfinite(number) or (number.is_integer() and abs(number) < 1e16):
            return repr(number)
        is_native = self.storage == self.numpy
        return str(self.numpy.type(number)) if is_native else _shortest(number, self.numpy)

    def ulp_distance(self, a: Array, b: Array) -> NDArray[np.float64]:
        """Count the representable values from each element of ``a`` to that of ``b``.

        Infinite where one element is NaN. Exact below 2**53, rounded beyond.
        """
        x, y = self.ordinals(a), self.ordinals(b)
        nan = np.maximum(np.abs(x), np.abs(y)) > self.infinity
        # The difference of two int64 may need 64 bits; modulo 2**64 it is right as uint64.
        distance = np.subtract(np.maximum(x, y), np.minimum(x, y)).view(np.uint64)
        return np.where(nan, np.inf, distance.astype(np.float64))


@cache
def _shortest(number: float, numpy: np.dtype[Any]) -> str:
    """The shortest decimal of a finite number of a type that numpy itself does not know."""
    # The neighbour above a power of two is twice as far away as the one below.
    roundings = (ROUND_HALF_EVEN, ROUND_UP)
    contexts = (Context(digits, rounding) for digits in range(1, 18) for rounding in roundings)
    decimals = (float(context.create_decimal_from_float(number)) for context in contexts)
    return next(repr(decimal) for decimal in decimals if numpy.type(decimal) == number)


def _float(
    name: str, numpy: Any, storage: str, digits: int, emin: int, emax: int, onnx: str
) -> DType:
    return DType(name, "float", np.dtype(numpy), np.dtype(storage), digits, emin, emax, onnx)


def _integer(name: str, kind: str, numpy: str) -> DType:
    row = np.dtype(numpy)
    return DType(name, kind, row, row, digits=8 * row.itemsize - 1, onnx=row.name.upper())


DTYPES: dict[str, DType] = {
    row.name: row
    for row in (
        _float("f16", "<f2", "<f2", 11, -14, 15, "FLOAT16"),
        _float("bf16", ml_dtypes.bfloat16, "<u2", 8, -126, 127, "BFLOAT16"),
        _float("f32", "<f4", "<f4", 24, -126, 127, "FLOAT"),
        _float("f64", "<f8", "<f8", 53, -1022, 1023, "DOUBLE"),
        _integer("i8", "int", "<i1"),
        _integer("u8", "uint", "<u1"),
        _integer("i32", "int", "<i4"),
        _integer("i64", "int", "<i8"),
        DType("bool", "bool", np.dtype("?"), np.dtype("?"), onnx="BOOL"),
    )
}

FLOATS = tuple(name for name, row in DTYPES.items() if row.is_float)


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a numpy type: as specifications spell it, else numpy's."""
    for row in DTYPES.values():
        if dtype == row.numpy:
            return row.name
    return str(dtype)


def converted(values: Array, dtype: DType, *, saturates: bool = False) -> Array:
    """Convert values to another type, rounded to nearest even.

    Beyond its range they become infinities; where it ``saturates``, they and infinities become its
    largest numbers. In an integer type they wrap around, or saturate; floating-point ones always
    saturate: to the largest number of the integer type, or where it ``saturates``, to that of both.
    """
    with np.errstate(all="ignore"):
        if not dtype.is_float and values.dtype.kind in "iu":
            return _clipped(values, dtype) if saturates else values.astype(dtype.numpy)
        if not dtype.is_float:
            return _saturated(values, dtype, both=saturates)
        if saturates:
            largest = float(dtype.from_ordinals(np.asarray([dtype.infinity - 1]))[0])
            values = np.clip(values.astype(np.float64), -largest, largest)
        return values.astype(dtype.numpy)


def narrowed(values: Array, dtype: DType, rounding: str = "nearest") -> Array:
    """Convert floating-point values to another floating-point type, rounded to nearest even.

    ``rounding`` may be ``toward_zero``; or ``up_from_odd``: the digits that do not fit are cut off,
    and a number is rounded to nearest only if the last digit that it keeps is odd. That is what
    rounding to nearest even becomes where only the bit that settles ties is added.
    """
    with np.errstate(all="ignore"):
        nearest = values.astype(dtype.numpy)
        if rounding not in ("toward_zero", "up_from_odd"):
            return nearest
        beyond = np.abs(nearest.astype(values.dtype)) > np.abs(values)
        ordinals = dtype.ordinals(nearest)
        cut_off = ordinals - np.sign(ordinals) * beyond
        if rounding == "up_from_odd":
            cut_off = np.where(cut_off % 2 == 1, ordinals, cut_off)
        return np.where(beyond, dtype.from_ordinals(cut_off), nearest)


def _clipped(values: Array, dtype: DType) -> Array:
    """Whole numbers in another integer type, those beyond its range as its largest or lowest."""
    source, (lowest, largest) = np.iinfo(values.dtype), dtype.limits
    low, high = max(source.min, lowest), min(source.max, largest)
    return np.clip(values, values.dtype.type(low), values.dtype.type(high)).astype(dtype.numpy)


def _saturated(values: Array, dtype: DType, *, both: bool) -> Array:
    """Whole floating-point numbers in an integer type; fractions are undefined.

    ``both``: what is too large becomes the largest number that both types have.
    """
    largest = dtype.limits[1]
    if both and float(values.dtype.type(largest)) > largest:
        largest = int(np.nextafter(values.dtype.type(largest), values.dtype.type(0)))
    wide = np.nan_to_num(values.astype(np.float64), nan=0.0)
    above, below = wide >= float(largest), wide < float(dtype.lowest)
    inside = np.where(above | below, 0.0, wide).astype(dtype.numpy)
    return np.where(above, largest, np.where(below, dtype.lowest, inside)).astype(dtype.numpy)
