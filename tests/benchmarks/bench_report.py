"""Seconds and bytes of a run log and its page, by number of results.

Run: python tests/benchmarks/bench_report.py [RESULTS]...
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "log"))

import sample_runs

from conformance.log.reader import read
from conformance.report.html import render
from conformance.report.terminal import summary


def main(sizes: list[int]) -> None:
    print("results    write     read     page  summary    log MB   page MB")
    for size in sizes:
        events = sample_runs.failing(size)
        with tempfile.TemporaryDirectory() as folder:
            times = [time.perf_counter()]
            path = sample_runs.write(Path(folder) / "run.jsonl", events)
            times.append(time.perf_counter())
            run = read(path)
            times.append(time.perf_counter())
            page = render(run)
            times.append(time.perf_counter())
            summary(run)
            times.append(time.perf_counter())
            log_size = path.stat().st_size
        seconds = "".join(f"{b - a:7.2f} s" for a, b in itertools.pairwise(times))
        print(f"{size:>7}{seconds}{log_size / 1e6:10.1f}{len(page.encode()) / 1e6:10.1f}")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [400, 20_000])
