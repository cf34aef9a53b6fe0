"""Simplifications of a case: the text of its operator says which shapes go together.

A change of a dimension, an attribute or the number of axes is made by name; the shapes of all
tensors are computed again. What a condition of the operator refuses then is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from typing import Any

from conformance.core.binding import Shape
from conformance.core.data import SEPARATOR, patterns_of
from conformance.core.operator import Attribute, Operator, Tensor
from conformance.core.plain import PlainVisitor
from conformance.core.tree import Node
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError, InvalidCase
from conformance.generate.bounds import can_evaluate, fills
from conformance.generate.pool import main_types
from conformance.model import Case
from conformance.specification import binding_of

Cost = tuple[Any, ...]
Values = Mapping[str, Any]
"""The values of dimensions, attributes and operands, by name; a tuple has an entry per axis."""


def case_cost(operator: Operator, case: Case) -> Cost:
    """Return the cost of a case: the inputs first, then what else readers see."""
    shapes = case.shapes.values()
    patterns = case.pattern.split(SEPARATOR)
    return (
        sum(map(prod, shapes)),
        sum(map(len, shapes)),
        sum(map(sum, shapes)),
        sum(_distance(operator.spelled[name], v) for name, v in case.attributes.items()),
        sum(map(sum, case.operands.values())),
        len(case.operands),
        case.types != main_types(operator),
        sum(_plainness(operator, case, patterns)),
        len(case.attributes),
        case.seed,
        case.id,
    )


def simpler_cases(operator: Operator, is_allowed: Callable[[Case], bool], case: Case) -> list[Case]:
    """Return the valid and allowed cases that are one step simpler, simplest first."""
    cost = case_cost(operator, case)
    cases = {simpler.id: simpler for simpler in _variants(operator, case)}
    costs = {name: case_cost(operator, simpler) for name, simpler in cases.items()}
    nearer = sorted((name for name in cases if costs[name] < cost), key=costs.__getitem__)
    return [
        cases[name]
        for name in nearer
        if can_evaluate(operator, cases[name]) and is_allowed(cases[name])
    ]


def _variants(operator: Operator, case: Case) -> Iterator[Case]:
    """Yield the case with one thing changed, or with several that belong together."""
    yield from _without_tensors(operator, case)
    yield from _with_plainer_data(operator, case)
    for seed in {0, 1, case.seed // 2} - {case.seed}:
        yield replace(case, seed=seed)
    for name, value in case.attributes.items():
        for simpler in _simpler_values(operator.spelled[name], value):
            attributes = {k: v for k, v in case.attributes.items() if k != name}
            if simpler is not None:
                attributes[name] = simpler
            yield replace(case, attributes=attributes)
    rebuilding = _Rebuilding(operator, case)
    stretched = {dim.per for dim in operator.dims.values() if dim.broadcast}
    for group, count in rebuilding.binding.lengths.items():
        for axis in range(count):
            if count > 1 or group in stretched:
                yield from rebuilding.without_axis(group, axis)
            yield from rebuilding.with_plain_axis(group, axis)
    yield from rebuilding.with_smaller_numbers()
    yield from rebuilding.with_smaller_factor()
    yield from rebuilding.with_other_shapes()


def _without_tensors(operator: Operator, case: Case) -> Iterator[Case]:
    """Yield the case without one of its optional tensors."""
    for tensor in operator.inputs:
        if tensor.absent is not None and tensor.name in {*case.shapes, *case.operands}:
            shapes = {name: shape for name, shape in case.shapes.items() if name != tensor.name}
            operands = {name: v for name, v in case.operands.items() if name != tensor.name}
            yield replace(case, shapes=shapes, operands=operands)


def _with_plainer_data(operator: Operator, case: Case) -> Iterator[Case]:
    """Yield the case with plainer patterns, of one tensor and of all, and in other types."""
    patterns = case.pattern.split(SEPARATOR)
    choices = patterns_of(operator, case.types)
    plain = tuple(allowed[0] for allowed in choices)
    for number, allowed in enumerate(choices):
        for pattern in allowed:
            changed = [*patterns[:number], pattern, *patterns[number + 1 :]]
            yield replace(case, pattern=SEPARATOR.join(changed))
    yield replace(case, pattern=SEPARATOR.join(plain))
    yield replace(case, pattern=SEPARATOR.join(plain), seed=0)
    types = {**case.types, **main_types(operator)}
    if fills(operator, replace(case, types=types)):
        yield replace(case, types=types)


def _simpler_values(attribute: Attribute, value: Any) -> Iterator[Any]:
    """Yield simpler values of an attribute that is given; None stands for its default."""
    if attribute.default is not None:
        yield None
    if isinstance(value, list | tuple):
        for axis, entry in enumerate(value):
            for simpler in _simpler_entries(attribute, entry):
                yield list(_with(value, axis, simpler))
    else:
        yield from _simpler_entries(attribute, value)


def _simpler_entries(attribute: Attribute, entry: Any) -> Iterator[Any]:
    plain = _plain_entry(attribute)
    if isinstance(entry, int) and not isinstance(entry, bool) and isinstance(plain, int):
        yield from _between(plain, entry)
    elif entry != plain:
        yield plain


def _plain_entry(attribute: Attribute) -> Any:
    """Return the entry of an attribute that is likeliest to change nothing."""
    if attribute.default is not None and not attribute.list:
        return attribute.default
    if attribute.type == "word":
        return attribute.values[0]
    return False if attribute.type == "bool" else attribute.min or 0


def _between(plain: int, number: int) -> list[int]:
    """Return numbers between a number and the plain one, the nearest to that first."""
    numbers = dict.fromkeys((plain, plain + 1, (plain + number) // 2, number - 1, number + 1))
    return [other for other in numbers if abs(other - plain) < abs(number - plain)]


def _distance(attribute: Attribute, value: Any) -> float:
    """Return how far the value of an attribute is from a plain one."""
    plain = _plain_entry(attribute)
    entries = value if isinstance(value, list | tuple) else (value,)
    is_number = isinstance(plain, int) and not isinstance(plain, bool)
    return (
        sum(
            abs(entry - plain) if is_number and isinstance(entry, int) else entry != plain
            for entry in entries
        )
        + len(entries) * attribute.list
    )


def _plainness(operator: Operator, case: Case, patterns: list[str]) -> Iterator[int]:
    for allowed, pattern in zip(patterns_of(operator, case.types), patterns, strict=True):
        yield allowed.index(pattern)


class _Rebuilding:
    """A case whose names get other values, from which its shapes follow again."""

    def __init__(self, operator: Operator, case: Case) -> None:
        self.operator, self.case = operator, case
        self.binding = binding_of(operator, case)
        self.values: dict[str, Any] = {}
        for name in (*operator.dims, *operator.attributes, *case.operands):
            if name in case.operands and _is_fraction(operator.tensors[name]):
                continue  # a factor is not simpler for being smaller
            with suppress(InvalidCase):  # that no shape gives a value where a tensor is absent
                self.values[name] = self.binding.value(name)

    def with_smaller_numbers(self) -> Iterator[Case]:
        """Yield the case with a dimension or an operand smaller, on each axis that it has."""
        for name, value in self.values.items():
            if name in self.operator.attributes:
                continue
            if not isinstance(value, tuple):
                for number in _between(1, value):
                    yield from self._made({name: number})
                continue
            yield from self._made({name: (1,) * len(value)})
            for axis, number in enumerate(value):
                for smaller in _between(1, number):
                    yield from self._made({name: _with(value, axis, smaller)})

    def with_plain_axis(self, group: str, axis: int) -> Iterator[Case]:
        """Yield the case with all of an axis plain, and with half of each extent."""
        plain = {
            name: list(_with(value, axis, _plain_entry(self.operator.spelled[name])))
            for name, value in self.case.attributes.items()
            if self._is_per(name, group) and isinstance(value, list | tuple)
        }
        ones = self._per_axis(group, lambda value: _with(value, axis, 1))
        yield from self._made(ones)
        yield from self._made(ones, attributes={**self.case.attributes, **plain})
        yield from self._made(
            self._per_axis(group, lambda value: _with(value, axis, max(1, value[axis] // 2)))
        )

    def with_smaller_factor(self) -> Iterator[Case]:
        """Yield the case with a number smaller of which dimensions are multiples, and these."""
        for name, factor in self.case.attributes.items():
            if type(factor) is not int or factor < 2:
                continue
            for smaller in _between(1, factor):
                multiples = {
                    dim: number // factor * smaller
                    for dim, number in self.values.items()
                    if dim in self.operator.dims and type(number) is int and number % factor == 0
                }
                attributes = {**self.case.attributes, name: smaller}
                called = self.operator.spelled[name].name
                yield from self._made({**multiples, called: smaller}, attributes=attributes)

    def without_axis(self, group: str, axis: int) -> Iterator[Case]:
        """Yield the case without one axis of a group."""
        count = self.binding.lengths[group]
        values = self._per_axis(group, lambda v: (*v[:axis], *v[axis + 1 :]))
        attributes = dict(self.case.attributes)
        for name, value in attributes.items():
            # A list has an entry for each axis, or two: for its begin and for its end.
            has_axes = self._is_per(name, group) or self.operator.spelled[name].list
            if has_axes and isinstance(value, list | tuple) and value and len(value) % count == 0:
                attributes[name] = [v for k, v in enumerate(value) if k % count != axis]
        yield from self._made(values, attributes=attributes, dropped=(group, axis))

    def with_other_shapes(self) -> Iterator[Case]:
        """Yield the case with another of the shapes that a tensor may have."""
        for tensor in self.operator.inputs:
            for items in tensor.shapes if tensor.name in self.case.shapes else ():
                with suppress(InvalidCase):  # no shape that is there gives it
                    shape = self.binding.flat(items)
                    yield replace(self.case, shapes={**self.case.shapes, tensor.name: shape})

    def _is_per(self, name: str, group: str) -> bool:
        return self.operator.spelled[name].per == group

    def _per_axis(self, group: str, change: Callable[[tuple[int, ...]], Any]) -> dict[str, Any]:
        """Change the value of each dimension and operand that has an entry for each axis."""
        dims = [dim.name for dim in self.operator.dims.values() if dim.per == group]
        tensors = self.operator.tensors
        dims += [name for name in self.case.operands if _group_of(tensors[name]) == group]
        return {name: change(self.values[name]) for name in dims if name in self.values}

    def _made(
        self,
        values: Values,
        *,
        attributes: Mapping[str, Any] | None = None,
        dropped: tuple[str, int] | None = None,
    ) -> Iterator[Case]:
        """Yield the case with other values of names, if its shapes can be computed."""
        names = {**self.values, **values}
        given = self._followed(self.case.attributes if attributes is None else attributes, values)
        if dropped is not None:
            group, _ = dropped
            names[group] = tuple(range(self.binding.lengths[group] - 1))
            names |= {
                attribute.name: tuple(given[spelling])
                for spelling, attribute in self.operator.spelled.items()
                if isinstance(given.get(spelling), list)
            }

        def lookup(name: str) -> Any:
            if name not in names:
                tree = self.operator.let.get(name)
                names[name] = self.binding.value(name) if tree is None else visitor.visit(tree)
            return names[name]

        ranks = {name: len(shape) for name, shape in self.binding.shapes.items()}
        visitor = PlainVisitor(lookup, ranks)
        try:
            shapes = {
                name: self._shape(self.operator.tensors[name], visitor, dropped)
                for name in self.case.shapes
            }
        except (ConformanceError, IndexError):
            return
        operands = {name: tuple(names.get(name, v)) for name, v in self.case.operands.items()}
        yield replace(self.case, shapes=shapes, attributes=given, operands=operands)

    def _followed(self, attributes: Mapping[str, Any], values: Values) -> dict[str, Any]:
        """Return attributes of which lists that repeat a dimension follow it."""
        given = dict(attributes)
        for name in attributes:
            for dim in values if self.operator.spelled[name].list else ():
                if tuple(self.case.attributes[name]) == self.values[dim]:
                    given[name] = list(values[dim])
                    break
        return given

    def _shape(
        self, tensor: Tensor, visitor: PlainVisitor, dropped: tuple[str, int] | None
    ) -> Shape:
        """Compute the shape of a tensor; what was stretched stays so."""
        before = self.binding.shapes[tensor.name]
        items = self.binding.items(tensor)
        if tensor.broadcast:
            full = [n for item in items for n in _entries(visitor, item)]
            return tuple(_stretched(before, full))
        counts = [len(self.binding.flat([item])) for item in items]
        spare = len(before) - sum(counts)
        shape: list[int] = []
        at = 0
        for item, count in zip(items, counts, strict=True):
            part = _entries(visitor, item)
            if self.binding.stretches(item):
                count += spare
                old = before[at : at + count]
                if dropped is not None and dropped[0] == item.kind.per:
                    axis = dropped[1] - (self.binding.lengths[dropped[0]] - count)
                    old = old if axis < 0 else (*old[:axis], *old[axis + 1 :])
                part = _stretched(old, part)
            shape += part
            at += count
        return tuple(shape)


def _with(values: Sequence[Any], axis: int, value: Any) -> tuple[Any, ...]:
    return (*values[:axis], value, *values[axis + 1 :])


def _group_of(tensor: Tensor) -> str | None:
    return None if tensor.entries is None else tensor.entries.per


def _is_fraction(tensor: Tensor) -> bool:
    return tensor.entries is not None and tensor.entries.type in DTYPES


def _entries(visitor: PlainVisitor, item: Node) -> list[int]:
    value = visitor.visit(item)
    return [int(n) for n in value] if isinstance(value, tuple) else [int(value)]


def _stretched(before: Shape, full: list[int]) -> list[int]:
    """Return the last extents of ``full``, those that were 1 kept."""
    last = full[len(full) - len(before) :] if before else []
    return [1 if old == 1 else new for old, new in zip(before, last, strict=True)]
