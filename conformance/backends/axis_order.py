"""Tensors in another order of axes, and indices counted otherwise; and both back.

A run uses it, and its text is copied into each script that needs it; so it needs only numpy.
"""

import math
from typing import Any

import numpy as np

MAX_COPIED = 1 << 30
"""Bytes above which nothing is copied; no right output has as many."""


def transposed(array: Any, order: Any) -> Any:
    """The array with its axes in ``order``, contiguous; one of another rank as it is."""
    if array.ndim != len(order):
        return array
    turned = array.transpose(order)
    return turned if turned.nbytes > MAX_COPIED else np.ascontiguousarray(turned)


def untransposed(array: Any, order: Any) -> Any:
    """What :func:`arranged` was given, from what it gave."""
    return transposed(array, [order.index(axis) for axis in range(len(order))])


def recount_indices(indices: Any, counting: dict[str, Any]) -> tuple[Any, int]:
    """Indices in the order of the specification, and how many have no counterpart there.

    They are (N, C, ...), and count the elements of data of a ``shape`` over some ``axes``, the
    first of which changes slowest; an image or channel that is not counted is that of the index
    itself. The specification counts ``first`` plus a ``step`` for each place on an axis. What lies
    outside of the data, or in another image or channel, has no counterpart there: it stays as it
    is, or becomes -1 where it could be mistaken for a right one. Arrays that can be no indices of
    these data stay as they are.
    """
    shape, axes, steps = counting["shape"], counting["axes"], counting["step"]
    if indices.dtype.kind not in "iu" or indices.ndim != len(shape):
        return indices, 0
    if indices.shape[:2] != tuple(shape[:2]):
        return indices, 0
    rest = indices.astype(np.int64)
    found = (rest >= 0) & (rest < math.prod(shape[axis] for axis in axes))
    rest = np.where(found, rest, 0)
    told = np.full(indices.shape, counting["first"], np.int64)
    own = [
        np.arange(shape[axis]).reshape([-1 if axis == one else 1 for one in range(len(shape))])
        for axis in (0, 1)
    ]
    for axis in reversed(axes):
        rest, place = np.divmod(rest, max(1, shape[axis]))
        if axis < 2:
            found = found & (place == own[axis])
        told = told + steps[axis] * place
    for axis in (0, 1):
        if axis not in axes:
            told = told + steps[axis] * own[axis]
    most = counting["first"] + sum(steps[axis] * (shape[axis] - 1) for axis in range(len(shape)))
    possible = (indices >= 0) & (indices <= most)
    result = np.where(possible, -1, indices.astype(np.int64))
    result = np.where(found, told, result).astype(indices.dtype)
    return result, int(np.count_nonzero(~found))
