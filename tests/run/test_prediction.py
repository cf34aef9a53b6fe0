"""What mutants together give, where they cannot be put together."""

from __future__ import annotations

import tiers

import conformance
from conformance.reference import evaluate
from conformance.run.prediction import Prediction
from conformance.spec.catalogue import faults
from conformance.spec.loader import find
from conformance.spec.variation import circular

OP = "onnx.AveragePool-22"
CIRCULAR = ("ceil-drops-window-beyond-padding", "overhang-split-between-ends")
DIVISOR = "divisor-one-more"
KNOWN = {fault.id: fault for fault in faults(find(OP))}


class Broken:
    name, version = "broken", "1"

    def run(self, op, inputs, attributes):
        broken = (KNOWN[DIVISOR].variant,)
        return evaluate(find(op), inputs, attributes, exact=False, variants=broken)


def test_mutants_that_depend_on_each_other_predict_nothing():
    suite = tiers.smoke()
    assert any(circular(find(OP), *(KNOWN[one].variant.replace for one in CIRCULAR)))
    run = conformance.check(suite, Broken(), ops=[OP])
    failed = [result for result in run.results if result.returned is not None]
    prediction = Prediction(suite, "must", {})
    assert any(prediction(result, (DIVISOR,)) for result in failed)
    assert not any(prediction(result, CIRCULAR) for result in failed)
