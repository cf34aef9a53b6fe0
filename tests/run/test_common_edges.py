"""A finding tells which of the edges that its vectors share are common in real models."""

from __future__ import annotations

import numpy as np
import tiers

from conformance.backends.reference import Reference
from conformance.log.causes import causes
from conformance.model import Finding, Result
from conformance.run.engine import Options, run


class ZeroWherePadded(Reference):
    """Right but for padded cases: their outputs are zero."""

    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        given = any((*attributes["pads_begin"], *attributes["pads_end"]))
        wrong = attributes.get("auto_pad", "explicit") == "explicit" and given
        return [np.zeros_like(output) for output in outputs] if wrong else outputs


def test_what_all_vectors_share_and_models_have():
    suite = tiers.smoke()
    events = list(run(suite, ZeroWherePadded(), Options(ops=["AvgPool-1"])))
    findings = [event for event in events if isinstance(event, Finding)]
    told = {name for one in findings for name in one.detail.get("common", {})}
    assert "explicit-pads" in told
    results = [event for event in events if isinstance(event, Result)]
    edges = {edge.name: edge.common for edge in suite.specs.get("AvgPool-1").edges}
    first = causes(findings, results)[0]
    assert first.common["explicit-pads"] == edges["explicit-pads"] != ""
