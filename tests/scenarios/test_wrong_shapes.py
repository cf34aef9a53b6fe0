"""Outputs of a wrong shape are diagnosed, alike in every executor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import conformance
from conformance.api import Run
from conformance.core.answers import answers
from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.implementations import implementation_of, subject_of
from conformance.model import Finding, Vector
from conformance.specification import case_from_inputs, find_spec, mutants_of
from conformance.suite.store import open_suite

BACKEND = """
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, mutants_of, outputs


class AnyShape:
    def __contains__(self, shape):
        return True


class Faulty:
    name, version = "faulty", "1"

    def run(self, op, inputs, attributes):
        spec = find_spec(op)
        outputs(spec, inputs, attributes)
        (fault,) = (one for one in mutants_of(spec) if one.id == "MUTANT")
        subject = subject_of(spec, case_from_inputs(spec, inputs, attributes), inputs, AnyShape())
        return list(subject.under(implementation_of(spec, fault.change)))
"""


def checked(tmp_path: Path, op: str, mutant: str, executor: str) -> Run:
    file = tmp_path / "faulty.py"
    file.write_text(BACKEND.replace("MUTANT", mutant))
    suite = open_suite("smoke")
    return conformance.check(suite, f"{file}:Faulty", ops=[op], executor=executor, jobs=1)


def told(run: Run) -> list[Finding]:
    return [one for one in run.findings if one.kind in ("shape", "value", "index")]


@pytest.mark.parametrize(
    ("op", "mutant"),
    [
        ("onnx.MaxPool-22", "window-behind-data-stays"),
        ("onnx.AveragePool-22", "dilations-ignored-by-shape"),
    ],
)
def test_a_larger_output_is_named_in_every_executor(op: str, mutant: str, tmp_path: Path) -> None:
    inline, process = (checked(tmp_path, op, mutant, name) for name in ("inline", "process"))
    found = told(process)
    assert found
    larger = [one for one in process.results if one.kind == "shape"]
    assert larger
    assert all(one.returned for one in larger)
    several = [finding for finding in found if len(finding.ids) > 1]
    assert several
    for finding in several:  # one vector alone names nothing
        assert finding.diagnosis is not None
        assert mutant in str(finding.diagnosis["faults"]) + str(finding.diagnosis["alternatives"])
    assert [one.diagnosis for one in told(inline)] == [one.diagnosis for one in found]


def test_outputs_that_are_too_large_to_be_worked_out_are_no_zeros() -> None:
    spec = find_spec("AvgPool-1")
    (fault,) = (one for one in mutants_of(spec) if one.id == "strides-ignored")
    data = np.ones((1, 1, 600, 600), np.float32)
    attributes = {
        "kernel": [2, 2],
        "strides": [600, 600],
        "pads_begin": [0, 0],
        "pads_end": [0, 0],
        "exclude-pad": True,
    }
    case = case_from_inputs(spec, [data], attributes)
    altered = implementation_of(spec, fault.change)
    (given,) = subject_of(spec, case, [data]).under(altered)
    assert not given.any()  # in its place
    vector = Vector("one", case, "must", (), "", "", (data,), answers(spec, case, [data]))
    for value, expected in [(0, Agreement.NONE), (1, Agreement.EQUAL)]:
        returned = (np.full(given.shape, value, np.float32),)
        asked = ObservedVector(spec, vector, returned, {}, "must")
        assert asked.agreement(altered, {}) is expected
