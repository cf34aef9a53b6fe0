"""What it costs to begin, and to look something up: each in a fresh process.

    python tests/benchmarks/bench_start.py
    python tests/benchmarks/bench_start.py OTHER   # lookups also with another checkout, in turn

``import conformance`` may take 0.3 s. ``use`` is that and the first touch of ``check``, which
loads numpy. Lookups are measured in seconds of processor time, which other work disturbs least.
"""

from __future__ import annotations

import sys
import tempfile

import measure

RUNS = 9
LOOKUP_RUNS = 5

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

LOOKUPS = (
    ("backends",),
    ("show", "90c30e07"),
    ("spec", "show", "AvgPool-1"),
    ("spec", "docs", "--op", "AvgPool-1"),
    ("suite", "coverage"),
    ("suite", "lint"),
)


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


def lookups(other: str | None = None) -> None:
    """Seconds of processor time of commands that answer a question, with the core suite."""
    measure.title("Lookups (processor time of whole processes)")
    with tempfile.TemporaryDirectory() as folder:
        for words in LOOKUPS:
            command = (*words, "--out", folder) if "docs" in words else words
            ways = {"": measure.conformance(*command)}
            if other is not None:
                ways |= {f" ({other})": measure.conformance(*command, checkout=other)}
            times: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(LOOKUP_RUNS):
                for way, line in ways.items():
                    times[way].append(measure.in_fresh_process(line).processor)
            for way, found in times.items():
                measure.show(" ".join(words) + way, found, "s")


if __name__ == "__main__":
    measure.run(bench, lambda: lookups(*sys.argv[1:2]))
