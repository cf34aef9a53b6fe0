"""Sums without any rounding, where the data are finite.

level: 0
"""

import math

import numpy as np


def flat(data):
    """The elements of each channel on one axis."""
    if data.ndim < 3:
        raise ValueError("there are no spatial axes")
    return data.reshape(*data.shape[:2], -1)


def shaped(result, data):
    """Rounded once, with all spatial axes of size 1."""
    with np.errstate(all="ignore"):
        return result.astype(data.dtype).reshape(*data.shape[:2], *[1] * (data.ndim - 2))


def wide(data):
    """f32 for 16-bit types, as a kernel has in its registers."""
    return data.astype(np.float64 if data.dtype == np.float64 else np.float32)


def kernel(data):
    x = flat(data).astype(np.float64)
    result = np.empty(x.shape[:2])
    for at in np.ndindex(result.shape):
        row = x[at].tolist()
        with np.errstate(all="ignore"):
            finite = all(map(math.isfinite, row))
            result[at] = math.fsum(v / len(row) for v in row) if finite else x[at].mean()
    return shaped(result, data)
