"""The window behind a finding's witness, for reports to draw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.errors import ConformanceError
from conformance.model import Finding
from conformance.reference.explain import window
from conformance.spec import loader
from conformance.suite.store import Suite

MAX_PLANE = 2_000
"""Larger planes are not copied into a log; no picture could show them."""


def illustrated(finding: Finding, suite: Suite) -> Finding:
    """The finding with the window of its witness in ``detail``, where there is one to draw.

    ``window`` has ``input`` (the plane of data as a nested list over the spatial axes), ``start``
    and ``taps`` for each axis, and ``divisor`` where the operator averages.
    """
    detail = _window(finding, suite)
    return replace(finding, detail={**finding.detail, "window": detail}) if detail else finding


def _window(finding: Finding, suite: Suite) -> dict[str, Any] | None:
    if finding.witness is None:
        return None
    vector = suite.get(finding.smallest)
    index = finding.witness.index
    data = vector.inputs[0]
    try:
        spec = loader.find(vector.case.op)
    except ConformanceError:
        return None  # a suite of an operator whose specification is not installed
    shape = vector.answers[0].expected.shape
    inside = len(index) == len(shape) and all(i < n for i, n in zip(index, shape, strict=True))
    if not inside or data[0, 0].size > MAX_PLANE:
        return None
    try:
        seen = window(spec, vector.case, data, index)
    except ConformanceError:
        return None  # a suite of another version of the specification
    if any(not at or at != tuple(range(at[0], at[-1] + 1)) for at in seen.coordinates):
        return None  # no taps, or taps apart: not the box that is drawn
    found: dict[str, Any] = {
        "input": data[index[0], index[1]].astype(float).tolist(),
        "start": [at[0] for at in seen.coordinates],
        "taps": [len(at) for at in seen.coordinates],
    }
    return found if seen.divisor is None else {**found, "divisor": seen.divisor}
