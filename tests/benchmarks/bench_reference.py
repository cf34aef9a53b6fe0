"""Speed of the public reference, beside torch's float64 pooling and a loop over Fractions.

    python tests/benchmarks/bench_reference.py

``conformance.reference("AvgPool-1", ...)`` on 1x64x112x112 f32, kernel 3x3, strides 2, pads 1 that
are not counted as data but divide by 9: everything from checking the attributes to float64 outputs.
At most 100 times torch on one thread, and 10 times faster than the loop, are asked of it. The loop
sums and divides ``fractions.Fraction`` objects on a sample of the outputs, and is scaled to all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import measure
import numpy as np
from numpy.typing import NDArray

import conformance
from conformance.dtypes import DTYPES

Array = NDArray[Any]

SHAPE = (1, 64, 112, 112)
ATTRIBUTES = {
    "kernel": [3, 3],
    "strides": [2, 2],
    "pads_begin": [1, 1],
    "pads_end": [1, 1],
    "exclude-pad": False,
    "rounding_type": "floor",
    "auto_pad": "explicit",
}
SAMPLE = 2_000  # outputs of the loop
RUNS = 7


def sampled_loop(data: Array, exact: Array) -> tuple[Callable[[], None], float]:
    """The loop over a sample, checked against ``exact``, and what its time is multiplied with."""
    rng = np.random.default_rng(1)
    places = [tuple(int(rng.integers(n)) for n in exact.shape) for _ in range(SAMPLE)]
    windows = []
    for n, c, i, j in places:
        rows, columns = (slice(max(2 * k - 1, 0), 2 * k + 2) for k in (i, j))
        windows.append(data[n, c, rows, columns].ravel().tolist())
    means = [float(sum(map(Fraction, window), Fraction(0)) / 9) for window in windows]
    assert means == [exact[place] for place in places]

    def loop() -> None:
        for window in windows:
            float(sum(map(Fraction, window), Fraction(0)) / 9)

    return loop, math.prod(exact.shape) / SAMPLE


def torch_pooling(data: Array, exact: Array) -> Callable[[], object]:
    """torch's mean of the same windows in float64, checked against ``exact``."""
    import torch

    tensor = torch.from_numpy(data.astype(np.float64))
    pool = torch.nn.functional.avg_pool2d
    magnitude = pool(tensor.abs(), 3, 2, 1).numpy()
    assert (abs(pool(tensor, 3, 2, 1).numpy() - exact) <= 1e-15 * magnitude).all()
    return lambda: pool(tensor, 3, 2, 1)


def compare(label: str, data: Array) -> None:
    """Time the reference, torch and the loop in turn on the same data."""

    def reference() -> Array:
        return conformance.reference("AvgPool-1", [data], ATTRIBUTES)[0]

    exact = reference()
    loop, scale = sampled_loop(data, exact)
    calls: dict[str, Callable[[], object]] = {"reference": reference, "loop": loop}
    if measure.installed("torch"):
        calls["torch"] = torch_pooling(data, exact)
    times = measure.interleaved(RUNS, calls)
    times["loop"] = [seconds * scale for seconds in times["loop"]]
    for name, found in times.items():
        note = f"scaled from {SAMPLE} outputs" if name == "loop" else ""
        measure.show(f"{label}: {name}", [seconds * 1e3 for seconds in found], "ms", note)
    faster = measure.ratios(times["loop"], times["reference"])
    measure.show(f"{label}: loop / reference", faster, "times", "at least 10 asked")
    if "torch" in times:
        slower = measure.ratios(times["reference"], times["torch"])
        measure.show(f"{label}: reference / torch", slower, "times", "at most 100 asked")


def bench() -> None:
    """Ordinary values, and values of every exponent, for which no fixed width suffices."""
    measure.title(f"conformance.reference, AvgPool-1 on {'x'.join(map(str, SHAPE))} f32")
    rng = np.random.default_rng(0)
    f32 = DTYPES["f32"]
    with measure.one_torch_thread():
        compare("normal", rng.standard_normal(SHAPE).astype(np.float32))
        compare("wide", f32.from_ordinals(rng.integers(1 - f32.infinity, f32.infinity, SHAPE)))


if __name__ == "__main__":
    measure.run(bench)
