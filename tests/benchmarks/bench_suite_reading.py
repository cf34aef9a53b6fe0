"""Size of the shipped suite, and the speed of opening, reading and writing suites.

    python tests/benchmarks/bench_suite_reading.py

Reading verifies each file's digest and all that its content says. What is written is a suite of
small vectors (60 elements, arrays of their own for the bounds) in a temporary folder.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import measure
import numpy as np

from conformance.model import Answer, Case, Vector
from conformance.suite import shipped_suite
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

WRITTEN = 300
RUNS = 5


def small_vector(seed: int) -> Vector:
    case = Case("AvgPool-1", {"T": "f32"}, {"data": (1, 2, 30)}, {"kernel": [11]}, seed=seed)
    data = (np.arange(60, dtype=np.float32) * (seed + 1) / 7).reshape(1, 2, 30)
    mean = np.lib.stride_tricks.sliding_window_view(data.astype(np.float64), 11, -1).mean(-1)
    rounded = mean.astype(np.float32)
    lo, hi = np.nextafter(rounded, -np.inf), np.nextafter(rounded, np.inf)
    answer = Answer("result", "f32", mean, rounded, lo.astype("<f4"), hi.astype("<f4"))
    edges = ("stride-1", "channels", "fractions", "wide-row")
    return Vector(case.id, case, "must", edges, "A row.", "A document", (data,), (answer,))


def read_all(suite: Suite) -> None:
    for _ in suite.vectors():
        pass


def open_afresh() -> None:
    shipped_suite._manifest.cache_clear()
    open_suite()


def shipped() -> None:
    """The suite as it comes."""
    suite = open_suite()
    size = sum(file.stat().st_size for file in suite.path.glob("*.jsonl"))
    measure.show_one("size", size / 1e6, "MB", f"{len(suite)} recorded cases")
    measure.show_one("a case on average", size / len(suite), "bytes")
    opening = measure.timed(RUNS, open_afresh)
    measure.show("opening", [seconds * 1e3 for seconds in opening], "ms")
    some = suite.only(("AvgPool-1", "onnx.MaxPool-22"))
    listing = measure.timed(
        RUNS, lambda: read_recorded_cases(recorded_cases_file("onnx.MaxPool-22"))
    )
    measure.show("listing onnx.MaxPool-22", [seconds * 1e3 for seconds in listing], "ms")
    some.ready(some.manifest.vectors)
    reading = measure.timed(RUNS, lambda: read_all(some))
    measure.show("reading and verifying", measure.rates(reading, len(some)), "vectors/s", "cached")


def written() -> None:
    """A suite made on the spot."""
    vectors = [(small_vector(seed), ("core",)) for seed in range(WRITTEN)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite"

        def write() -> None:
            write_suite(path, vectors, name="bench", seed=0, versions={})

        writing = measure.timed(RUNS, write)
    measure.show("writing", measure.rates(writing, WRITTEN), "vectors/s", "small ones")


def bench() -> None:
    """The shipped suite, then writing."""
    measure.title("The shipped suite")
    shipped()
    written()


if __name__ == "__main__":
    measure.run(bench)
