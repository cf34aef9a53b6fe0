"""A case from its values: which attributes it spells out, and which it leaves to defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.model import Case
from conformance.spec.model import OpSpec, Quantity


def case_of(spec: OpSpec, values: Mapping[str, Any], seed: int) -> Case:
    """The case of these values: of the quantities by key, of the types by name, and ``pattern``."""
    shape: list[int] = []
    for name in spec.data.shape:
        shape += values[name] if spec.dims[name].per_axis else (values[name],)
    attributes = {
        quantity.name: list(values[quantity.key]) if quantity.per_axis else values[quantity.key]
        for quantity in spec.attributes
    }
    return Case(
        op=spec.op,
        types={name: values[name] for name in spec.types},
        shapes={spec.data.name: tuple(shape)},
        attributes=spelled(spec, attributes, seed),
        operands={one.name: tuple(values[one.quantity.key]) for one in spec.operands},
        pattern=values["pattern"],
        seed=seed,
    )


def spelled(spec: OpSpec, attributes: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The attributes without some of those that have their default.

    A backend may take the wrong default, or none; one that is always given hides that. Each bit of
    the case's ``seed`` decides on one attribute, so about half of them are left out. What is given
    is written as the document writes it.
    """
    return {
        quantity.name: quantity.write(attributes[quantity.name])
        for place, quantity in enumerate(spec.attributes)
        if not _is_default(quantity, attributes[quantity.name]) or not seed >> place & 1
    }


def _is_default(quantity: Quantity, value: Any) -> bool:
    if quantity.default is None:
        return False
    return all(entry == quantity.default for entry in (value if quantity.per_axis else [value]))


def in_full(spec: OpSpec, case: Case) -> dict[str, Any]:
    """The attributes of a case with the defaults of those that it leaves out."""
    axes = len(case.shapes[spec.data.name]) - 2
    return {quantity.name: quantity.of(case.attributes, axes) for quantity in spec.attributes}
