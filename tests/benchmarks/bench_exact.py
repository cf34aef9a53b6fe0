"""The steps of exact means: decoding, window sums, rounding to the input's type and to float64.

    python tests/benchmarks/bench_exact.py

Kernel 3x3, stride 2, pads 1 that divide by 9. The type named beside the label is that of the
significands: Python's integers (``object``) where exponents lie too far apart for int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import measure
import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, DType
from conformance.reference.exact import AxisWindows, decode, reduce_windows, round_ratio

KERNEL, STRIDE, PAD = 3, 2, 1
DIVISOR = KERNEL * KERNEL
HEADROOM = (DIVISOR - 1).bit_length()
RUNS = 7


def windows_of(shape: tuple[int, ...]) -> list[AxisWindows]:
    windows = []
    for size in shape[2:]:
        out = (size + 2 * PAD - KERNEL) // STRIDE + 1
        index = np.arange(out)[:, None] * STRIDE - PAD + np.arange(KERNEL)
        counted = (index >= 0) & (index < size)
        windows.append(AxisWindows(index.clip(0, size - 1), counted))
    return windows


def steps(label: str, array: NDArray[Any], dtype: DType, batch: int) -> None:
    """Each step alone, on the results of the step before, in turn with the others."""
    windows = windows_of(array.shape)
    decoded = decode(array, dtype, headroom=HEADROOM)
    total = reduce_windows(decoded.significand, windows, np.add, 0)
    f64 = DTYPES["f64"]
    calls: dict[str, Callable[[], object]] = {
        "decode": lambda: decode(array, dtype, headroom=HEADROOM),
        "window sums": lambda: reduce_windows(decoded.significand, windows, np.add, 0),
        f"round to {dtype.name}": lambda: round_ratio(total, DIVISOR, decoded.exponent, dtype),
        "round to float64": lambda: round_ratio(total, DIVISOR, decoded.exponent, f64),
    }
    shape = "x".join(map(str, array.shape))
    measure.title(f"Exact means, {shape} {dtype.name}, {label} ({decoded.significand.dtype})")
    for name, times in measure.interleaved(RUNS, calls, batch).items():
        measure.show(name, [seconds * 1e3 for seconds in times], "ms")


def bench() -> None:
    """A large array of ordinary values and of every exponent, and small ones."""
    rng = np.random.default_rng(0)
    f32, f64 = DTYPES["f32"], DTYPES["f64"]
    shape = (1, 64, 112, 112)
    normal = rng.standard_normal(shape).astype(np.float32)
    steps("normal", normal, f32, 1)
    steps("wide", f32.from_ordinals(rng.integers(1 - f32.infinity, f32.infinity, shape)), f32, 1)
    steps("normal", normal[:, :1, :7, :5].copy(), f32, 300)
    steps("normal", rng.standard_normal((1, 1, 7, 5)), f64, 300)


if __name__ == "__main__":
    measure.run(bench)
