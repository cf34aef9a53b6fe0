"""Failures that are what a mutant gives, where it would show more often, are said to be like it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tiers

import conformance
from conformance.backends.capabilities import Capabilities
from conformance.backends.numpy import NumPy
from conformance.dtypes import Array
from conformance.report.cause_view import FindingView


class Partly(NumPy):
    """Leaves the last column out, as a mutant does, but only after a positive first element."""

    name = "partly"
    capabilities = Capabilities(operators=("AvgPool-1",), dtypes=("f32",))

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        (output,) = super().run(op, inputs, attributes)
        if inputs[0].size and inputs[0].flat[0] > 0 and output.shape[-1] > 1:
            output = np.array(output)
            output[..., -1] = 0
        return [output]


def test_the_mutant_is_said_but_not_named() -> None:
    run = conformance.check(tiers.core(), Partly(), ops=["AvgPool-1"])
    finding = max(run.findings, key=lambda one: len(one.ids))
    found = FindingView(finding, "f32", run.log.start.backend.spec).diagnosis
    assert found is not None
    assert not found.faults
    assert " failures are what a mutant of the catalogue gives (" in found.advice
    assert " vectors pass that it would fail" in found.advice
