"""Seconds and bytes of a run log and its page, by number of results.

python tests/benchmarks/bench_report.py
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "log"))

import measure
import sample_runs

from conformance.log.reader import read
from conformance.report.page import render
from conformance.report.terminal import summary

SIZES = (400, 20_000)
RUNS = 3
STEPS = ("write the log", "read it", "page", "summary")


def one_size(size: int) -> None:
    """The steps of one run in turn, several times."""
    events = sample_runs.failing(size)
    found: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(RUNS):
            times = [time.perf_counter()]
            path = sample_runs.write(Path(folder) / "run.jsonl", events)
            times.append(time.perf_counter())
            run = read(path)
            times.append(time.perf_counter())
            made = render(run)
            times.append(time.perf_counter())
            summary(run)
            times.append(time.perf_counter())
            found.append([b - a for a, b in itertools.pairwise(times)])
        log_size = path.stat().st_size
    for step, taken in zip(STEPS, zip(*found, strict=True), strict=True):
        measure.show(f"{size:,} results: {step}", [seconds * 1e3 for seconds in taken], "ms")
    measure.show_one(f"{size:,} results: log", log_size / 1e6, "MB")
    measure.show_one(f"{size:,} results: page", len(made.encode()) / 1e6, "MB")


def bench() -> None:
    """A run in which much fails, small and large."""
    measure.title("Run log and page, of a made-up run with failures")
    for size in SIZES:
        one_size(size)


if __name__ == "__main__":
    measure.run(bench)
