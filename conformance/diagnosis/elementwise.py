"""Arrays of two implementations, compared element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.model import Answer

Mask = NDArray[np.bool_]


def ordinals(array: Array) -> NDArray[np.int64]:
    """Map values to integers in the same order; integers to themselves."""
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    return _row(array).ordinals(np.ascontiguousarray(array)).reshape(array.shape)


def _row(array: Array) -> Any:
    return next(row for row in DTYPES.values() if row.numpy == array.dtype)


def is_nan(array: Array) -> Mask:
    """Mark NaN in an array of any element type; nothing in an array of integers."""
    return array != array


def equal_values(got: Array, other: Array) -> Mask:
    """Mark equal values of two arrays of one shape and type; NaN equals NaN."""
    return (ordinals(got) == ordinals(other)) | (is_nan(got) & is_nan(other))


def values_between(got: Array, lo: Array, hi: Array) -> Mask:
    """Mark values between two bounds, both included; only NaN is between NaN."""
    got_ordinals = ordinals(got)
    within: Mask = (got_ordinals >= ordinals(lo)) & (got_ordinals <= ordinals(hi))
    return np.where(is_nan(lo), is_nan(got), within)


def ungraded_elements(expected_output: Answer, got: Array, precision: str) -> Mask:
    """Mark elements that are not graded; none if the output has another shape."""
    unchecked = expected_output.unchecked(precision)
    if unchecked is None or unchecked.shape != got.shape:
        return np.zeros(got.shape, np.bool_)
    return unchecked
