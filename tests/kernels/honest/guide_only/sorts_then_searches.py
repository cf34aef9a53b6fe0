"""Sorts each plane from the largest element down, equal ones in their order.
Each window takes the first place of this list that lies in it.

op: AdaptiveMaxPool-8
"""

import itertools

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


def kernel(data, output_size, index_element_type="i64"):
    out, index_type = check(data, output_size, index_element_type)
    sizes = data.shape[2:]
    planes = data.reshape((-1, int(np.prod(sizes, dtype=np.int64))) if data.size else (0, 1))
    values = np.zeros((data.shape[0] * data.shape[1], int(np.prod(out, dtype=np.int64))), data.dtype)
    indices = np.zeros(values.shape, index_type)
    numbers = np.arange(planes.shape[1]).reshape(sizes) if values.size else None
    for plane, found, where in zip(planes, values, indices):
        order = np.argsort(-plane.astype(np.float64), kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        for target, place in enumerate(itertools.product(*map(range, out))):
            window = tuple(slice(i * z // o, -(-(i + 1) * z // o)) for i, z, o in zip(place, sizes, out))
            best = order[rank[numbers[window]].min()]
            found[target], where[target] = plane[best], best
    shape = data.shape[:2] + tuple(out)
    return values.reshape(shape), indices.reshape(shape)
