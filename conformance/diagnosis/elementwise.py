"""Arrays of two implementations, compared element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES
from conformance.model import OPEN_BIT, Answer

Array = NDArray[Any]
Mask = NDArray[np.bool_]


def ordinals(array: Array) -> NDArray[np.int64]:
    """Integers in the order of the values; an integer is its own."""
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    return _row(array).ordinals(np.ascontiguousarray(array)).reshape(array.shape)


def _row(array: Array) -> Any:
    return next(row for row in DTYPES.values() if row.numpy == array.dtype)


def is_nan(array: Array) -> Mask:
    """Of any element type; nothing in an array of integers."""
    return array != array


def equal_values(got: Array, other: Array) -> Mask:
    """Where two arrays of one shape and type have equal values; NaN equals NaN."""
    return (ordinals(got) == ordinals(other)) | (is_nan(got) & is_nan(other))


def values_between(got: Array, lo: Array, hi: Array) -> Mask:
    """Where values lie between two others, both included; where these are NaN only NaN does."""
    got_ordinals = ordinals(got)
    within: Mask = (got_ordinals >= ordinals(lo)) & (got_ordinals <= ordinals(hi))
    return np.where(is_nan(lo), is_nan(got), within)


def ungraded_elements(expected_output: Answer, got: Array, precision: str) -> Mask:
    """Elements that are not graded; none where the output has another shape."""
    if expected_output.open is None or expected_output.open.shape != got.shape:
        return np.zeros(got.shape, np.bool_)
    return (expected_output.open & OPEN_BIT[precision]) != 0
