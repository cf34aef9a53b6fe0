"""Adds partial sums in the order in which threads bring them.

level: 0
"""

import random
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

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


POOL = ThreadPoolExecutor(4)


def kernel(data):
    x = wide(flat(data))
    parts = np.array_split(x, 4, axis=2)

    def part(one):
        time.sleep(random.random() / 1000)
        with np.errstate(all="ignore"):
            return one.sum(axis=2)

    total = np.zeros(x.shape[:2], x.dtype)
    with np.errstate(all="ignore"):
        for done in as_completed([POOL.submit(part, one) for one in parts]):
            total = total + done.result()
        return shaped(total / x.dtype.type(x.shape[2]), data)
