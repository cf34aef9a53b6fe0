"""Hypothesis strategies for the cases of an operator that is a definition.

Sizes and attributes are drawn by their bounds, shapes follow from them; what a condition of the
operator refuses is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from random import Random
from types import MappingProxyType
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from conformance.core.binding import Binding
from conformance.core.data import SEPARATOR, patterns_of
from conformance.core.operator import Attribute, Definition, Dimension, Operator, Tensor
from conformance.core.plain import PlainVisitor
from conformance.core.tree import Node
from conformance.dtypes import DTYPES, DType
from conformance.errors import ConformanceError
from conformance.model import Case
from conformance.specification import ranks_of

SEEDS = 1 << 16
MAX_EXTENT = 6
"""The largest of most sizes; now and then there is one around a block."""

MAX_TERMS = 1 << 17
"""The most terms of a definition."""

RESULT_TERMS = 16
"""What a result that combines no terms counts for."""

BLOCKS = (8, 16, 32, 64)
MAX_AXES = 3
TRIES = 100
"""Draws for each case that is wanted, at most."""

DRAWS = 12
"""Draws for a case of a Hypothesis strategy, at most."""

BEYOND = 1 << 40
"""A number that is not of 32 bits, and whose products with indices are of 64."""

FAR = 1 << 100
"""Where integers are really drawn: see :data:`conformance.generate.strategies.FAR`."""

Sizes = tuple[int, ...]

FLOATS = (0.5, 2.0, -1.25, 0.1, 0.0)
"""What float attributes are drawn from, beside their defaults."""

FACTORS = (2.0, 0.5, 1.5, 3.0, 0.6, 2.5, 4 / 3, 1.0, 0.25, 1.3, 2 / 3)
"""What the fractions of a tensor that decides shapes are drawn from: factors of sizes."""


def groups_beside(operator: Operator) -> set[str | None]:
    """Return the groups of axes that stretch beside other dimensions, as batches of matrices do."""
    if len(operator.inputs[0].shapes[0]) == 1:
        return set()
    return {dim.per for dim in operator.dims.values() if dim.broadcast}


def case_strategy(
    operator: Operator, dtypes: Collection[str] = (), ranks: Collection[int] = ()
) -> st.SearchStrategy[Case]:
    """Draw valid cases; ``dtypes`` and ``ranks`` are all if empty."""

    # Not an argument of the strategy: Hypothesis would print all that an operator says.
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        def integer(low: int, high: int) -> int:
            return draw(st.integers(FAR + low, FAR + high)) - FAR

        # Drawn again here: what Hypothesis has to throw away too often fails its health check.
        for _ in range(DRAWS):
            case = Draw(operator, integer).case(tuple(dtypes))
            if case is not None and (not ranks or case.rank in ranks):
                return case
        assume(condition=False)
        raise AssertionError

    return cases()


def draw_cases(
    operator: Operator,
    count: int,
    *,
    seed: int,
    dtypes: Collection[str] = (),
    ranks: Collection[int] = (),
) -> list[Case]:
    """Draw so many valid cases without Hypothesis, which takes longer; fewer where most are not.

    The same seed gives the same cases.
    """
    chance = Random(seed)  # noqa: S311 - no secret
    cases: list[Case] = []
    for _ in range(TRIES * count):
        case = Draw(operator, chance.randint).case(tuple(dtypes))
        if case is not None and (not ranks or case.rank in ranks):
            cases.append(case)
            if len(cases) == count:
                break
    return cases


def is_small(binding: Binding, max_terms: int) -> bool:
    """Return whether there is something to compute, and not too much of it.

    An input may be large of which little is read, as where windows lie mostly outside.
    """
    if any(prod(shape) > max_terms for shape in binding.shapes.values()):
        return False
    for definition in binding.operator.define.values():
        extents = binding.flat([*definition.at.values(), *definition.over.values()])
        if min(extents, default=1) < 1 or count_terms(binding, definition) > max_terms:
            return False
    return True


def count_terms(binding: Binding, definition: Definition) -> int:
    """Count the terms of a definition in a valid case.

    A result that combines none counts as several: what is accepted of it is computed and kept.
    """
    terms = prod(binding.flat([*definition.at.values(), *definition.over.values()]))
    return terms if definition.over else terms * RESULT_TERMS


@dataclass
class Draw:
    """The values of one case, as they are drawn."""

    operator: Operator
    integer: Callable[[int, int], int]
    values: dict[str, Any] = field(default_factory=dict)
    max_terms: int = MAX_TERMS
    types: Mapping[str, str] = field(default_factory=dict)

    def case(self, dtypes: tuple[str, ...]) -> Case | None:
        """A case; None if what was drawn is not valid."""
        operator = self.operator
        types = {
            variable: self.pick(tuple(t for t in allowed if not dtypes or t in dtypes) or allowed)
            for variable, allowed in operator.types.items()
        }
        self.types = types
        self.groups()
        lists = [a for a in operator.attributes.values() if a.list]
        attributes = self.attributes([a for a in operator.attributes.values() if not a.list])
        for dim in operator.dims.values():
            is_length = dim.name in operator.list_lengths
            self.values[dim.name] = self.list_length() if is_length else self.dimension(dim)
        # Lists may repeat dimensions, so they are drawn after them.
        attributes |= self.attributes(lists)
        try:
            shapes, operands = self.shapes()
            rank = len(next(iter(shapes.values()), ()))
            if operator.groups and rank not in ranks_of(operator):
                return None
            binding = Binding(operator, attributes, shapes, operands, types)
            valid = not binding.violations() and is_small(binding, self.max_terms)
        except ConformanceError:
            return None
        pattern = SEPARATOR.join(map(self.pattern, patterns_of(operator, types)))
        seed = self.integer(0, SEEDS - 1)
        case = Case(operator.op, types, shapes, attributes, operands, pattern, seed)
        return case if valid else None

    def pattern(self, patterns: tuple[str, ...]) -> str:
        """How a tensor is filled, of the ways that there are."""
        return str(self.pick(patterns))

    def pick(self, values: tuple[Any, ...]) -> Any:
        return values[self.integer(0, len(values) - 1)]

    def one_in(self, parts: int) -> bool:
        """True once in so many; what shrinks is False."""
        return self.integer(0, parts - 1) == parts - 1

    def extent(self) -> int:
        if self.one_in(12):
            return int(self.pick(BLOCKS)) + self.integer(-1, 1)
        return self.integer(1, MAX_EXTENT)

    def groups(self) -> None:
        """How many axes each group has that shapes tell of."""
        dims, attributes = self.operator.dims.values(), self.operator.attributes.values()
        beside = groups_beside(self.operator)
        named = {dim.per for dim in dims} | {attribute.per for attribute in attributes}
        measured = self.operator.groups
        for group in sorted(map(str, named - {None})):
            # Where an attribute tells one group from the next, either may have no axes.
            stretches = any(dim.per == group and dim.broadcast for dim in dims)
            may_be_empty = stretches or measured or not self.times(group)
            is_free = group in beside or group in measured
            most = MAX_AXES - 1 if is_free else self.most_axes(group)
            self.values[group] = tuple(range(self.integer(0 if may_be_empty else 1, most)))

    def most_axes(self, group: str) -> int:
        """How many axes a group has at most: the first tensor is of a rank that it may be."""
        times = self.times(group)
        if not times:
            return MAX_AXES
        others = len(self.operator.inputs[0].shapes[0]) - times
        return (ranks_of(self.operator)[-1] - others) // times

    def times(self, group: str) -> int:
        """How many dimensions of the first tensor have an entry for each axis of a group."""
        dims = self.operator.dims
        items = [dims.get(str(item.value)) for item in self.operator.inputs[0].shapes[0]]
        return sum(dim is not None and dim.per == group for dim in items)

    def dimension(self, dim: Dimension) -> Any:
        """The extent of a dimension, or one for each axis."""
        return tuple(self.extent() for _ in self.values[dim.per]) if dim.per else self.extent()

    def list_length(self) -> int:
        """How many entries lists have: none, or about as many as there are axes."""
        if self.one_in(10):
            return 0
        axes = max((len(v) for v in self.values.values() if isinstance(v, tuple)), default=1)
        return self.integer(1, axes + 1)

    def attributes(self, attributes: Iterable[Attribute]) -> dict[str, Any]:
        """The values of attributes, without those that are left out."""
        values = {attribute.spelling: self.attribute(attribute) for attribute in attributes}
        return {name: value for name, value in values.items() if value is not None}

    def departs(self, attribute: Attribute) -> bool:
        """Whether an attribute that has a default is given."""
        return self.one_in(
            4 if attribute.list and attribute.name not in self.operator.axis_lists else 2
        )

    def attribute(self, attribute: Attribute) -> Any:
        """The value of an attribute; None where its default is left out."""
        has_default = attribute.default is not None
        if has_default and not self.departs(attribute):
            default = attribute.default
            self.values[attribute.name] = (
                (default,) * len(self.values[attribute.per]) if attribute.per else default
            )
            if attribute.list:
                self.values[attribute.name] = tuple(default)
            return None
        if attribute.words and not attribute.list and self.one_in(2):
            word = self.pick(tuple(attribute.words))
            number = attribute.words[word]
            self.values[attribute.name] = (
                (number,) * len(self.values[attribute.per]) if attribute.per else number
            )
            return word
        value = self.value(attribute)
        self.values[attribute.name] = tuple(value) if isinstance(value, list) else value
        return value

    def value(self, attribute: Attribute) -> Any:
        """The value of an attribute that is given."""
        if attribute.name in self.operator.axis_lists:
            return self.some_axes(self.operator.axis_lists[attribute.name])
        if attribute.list:
            axes = max((len(v) for v in self.values.values() if isinstance(v, tuple)), default=1)
            return [self.entry(attribute) for _ in range(axes * (1 + self.integer(0, 1)))]
        if attribute.per:
            return [self.entry(attribute) for _ in self.values[attribute.per]]
        return self.entry(attribute)

    def some_axes(self, group: str, count: int | None = None) -> list[int]:
        """Some axes of a group, in any order; some are counted from the last."""
        left = list(self.values[group])
        rank = len(left)
        count = self.integer(1, rank) if count is None else min(count, rank)
        axes = [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]
        return [axis - rank if self.one_in(3) else axis for axis in axes]

    def entry(self, attribute: Attribute) -> Any:
        if attribute.type == "word":
            return self.pick(attribute.values)
        if attribute.type == "bool":
            return bool(self.integer(0, 1))
        if attribute.is_fraction:
            return self.pick(FLOATS)
        if attribute.min is None:  # few cases with negative padding are valid, but any axis is
            below = 1 if attribute.list or attribute.per else 4
            number = self.integer(0, 3 + below)
            return 3 - number if number > 3 else number
        high = attribute.min + 3 if attribute.max is None else attribute.max
        return self.integer(attribute.min, high)

    def shapes(self) -> tuple[dict[str, Sizes], dict[str, tuple[int | float, ...]]]:
        """The shapes of tensors, and the entries of those that have some.

        Optional ones may be left out.
        """
        shapes: dict[str, Sizes] = {}
        operands: dict[str, tuple[int | float, ...]] = {}
        for tensor in self.operator.inputs:
            if tensor.absent is not None and self.one_in(3):
                continue
            if tensor.entries is None:
                shapes[tensor.name] = self.shape(tensor)
            else:
                entries = tensor.entries
                if entries.list:
                    count = int(self.evaluate(tensor.shapes[0][0]))
                    dtype = self.types.get(tensor.type, tensor.type)
                    self.measure(tensor, count, {n: len(shape) for n, shape in shapes.items()})
                    operands[tensor.name] = self.listed(entries, count, dtype)
                else:
                    operands[tensor.name] = self.entries_of(entries)
        return shapes, operands

    def measure(self, tensor: Tensor, count: int, ranks: Mapping[str, int]) -> None:
        """Give a group whose axes a list is drawn from as many as that list makes it have."""
        group = self.operator.axis_lists.get(tensor.name, "")
        if group in self.operator.groups:
            self.values[tensor.name] = (0,) * count
            length = self.evaluate(self.operator.groups[group], ranks)
            self.values[group] = tuple(range(length))

    def entries_of(self, entries: Attribute) -> tuple[int, ...]:
        """The entries of a tensor that decides shapes, one for each axis."""
        return tuple(self.extent() for _ in self.values[str(entries.per)])

    def listed(self, entries: Attribute, count: int, dtype: str) -> tuple[int | float, ...]:
        """The entries of a tensor that is a list: axes, or any numbers.

        Numbers near the ends of their type are among them, which stand for no end of a slice.
        """
        if entries.type in DTYPES:
            return self.factors(count, DTYPES[entries.type])
        group = self.operator.axis_lists.get(entries.name)
        if group is not None:
            return tuple(self.some_axes(group, count))
        listed = [self.entry(entries) for _ in range(count)]
        if self.one_in(2):  # the extents of a dimension, but for some
            extents = self.repeated()[:count]
            listed[: len(extents)] = [
                kept if self.one_in(3) else extent
                for kept, extent in zip(listed, extents, strict=False)
            ]
        if count and self.one_in(6):
            far = min(int(np.iinfo(DTYPES[dtype].numpy).max), BEYOND)
            listed[self.integer(0, count - 1)] = self.pick((-far, far))
        return tuple(listed)

    def factors(self, count: int, dtype: DType) -> tuple[float, ...]:
        """Fractions, alike or not, after some ones: the first axes mostly keep their size."""
        first = max(0, min(2, count - 1) - self.integer(0, 1) * self.integer(0, 2))
        factors = [self.pick(FACTORS) for _ in range(count - first)]
        if factors and self.one_in(2):
            factors = [factors[0]] * len(factors)
        return tuple(float(dtype.numpy.type(n)) for n in [1.0] * first + factors)

    def repeated(self) -> list[int]:
        """The extents of a dimension per axis, which a list may have to repeat."""
        dims = [dim for dim in self.operator.dims.values() if dim.per and not dim.broadcast]
        return list(self.values[self.pick(tuple(dims)).name]) if dims else []

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        items = self.pick(tensor.shapes) if self.one_in(2) else tensor.shapes[0]
        shape: list[int] = []
        for item in items:
            entries = self.evaluate(item)
            part = list(entries) if isinstance(entries, tuple) else [entries]
            dim = self.operator.dims.get(str(item.value)) if item.op == "name" else None
            if dim is not None and dim.broadcast:
                part = self.stretched(part)
            shape += map(int, part)
        return tuple(self.stretched(shape) if tensor.broadcast else shape)

    def stretched(self, shape: list[int]) -> list[int]:
        """The last dimensions, some of them 1, or all but one, so that they are stretched."""
        if len(shape) > 2 and self.one_in(4):
            axis = self.integer(0, len(shape) - 1)
            return [n if k == axis else 1 for k, n in enumerate(shape)][self.integer(0, axis) :]
        kept = shape[self.integer(0, len(shape)) if self.one_in(2) else 0 :]
        return [1 if self.one_in(4) else n for n in kept]

    def evaluate(self, node: Node, ranks: Mapping[str, int] = MappingProxyType({})) -> Any:
        def lookup(name: str) -> Any:
            if name not in self.values and name in self.operator.let:
                self.values[name] = visitor.visit(self.operator.let[name])
            return self.values[name]

        visitor = PlainVisitor(lookup, ranks)
        return visitor.visit(node)
