"""What a program costs (`exec:`), beside the same backend in a worker process of ours.

python tests/benchmarks/bench_program.py
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import measure

import conformance

RUNS = 5
RUNNER = Path(__file__).with_name("numpy_runner.py")


def bench() -> None:
    """The numpy backend on the core suite, both ways."""
    measure.title("A program beside a worker process: numpy on the core suite, -j 1")
    core = conformance.load_suite()
    names = {
        "process": "numpy",
        "exec:": f"exec:{shlex.join([sys.executable, str(RUNNER)])}",
    }
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(RUNS + 1):
        for label, name in names.items():
            run = conformance.check(core, name, executor="process", ops=["AvgPool-1"])
            seconds[label].append(float(run.footer["seconds"]))
    process, program = (times[1:] for times in seconds.values())
    measure.show("process", process, "s")
    measure.show("exec:", program, "s")
    measure.show("exec: / process", measure.ratios(program, process), "times")


if __name__ == "__main__":
    measure.run(bench)
