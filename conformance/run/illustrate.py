"""Data for the pictures of a finding: what an element reads, plane, wrong elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conformance.codec import to_json
from conformance.core.element_picture import vector_picture
from conformance.dtypes import DTYPES, Array
from conformance.grade.compare import describe_element
from conformance.grade.interpretation_match import (
    Match,
    deciding_match,
    match_all,
    required_precision,
)
from conformance.grade.returned import unpack_outputs
from conformance.log.events import MAX_ELEMENTS
from conformance.model import Finding, Result
from conformance.specification import planes_of
from conformance.suite.store import Suite

MAX_OUTPUT = 144
"""Elements of a plane of outputs that is shown beside the expected one, at most."""


@dataclass(frozen=True)
class Illustrator:
    """Draws findings from the vectors of a suite; ``level`` and ``precision`` are the run's."""

    suite: Suite
    level: str
    precision: Mapping[str, str]

    def illustrated(self, finding: Finding, smallest: Result) -> Finding:
        """Add the pictures of a finding's ``smallest`` result to its ``detail``.

        They are ``reads``, ``plane`` and ``elements``, see docs/run-log.md.
        """
        if finding.witness is None:
            return finding
        vector = self.suite.get(finding.smallest)
        index = finding.witness.index
        spec = self.suite.specs.get(finding.op)
        pictures: dict[str, Any] = {}
        if spec is not None:
            picture = vector_picture(spec, vector, finding.witness.output, index)
            pictures["reads"] = None if picture is None else to_json(picture)
        outputs = unpack_outputs(smallest.returned) if smallest.returned is not None else None
        if outputs is not None and len(outputs) == len(vector.answers):
            match = deciding_match(match_all(vector, outputs, self.precision), self.level)
            if match.comparisons:
                planes = 0 if spec is None else planes_of(len(index))
                pictures["plane"] = _plane(match, finding.witness.output, index, planes)
                pictures["elements"] = _elements(match, self.precision)
        drawn = {name: picture for name, picture in pictures.items() if picture}
        return replace(finding, detail={**finding.detail, **drawn})


def _plane(match: Match, output: str, index: tuple[int, ...], planes: int) -> dict[str, Any] | None:
    """Expected beside got, over the plane of the witness: the first ``planes`` dimensions of an
    output tell planes apart."""
    at = index[:planes]
    for answer, got, compared in zip(match.answers, match.outputs, match.comparisons, strict=True):
        if answer.name != output or got[at].size > MAX_OUTPUT:
            continue
        expected = answer.expected if answer.rounded is None else answer.rounded
        return {
            "expected": _texts(expected[at]),
            "got": _texts(got[at]),
            "wrong": compared.wrong[at].tolist(),
        }
    return None


def _texts(array: Array) -> Any:
    """Nested lists of numbers as text, since JSON has no NaN and no infinities."""
    return np.vectorize(str, otypes=[object])(array).tolist()


def _elements(match: Match, precision: Mapping[str, str]) -> list[dict[str, Any]]:
    """The wrong elements, the farthest from the rounded value first."""
    elements: list[dict[str, Any]] = []
    for answer, got, compared in zip(match.answers, match.outputs, match.comparisons, strict=True):
        places = np.argwhere(compared.wrong)
        if answer.rounded is not None and len(places):
            wrong = compared.wrong
            distances = DTYPES[answer.dtype].ulp_distance(got[wrong], answer.rounded[wrong])
            places = places[np.argsort(-distances, kind="stable")]
        for place in places[: MAX_ELEMENTS - len(elements)]:
            at = tuple(int(i) for i in place)
            seen = describe_element(answer, got, at, required_precision(answer, precision))
            bits = {}
            if answer.rounded is not None:
                bits = {
                    "rounded_bits": _bits(answer.dtype, answer.rounded[at]),
                    "got_bits": _bits(answer.dtype, got[at]),
                }
            elements.append({"output": answer.name, "index": list(at), **seen, **bits})
    return elements


def _bits(dtype: str, value: Any) -> str:
    row = DTYPES[dtype]
    code = int(np.asarray(value, row.numpy).reshape(1).view(row.code)[0])
    return f"0x{code:0{2 * row.numpy.itemsize}x}"
