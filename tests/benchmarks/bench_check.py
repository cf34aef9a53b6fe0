"""Speed and memory of checking a backend, beside a bare loop that calls the same backend.

    python tests/benchmarks/bench_check.py

The loop calls the same backend object on the same arrays, already in memory, and looks at nothing:
what is left of a check is reading and verifying the files, copying and comparing inputs, judging,
and writing the run log. With the process executor the backend answers in processes of its own; the
time to load it there is left out, as it is for the loop, and shown by itself. A share is the least
time of a part by the least time of the check.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import measure

import conformance
from conformance.api import Run
from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend
from conformance.grade.judge import judge
from conformance.grade.precision import parse_precision
from conformance.log.writer import LogWriter
from conformance.model import Status, Vector
from conformance.run import inline
from conformance.run.engine import Event
from conformance.suite.store import Suite

RUNS = 5

BACKENDS = {"numpy": 1, "torch": 1, "openvino": 10}
"""Each with its step through the core suite: openvino, which compiles a model for each vector, is
asked every tenth."""

JOBS = (1, 2)

REPEATED = (1_000, 20_000, 100_000)
"""Vectors of runs that are compared in memory: a hundred of them, again and again."""

REPEATING = """
import sys
from dataclasses import replace
from types import SimpleNamespace
import conformance
from conformance.run.engine import run
from conformance.run.environment import peak_memory
from conformance.run.executor_options import Isolation

core = conformance.load_suite()
some = [entry for entry in core.manifest.vectors if entry.op == "AdaptiveAvgPool-8"][:100]
ids = (f"{some[i % 100].id[:-8]}{i:08x}" for i in range(int(sys.argv[1])))
entries = {one: replace(some[i % 100], id=one) for i, one in enumerate(ids)}
known = {entry.sha256: entry for entry in some}

def read(entry):
    return replace(core.read(known[entry.sha256]), id=entry.id)

suite = SimpleNamespace(
    manifest=replace(core.manifest, listed=tuple(entries.values())),
    name="repeated", digest="", read=read, get=lambda one: read(entries[one]),
)
before = peak_memory()
for event in run(suite, Isolation("process").executor_for("numpy")):
    pass
