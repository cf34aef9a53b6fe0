"""A bug that small cases name takes in what else it explains: large cases, and exceptions."""

from __future__ import annotations

from typing import Any

import numpy as np

import conformance
from conformance.backends.capabilities import Capabilities
from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.model import Finding
from conformance.specification import case_from_inputs, find_spec, mutants_of
from conformance.suite.store import open_suite

OP = "onnx.MaxPool-22"


class Mutant:
    """The oracle with one mutant of the catalogue, in f32 images; it raises where that has no
    outputs."""

    name, version = "mutant", "1"
    capabilities = Capabilities(operators=(OP,), dtypes=("f32",), ranks=(4,))

    def __init__(self, mutant: str) -> None:
        (fault,) = (one for one in mutants_of(find_spec(OP)) if one.id == mutant)
        self._altered = implementation_of(find_spec(OP), fault.change)

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        case = case_from_inputs(find_spec(OP), inputs, attributes)
        subject = subject_of(find_spec(OP), case, inputs)
        if not subject.answers(self._altered):
            raise ValueError("negative dimensions are not allowed")
        return [np.array(one) for one in subject.under(self._altered)]


def findings(mutant: str) -> list[Finding]:
    suite = open_suite().only((OP,))
    return list(conformance.check(suite, Mutant(mutant)).findings)


def named(mutant: str) -> Finding:
    (finding,) = (one for one in findings(mutant) if (one.diagnosis or {}).get("faults"))
    assert [one["id"] for one in (finding.diagnosis or {})["faults"]] == [mutant]
    return finding


def test_failures_of_large_cases_are_of_the_bug_that_small_ones_name() -> None:
    finding = named("last-column-unwritten")
    large = {entry.id for entry in open_suite().manifest.of((OP,)) if entry.is_large}
    assert len(large & {*finding.ids}) > 3


def test_an_exception_where_the_bug_leaves_no_output_is_of_the_bug() -> None:
    """As in https://github.com/huggingface/pytorch-image-models/pull/2779."""
    assert "exception" in named("same-forgets-dilations").title
