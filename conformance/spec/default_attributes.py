"""Which attributes a case spells out and which it leaves at their defaults; a case in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.model import Case
from conformance.spec.case_environment import shapes_of
from conformance.spec.model import OpSpec, Quantity


def case_from_values(spec: OpSpec, values: Mapping[str, Any], seed: int) -> Case:
    """Make a case from quantities by key, types by name, and ``pattern``."""
    return Case(
        op=spec.op,
        types={name: values[name] for name in spec.types},
        shapes=shapes_of(spec, values),
        attributes=without_defaults(spec, values, seed),
        operands={operand.name: tuple(values[operand.quantity.key]) for operand in spec.operands},
        pattern=values["pattern"],
        seed=seed,
    )


def without_defaults(spec: OpSpec, values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return values as attributes, without some of those that have their default.

    A backend may take the wrong default, or none; one that is always given hides that. Each bit of
    the case's ``seed`` decides on one attribute, so about half of them are left out; one that the
    document does not let be given there always is. A list of two halves is one attribute, whose
    first half decides.
    """
    written: dict[str, Any] = {}
    parts: dict[str, list[Quantity]] = {}
    places: dict[str, int] = {}
    for index, quantity in enumerate(spec.attributes):
        written = quantity.put(written, values[quantity.key])
        parts.setdefault(quantity.name, []).append(quantity)
        places.setdefault(quantity.name, index)
    for name, quantities in parts.items():
        others_written = {key: value for key, value in written.items() if key != name}
        left_out = seed >> places[name] & 1 or not all(q.may_be_given(values) for q in quantities)
        if left_out and all(q.is_default(values[q.key], others_written) for q in quantities):
            written = others_written
    return written


def with_defaults(spec: OpSpec, case: Case) -> dict[str, Any]:
    """Return the values of a case's attributes by key, with defaults filled in."""
    axes = spec.axes_of(case)
    return {quantity.key: quantity.of(case.attributes, axes) for quantity in spec.attributes}


def without_forbidden_defaults(spec: OpSpec, case: Case) -> Case:
    """Leave out each default that the document forbids beside the other attributes (``given_if``).

    What has another value stays: the case may break a condition.
    """
    values = with_defaults(spec, case)
    forbidden = {
        attribute.name for attribute in spec.attributes if not attribute.may_be_given(values)
    }
    attributes = {
        name: value
        for name, value in case.attributes.items()
        if name not in forbidden or _tells(spec, name, case.attributes)
    }
    return replace(case, attributes=attributes)


MAX_LINE = 160
"""Characters of a case in a line, about."""


def in_a_line(spec: OpSpec, request: Mapping[str, Any]) -> str:
    """Describe a case in a line: shapes, types, and attributes without their default.

    ``request`` is :attr:`Case.request`. Attributes beyond ``MAX_LINE`` characters are only counted.
    """
    types, shapes = request["types"], request["shapes"]
    tensors = [f"{_sizes(shapes[tensor.name])} {types[tensor.type]}" for tensor in spec.tensors]
    attributes = request.get("attributes", {})
    values = {name: value for name, value in attributes.items() if _tells(spec, name, attributes)}
    values.update(request.get("operands", {}))
    parts = [" and ".join(tensors), *(f"{name} {_value(values[name])}" for name in values)]
    shown_count = 1
    while shown_count < len(parts) and len(", ".join(parts[: shown_count + 1])) <= MAX_LINE:
        shown_count += 1
    hidden_count = len(parts) - shown_count
    return ", ".join(parts[:shown_count]) + (f", and {hidden_count} more" if hidden_count else "")


def _tells(spec: OpSpec, name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether an attribute has another value than where only the others are given."""
    other_attributes = {key: value for key, value in attributes.items() if key != name}
    parts = [quantity for quantity in spec.attributes if quantity.name == name]
    value = attributes[name]
    return not parts or not all(
        part.is_default(part.read(value), other_attributes) for part in parts
    )


def _sizes(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_value, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