print(peak_memory() - before)
"""

MEMORY = {
    "import numpy": measure.python("import numpy"),
    "check --backend numpy": measure.conformance("check", "--backend", "numpy"),
    "check --backend reference": measure.conformance("check", "--backend", "reference"),
    "import openvino": measure.python("import openvino; openvino.Core()"),
    "check --backend openvino": measure.conformance("check", "--backend", "openvino"),
}


@dataclass(frozen=True)
class Call:
    """The arguments of one call of a backend."""

    op: str
    inputs: list[Any]
    attributes: dict[str, Any]


def bare_loop(backend: Backend, calls: Sequence[Call]) -> None:
    for call in calls:
        try:
            backend.run(call.op, call.inputs, call.attributes)
        except Exception:  # what a check takes for a refusal
            continue


def seconds_of(run: Run) -> float:
    """From the first vector to the last, without loading the backend."""
    return float(run.footer["seconds"])


def in_processes(name: str, suite: Suite, calls: Sequence[Call], folder: Path) -> None:
    """The check with worker processes, beside the bare loop in this one."""
    backend = load_backend(name)
    log = folder / "processes.jsonl"

    def whole(jobs: int) -> Run:
        with LogWriter(log) as writer:
            return conformance.check(
                suite, name, executor="process", jobs=jobs, on_event=writer.write
            )

    asked: dict[int, list[float]] = {jobs: [] for jobs in JOBS}
    calls_of: dict[str, Callable[[], object]] = {"bare loop": lambda: bare_loop(backend, calls)}
    for jobs in JOBS:
        calls_of[f"-j {jobs}"] = lambda jobs=jobs: asked[jobs].append(seconds_of(whole(jobs)))
    times = measure.interleaved(RUNS, calls_of)
    for jobs in JOBS:
        alone = asked[jobs][1:]  # the first was to warm up
        label = f"{name}: process -j {jobs}"
        ratios = measure.ratios(alone, times["bare loop"])
        measure.show(f"{label} / bare loop", ratios, "times")
        loading = [all_ - one for all_, one in zip(times[f"-j {jobs}"], alone, strict=True)]
        measure.show(f"{label}: loading, findings, end", loading, "s")


def thinned(suite: Suite, step: int) -> Suite:
    return Suite(suite.path, replace(suite.manifest, listed=suite.manifest.vectors[::step]))


def check(suite: Suite, backend: Backend, log: Path) -> Run:
    with LogWriter(log) as writer:
        return conformance.check(suite, backend, on_event=writer.write)


def one_backend(backend: Backend, suite: Suite, folder: Path) -> None:
    log = folder / "run.jsonl"
    run = check(suite, backend, log)
    asked = {r.id for r in run.results if r.status not in (Status.UNSUPPORTED, Status.SKIPPED)}
    vectors = [vector for vector in suite.vectors() if vector.id in asked]
    calls = [
        Call(
            vector.case.op,
            [array.copy() for array in vector.inputs],
            inline.fresh(vector.case.attributes),
        )
        for vector in vectors
    ]
    calls_of = {
        "check": lambda: check(suite, backend, log),
        "bare loop": lambda: bare_loop(backend, calls),
        **own_parts(suite, backend, vectors, run, folder / "again.jsonl"),
    }
    times = measure.interleaved(RUNS, calls_of)
    least = {part: min(seconds) for part, seconds in times.items()}
    whole, bare = times.pop("check"), times["bare loop"]
    count = f"{len(calls)} vectors"
    measure.show(f"{backend.name}: bare loop", measure.rates(bare, len(calls)), "vectors/s", count)
    measure.show(f"{backend.name}: check", measure.rates(whole, len(calls)), "vectors/s")
    measure.show(f"{backend.name}: check / bare loop", measure.ratios(whole, bare), "times")
    if backend.name != "torch":  # which is held to one thread in this process only
        in_processes(backend.name, suite, calls, folder)
    least["all else"] = 2 * least["check"] - sum(least.values())
    for part in (*times, "all else"):
        measure.show_one(
            f"{backend.name}: {part}",
            100 * least[part] / least["check"],
            "% of check",
            f"{least[part] / len(calls) * 1e6:.0f} us a vector",
        )


def own_parts(
    suite: Suite, backend: Backend, vectors: Sequence[Vector], run: Run, log: Path
) -> dict[str, Callable[[], object]]:
    """The parts of a check that can be done alone, on what it did."""
    outcomes = [(vector, inline.execute(backend, vector)) for vector in vectors]
    precision = parse_precision("standard")
    events: list[Event] = [dict(run.header), *run.results, *run.findings, dict(run.footer)]

    def reading() -> None:
        for _ in suite.vectors():
            pass

    def judging() -> None:
        for vector, outcome in outcomes:
            judge(vector, outcome, level="must", precision=precision)

    def logging() -> None:
        with LogWriter(log) as writer:
            for event in events:
                writer.write(event)

    return {"reading and verifying": reading, "judging": judging, "logging": logging}


def bench() -> None:
    """Each backend that is installed, on the core suite; then memory."""
    measure.title("Checking the core suite (openvino: every tenth vector; torch: one thread)")
    core = conformance.load_suite()
    # With more threads most of what torch takes in a check is waking them up.
    with tempfile.TemporaryDirectory() as folder, measure.one_torch_thread():
        for name, step in BACKENDS.items():
            if name == "numpy" or measure.installed(name):
                one_backend(load_backend(name), thinned(core, step), Path(folder))
            else:
                measure.absent(name)
    measure.title("Memory of a run with worker processes, beyond what the suite takes")
    for count in REPEATED:
        command = measure.python(REPEATING, str(count))
        grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        measure.show_one(f"{count:,} vectors", grown / 1e6, "MB")
    measure.title("Peak memory of whole commands, each in a fresh process")
    for label, command in MEMORY.items():
        if "openvino" in label and not measure.installed("openvino"):
            continue
        cost = measure.in_fresh_process(command, codes=(0, 1))
        note = f"{cost.seconds:.2f} s, {cost.processor:.2f} s of processor time"
        measure.show_one(label, cost.peak / 1e6, "MB", note)


if __name__ == "__main__":
    measure.run(bench)
