"""How many vectors a second a suite gives: ``python bench_suite_reading.py [DIR]``.

Without a folder, a suite of small vectors (40 to 60 elements, four of their members arrays of
their own) is written to a temporary one.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from conformance.model import Answer, Case, Vector
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

NUMBER = 500
REPEATS = 5


def small_vector(seed: int) -> Vector:
    case = Case("AvgPool-1", {"T": "f32"}, {"data": (1, 2, 30)}, {"kernel": [11]}, seed=seed)
    data = (np.arange(60, dtype=np.float32) * (seed + 1) / 7).reshape(1, 2, 30)
    mean = np.lib.stride_tricks.sliding_window_view(data.astype(np.float64), 11, -1).mean(-1)
    rounded = mean.astype(np.float32)
    lo, hi = np.nextafter(rounded, -np.inf), np.nextafter(rounded, np.inf)
    answer = Answer("result", "f32", mean, rounded, lo.astype("<f4"), hi.astype("<f4"))
    edges = ("stride-1", "channels", "fractions", "wide-row")
    return Vector(case.id, case, "must", edges, "A row.", "A document", (data,), (answer,))


def measure(suite: Suite) -> None:
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _vector in suite.vectors():
            pass
        best = min(best, time.perf_counter() - start)
    start = time.perf_counter()
    open_suite(suite.path)
    opening = time.perf_counter() - start
    size = sum(entry.bytes for entry in suite.manifest.vectors)
    print(f"{len(suite)} vectors, {size / len(suite):.0f} bytes each on average")
    print(f"opening the suite: {opening * 1e3:.1f} ms")
    print(f"reading: {len(suite) / best:.0f} vectors a second (best of {REPEATS})")


def main() -> None:
    if len(sys.argv) > 1:
        measure(open_suite(Path(sys.argv[1])))
        return
    with tempfile.TemporaryDirectory() as folder:
        vectors = [(small_vector(seed), ("core",)) for seed in range(NUMBER)]
        start = time.perf_counter()
        suite = write_suite(Path(folder) / "s", vectors, name="bench", seed=0, versions={})
        print(f"writing: {NUMBER / (time.perf_counter() - start):.0f} vectors a second")
        measure(suite)


if __name__ == "__main__":
    main()
