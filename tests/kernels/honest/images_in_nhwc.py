"""Takes images with channels last (NHWC), and declares this layout.

level: 0
"""

import numpy as np

CAPABILITIES = {"dtypes": ["f32"], "ranks": [4], "layout": ["NHWC"]}


def kernel(data):
    with np.errstate(all="ignore"):
        return data.mean(axis=(1, 2), keepdims=True, dtype=np.float64).astype(data.dtype)
