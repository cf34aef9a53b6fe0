"""What it costs to begin: imports and commands, each in a fresh process.

    python tests/benchmarks/bench_start.py

``import conformance`` may take 0.3 s. ``use`` is that and the first touch of ``check``, which
loads numpy.
"""

from __future__ import annotations

import measure

RUNS = 9

STARTS = {
    "an empty program": measure.python("pass"),
    "import conformance": measure.python("import conformance"),
    "import numpy": measure.python("import numpy"),
    "import conformance; conformance.check": measure.python(
        "import conformance; conformance.check"
    ),
    "conformance --help": measure.conformance("--help"),
    "conformance check --help": measure.conformance("check", "--help"),
}


def bench() -> None:
    """Milliseconds from the start of the interpreter to its end."""
    measure.title("Starting (whole processes)")
    times: dict[str, list[float]] = {name: [] for name in STARTS}
    for command in STARTS.values():
        measure.in_fresh_process(command)
    for _ in range(RUNS):
        for name, command in STARTS.items():
            times[name].append(measure.in_fresh_process(command).seconds * 1e3)
    for name, found in times.items():
        measure.show(name, found, "ms")


if __name__ == "__main__":
    measure.run(bench)
