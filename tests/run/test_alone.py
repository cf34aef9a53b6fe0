"""Failures that need earlier calls are told apart from those that a fresh process has, too."""

from __future__ import annotations

import tiers

import conformance
from conformance.report.cause_view import FindingView

STATEFUL = """
from conformance.backends.numpy import NumPy

class Stateful(NumPy):
    # A pool after another one zeroes all channels but the first, as in
    # https://github.com/tenstorrent/tt-metal/issues/15824
    name, version, ran = "stateful", "1", False

    def run(self, op, inputs, attributes):
        (output,) = super().run(op, inputs, attributes)
        self.ran = self.ran or op == "AdaptiveAvgPool-8"
        if op == "AvgPool-1" and self.ran:
            output[:, 1:] = 0
        return [output]

class Wrong(NumPy):
    name, version = "wrong", "1"

    def run(self, op, inputs, attributes):
        return [output + 1 for output in super().run(op, inputs, attributes)]
"""
OPS = ["AdaptiveAvgPool-8", "AvgPool-1"]


def test_a_failure_that_a_fresh_process_lacks_names_the_call_that_leads_to_it(tmp_path):
    (tmp_path / "mine.py").write_text(STATEFUL)
    run = conformance.check(tiers.smoke(), f"{tmp_path / 'mine.py'}:Stateful", ops=OPS)
    finding = run.findings[0]
    assert finding.op == "AvgPool-1"
    (lead,) = finding.detail["after"]
    assert lead.startswith("AdaptiveAvgPool-8/")
    vector = lead.removeprefix("AdaptiveAvgPool-8/")
    assert finding.reproduce.endswith(f"--op AdaptiveAvgPool-8 --only {vector}")
    shown = FindingView(finding, "f32", run.log.start.backend.spec).earlier_calls_note
    assert shown == (
        f"{finding.smallest} passes in a fresh process: "
        f"the failure depends on earlier calls, such as {lead}."
    )


def test_one_that_a_fresh_process_has_too_is_as_it_was(tmp_path):
    (tmp_path / "mine.py").write_text(STATEFUL)
    run = conformance.check(tiers.smoke(), f"{tmp_path / 'mine.py'}:Wrong", ops=OPS[1:])
    assert run.findings
    assert not any("after" in finding.detail for finding in run.findings)
