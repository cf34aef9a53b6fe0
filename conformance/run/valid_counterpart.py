"""The valid case from which a negative test was made, reconstructed.

A backend that refuses the valid case too says nothing by refusing the invalid one: it may know
neither the operator nor the version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from conformance.core.operator import Operator
from conformance.dtypes import Array
from conformance.errors import ConformanceError
from conformance.model import Case, Vector
from conformance.spec.case_environment import dimensions, resized, shapes_of
from conformance.spec.model import NegativeTest, OpSpec, Quantity
from conformance.spec.validity import violations
from conformance.specification import Specification

SMALL = (1, 0, 2, 3)
"""Numbers that are allowed where others are not; the first that serves is taken."""


def paired(spec: Specification, vector: Vector) -> Vector | None:
    """Make the valid vector behind a negative test, without expected outputs.

    It differs in what the test's entry of the specification changes. Its data are those of the
    test, repeated or cut if the shape differs.

    Returns:
        None if no valid vector is near.
    """
    if isinstance(spec, Operator):
        return None
    entry = next((reject for reject in spec.reject if reject.name == vector.case.reject), None)
    if entry is None:
        return None
    for case in _repaired(spec, entry, replace(vector.case, reject=None)):
        try:
            sound = not violations(spec, case)
        except (ConformanceError, ValueError, TypeError, IndexError):
            continue  # the test may break what others are worked out from
        if sound:
            return replace(vector, id=case.id, case=case, inputs=_inputs(spec, case, vector.inputs))
    return None


def _inputs(spec: OpSpec, case: Case, given: Sequence[Array]) -> tuple[Array, ...]:
    tensors = (
        np.resize(old, case.shapes[tensor.name]).astype(old.dtype)
        for tensor, old in zip(spec.tensors, given, strict=False)
    )
    operands = (
        np.array(case.operands[operand.name], dtype=old.dtype)
        for operand, old in zip(spec.operands, given[len(spec.tensors) :], strict=True)
    )
    return (*tensors, *operands)


def _repaired(spec: OpSpec, entry: NegativeTest, case: Case) -> Iterator[Case]:
    """Cases that may be valid, those that change least first."""
    if entry.rank is not None:
        rank = min(max(entry.rank, spec.ranks.start), spec.ranks.stop - 1)
        shape = case.shapes[spec.data.name]
        larger = (*shape, *[max(shape[-1:], default=1)] * rank)[:rank]
        plain = {each.name for each in spec.attributes if each.default is None or each.per_axis}
        given = {name: value for name, value in case.attributes.items() if name in plain}
        every = [quantity.whole for quantity in spec.quantities.values()]
        for attributes in (case.attributes, given):
            yield from _resized(
                spec,
                replace(resized(spec, case, larger), attributes=attributes),
                every,
            )
    if entry.length:
        yield from _resized(spec, case, entry.length)
    if any("." in key for key in entry.set):
        yield resized(spec, case, case.shapes[spec.data.name])
    keys = [key for key in entry.set if key in spec.quantities]
    if not entry.set or len(keys) < len(entry.set):
        return
    for everywhere in (False, True):
        for values in product(*(_values(spec.quantities[key]) for key in keys)):
            changed: Case | None = case
            for key, value in zip(keys, values, strict=True):
                changed = (
                    None if changed is None else _with(spec, changed, key, value, every=everywhere)
                )
            if changed is not None:
                yield changed


def _resized(spec: OpSpec, case: Case, wholes: Collection[str]) -> Iterator[Case]:
    """The case whose lists have an entry for each axis, cut or filled up, or their defaults."""
    axes = spec.axes_of(case)
    lists = {each.name: each for each in spec.attributes if each.per_axis and each.whole in wholes}
    given = [attribute for name, attribute in lists.items() if name in case.attributes]
    choices = [_of_length(each, case.attributes[each.name], axes) for each in given]
    operands = [operand for operand in spec.operands if operand.quantity.key in wholes]
    choices += [_of_length(each.quantity, case.operands[each.name], axes) for each in operands]
    for values in product(*choices):
        attributes = dict(case.attributes)
        for attribute, value in zip(given, values, strict=False):
            attributes[attribute.name] = value
            if value is None:
                del attributes[attribute.name]
        own = zip(operands, values[len(given) :], strict=True)
        yield replace(
            case,
            attributes=attributes,
            operands={**case.operands, **{each.name: tuple(value or ()) for each, value in own}},
        )


def _of_length(quantity: Quantity, value: Any, axes: int) -> list[list[Any] | None]:
    """Lists with an entry for each axis that a list may have been before; None is the default."""
    default: list[list[Any] | None] = (
        [None] if quantity.default is not None or quantity.like else []
    )
    if not isinstance(value, list | tuple):
        return default
    if quantity.half is not None:
        return [*default, [0] * 2 * axes]
    fills = SMALL if len(value) < axes else SMALL[:1]
    return [*([*value, *[fill] * axes][:axes] for fill in fills), *default]


def _values(quantity: Quantity) -> tuple[Any, ...]:
    """Values that may be allowed, the default first."""
    if quantity.type == "enum":
        others: tuple[Any, ...] = quantity.values
    else:
        others = (False, True) if quantity.type == "bool" else SMALL
    return others if quantity.default is None else (quantity.default, *others)


def _with(spec: OpSpec, case: Case, key: str, value: Any, *, every: bool) -> Case | None:
    """The case with another value of a quantity, if it has one an axis on the last axis alone, as
    tests are made, or on ``every`` one; None where it has no such axis."""

    axes = spec.axes_of(case)
    for attribute in spec.attributes:
        if attribute.key == key:
            new = value
            if attribute.per_axis:
                old = attribute.of(case.attributes, axes)
                if not isinstance(old, list | tuple):
                    return None
                new = [value] * len(old) if every else [*old[:-1], value]
            return replace(case, attributes=attribute.put(case.attributes, new))
    for operand in spec.operands:
        if operand.quantity.key == key:
            old = case.operands[operand.name]
            return replace(case, operands={**case.operands, operand.name: (*old[:-1], value)})
    dims = dimensions(spec, case.shapes)
    old, new = dims[key], max(1, value)
    dims[key] = (*old[:-1], new) if spec.dims[key].per_axis else new
    return replace(case, shapes=shapes_of(spec, dims))
