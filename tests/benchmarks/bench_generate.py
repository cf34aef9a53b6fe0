"""Speed and memory of generation: its three parts, drawn suites, and the core suite.

    python tests/benchmarks/bench_generate.py

Drawing gives cases; looking decides, in a batch, which are valid and which edges each shows;
building computes data, exact answers, bounds and readings; answering the answers and bounds alone,
all that is needed of one case; killing finds which known faults give other outputs, and what part
it takes of the time that it takes if geometry excludes none. Containers are drawing, looking,
building and encoding, as `--drawn` does them in each of its processes.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import measure
import numpy as np

import conformance
from conformance.audit.kills import MutantRunner
from conformance.generate.drawn import Drawing
from conformance.generate.looking import Sight
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.reference import answers
from conformance.reference.values import data_of
from conformance.spec import loader
from conformance.spec.case_table import table_of
from conformance.specification import build, mutants_of
from conformance.suite.packing import encode_container
from conformance.suite.writer import encode_entry

RUNS = 3
DRAWS = 400
DRAWN = 100
"""Vectors of one container."""

RANK = 4
STEP = 5
"""Every STEP-th case is tried with every mutant in full."""


def one_operator(op: str) -> None:
    """Rates of the three parts; building takes the vectors of the core suite."""
    spec = loader.find_spec(op)
    roots = itertools.count()  # another root each time: the same draw could be remembered
    drawn: list[Case] = []

    def drawing() -> None:
        drawn[:] = draw(spec, RANK, DRAWS, root=next(roots))

    def looking() -> None:
        sight = Sight(spec, RANK)
        seen = sight.look(table_of(spec, drawn, RANK))
        sight.settle(seen, np.arange(len(seen)))

    cases = [v.case for v in conformance.load_suite().vectors([op]) if v.case.reject is None]

    def building() -> None:
        for case in cases:
            build(spec, case)

    inputs = [data_of(spec, case) for case in cases]

    def answering() -> None:
        for case, data in zip(cases, inputs, strict=True):
            answers(spec, case, data)

    bank = MutantRunner(spec, mutants_of(spec))

    def killing() -> None:
        may = bank.may_differ(cases)
        for case, data, row in zip(cases, inputs, may, strict=True):
            bank.fingerprints(case, data, row)

    times = measure.timed(RUNS, drawing)
    measure.show(f"{op}: drawing", measure.rates(times, DRAWS), "draws/s")
    times = measure.timed(RUNS, looking)
    edges = f"{len(spec.edges)} edges of each"
    measure.show(f"{op}: looking", measure.rates(times, len(drawn)), "cases/s", edges)
    times = measure.timed(RUNS, building)
    readings = f"{len(cases)} vectors, {len(spec.interpretations)} interpretation(s)"
    measure.show(f"{op}: building", measure.rates(times, len(cases)), "vectors/s", readings)
    times = measure.timed(RUNS, answering)
    measure.show(f"{op}: answering", measure.rates(times, len(cases)), "cases/s", "no readings")

    def killing_in_full() -> None:
        for case, data in zip(cases[::STEP], inputs[::STEP], strict=True):
            bank.fingerprints(case, data)

    times, in_full = measure.timed(1, killing), measure.timed(1, killing_in_full)
    mutants = f"{len(bank.mutants)} known faults on each"
    measure.show(f"{op}: killing", measure.rates(times, len(cases)), "cases/s", mutants)
    each = times[0] / len(cases), in_full[0] / len(cases[::STEP])
    measure.show_one("  of the time without geometry", each[0] / each[1], "", "each mutant in full")


def containers(op: str) -> None:
    """Vectors a second of containers of a drawn suite, one of each rank."""
    spec = loader.find_spec(op)
    numbers = range(len(spec.ranks))

    def making() -> None:
        for number in numbers:
            made = Drawing(spec, number, DRAWN, 0, Path()).vectors()
            encode_container([encode_entry(vector, ("drawn",)) for vector in made])

    times = measure.timed(RUNS, making)
    measure.show(f"{op}: containers", measure.rates(times, DRAWN * len(numbers)), "vectors/s")


def bench() -> None:
    """The parts for each operator, then whole commands."""
    measure.title(f"Generating: parts (rank {RANK} where cases are drawn)")
    for op in loader.shipped_specs():
        one_operator(op)
        containers(op)
    measure.title("conformance generate, the core suite, once each in a fresh process")
    count = len(conformance.load_suite())
    for processes in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "suite")
            command = measure.conformance("generate", "--out", out, "-j", str(processes))
            cost = measure.in_fresh_process(command)
        measure.show_one(
            f"generate -j {processes}",
            cost.seconds,
            "s",
            f"{count / cost.seconds:.0f} vectors/s, {cost.processor:.1f} s of processor time",
        )
        measure.show_one("  its largest process", cost.peak / 1e6, "MB")


if __name__ == "__main__":
    measure.run(bench)
