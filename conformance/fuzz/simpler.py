"""Simpler variants of a case: fewer axes, smaller sizes, attributes nearer to their defaults."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from math import prod
from typing import Any

from conformance.audit.partitions import base_type
from conformance.generate.looking import sound
from conformance.model import Case
from conformance.spec.case_environment import dimensions
from conformance.spec.default_attributes import case_from_values, with_defaults
from conformance.spec.model import OpSpec, Quantity

Values = Mapping[str, Any]
"""The quantities of a case by key, its types by name, and ``pattern``."""

Cost = tuple[Any, ...]


def values_of(spec: OpSpec, case: Case) -> dict[str, Any]:
    """What a case says, attributes that it leaves out too."""
    found: dict[str, Any] = {**case.types, "pattern": case.pattern}
    found |= dimensions(spec, case.shapes)
    found |= with_defaults(spec, case)
    found |= {one.quantity.key: case.operands[one.name] for one in spec.operands}
    return {key: tuple(one) if isinstance(one, list) else one for key, one in found.items()}


def cost_of(spec: OpSpec, case: Case) -> Cost:
    """What is made as small as it can be: first the input, then what else a reader has to see."""
    values = values_of(spec, case)
    shape = case.shapes[spec.data.name]
    far = sum(_distance(one, values[one.key]) for one in spec.attributes)
    base = base_type(spec)
    patterns = spec.data.patterns
    plain = patterns.index(case.pattern) if case.pattern in patterns else len(patterns)
    return (
        prod(shape),
        len(shape),
        sum(shape),
        far,
        case.types[spec.data.type] != base,
        plain,
        len(case.attributes),
        case.seed,
        case.id,
    )


def simpler(spec: OpSpec, case: Case, ranks: Collection[int]) -> list[Case]:
    """The valid cases of some ranks that are one step simpler, the simplest first."""
    cost = cost_of(spec, case)
    made = {one.id: one for one in _made(spec, case, ranks)}
    costs = {name: cost_of(spec, one) for name, one in made.items()}
    nearer = [one for name, one in made.items() if costs[name] < cost]
    found: list[Case] = []

    for rank, group in groupby(sorted(nearer, key=spec.rank_of), key=spec.rank_of):
        found += sound(spec, rank, list(group))
    return sorted(found, key=lambda one: costs[one.id])


def _made(spec: OpSpec, case: Case, ranks: Collection[int]) -> Iterator[Case]:
    values = values_of(spec, case)
    for changed in _changed(spec, values, ranks):
        seed = changed.pop("seed", case.seed)
        if spec.fills(changed["pattern"], changed[spec.data.type]):
            yield case_from_values(spec, changed, seed)
    for seed in {0, 1, case.seed // 2} - {case.seed}:
        yield case_from_values(spec, values, seed)


def _changed(spec: OpSpec, values: Values, ranks: Collection[int]) -> Iterator[dict[str, Any]]:
    """The values of the case with one thing changed, or with several that belong together."""
    per_axis = [key for key, one in spec.quantities.items() if one.per_axis]
    axes = len(values[per_axis[0]]) if per_axis else 0
    if spec.layout.rank(axes - 1) in ranks and per_axis:
        for axis in range(axes):
            yield {**values, **{key: _without(values[key], axis) for key in per_axis}}
    for axis in range(axes):
        plain = {
            key: _with(values[key], axis, _plain(spec, key, values[key][axis])) for key in per_axis
        }
        yield {**values, **plain}
        longer = {key: values[key][axis] for key in per_axis if values[key][axis] > 1}
        for shorter in (
            {key: max(1, one // 2) for key, one in longer.items()},
            {key: one - 1 for key, one in longer.items()},
        ):
            yield {**values, **{key: _with(values[key], axis, n) for key, n in shorter.items()}}
    for key, quantity in spec.quantities.items():
        value = values[key]
        if quantity.type != "int":
            for other in dict.fromkeys((_simplest(quantity, value), *_members(quantity))):
                if other != value:
                    yield {**values, key: other}
        elif quantity.per_axis:
            plain_value = tuple(_plain(spec, key, one) for one in value)
            yield {**values, key: plain_value}
            for axis, one in enumerate(value):
                for smaller in _smaller(_plain(spec, key, one), one):
                    yield {**values, key: _with(value, axis, smaller)}
        else:
            for smaller in _smaller(_plain(spec, key, value), value):
                yield {**values, key: smaller}
    for dtype in dict.fromkeys((base_type(spec), *spec.types[spec.data.type])):
        if dtype != values[spec.data.type]:
            yield {**values, spec.data.type: dtype}
    for pattern in spec.data.patterns:
        if pattern != values["pattern"]:
            yield {**values, "pattern": pattern}
            yield {**values, "pattern": pattern, "seed": 0}


def _distance(quantity: Quantity, value: Any) -> int:
    """How far an attribute is from its simplest value."""
    pairs = zip(_each(value), _each(_simplest(quantity, value)), strict=True)
    if quantity.type == "int":
        return sum(abs(int(one) - int(two)) for one, two in pairs)
    return sum(one != two for one, two in pairs)


def _members(quantity: Quantity) -> tuple[Any, ...]:
    return quantity.values if quantity.type == "enum" else (False, True)


def _simplest(quantity: Quantity, value: Any) -> Any:
    """The default, or what is likest to change nothing."""
    if quantity.default is not None:
        one: Any = quantity.default
    elif quantity.type == "enum":
        one = quantity.values[0]
    elif quantity.type == "bool":
        one = False
    else:
        one = 0 if "pad" in quantity.key else 1
    return tuple(one for _ in value) if quantity.per_axis else one


def _plain(spec: OpSpec, key: str, value: int) -> int:
    """The simplest number of an axis, or of a quantity that all axes share."""
    quantity = spec.quantities[key]
    if key in spec.dims:
        return 1
    found = _simplest(quantity, (value,) if quantity.per_axis else value)
    return int(found[0] if quantity.per_axis else found)


def _smaller(simplest: int, value: int) -> list[int]:
    """Numbers on the way from one to the simplest."""
    between = (simplest, simplest + 1, (simplest + value) // 2, value - 1)
    return [one for one in dict.fromkeys(between) if abs(one - simplest) < abs(value - simplest)]


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _with(values: tuple[Any, ...], axis: int, value: Any) -> tuple[Any, ...]:
    return (*values[:axis], value, *values[axis + 1 :])


def _without(values: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    return (*values[:axis], *values[axis + 1 :])
