"""Backends that break one rule: the reference with a text replaced, or its answers spoiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance import specification
from conformance.core.mutant_changes import TextChange
from conformance.dtypes import DTYPES
from conformance.errors import InvalidCase
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec

Arrays = list[Any]


def honest(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
    """The reference's answers in the operator's own types."""
    return specification.outputs(find_spec(op), inputs, attributes)


def replacing(op: str, replace: dict[str, str]) -> Callable[..., Arrays]:
    """The reference with other texts in some places of the definition."""
    spec = find_spec(op)
    edits = tuple((place, "", text) for place, text in replace.items())
    broken = implementation_of(spec, TextChange("broken", edits))

    def run(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
        right = honest(op, inputs, attributes)  # raises where it must be rejected
        if op != spec.op:
            return right
        case = case_from_inputs(spec, inputs, attributes)
        return list(subject_of(spec, case, inputs).under(broken))

    return run


def accepting(condition: str) -> Callable[..., Arrays]:
    """The reference, but what breaks ``condition`` is not refused."""

    def run(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
        try:
            return honest(op, inputs, attributes)
        except InvalidCase as refused:
            if refused.violations == (condition,):
                return [np.zeros(1, np.float32)]
            raise

    return run


def with_attributes(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Arrays]:
    """The reference, asked with other attributes; where those are invalid, with its own."""

    def run(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
        honest(op, inputs, attributes)
        try:
            return honest(op, inputs, {**attributes, **change(attributes)})
        except InvalidCase:
            return honest(op, inputs, attributes)

    return run


def with_inputs(change: Callable[[Any], Any]) -> Callable[..., Arrays]:
    """The reference, asked about other data."""

    def run(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
        return honest(op, [change(inputs[0]), *inputs[1:]], attributes)

    return run


def with_outputs(change: Callable[[Arrays], Arrays]) -> Callable[..., Arrays]:
    """The reference, its outputs spoiled."""

    def run(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
        return change(honest(op, inputs, attributes))

    return run


def infinite_padding(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
    """Multiplies padding with what it stands for, so that a window with both gives NaN."""
    outputs = honest(op, inputs, attributes)
    ones = honest(op, [np.ones(inputs[0].shape, inputs[0].dtype), *inputs[1:]], attributes)
    border = (ones[0] != 1) & np.isinf(outputs[0])
    return [np.where(border, outputs[0].dtype.type(np.nan), outputs[0])]


def nan_for_empty(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
    """Divides nothing by nothing where a window holds padding only."""
    outputs = honest(op, inputs, attributes)
    ones = honest(op, [np.ones(inputs[0].shape, np.float32), *inputs[1:]], attributes)
    return [np.where(ones[0] == 0, outputs[0].dtype.type(np.nan), outputs[0])]


def narrow_sums(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
    """Adds the elements of a global window one by one in the element type itself."""
    outputs = honest(op, inputs, attributes)
    if any(int(n) != 1 for n in inputs[1]):
        return outputs
    data = inputs[0].reshape(*inputs[0].shape[:2], -1)
    total = np.zeros(data.shape[:2], data.dtype)
    with np.errstate(all="ignore"):
        for k in range(data.shape[2]):
            total = (total + data[..., k]).astype(data.dtype)
        mean = (total / data.dtype.type(data.shape[2])).astype(data.dtype)
    return [mean.reshape(outputs[0].shape)]


def lowest_for_infinity(outputs: Arrays) -> Arrays:
    lowest = {row.numpy: -(2 - 2.0 ** (1 - row.digits)) * 2.0**row.emax for row in DTYPES.values()}
    values = outputs[0]
    low = np.float64(lowest[values.dtype]).astype(values.dtype)
    return [np.where(np.isneginf(values), low, values), *outputs[1:]]


def signed_zeros(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
    """Takes +0 to be larger than -0."""
    data = inputs[0]
    below = np.where((data == 0) & np.signbit(data), data.dtype.type(-0.25), data)
    values, indices = honest(op, [below, *inputs[1:]], attributes)
    return [np.where(values == -0.25, data.dtype.type(0), values), indices]


def float_borders(start: Callable[..., Any], end: Callable[..., Any]) -> Callable[..., Arrays]:
    """Adaptive pooling whose window borders are worked out in float32."""

    def borders(size: int, out: int) -> list[tuple[int, int]]:
        i = np.arange(out, dtype=np.float32)
        first = np.clip(start(i, np.float32(size), np.float32(out)).astype(int), 0, size - 1)
        last = np.clip(end(i, np.float32(size), np.float32(out)).astype(int), first + 1, size)
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def run(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Arrays:
        outputs = honest(op, inputs, attributes)
        data, sizes = inputs[0], [int(n) for n in inputs[1]]
        exact = [
            [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
            for n, m in zip(data.shape[2:], sizes, strict=True)
        ]
        wrong = [borders(n, m) for n, m in zip(data.shape[2:], sizes, strict=True)]
        for axis, (right, other) in enumerate(zip(exact, wrong, strict=True)):
            for i, (a, b) in enumerate(zip(right, other, strict=True)):
                if a != b:
                    where = (slice(None), slice(None), *(slice(None),) * axis, i)
                    outputs[0][where] = np.nan
        return outputs

    return run
