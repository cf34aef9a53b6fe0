"""What each operator adds to the shipped suite and to a check, and what all cost together.

    python tests/benchmarks/bench_operators.py

The backend is a table of the right answers, so that what is measured is ours: reading and verifying
the files, copying inputs, judging, findings. The last lines set a check of all operators at once
beside the checks of each alone: a ratio of one says that an operator costs what it costs, however
many others there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import measure
import numpy as np

import conformance
from conformance.backends.discovery import load_backend
from conformance.model import Status
from conformance.suite.store import Suite

RUNS = 3


class Table:
    """A backend that looks up what the exact reference has answered, and refuses the rest."""

    name, version = "table", "1"

    def __init__(self, suite: Suite) -> None:
        reference = load_backend("reference")
        self._answers: dict[Any, Sequence[Any]] = {}
        for vector in suite.vectors():
            if vector.case.reject is None:
                question = (vector.case.op, list(vector.inputs), dict(vector.case.attributes))
                self._answers[self._key(*question)] = reference.run(*question)

    def run(self, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Any]:
        return self._answers[self._key(op, inputs, attributes)]

    @staticmethod
    def _key(op: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        arrays = tuple(
            (str(one.dtype), one.shape, one.tobytes()) for one in map(np.asarray, inputs)
        )
        return op, arrays, repr(sorted(attributes.items()))


def of(suite: Suite, op: str) -> Suite:
    """The part of a suite that is about one operator."""
    listed = tuple(entry for entry in suite.manifest.vectors if entry.op == op)
    return Suite(suite.path, replace(suite.manifest, listed=listed))


def check(suite: Suite, table: Table) -> None:
    run = conformance.check(suite, table)
    wrong = [one.id for one in run.results if one.status is Status.FAIL]
    if wrong:
        raise RuntimeError(f"the right answer is judged wrong: {wrong[:3]}")


def bench() -> None:
    """Each operator alone, then all of them."""
    whole = conformance.load_suite()
    ops = whole.manifest.ops
    table = Table(whole)
    measure.title(f"Each of {len(ops)} operators: a check without the time of a backend")
    calls = {op: partial(check, of(whole, op), table) for op in ops}
    times = measure.interleaved(RUNS, {**calls, "all": lambda: check(whole, table)})
    for op in ops:
        entries = of(whole, op).manifest.vectors
        note = f"{len(entries)} vectors"
        measure.show(op, [seconds * 1e3 for seconds in times[op]], "ms", note)
    note = f"{len(whole)} vectors"
    measure.show("all", [seconds * 1e3 for seconds in times["all"]], "ms", note)
    sums = [sum(times[op][run] for op in ops) for run in range(RUNS)]
    measure.show("all at once / each alone", measure.ratios(times["all"], sums), "times")


if __name__ == "__main__":
    measure.run(bench)
