"""The steps of exact means: decoding, and rounding to the input's type and to float64.

    python tests/benchmarks/bench_exact.py

The type named beside the label is that of the significands: Python's integers (``object``) where
exponents lie too far apart for int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import measure
import numpy as np
from numpy.typing import NDArray

from conformance.core.integers import decode, round_ratio
from conformance.dtypes import DTYPES, DType

DIVISOR = 9
HEADROOM = (DIVISOR - 1).bit_length()
RUNS = 7


def steps(label: str, array: NDArray[Any], dtype: DType, batch: int) -> None:
    """Each step alone, on the results of the step before, in turn with the others."""
    decoded = decode(array, dtype, headroom=HEADROOM)
    total, f64 = decoded.significand, DTYPES["f64"]
    calls: dict[str, Callable[[], object]] = {
        "decode": lambda: decode(array, dtype, headroom=HEADROOM),
        f"round to {dtype.name}": lambda: round_ratio(total, DIVISOR, decoded.exponent, dtype),
        "round to float64": lambda: round_ratio(total, DIVISOR, decoded.exponent, f64),
    }
    shape = "x".join(map(str, array.shape))
    measure.title(f"Exact means, {shape} {dtype.name}, {label} ({total.dtype})")
    for name, times in measure.interleaved(RUNS, calls, batch).items():
        measure.show(name, [seconds * 1e3 for seconds in times], "ms")


def bench() -> None:
    """A large array of ordinary values and of every exponent, and small ones."""
    rng = np.random.default_rng(0)
    f32, f64 = DTYPES["f32"], DTYPES["f64"]
    shape = (1, 64, 56, 56)
    normal = rng.standard_normal(shape).astype(np.float32)
    steps("normal", normal, f32, 1)
    steps("wide", f32.from_ordinals(rng.integers(1 - f32.infinity, f32.infinity, shape)), f32, 1)
    steps("normal", normal[:, :1, :7, :5].copy(), f32, 300)
    steps("normal", rng.standard_normal((1, 1, 7, 5)), f64, 300)


if __name__ == "__main__":
    measure.run(bench)
