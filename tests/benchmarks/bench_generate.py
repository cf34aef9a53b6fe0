"""Speed and memory of generation: its parts, drawn suites, and the core suite.

    python tests/benchmarks/bench_generate.py

Drawing gives valid cases; building computes data, exact answers, bounds and readings; answering the
answers and bounds alone, all that is needed of one case; killing finds which mutants give other
outputs, and what part it takes of the time that it takes if geometry excludes none. Containers are
drawing, building and encoding, as `--drawn` does them in each of its processes.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import measure

import conformance
from conformance.audit.kills import MutantRunner
from conformance.core.answers import answers
from conformance.core.data import inputs_of
from conformance.generate.cases import draw_cases
from conformance.generate.drawn import Drawing
from conformance.specification import build, find_spec, mutants_of
from conformance.suite.packing import encode_container
from conformance.suite.writer import encode_entry

OPS = ("AvgPool-1", "MaxPool-14", "AdaptiveAvgPool-8", "onnx.Conv-22", "onnx.MatMul-13")
RUNS = 3
DRAWS = 100
DRAWN = 100
"""Vectors of one container."""

SAMPLE = 10
"""Every SAMPLE-th case of the core suite is built."""

STEP = 5
"""Every STEP-th of these is tried with every mutant in full."""


def one_operator(op: str) -> None:
    """Rates of the parts; building takes vectors of the core suite."""
    spec = find_spec(op)
    roots = itertools.count()  # another root each time: the same draw could be remembered

    def drawing() -> None:
        draw_cases(spec, DRAWS, seed=next(roots))

    entries = conformance.load_suite().manifest.of([op])
    small = [entry for entry in entries if entry.reject is None and not entry.is_large]
    cases = [conformance.load_suite().read(entry).case for entry in small[::SAMPLE]]

    def building() -> None:
        for case in cases:
            build(spec, case)

    inputs = [inputs_of(spec, case) for case in cases]

    def answering() -> None:
        for case, data in zip(cases, inputs, strict=True):
            answers(spec, case, data)

    bank = MutantRunner(spec, mutants_of(spec))

    def killing(step: int = 1) -> None:
        may = bank.may_differ(cases[::step])
        for case, data, row in zip(cases[::step], inputs[::step], may, strict=True):
            bank.fingerprints(case, data, row)

    times = measure.timed(RUNS, drawing)
    measure.show(f"{op}: drawing", measure.rates(times, DRAWS), "cases/s")
    times = measure.timed(RUNS, building)
    readings = f"{len(cases)} vectors, {len(spec.interpretations)} interpretation(s)"
    measure.show(f"{op}: building", measure.rates(times, len(cases)), "vectors/s", readings)
    times = measure.timed(RUNS, answering)
    measure.show(f"{op}: answering", measure.rates(times, len(cases)), "cases/s", "no readings")

    def killing_in_full() -> None:
        for case, data in zip(cases[::STEP], inputs[::STEP], strict=True):
            bank.fingerprints(case, data)

    mutants = f"{len(bank.mutants)} mutants on each"
    times = measure.timed(1, killing)
    measure.show(f"{op}: killing", measure.rates(times, len(cases)), "cases/s", mutants)
    (some,), (in_full,) = measure.timed(1, lambda: killing(STEP)), measure.timed(1, killing_in_full)
    measure.show_one("  of the time without geometry", some / in_full, "", "each mutant in full")


def container(op: str) -> None:
    """Vectors a second of a container of a drawn suite."""
    numbers = itertools.count(1)

    def making() -> None:
        made = Drawing(find_spec(op), next(numbers), DRAWN, 0, Path()).vectors()
        encode_container([encode_entry(vector, ("drawn",)) for vector in made])

    times = measure.timed(RUNS, making)
    measure.show(f"{op}: a container", measure.rates(times, DRAWN), "vectors/s")


def bench() -> None:
    """The parts for each operator, then whole commands."""
    measure.title("Generating: parts")
    for op in OPS:
        one_operator(op)
        container(op)
    measure.title("conformance generate, the core suite of these, once each in a fresh process")
    count = len(conformance.load_suite().manifest.of(OPS))
    asked = [word for op in OPS for word in ("--op", op)]
    for processes in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "suite")
            words = ("generate", *asked, "--out", out, "-j", str(processes))
            cost = measure.in_fresh_process(measure.conformance(*words))
        measure.show_one(
            f"generate -j {processes}",
            cost.seconds,
            "s",
            f"{count / cost.seconds:.0f} vectors/s, {cost.processor:.1f} s of processor time",
        )
        measure.show_one("  its largest process", cost.peak / 1e6, "MB")


if __name__ == "__main__":
    measure.run(bench)
