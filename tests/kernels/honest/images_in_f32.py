"""Claims images in f32 and nothing else.

level: 0
"""

import numpy as np

CAPABILITIES = {"dtypes": ["f32"], "ranks": [4]}


def kernel(data):
    if data.dtype != np.float32 or data.ndim != 4:
        raise RuntimeError("never asked")
    return data.mean(axis=(2, 3), keepdims=True)
