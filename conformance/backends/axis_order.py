"""Tensors in another order of axes, and indices counted otherwise; and both back.

A run uses it, and its text is copied into each script that needs it; so it needs only numpy.
"""

import math
from typing import Any

import numpy as np

MAX_COPIED = 1 << 30
"""Bytes above which nothing is copied; no right output has as many."""


def transposed(array: Any, order: Any) -> Any:
    """Return the array with its axes in ``order``, contiguous; another rank stays as is."""
    if array.ndim != len(order):
        return array
    result = array.transpose(order)
    return result if result.nbytes > MAX_COPIED else np.ascontiguousarray(result)


def untransposed(array: Any, order: Any) -> Any:
    """Return the array that :func:`transposed` made this of."""
    return transposed(array, [order.index(axis) for axis in range(len(order))])


def recount_indices(indices: Any, counting: dict[str, Any]) -> tuple[Any, int]:
    """Convert indices to the specification's order, and count those without a counterpart.

    They are (N, C, ...), and count the elements of data of a ``shape`` over ``axes``, the first of
    which changes slowest; an image or channel that is not counted is that of the index itself. The
    specification counts ``first`` plus a ``step`` for each position on an axis. What lies outside
    of the data, or in another image or channel, has no counterpart: it stays as it is, or becomes
    -1 if it could be mistaken for a right index. Arrays that can be no indices of these data stay
    as they are.
    """
    shape, axes, steps = counting["shape"], counting["axes"], counting["step"]
    if indices.dtype.kind not in "iu" or indices.ndim != len(shape):
        return indices, 0
    if indices.shape[:2] != tuple(shape[:2]):
        return indices, 0
    remaining = indices.astype(np.int64)
    inside = (remaining >= 0) & (remaining < math.prod(shape[axis] for axis in axes))
    remaining = np.where(inside, remaining, 0)
    recounted = np.full(indices.shape, counting["first"], np.int64)
    self_coordinates = [
        np.arange(shape[axis]).reshape([-1 if axis == other else 1 for other in range(len(shape))])
        for axis in (0, 1)
    ]
    for axis in reversed(axes):
        remaining, coordinate = np.divmod(remaining, max(1, shape[axis]))
        if axis < 2:
            inside = inside & (coordinate == self_coordinates[axis])
        recounted = recounted + steps[axis] * coordinate
    for axis in (0, 1):
        if axis not in axes:
            recounted = recounted + steps[axis] * self_coordinates[axis]
    largest = counting["first"] + sum(steps[axis] * (shape[axis] - 1) for axis in range(len(shape)))
    possible = (indices >= 0) & (indices <= largest)
    result = np.where(possible, -1, indices.astype(np.int64))
    result = np.where(inside, recounted, result).astype(indices.dtype)
    return result, int(np.count_nonzero(~inside))
