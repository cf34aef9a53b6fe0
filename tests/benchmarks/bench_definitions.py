"""What values and intervals take by a definition, as a ratio of what they take by the rules.

    python tests/benchmarks/bench_definitions.py

Operators of specs/moving have both. Of the cases that are recorded, the large ones count each
alone, of which the largest ratios are shown, and a sample of the others together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import measure

from conformance import specification
from conformance.core.loader import load_operator
from conformance.model import Case
from conformance.resources import directory
from conformance.specification import Specification
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file

OPERATORS = ("AvgPool-1", "onnx.MaxPool-12")
RUNS = 3
SMALL = 30
SHOWN = 3


def build(spec: Specification, cases: Sequence[Case]) -> None:
    for case in cases:
        specification.build(spec, case, interpretations=False)


def ratios(op: str, cases: Sequence[Case]) -> list[float]:
    definition = load_operator(str(directory("specs") / "moving" / f"{op}.yaml"))
    rules = specification.find_spec(op)
    calls = {"definition": partial(build, definition, cases), "rules": partial(build, rules, cases)}
    times = measure.interleaved(RUNS, calls)
    return measure.ratios(times["definition"], times["rules"])


def bench() -> None:
    """Large cases one by one, others together."""
    for op in OPERATORS:
        recorded = read_recorded_cases(recorded_cases_file(op)).recorded
        values = [entry for entry in recorded if entry.case.reject is None]
        small = [entry.case for entry in values if not entry.is_large]
        large = [entry.case for entry in values if entry.is_large]
        measure.title(f"{op}: a definition / the rules")
        measure.show("small cases", ratios(op, small[:: max(1, len(small) // SMALL)]), "times")
        by_case = {case.id: ratios(op, [case]) for case in large}
        for name in sorted(by_case, key=lambda name: -min(by_case[name]))[:SHOWN]:
            measure.show(name, by_case[name], "times")
        measure.show("large cases", list(map(min, by_case.values())), "times", f"{len(large)}")


if __name__ == "__main__":
    measure.run(bench)
