"""Outputs of the diagnosed mutants around the worst element, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.errors import ConformanceError
from conformance.implementations import implementation_of, subject_of
from conformance.model import Finding
from conformance.spec.catalogue import Change
from conformance.specification import planes_of
from conformance.suite.store import Suite


def with_given(finding: Finding, suite: Suite, variants: Sequence[Change]) -> Finding:
    """Add to a finding's plane the outputs of the oracle under some changes.

    Returns:
        The finding as it is if these outputs have another shape, or nothing is to be added.
    """
    plane, witness = finding.detail.get("plane"), finding.witness
    spec = suite.specs.get(finding.op)
    if not isinstance(plane, Mapping) or witness is None or spec is None or not variants:
        return finding
    vector = suite.get(finding.smallest)
    names = [answer.name for answer in vector.answers]
    try:
        subject = subject_of(spec, vector.case, vector.arguments)
        output = subject.under(implementation_of(spec, *variants))[names.index(witness.output)]
    except (ConformanceError, ValueError, IndexError):
        return finding
    index = witness.index[: planes_of(len(witness.index))]
    expected: Any = plane.get("expected")
    if output.shape[len(index) :] != np.shape(expected):
        return finding
    if any(i >= n for i, n in zip(index, output.shape, strict=False)):
        return finding
    given: Any = np.vectorize(str, otypes=[object])(output[index])
    return replace(finding, detail={**finding.detail, "plane": {**plane, "given": given.tolist()}})
