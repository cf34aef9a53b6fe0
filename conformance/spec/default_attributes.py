"""Which attributes a case spells out and which it leaves at their defaults; a case in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.model import Case
from conformance.spec.case_environment import shapes_of
from conformance.spec.model import OpSpec, Quantity


def case_from_values(spec: OpSpec, values: Mapping[str, Any], seed: int) -> Case:
    """The case of these values: of the quantities by key, of the types by name, and ``pattern``."""
    return Case(
        op=spec.op,
        types={name: values[name] for name in spec.types},
        shapes=shapes_of(spec, values),
        attributes=without_defaults(spec, values, seed),
        operands={one.name: tuple(values[one.quantity.key]) for one in spec.operands},
        pattern=values["pattern"],
        seed=seed,
    )


def without_defaults(spec: OpSpec, values: Mapping[str, Any], seed: int) -> dict[str, Any]:
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


def with_defaults(spec: OpSpec, case: Case) -> dict[str, Any]:
    """The values of a case's attributes by key, with the defaults of those that it leaves out."""
    axes = spec.axes_of(case)
    return {quantity.key: quantity.of(case.attributes, axes) for quantity in spec.attributes}


MAX_LINE = 160
"""Characters of a case in a line, about."""


def in_a_line(spec: OpSpec, asked: Mapping[str, Any]) -> str:
    """What a case asks (:attr:`Case.asked`): shapes and types of its tensors, and each attribute
    that has not its default. What is beyond ``MAX_LINE`` characters is counted only."""
    types, shapes = asked["types"], asked["shapes"]
    tensors = [f"{_sizes(shapes[one.name])} {types[one.type]}" for one in spec.tensors]
    attributes = asked.get("attributes", {})
    values = {name: value for name, value in attributes.items() if _tells(spec, name, attributes)}
    values.update(asked.get("operands", {}))
    parts = [" and ".join(tensors), *(f"{name} {_value(values[name])}" for name in values)]
    kept = 1
    while kept < len(parts) and len(", ".join(parts[: kept + 1])) <= MAX_LINE:
        kept += 1
    more = len(parts) - kept
    return ", ".join(parts[:kept]) + (f", and {more} more" if more else "")


def _tells(spec: OpSpec, name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether an attribute has another value than where only the others are given."""
    rest = {key: value for key, value in attributes.items() if key != name}
    parts = [quantity for quantity in spec.attributes if quantity.name == name]
    value = attributes[name]
    return not parts or not all(one.is_default(one.read(value), rest) for one in parts)


def _sizes(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_value, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
