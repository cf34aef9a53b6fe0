"""What mutants give: together, where they cannot be put together, and in one output alone."""

from __future__ import annotations

import numpy as np
import tiers

import conformance
from conformance.implementations import implementation_of, may_be_together, subject_of
from conformance.run.mutant_match import Prediction
from conformance.specification import case_from_inputs, find_spec, mutants_of, outputs
from conformance.suite.store import open_suite

OP = "onnx.AveragePool-22"
EXCLUSIVE = ("ceil-drops-window-beyond-padding", "overhang-split-between-ends")
DIVISOR = "divisor-one-more"
MAX, BEGINS_AT_ZERO = "AdaptiveMaxPool-8", "search-begins-at-zero"
KNOWN = {fault.id: fault for fault in mutants_of(find_spec(OP))}


class Broken:
    name, version = "broken", "1"

    def run(self, op, inputs, attributes):
        spec = find_spec(op)
        case = case_from_inputs(spec, inputs, attributes)
        broken = implementation_of(spec, KNOWN[DIVISOR].change)
        return subject_of(spec, case, inputs).under(broken)


def test_mutants_that_exclude_each_other_predict_nothing():
    suite = open_suite("smoke")
    assert not may_be_together(find_spec(OP), *(KNOWN[one].change for one in EXCLUSIVE))
    run = conformance.check(suite, Broken(), ops=[OP], findings=False)
    failed = [result for result in run.results if result.returned is not None]
    prediction = Prediction(suite, "must", {})
    assert any(prediction(result, (DIVISOR,)) for result in failed)
    assert not any(prediction(result, EXCLUSIVE) for result in failed)


class OneOutput:
    """Its search begins at zero, and its indices are right all the same."""

    name, version = "one-output", "1"

    def run(self, op, inputs, attributes):
        values, indices = outputs(find_spec(op), inputs, attributes)
        return [np.fmax(values, values.dtype.type(0)), indices]


def test_a_mutant_in_one_output_alone_is_what_it_is_in_all():
    suite = tiers.smoke()
    run = conformance.check(suite, OneOutput(), ops=[MAX], findings=False)
    failed = [result for result in run.results if result.returned is not None]
    prediction = Prediction(suite, "must", {})
    excused = [result for result in failed if prediction(result, (BEGINS_AT_ZERO,))]
    assert len(excused) > 3
    # A machine whose search begins with 0 gives these values, too, and these indices.
    says = "A search for the largest begins with 0."
    assert all(says in prediction.could_be(result) for result in excused)
