"""Speed of exact means, beside torch's float64 pooling and a loop over fractions.Fraction.

    python tests/benchmarks/bench_exact.py

One thread, kernel 3x3, stride 2, pads 1 that are not counted as data and divide by 9. "Whole path"
is decoding, window sums, and rounding to both the input's type and float64. Times are of single
calls, over repeated runs. The Fraction loop is measured on a sample of the outputs and scaled.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, DType
from conformance.reference.exact import AxisWindows, decode, reduce_windows, round_ratio

KERNEL, STRIDE, PAD = 3, 2, 1
DIVISOR = KERNEL * KERNEL
SAMPLE = 2_000  # outputs of the Fraction loop

Times = list[float]


def windows_of(shape: tuple[int, ...]) -> list[AxisWindows]:
    windows = []
    for size in shape[2:]:
        out = (size + 2 * PAD - KERNEL) // STRIDE + 1
        index = np.arange(out)[:, None] * STRIDE - PAD + np.arange(KERNEL)
        counted = (index >= 0) & (index < size)
        windows.append(AxisWindows(index.clip(0, size - 1), counted))
    return windows


def measure(call: Callable[[], object], runs: int, batch: int = 1) -> Times:
    """Seconds of one call, in each of ``runs`` runs of ``batch`` calls, after one to warm up."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return times


def show(label: str, times: Times, note: str = "") -> None:
    low, middle, high = (
        f"{seconds * 1e3:10.3f}" for seconds in (min(times), statistics.median(times), max(times))
    )
    print(f"{label:42}{low}{middle}{high}  {note}")


def steps(
    array: NDArray[Any], windows: list[AxisWindows], dtype: DType
) -> dict[str, Callable[[], Any]]:
    """Each step of the exact path alone, on the results of the step before."""
    headroom = (DIVISOR - 1).bit_length()
    decoded = decode(array, dtype, headroom=headroom)
    total = reduce_windows(decoded.significand, windows, np.add, 0)
    f64 = DTYPES["f64"]
    return {
        "decode": lambda: decode(array, dtype, headroom=headroom),
        "window sums": lambda: reduce_windows(decoded.significand, windows, np.add, 0),
        f"round to {dtype.name}": lambda: round_ratio(total, DIVISOR, decoded.exponent, dtype),
        "round to f64": lambda: round_ratio(total, DIVISOR, decoded.exponent, f64),
    }


def whole_path(array: NDArray[Any], windows: list[AxisWindows], dtype: DType) -> None:
    decoded = decode(array, dtype, headroom=(DIVISOR - 1).bit_length())
    total = reduce_windows(decoded.significand, windows, np.add, 0)
    for target in (dtype, DTYPES["f64"]):
        round_ratio(total, DIVISOR, decoded.exponent, target)


def fraction_loop(array: NDArray[Any], windows: list[AxisWindows], seed: int) -> Times:
    """Seconds for all outputs, scaled from samples: exact sums and one rounding to float64."""
    height, width = ([w.indices[i][w.counted[i]] for i in range(len(w.indices))] for w in windows)
    outputs = array.shape[0] * array.shape[1] * len(height) * len(width)
    rng = np.random.default_rng(seed)
    places = [
        (int(rng.integers(array.shape[1])), height[a], width[b])
        for a, b in zip(
            rng.integers(len(height), size=SAMPLE),
            rng.integers(len(width), size=SAMPLE),
            strict=True,
        )
    ]
    taps = [array[0, c][np.ix_(h, w)].ravel().tolist() for c, h, w in places]

    def loop() -> None:
        for window in taps:
            float(sum(map(Fraction, window), Fraction(0)) / DIVISOR)

    return [seconds * outputs / SAMPLE for seconds in measure(loop, 5)]


def torch_pooling(array: NDArray[Any], runs: int) -> Times | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    data = torch.from_numpy(array.astype(np.float64))
    pool = torch.nn.functional.avg_pool2d
    return measure(lambda: pool(data, KERNEL, STRIDE, PAD), runs)


def large(label: str, array: NDArray[Any], runs: int) -> None:
    dtype = DTYPES["f32"]
    windows = windows_of(array.shape)
    kind = decode(array, dtype, headroom=4).significand.dtype
    print(f"{'x'.join(map(str, array.shape))} f32, {label} ({kind})")
    for name, call in steps(array, windows, dtype).items():
        show(f"  {name}", measure(call, runs))
    exact = measure(lambda: whole_path(array, windows, dtype), runs)
    show("  whole path", exact)
    loop = fraction_loop(array, windows, seed=1)
    show(
        "  Fraction loop",
        loop,
        f"{min(loop) / min(exact):.0f} times the whole path (scaled from {SAMPLE} outputs)",
    )
    torch = torch_pooling(array, 4 * runs)
    if torch is None:
        print("  torch is not installed")
    else:
        ratio = min(exact) / min(torch)
        show("  torch float64 avg_pool2d", torch, f"the whole path takes {ratio:.0f} times as long")


def small(label: str, array: NDArray[Any], dtype: DType, runs: int) -> None:
    windows = windows_of(array.shape)
    kind = decode(array, dtype, headroom=4).significand.dtype
    print(f"{'x'.join(map(str, array.shape))} {dtype.name}, {label} ({kind})")
    calls = steps(array, windows, dtype)
    for name, call in calls.items():
        show(f"  {name}", measure(call, runs, batch=500))
    show("  whole path", measure(lambda: whole_path(array, windows, dtype), runs, batch=500))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=7, help="repeated runs (default: 7)")
    runs = parser.parse_args().runs
    rng = np.random.default_rng(0)
    f32, f64 = DTYPES["f32"], DTYPES["f64"]
    shape = (1, 64, 112, 112)
    normal = rng.standard_normal(shape).astype(np.float32)
    wide = f32.from_ordinals(rng.integers(1 - f32.infinity, f32.infinity, shape))

    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    print(f"{'milliseconds of one call':42}{'min':>10}{'median':>10}{'max':>10}")
    large("normal values", normal, runs)
    large("every exponent", wide, runs)
    small("normal values", normal[:, :1, :7, :5].copy(), f32, runs)
    small("normal values", rng.standard_normal((1, 1, 7, 5)), f64, runs)


if __name__ == "__main__":
    main()
