"""A finding tells which of the edges that its vectors share are common in real models."""

from __future__ import annotations

import numpy as np
import pytest
import tiers

from conformance.backends.reference import Reference
from conformance.check_options import CheckOptions
from conformance.grade.findings import group_failures
from conformance.log.causes import causes
from conformance.model import Finding, Result, Status
from conformance.run.engine import run
from conformance.run.summarise import _common, _graded


class ZeroWherePadded(Reference):
    """Right but for padded cases: their outputs are zero."""

    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        given = any((*attributes["pads_begin"], *attributes["pads_end"]))
        wrong = attributes.get("auto_pad", "explicit") == "explicit" and given
        return [np.zeros_like(output) for output in outputs] if wrong else outputs


@pytest.fixture(scope="module")
def events():
    return list(run(tiers.smoke(), ZeroWherePadded(), CheckOptions(ops=["AvgPool-1"])))


def test_what_all_vectors_share_and_models_have(events):
    seen = [event for event in events if isinstance(event, Finding)]
    told = {name for one in seen for name in one.detail.get("common", {})}
    assert "explicit-pads" in told
    results = [event for event in events if isinstance(event, Result)]
    edges = {edge.name: edge.common for edge in tiers.smoke().specs.get("AvgPool-1").edges}
    first = causes(seen, results)[0]
    assert first.common["explicit-pads"] == edges["explicit-pads"] != ""


def test_an_edge_on_which_most_vectors_do_not_fail_is_not_to_blame():
    """Ten vectors are padded; what fails on two of them has another reason, on five it may not."""
    suite = tiers.smoke()

    def told(failing):
        results = [
            Result(f"v{n}", "AvgPool-1", Status.FAIL if n < failing else Status.PASS,
                   edges=("explicit-pads", "channels"), kind="value" if n < failing else "")
            for n in range(10)
        ]  # fmt: skip
        failed = [one for one in results if one.kind]
        (finding,) = group_failures(failed, command=())
        graded = _graded(results, {finding.op})[finding.op]
        return _common(finding, failed[0], graded, suite)

    assert told(2) == {}
    assert list(told(5)["common"]) == ["explicit-pads"]
    assert told(1) == {}


def test_the_smallest_case_is_told_in_a_line(events):
    first = next(event for event in events if isinstance(event, Finding))
    assert first.detail["case"].startswith("3x1x1x1 bf16, ")
    assert "pads_begin [" in first.detail["case"]
    assert "\n" not in first.detail["case"]
