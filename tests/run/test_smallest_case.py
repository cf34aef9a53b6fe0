"""A finding tells its smallest case in a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import tiers

from conformance.backends.reference import Reference
from conformance.check_options import CheckOptions
from conformance.model import Finding
from conformance.run.engine import run


class ZeroWherePadded(Reference):
    """Right but for padded cases: their outputs are zero."""

    def run(self, op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        outputs = super().run(op, inputs, attributes)
        given = any((*attributes["pads_begin"], *attributes["pads_end"]))
        wrong = attributes.get("auto_pad", "explicit") == "explicit" and given
        return [np.zeros_like(output) for output in outputs] if wrong else outputs


def test_its_shape_type_and_attributes() -> None:
    events = run(tiers.smoke(), ZeroWherePadded(), CheckOptions(ops=["AvgPool-1"], dtypes=["bf16"]))
    first = next(event for event in events if isinstance(event, Finding))
    assert first.detail["case"].startswith("data 3x1x1x1 bf16, ")
    assert "pads_begin " in first.detail["case"]
    assert "\n" not in first.detail["case"]
