"""Simplifications of a case: fewer axes, smaller sizes, attributes nearer to defaults."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from math import prod
from typing import Any

from conformance.audit.partitions import base_type
from conformance.fuzz.definition_simpler import Cost, definition_cost
from conformance.generate.looking import sound
from conformance.model import Case
from conformance.spec.case_environment import dimensions
from conformance.spec.default_attributes import case_from_values, with_defaults
from conformance.spec.model import OpSpec, Quantity
from conformance.specification import Specification

Values = Mapping[str, Any]
"""The quantities of a case by key, its types by name, and ``pattern``."""


def case_values(spec: OpSpec, case: Case) -> dict[str, Any]:
    """Return the values of a case, including attributes that it leaves out."""
    values: dict[str, Any] = {**case.types, "pattern": case.pattern}
    values |= dimensions(spec, case.shapes)
    values |= with_defaults(spec, case)
    values |= {operand.quantity.key: case.operands[operand.name] for operand in spec.operands}
    return {k: tuple(value) if isinstance(value, list) else value for k, value in values.items()}


def case_cost(spec: Specification, case: Case) -> Cost:
    """Return the cost of a case: the input first, then what else readers see."""
    return _cost(spec, case) if isinstance(spec, OpSpec) else definition_cost(spec, case)


def _cost(spec: OpSpec, case: Case) -> Cost:
    values = case_values(spec, case)
    shape = case.shapes[spec.data.name]
    distance = sum(_distance(attribute, values[attribute.key]) for attribute in spec.attributes)
    base = base_type(spec)
    patterns = spec.data.patterns
    pattern_index = patterns.index(case.pattern) if case.pattern in patterns else len(patterns)
    return (
        prod(shape),
        len(shape),
        sum(shape),
        distance,
        case.types[spec.data.type] != base,
        pattern_index,
        len(case.attributes),
        case.seed,
        case.id,
    )


def simplifications(spec: OpSpec, ranks: Collection[int], case: Case) -> list[Case]:
    """Return the valid cases of some ranks that are one step simpler, simplest first."""
    cost = _cost(spec, case)
    cases = {case.id: case for case in _variants(spec, case, ranks)}
    costs = {name: _cost(spec, case) for name, case in cases.items()}
    nearer = [case for name, case in cases.items() if costs[name] < cost]
    valid: list[Case] = []
    for rank, group in groupby(sorted(nearer, key=spec.rank_of), key=spec.rank_of):
        valid += sound(spec, rank, list(group))
    return sorted(valid, key=lambda case: costs[case.id])


def _variants(spec: OpSpec, case: Case, ranks: Collection[int]) -> Iterator[Case]:
    values = case_values(spec, case)
    for changed in _changed(spec, values, ranks):
        seed = changed.pop("seed", case.seed)
        if spec.fills(changed["pattern"], changed[spec.data.type]):
            yield case_from_values(spec, changed, seed)
    for seed in {0, 1, case.seed // 2} - {case.seed}:
        yield case_from_values(spec, values, seed)


def _changed(spec: OpSpec, values: Values, ranks: Collection[int]) -> Iterator[dict[str, Any]]:
    """Yield the values with one thing changed, or with several that belong together."""
    per_axis = [key for key, quantity in spec.quantities.items() if quantity.per_axis]
    axes = len(values[per_axis[0]]) if per_axis else 0
    if spec.layout.rank(axes - 1) in ranks and per_axis:
        for axis in range(axes):
            yield {**values, **{key: _without(values[key], axis) for key in per_axis}}
    for axis in range(axes):
        plain = {
            key: _with(values[key], axis, _simplest_number(spec, key, values[key][axis]))
            for key in per_axis
        }
        yield {**values, **plain}
        longer = {key: values[key][axis] for key in per_axis if values[key][axis] > 1}
        for shorter in (
            {key: max(1, n // 2) for key, n in longer.items()},
            {key: n - 1 for key, n in longer.items()},
        ):
            yield {**values, **{key: _with(values[key], axis, n) for key, n in shorter.items()}}
    for key, quantity in spec.quantities.items():
        value = values[key]
        if quantity.type != "int":
            for other in dict.fromkeys((_simplest(quantity, value), *_members(quantity))):
                if other != value:
                    yield {**values, key: other}
        elif quantity.per_axis:
            simplest = tuple(_simplest_number(spec, key, number) for number in value)
            yield {**values, key: simplest}
            for axis, number in enumerate(value):
                for smaller in _smaller(simplest[axis], number):
                    yield {**values, key: _with(value, axis, smaller)}
        else:
            for smaller in _smaller(_simplest_number(spec, key, value), value):
                yield {**values, key: smaller}
    for dtype in dict.fromkeys((base_type(spec), *spec.types[spec.data.type])):
        if dtype != values[spec.data.type]:
            yield {**values, spec.data.type: dtype}
    for pattern in spec.data.patterns:
        if pattern != values["pattern"]:
            yield {**values, "pattern": pattern}
            yield {**values, "pattern": pattern, "seed": 0}


def _distance(quantity: Quantity, value: Any) -> int:
    """Return how far an attribute is from its simplest value."""
    pairs = zip(_each(value), _each(_simplest(quantity, value)), strict=True)
    if quantity.type == "int":
        return sum(abs(int(number) - int(simplest)) for number, simplest in pairs)
    return sum(member != simplest for member, simplest in pairs)


def _members(quantity: Quantity) -> tuple[Any, ...]:
    return quantity.values if quantity.type == "enum" else (False, True)


def _simplest(quantity: Quantity, value: Any) -> Any:
    """Return the default, or what is likeliest to change nothing."""
    if quantity.default is not None:
        simplest: Any = quantity.default
    elif quantity.type == "enum":
        simplest = quantity.values[0]
    elif quantity.type == "bool":
        simplest = False
    else:
        simplest = 0 if "pad" in quantity.key else 1
    return tuple(simplest for _ in value) if quantity.per_axis else simplest


def _simplest_number(spec: OpSpec, key: str, value: int) -> int:
    """Return the simplest number of an axis, or of a quantity that all axes share."""
    quantity = spec.quantities[key]
    if key in spec.dims:
        return 1
    simplest = _simplest(quantity, (value,) if quantity.per_axis else value)
    return int(simplest[0] if quantity.per_axis else simplest)


def _smaller(simplest: int, value: int) -> list[int]:
    """Return numbers between a value and the simplest."""
    between = dict.fromkeys((simplest, simplest + 1, (simplest + value) // 2, value - 1))
    return [number for number in between if abs(number - simplest) < abs(value - simplest)]


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _with(values: tuple[Any, ...], axis: int, value: Any) -> tuple[Any, ...]:
    return (*values[:axis], value, *values[axis + 1 :])


def _without(values: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    return (*values[:axis], *values[axis + 1 :])
