"""Speed and memory of checking a backend, beside a bare loop that calls the same backend.

    python tests/benchmarks/bench_check.py

The loop calls the same backend object on the same arrays, already in memory, and looks at nothing:
what is left of a check is reading and verifying the files, copying and comparing inputs, judging,
and writing the run log. A share is the least time of a part by the least time of the check.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import measure

import conformance
from conformance.api import Run
from conformance.backends.discovery import load
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
                one_backend(load(name), thinned(core, step), Path(folder))
            else:
                measure.absent(name)
    measure.title("Peak memory of whole commands, each in a fresh process")
    for label, command in MEMORY.items():
        if "openvino" in label and not measure.installed("openvino"):
            continue
        cost = measure.in_fresh_process(command, codes=(0, 1))
        note = f"{cost.seconds:.2f} s, {cost.processor:.2f} s of processor time"
        measure.show_one(label, cost.peak / 1e6, "MB", note)


if __name__ == "__main__":
    measure.run(bench)
