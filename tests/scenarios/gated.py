"""A suite for gates, small but with several operators, types, ranks and edges; and backends."""

from __future__ import annotations

from pathlib import Path

from tables import table_of

from conformance.model import Case
from conformance.specification import build, find_spec
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

AVG, MAX = "AvgPool-1", "AdaptiveMaxPool-8"

BACKEND = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
import broken
from conformance import Unsupported
from conformance.backends import Capabilities, Exclusion
from conformance.backends.reference import Reference

def refuse(why):
    raise Unsupported(why)

class Mine(Reference):
    name, version = "mine", "1.0"
    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        wrong = [outputs[0] + outputs[0].dtype.type(1), *outputs[1:]]
        ceil = attributes.get("rounding_type") == "ceil"
        half, cube = inputs[0].dtype == np.float16, inputs[0].ndim == 5
        return {{returned}}

replaced = broken.replacing("AvgPool-1", {{{{"let.out": "span // strides + 1"}}}})
"""


def _avg(dtype: str, size: tuple[int, ...], rounding: str, **more: object) -> Case:
    axes = len(size)
    return Case(
        op=AVG,
        types={"T": dtype},
        shapes={"data": (1, 2, *size)},
        attributes={
            "kernel": [2] * axes,
            "strides": [2] * axes,
            "pads_begin": [0] * axes,
            "pads_end": [0] * axes,
            "exclude-pad": True,
            "auto_pad": "explicit",
            "rounding_type": rounding,
            **more,
        },
    )


def _max(dtype: str, size: tuple[int, ...]) -> Case:
    return Case(
        op=MAX,
        types={"T": dtype, "T_SHAPE": "i64"},
        shapes={"data": (1, 2, *size)},
        attributes={"index_element_type": "i64"},
        operands={"output_size": (2,) * len(size)},
    )


def write(folder: Path) -> Suite:
    """A suite of 16 vectors with values: AvgPool-1 of ranks 3 and 4, half of them rounded up."""
    cases = [
        _avg(dtype, size, rounding)
        for dtype in ("f16", "f32")
        for size in ((5,), (7,), (5, 3))
        for rounding in ("floor", "ceil")
    ]
    cases += [_max(dtype, size) for dtype in ("f16", "f32") for size in ((5,), (4, 5, 6))]
    vectors = [(build(find_spec(case.op), case, "must"), ("core",)) for case in cases]
    strength = table_of(vector for vector, _ in vectors)
    return write_suite(folder, vectors, name="gated", seed=0, versions={}, strength=strength)


def backend(folder: Path, returned: str = "outputs", name: str = "mine") -> str:
    """A backend that returns what an expression makes of the right ``outputs``."""
    file = folder / f"{name}.py"
    file.write_text(BACKEND.format(returned=returned), encoding="utf-8")
    return f"{file}:Mine"
