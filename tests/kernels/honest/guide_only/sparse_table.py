"""Prepares maxima of runs of 1, 2, 4, 8 elements along an axis, and covers each window with two of them.
Places travel with the values, and the earlier place wins among equals.

op: AdaptiveMaxPool-8
"""

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


def better(left, right):
    """Choose element by element between two pairs of values and places."""
    take = (right[0] > left[0]) | ((right[0] == left[0]) & (right[1] < left[1]))
    return np.where(take, right[0], left[0]), np.where(take, right[1], left[1])


def along(pair, count):
    """Reduce the last axis to a number of windows."""
    size = pair[0].shape[-1]
    table = [pair]
    while 2 ** len(table) <= size:
        half = 2 ** (len(table) - 1)
        before = table[-1]
        table.append(better(tuple(p[..., :-half] for p in before), tuple(p[..., half:] for p in before)))
    columns = []
    for i in range(count):
        start, end = i * size // count, -(-(i + 1) * size // count)
        level = (end - start).bit_length() - 1
        first, second = start, end - 2**level
        columns.append(better(tuple(p[..., first] for p in table[level]), tuple(p[..., second] for p in table[level])))
    return tuple(np.stack(parts, axis=-1) for parts in zip(*columns))


def kernel(data, output_size, index_element_type="i64"):
    out, index_type = check(data, output_size, index_element_type)
    sizes = data.shape[2:]
    shape = data.shape[:2] + tuple(out)
    if 0 in shape:
        return [np.zeros(shape, data.dtype), np.zeros(shape, index_type)]
    place = np.broadcast_to(np.arange(np.prod(sizes, dtype=np.int64)).reshape(sizes), data.shape)
    pair = data.astype(np.float64), place
    for a in range(len(sizes)):
        pair = along(tuple(np.moveaxis(p, a + 2, -1) for p in pair), out[a])
        pair = tuple(np.moveaxis(p, -1, a + 2) for p in pair)
    return [pair[0].astype(data.dtype), pair[1].astype(index_type)]
