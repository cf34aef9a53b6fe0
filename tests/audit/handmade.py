"""Vectors and faults made by hand, for tests of what notices what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.core.answers import answers, readings
from conformance.core.mutant_changes import TextChange
from conformance.dtypes import DTYPES
from conformance.model import Case, Vector
from conformance.spec.catalogue import Mutant
from conformance.specification import find_spec

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
Array = np.ndarray[Any, Any]


def row(*values: float) -> Array:
    """One image of one channel of one axis."""
    return np.array(values, np.float64).reshape(1, 1, -1)


def pooled(data: Array, kernel: Sequence[int], *, dtype: str = "f32", **attributes: Any) -> Vector:
    """A vector of AvgPool-1: stride 1, no padding, unless ``attributes`` say otherwise."""
    axes = data.ndim - 2
    given = {
        "kernel": list(kernel),
        "strides": [1] * axes,
        "pads_begin": [0] * axes,
        "pads_end": [0] * axes,
        "exclude-pad": False,
    }
    given |= {name.replace("exclude_pad", "exclude-pad"): v for name, v in attributes.items()}
    return made(Case(AVG, {"T": dtype}, {"data": data.shape}, given), data)


def adaptive(op: str, data: Array, out: Sequence[int]) -> Vector:
    """A vector of an adaptive operator, with i64 indices if it has some."""
    return made(
        Case(
            op=op,
            types={"T": "f32", "T_SHAPE": "i64"},
            shapes={"data": data.shape},
            attributes={"index_element_type": "i64"} if op == MAX else {},
            operands={"output_size": tuple(out)},
        ),
        data,
    )


def made(case: Case, data: Array) -> Vector:
    """The vector of a valid case with data of its own, in the case's type."""
    spec = find_spec(case.op)
    data = data.astype(DTYPES[case.types["T"]].numpy)
    inputs = (data, *(np.array(value, np.int64) for value in case.operands.values()))
    base = answers(spec, case, inputs)
    return Vector(
        id=case.id,
        case=case,
        level="must",
        edges=(),
        description="",
        source="",
        inputs=inputs,
        answers=base,
        readings=readings(spec, case, inputs, base),
    )


def fault(
    name: str, texts: dict[str, str], *, op: str = AVG, where: str = "", **more: Any
) -> Mutant:
    """A fault that has other texts in some places; ``more`` are further fields."""
    edits = tuple((place, "", text) for place, text in texts.items())
    change = TextChange(name, edits, where=where)
    return Mutant(name, more.pop("kind", "made"), op, change, f"Has {name}.", **more)
