"""A first check, whose cases have to be evaluated, beside one that finds them in the cache.

    python tests/benchmarks/bench_first_check.py [OPERATOR]

Both are whole processes, ``conformance check --backend numpy``, in turn; the first has an empty
cache each time. The difference a case is told in calibrated milliseconds too: processor time times
0.33 over the seconds that ten million additions take here and then.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import measure

from conformance.suite.store import open_suite
from conformance.suite.vector_cache import VARIABLE

RUNS = 3
OP = "AvgPool-1"
CALIBRATED = 0.33


def additions() -> float:
    """The processor seconds of ten million additions."""
    began = time.process_time()
    total = 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - began


def check(op: str, folder: Path) -> measure.Cost:
    """What a check costs with this cache."""
    os.environ[VARIABLE] = str(folder)
    words = (
        *("-m", "conformance", "check", "--backend", "numpy", "--op", op),
        "--executor",
        "inline",
    )
    return measure.in_fresh_process((sys.executable, *words))


def bench(op: str = OP) -> None:
    """In turn, each with its own cache."""
    cases = len(open_suite().manifest.of((op,)))
    measure.title(f"A first check of {op}, {cases} cases")
    first: list[measure.Cost] = []
    later: list[measure.Cost] = []
    units = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            units.append(CALIBRATED / additions())
            first.append(check(op, Path(folder)))
            later.append(check(op, Path(folder)))
    measure.show("without a cache", [one.seconds for one in first], "s")
    measure.show("with one", [one.seconds for one in later], "s")
    pairs = list(zip(first, later, strict=True))
    more = [1e3 * (one.processor - other.processor) / cases for one, other in pairs]
    measure.show("evaluating", more, "ms a case", "processor time")
    calibrated = [one * unit for one, unit in zip(more, units, strict=True)]
    measure.show("evaluating, calibrated", calibrated, "ms a case", "at most 8")
    measure.show("memory, first / later", [one.peak / other.peak for one, other in pairs], "times")


if __name__ == "__main__":
    named = sys.argv[1:]
    sys.argv[1:] = []
    measure.run(lambda: bench(*named))
