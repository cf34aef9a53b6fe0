"""Windows of adaptive pooling, with the output size as an input.

level: 0
op: AdaptiveAvgPool-8
"""

import numpy as np


def kernel(data, output_size):
    axes = data.ndim - 2
    if not 1 <= axes <= 3 or output_size.shape != (axes,) or (output_size < 0).any():
        raise ValueError("an output size for each spatial axis")
    if output_size.dtype not in (np.int32, np.int64):
        raise ValueError("the output size is i32 or i64")
    out = [int(n) for n in output_size]
    if any(n and not size for n, size in zip(out, data.shape[2:], strict=True)):
        raise ValueError("an axis without elements")
    result = np.empty((*data.shape[:2], *out), data.dtype)
    for at in np.ndindex(*out):
        window = tuple(
            slice(i * size // n, -(-(i + 1) * size // n))
            for i, size, n in zip(at, data.shape[2:], out, strict=True)
        )
        taps = data[(..., *window)].astype(np.float64)
        with np.errstate(all="ignore"):
            result[(..., *at)] = taps.mean(axis=tuple(range(2, data.ndim)))
    return result
