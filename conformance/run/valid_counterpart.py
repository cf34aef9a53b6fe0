"""The valid case beside a negative test, which is a small change away.

A backend that refuses the valid case too says nothing by refusing the invalid one: it may know
neither the operator nor the version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.core.data import within_ends
from conformance.core.operator import Attribute, Operator
from conformance.dtypes import Array
from conformance.model import Case, Vector
from conformance.specification import violations

SMALL = (1, 0, 2, 3)
"""Numbers that are allowed where others are not."""

EXTENTS = (1, 2, 3, 4, 5, 9, 16)
"""Extents of a dimension that a tensor may lack."""

STEPS = (-1, 1, -2, 2, -4, 4, -9, 9)
"""How far from an extent that does not fit others are tried."""


def paired(spec: Operator, vector: Vector) -> Vector | None:
    """Make the valid vector beside a negative test, without expected outputs.

    It differs in one attribute, in the entries of one input, or in one shape; or it has one more
    axis, of which nothing is stated. Its data are those of the test, repeated or cut if the shape
    differs.

    Returns:
        None if no valid vector is so near.
    """
    for case in _changed(spec, replace(vector.case, reject=None)):
        if not violations(spec, case):
            inputs = zip(vector.names, vector.inputs, strict=True)
            data = tuple(_data(spec, case, name, given) for name, given in inputs)
            return replace(vector, id=case.id, case=case, inputs=data)
    return None


def _data(spec: Operator, case: Case, name: str, given: Array) -> Array:
    """The data of a test as a valid case has it: repeated or cut, and places within the data."""
    if name in case.operands:
        return np.array(case.operands[name], given.dtype)
    tensor, data = spec.tensors[name], np.resize(given, case.shapes[name])
    return data if tensor.ends is None else within_ends(data, spec, tensor, case)


def _changed(spec: Operator, case: Case) -> Iterator[Case]:
    """Yield the case with one thing changed; most are as invalid as it is."""
    rank = max(map(len, case.shapes.values()), default=0)
    for name, attribute in spec.spelled.items():
        others = {key: value for key, value in case.attributes.items() if key != name}
        if name in case.attributes and attribute.default is not None:
            yield replace(case, attributes=others)
        given = case.attributes.get(name)
        for value in _other_values(attribute, given, rank):
            yield replace(case, attributes={**others, name: value})
    for tensor in spec.inputs:
        if tensor.entries is not None and tensor.name in case.operands:
            for value in _other_values(tensor.entries, case.operands[tensor.name], rank):
                yield replace(case, operands={**case.operands, tensor.name: tuple(value)})
    for name, shape in case.shapes.items():
        for other in _other_shapes(shape):
            yield replace(case, shapes={**case.shapes, name: other})
    plain = {key: v for key, v in case.attributes.items() if not isinstance(v, list | tuple)}
    plain |= {key: [1] for key, a in spec.spelled.items() if a.default is None and a.per}
    for name, shape in case.shapes.items():
        yield replace(case, shapes={**case.shapes, name: (*shape, 1)}, attributes=plain)


def _other_values(attribute: Attribute, given: Any, rank: int) -> Iterator[Any]:
    """Yield other values of an attribute, those that change one entry first."""
    if attribute.type == "bool":
        entries: Sequence[Any] = (False, True)
    else:
        entries = attribute.values or SMALL
    if not attribute.per and not attribute.list:
        yield from entries
        return
    if isinstance(given, list | tuple) and given:
        yield from ([*given[:-1], entry] for entry in entries)
        yield from ([entry, *given[1:]] for entry in entries)
    for length in range(2 * rank + 1):
        yield from ([entry] * length for entry in entries)


def _other_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for axis, extent in enumerate(shape):
        for step in STEPS:
            if extent + step >= 0:
                yield (*shape[:axis], extent + step, *shape[axis + 1 :])
    yield shape[:-1]
    yield from ((*shape, extent) for extent in EXTENTS)
