"""Sums in the widest type that the processor has.

level: 0
"""

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
    x = flat(data).astype(np.longdouble)
    with np.errstate(all="ignore"):
        return shaped(x.sum(axis=2) / x.shape[2], data)
