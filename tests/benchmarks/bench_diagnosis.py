"""What diagnosis adds to a check: of a backend that passes, and of some that fail.

python tests/benchmarks/bench_diagnosis.py

A backend with a fault is the one of the name ``numpy`` with its attributes misread, or its outputs
changed; a real one is in it where it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import measure
import numpy as np

import conformance
from conformance.api import Run
from conformance.backends.discovery import load_backend
from conformance.backends.numpy import NumPy
from conformance.diagnosis.diagnose import RunDiagnosis

RUNS = 3


class Misreads(NumPy):
    """Padding never counts."""

    def run(self, op: str, inputs: list[Any], attributes: Mapping[str, Any]) -> list[Any]:
        return super().run(op, inputs, {**attributes, "exclude-pad": True})


class LosesDigits(NumPy):
    """What no fault of the catalogue does: the outputs are a little too large everywhere."""

    def run(self, op: str, inputs: list[Any], attributes: Mapping[str, Any]) -> list[Any]:
        outputs = super().run(op, inputs, attributes)
        with np.errstate(all="ignore"):
            return [(out * out.dtype.type(1.0625)).astype(out.dtype) for out in outputs]


def one(name: str, run: Run, suite: conformance.Suite) -> None:
    """Diagnosing the results of one run."""

    precision = run.header["options"]["precision"]

    def diagnose() -> None:
        diagnosis = RunDiagnosis(run.results, suite, level="must", precision=precision)
        for finding in run.findings:
            diagnosis.diagnose(finding)

    failed = sum(result.status in ("fail", "error") for result in run.results)
    note = f"{failed} failures, check {run.footer['seconds']:.1f} s"
    measure.show(name, measure.timed(RUNS, diagnose), "s", note)


def bench() -> None:
    """Runs over the core suite."""
    measure.title("Diagnosis of a run over the core suite")
    core = conformance.load_suite()
    pool = ["AvgPool-1"]
    one("nothing wrong", conformance.check(core, NumPy(), ops=pool), core)
    one("one fault", conformance.check(core, Misreads(), ops=pool), core)
    one("wrong everywhere, no fault", conformance.check(core, LosesDigits(), ops=pool), core)
    for name in ("torch", "openvino"):
        if measure.installed(name):
            one(name, conformance.check(core, load_backend(name)), core)
        else:
            measure.absent(name)


if __name__ == "__main__":
    measure.run(bench)
