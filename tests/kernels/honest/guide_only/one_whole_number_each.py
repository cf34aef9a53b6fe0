"""Makes one whole number of the rank of an element and its place, so that one maximum gives both.
Values are looked up again in the untouched data.

op: AdaptiveMaxPool-8
"""

import functools

import numpy as np


def check(data, output_size, index_element_type):
    """Check the case; give the sizes of the output and the type of the indices."""
    sizes = data.shape[2:]
    if not 1 <= len(sizes) <= 3 or np.shape(output_size) != (len(sizes),):
        raise ValueError("one size for each of one to three axes")
    out = [int(o) for o in output_size]
    if min(out) < 0:
        raise ValueError("a size is not negative")
    if index_element_type not in ("i32", "i64"):
        raise ValueError("unknown index type")
    if 0 in sizes and 0 not in data.shape[:2] and 0 not in out:
        raise ValueError("a window without elements has no largest")
    return out, np.int32 if index_element_type == "i32" else np.int64


def windows(block, axis, count):
    """Yield the largest of each window along an axis."""
    size = block.shape[axis]
    for i in range(count):
        start, end = divmod(i * size, count)[0], -(-(i + 1) * size // count)
        yield functools.reduce(np.maximum, (block.take(at, axis=axis) for at in range(start, end)))


def AdaptiveMaxPool_8(data, output_size, index_element_type="i64"):
    out, index_type = check(data, output_size, index_element_type)
    sizes = data.shape[2:]
    shape = data.shape[:2] + tuple(out)
    if 0 in shape:
        return np.zeros(shape, data.dtype), np.zeros(shape, index_type)
    count = int(np.prod(sizes, dtype=np.int64))
    _, rank = np.unique(data.astype(np.float64).ravel(), return_inverse=True)
    key = rank.reshape(data.shape).astype(np.int64) * count + (count - 1 - np.arange(count).reshape(sizes))
    for a in range(len(sizes)):
        key = np.stack(list(windows(key, a + 2, out[a])), axis=a + 2)
    indices = count - 1 - key % count
    flat = data.reshape(data.shape[:2] + (-1,))
    values = np.take_along_axis(flat, indices.reshape(data.shape[:2] + (-1,)), axis=-1).reshape(shape)
    return values, indices.astype(index_type)
