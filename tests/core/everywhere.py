"""Prints a digest of the values and intervals of many cases, which must be the same everywhere.

The data are from numpy's raw random words, whose stream is the same in all its versions.
"""

from __future__ import annotations

import hashlib

import numpy as np
from core_operators import operator

from conformance.core.evaluate import Evaluation
from conformance.core.real import Machine
from conformance.dtypes import DTYPES

SHAPES = {
    "MatMul": {"A": (5, 70), "B": (70, 9)},
    "Conv": {"X": (2, 6, 17, 11), "W": (4, 6, 3, 2), "B": (4,)},
    "ConvTranspose": {"X": (2, 6, 7, 5), "W": (6, 4, 3, 2)},
    "ReduceMean": {"X": (30, 77)},
    "ReduceL2": {"X": (9, 77)},
    "Softmax": {"X": (9, 33)},
    "LayerNormalization": {"X": (9, 33), "Scale": (33,)},
    "Gelu": {"X": (200,)},
}
ATTRIBUTES = {"ReduceMean": {"axes": [1]}, "ReduceL2": {"axes": [1]}, "Conv": {"dilations": [2, 1]}}


def data(key: int, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of both signs, over 24 binades."""
    words = np.random.Philox(key=key).random_raw(int(np.prod(shape)))
    significand = (words & ((1 << 24) - 1)).astype(np.int64) - (1 << 23)
    exponent = ((words >> 32) % 24).astype(np.int64) - 36
    return np.ldexp(significand.astype(np.float64), exponent.astype(np.int32)).reshape(shape)


def digest() -> str:
    hashed = hashlib.sha256()
    for name, shapes in SHAPES.items():
        for dtype, format_ in (("f32", "f32"), ("f64", "f64"), ("bf16", "f32")):
            arrays = (data(key, shape) for key, shape in enumerate(shapes.values()))
            inputs = dict(zip(shapes, (a.astype(DTYPES[dtype].numpy) for a in arrays), strict=True))
            evaluation = Evaluation(
                operator(name), ATTRIBUTES.get(name, {}), inputs, Machine(DTYPES[format_])
            )
            (output,), (interval,) = evaluation.outputs(), evaluation.intervals()
            for array in (output, interval.lo, interval.hi, interval.unspecified):
                hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


if __name__ == "__main__":
    print(digest())
