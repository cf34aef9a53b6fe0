"""Decides which attributes a case spells out and which it leaves at their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.model import Case
from conformance.spec.environment import shapes_of
from conformance.spec.model import OpSpec, Quantity


def case_of(spec: OpSpec, values: Mapping[str, Any], seed: int) -> Case:
    """The case of these values: of the quantities by key, of the types by name, and ``pattern``."""
    return Case(
        op=spec.op,
        types={name: values[name] for name in spec.types},
        shapes=shapes_of(spec, values),
        attributes=spelled(spec, values, seed),
        operands={one.name: tuple(values[one.quantity.key]) for one in spec.operands},
        pattern=values["pattern"],
        seed=seed,
    )


def spelled(spec: OpSpec, values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Values by key as attributes of the document, without some of those that have their default.

    A backend may take the wrong default, or none; one that is always given hides that. Each bit of
    the case's ``seed`` decides on one attribute, so about half of them are left out; one that the
    document does not let be given there always is. A list of two halves is one attribute, whose
    first half decides.
    """
    written: dict[str, Any] = {}
    parts: dict[str, list[Quantity]] = {}
    places: dict[str, int] = {}
    for place, quantity in enumerate(spec.attributes):
        written = quantity.put(written, values[quantity.key])
        parts.setdefault(quantity.name, []).append(quantity)
        places.setdefault(quantity.name, place)
    for name, quantities in parts.items():
        rest = {key: value for key, value in written.items() if key != name}
        left_out = seed >> places[name] & 1 or not all(q.may_be_given(values) for q in quantities)
        if left_out and all(q.is_default(values[q.key], rest) for q in quantities):
            written = rest
    return written


def in_full(spec: OpSpec, case: Case) -> dict[str, Any]:
    """The values of a case's attributes by key, with the defaults of those that it leaves out."""
    axes = spec.axes_of(case)
    return {quantity.key: quantity.of(case.attributes, axes) for quantity in spec.attributes}
