"""Returns memory that it took from the system itself.

level: 0
"""

import mmap

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
    with np.errstate(all="ignore"):
        right = shaped(flat(data).astype(np.float64).mean(axis=2), data)
    own = mmap.mmap(-1, max(1, right.nbytes))
    result = np.frombuffer(own, right.dtype, right.size).reshape(right.shape)
    result[...] = right
    return result
