"""Binds the names of a case: reads attributes, solves for dimensions, checks shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from conformance.core.operator import Attribute, Dimension, Operator, Tensor, stored
from conformance.core.plain import PlainVisitor
from conformance.core.text_difference import text_difference
from conformance.core.tree import Node
from conformance.errors import EvaluationError, InvalidCase

Shape = tuple[int, ...]


class Binding:
    """The values of all names of a case, whose ``shapes`` are those of the tensors that are given.

    ``operands`` are the entries of tensors that decide shapes, whose own shapes may be left out.
    ``types`` are the element types, by variable, of which conditions may speak.
    Raises :class:`~conformance.errors.InvalidCase` where an attribute or a shape does not fit.
    Where ``tolerant``, ``refused`` lists what does not, and names have values as far as they can.
    """

    def __init__(
        self,
        operator: Operator,
        attributes: Mapping[str, Any],
        shapes: Mapping[str, Shape],
        operands: Mapping[str, Sequence[int | float]] = MappingProxyType({}),
        types: Mapping[str, str] = MappingProxyType({}),
        *,
        tolerant: bool = False,
    ) -> None:
        self.operator = operator
        self.types = types
        self.refused: list[str] = []
        self._tolerant = tolerant
        lengths = {name: (len(entries),) for name, entries in operands.items()}
        self.shapes = {n: tuple(map(int, shape)) for n, shape in {**lengths, **shapes}.items()}
        self.lengths: dict[str, int] = {}
        self.stretched: dict[str, list[Shape]] = {}
        self._values: dict[str, Any] = {}
        self._given = attributes
        self.visitor = PlainVisitor(self.value, {n: len(s) for n, s in self.shapes.items()})
        self._check_names()
        for step in self._steps(operands):
            try:
                step()
            except (EvaluationError, InvalidCase) as error:
                if not tolerant:
                    raise
                self.refused += getattr(error, "violations", ())

    def _steps(self, operands: Mapping[str, Sequence[int | float]]) -> Iterator[Callable[[], None]]:
        """Yield what gives names their values, and what checks them, in order."""
        operator = self.operator
        for attribute in operator.attributes.values():
            if not attribute.per:
                yield partial(self._read, attribute)
        for tensor in operator.inputs:
            if tensor.entries is not None and tensor.entries.list:
                yield partial(self._read_entries, tensor, operands.get(tensor.name))
        for group, tree in operator.groups.items():
            yield partial(self._measure, group, tree)
        # Of two groups in one shape, the length of one has to be solved elsewhere before.
        for tensor in sorted(operator.inputs, key=_has_several_groups):
            if tensor.name in self.shapes and not tensor.broadcast:
                yield partial(self._solve, tensor)
        for dim in operator.dims.values():
            if dim.broadcast:
                yield partial(self._stretch, dim)
        for dim in operator.dims.values():
            yield partial(self._check_least, dim)
        for attribute in operator.attributes.values():
            if attribute.per:
                yield partial(self._read, attribute)
        for tensor in operator.inputs:
            yield partial(self._check, tensor)
            if tensor.entries is not None and not tensor.entries.list:
                yield partial(self._read_entries, tensor, operands.get(tensor.name))

    def _refuse(self, message: str, condition: str) -> None:
        """Raise for a value that does not fit, or go on with it."""
        if not self._tolerant:
            raise InvalidCase(message, (condition,))
        self.refused.append(condition)

    def under(self, operator: Operator) -> Binding:
        """Return the same case for an operator that differs in abbreviations and definitions."""
        other = copy(self)
        other.operator = operator
        other.visitor = PlainVisitor(other.value, self.visitor.ranks)
        reached = text_difference(self.operator, operator).reached
        other._values = {name: v for name, v in self._values.items() if name not in reached}
        return other

    def value(self, name: str) -> Any:
        """Return the value of a name: computed once, when it is first asked for."""
        if name not in self._values:
            if name in self.operator.let:
                self._values[name] = self.visitor.visit(self.operator.let[name])
            elif name in self.lengths:
                self._values[name] = tuple(range(self.lengths[name]))
            elif name in self.types:
                self._values[name] = self.types[name]
            else:
                raise InvalidCase(f"no shape gives '{name}' a value")
        return self._values[name]

    def evaluate(self, node: Node) -> Any:
        """Compute a value of the case."""
        return self.visitor.visit(node)

    def violations(self) -> tuple[str, ...]:
        """Return the names of the requirements that do not hold, on every axis.

        Raises :class:`~conformance.errors.EvaluationError` for one without a value, where the
        others hold.
        """
        broken: list[str] = []
        failure: EvaluationError | None = None
        for name, tree in self.operator.require.items():
            try:
                value = self.evaluate(tree)
            except EvaluationError as error:
                failure = error
                continue
            if not (all(value) if isinstance(value, tuple) else value):
                broken.append(name)
        if failure is not None and not broken:
            raise failure
        return tuple(broken)

    def items(self, tensor: Tensor) -> Sequence[Node]:
        """Return the dimensions of the alternative shape that a tensor has."""
        rank = len(self.shapes[tensor.name])
        others = (shape for shape in tensor.shapes[1:] if len(shape) == rank)
        return next(others, tensor.shapes[0])

    def flat(self, nodes: Sequence[Node]) -> Shape:
        """Return the values of nodes in a row, with all their entries."""
        values = (self.evaluate(node) for node in nodes)
        return tuple(
            int(n) for value in values for n in (value if isinstance(value, tuple) else (value,))
        )

    def _check_names(self) -> None:
        unknown = sorted(self._given.keys() - self.operator.spelled.keys())
        if unknown:
            raise InvalidCase(f"{self.operator.op} has no attribute '{unknown[0]}'")
        unknown = sorted(self.shapes.keys() - self.operator.tensors.keys())
        if unknown:
            raise InvalidCase(f"{self.operator.op} has no input '{unknown[0]}'")

    def _read(self, attribute: Attribute) -> None:
        self._values[attribute.name] = self._attribute(attribute)

    def _measure(self, group: str, length: Node) -> None:
        self.lengths[group] = self.visitor.visit(length)

    def _attribute(self, attribute: Attribute) -> Any:
        value = self._given.get(attribute.spelling)
        if value is None:  # bounds are of what is given
            value, attribute = attribute.default, replace(attribute, min=None, max=None)
        if value is None:
            message = f"the attribute '{attribute.spelling}' is missing"
            raise InvalidCase(message, (f"{attribute.name}.required",))
        if isinstance(value, str) and value in attribute.words:
            number = attribute.words[value]
            return (number,) * len(self.value(attribute.per)) if attribute.per else number
        if attribute.list:
            if not isinstance(value, list | tuple):
                message = f"'{attribute.spelling}' is {value!r}, no list"
                raise InvalidCase(message, (f"{attribute.name}.type",))
            return tuple(self._entry(attribute, entry) for entry in value)
        if not attribute.per:
            return self._entry(attribute, value)
        return self._per_axis(attribute, value)

    def _per_axis(self, attribute: Attribute, value: Any) -> tuple[Any, ...]:
        """The entries of an attribute for each axis; a single value is that of every axis."""
        assert attribute.per is not None
        count = len(self.value(attribute.per))
        entries = list(value) if isinstance(value, list | tuple) else [value] * count
        if len(entries) != count:
            given = f"'{attribute.spelling}' has {len(entries)} entries"
            self._refuse(f"{given} where there are {count} axes", f"{attribute.name}.length")
        return tuple(self._entry(attribute, entry) for entry in entries)

    def _read_entries(self, tensor: Tensor, operand: Sequence[int | float] | None) -> None:
        """Read the entries of a tensor that decides shapes, or what an absent one reads as."""
        assert tensor.entries is not None
        if tensor.entries.list:
            entries = (self._entry(tensor.entries, entry) for entry in operand or ())
            self._values[tensor.name] = tuple(entries)
        elif operand is None:
            absent = (int(tensor.absent or 0),) * len(self.value(str(tensor.entries.per)))
            self._values[tensor.name] = absent
        else:
            self._values[tensor.name] = self._per_axis(tensor.entries, tuple(operand))

    def _entry(self, attribute: Attribute, entry: Any) -> Any:
        name, spelling = attribute.name, attribute.spelling
        if attribute.is_fraction:
            try:
                return stored(entry, attribute.type)
            except (ValueError, TypeError, OverflowError):
                message = f"'{spelling}' is {entry!r}, no finite number"
                raise InvalidCase(message, (f"{name}.type",)) from None
        if attribute.type == "word":
            if entry not in attribute.values:
                expected = ", ".join(attribute.values)
                self._refuse(f"'{spelling}' is {entry!r}, none of {expected}", f"{name}.values")
            return entry
        is_int = isinstance(entry, int | np.integer)
        if not is_int or (attribute.type == "bool") != isinstance(entry, bool):
            expected = "".join(f" and not {word}" for word in attribute.words)
            message = f"'{spelling}' is {entry!r}, no {attribute.type}{expected}"
            raise InvalidCase(message, (f"{name}.type",))
        for bound, wrong in (("min", attribute.min), ("max", attribute.max)):
            if wrong is not None and (entry < wrong if bound == "min" else entry > wrong):
                self._refuse(f"'{spelling}' is {entry}, its {bound} is {wrong}", f"{name}.{bound}")
        return bool(entry) if attribute.type == "bool" else int(entry)

    # -- shapes

    def stretches(self, item: Node) -> bool:
        """Return whether an item stands for dimensions that broadcast."""
        dim = self.operator.dims.get(str(item.value)) if item.op == "name" else None
        return dim is not None and dim.broadcast

    def settled(self, item: Node) -> Node:
        """Return an item, or the name that it is, where attributes alone decide between several."""
        while item.op == "where" and not item.args[0].kind.per:
            item = item.args[1 if self.evaluate(item.args[0]) else 2]
        return item

    def positions(self, name: str, shape: Shape, indices: Sequence[Any]) -> list[Any]:
        """Return positions in an input, which may lack dimensions, or be stretched."""
        tensor = self.operator.tensors[name]
        items = self.items(tensor)
        if items is not tensor.shapes[0]:
            keys = {self.settled(item).key for item in items}
            indices = [
                index
                for item, index in zip(tensor.shapes[0], indices, strict=True)
                if self.settled(item).key in keys
            ]
        single = sum(not item.kind.per for item in items)
        at: list[Any] = []
        for item, index in zip(items, indices, strict=True):
            entries = list(index) if isinstance(index, tuple) else [index]
            if self.stretches(item):
                entries = entries[len(entries) - (len(shape) - single) :]
                entries = [e * 0 if n == 1 else e for e, n in zip(entries, shape, strict=False)]
            at += entries
        if tensor.broadcast:
            at = at[len(at) - len(shape) :]
            at = [entry * 0 if n == 1 else entry for entry, n in zip(at, shape, strict=True)]
        return at

    def _solve(self, tensor: Tensor) -> None:
        """Give the dimensions that a tensor's shape names their values."""
        shape = self.shapes[tensor.name]
        items = [self.settled(item) for item in self.items(tensor)]
        single = sum(not item.kind.per for item in items)
        settled = sum(
            self.lengths.get(str(item.kind.per), 0)
            for item in items
            if item.kind.per and not self.stretches(item)
        )
        spare = len(shape) - single - settled
        at = 0
        for item in items:
            count = 1
            if item.kind.per and self.stretches(item):
                count = spare
            elif item.kind.per:
                # A group without a length yet takes the dimensions that nothing else claims.
                count = self.lengths.setdefault(item.kind.per, spare)
            part = shape[at : at + count]
            at += count
            if count < 0 or len(part) < count:
                break
            if self.stretches(item):
                self.stretched.setdefault(str(item.value), []).append(part)
            elif item.op == "name" and item.value in self.operator.dims:
                self._bind(tensor, str(item.value), part if item.kind.per else part[0])
        least, greatest = tensor.ranks or (0, len(shape))
        if at != len(shape) or not least <= len(shape) <= greatest:
            message = f"{tensor.name} has {len(shape)} dimensions: {list(shape)}"
            raise InvalidCase(message, (f"{tensor.name}.rank",))

    def _bind(self, tensor: Tensor, name: str, value: Any) -> None:
        before = self._values.setdefault(name, value)
        if before != value:
            message = f"{tensor.name} has {name} = {_text(value)}, where it is {_text(before)}"
            self._refuse(message, f"{tensor.name}.shape")

    def _check_least(self, dim: Dimension) -> None:
        value = self._values.get(dim.name, ())
        least = min(value if isinstance(value, tuple) else (value,), default=dim.min)
        if least < dim.min:
            message = f"'{dim.name}' is {_text(value)}, its min is {dim.min}"
            self._refuse(message, f"{dim.name}.min")

    def _stretch(self, dim: Dimension) -> None:
        """Give a dimension that broadcasts the extents of all tensors that have it."""
        name, parts = dim.name, self.stretched.get(dim.name, [])
        try:
            self._values[name] = tuple(np.broadcast_shapes(*parts))
        except ValueError:
            listed = " and ".join(map(str, map(list, parts)))
            raise InvalidCase(
                f"{name}: {listed} do not broadcast", (f"{name}.broadcast",)
            ) from None
        self.lengths[str(dim.per)] = len(self._values[name])

    def _check(self, tensor: Tensor) -> None:
        """Compare a tensor's shape with what the operator says."""
        if tensor.name not in self.shapes:
            if tensor.absent is None:
                raise InvalidCase(f"the input '{tensor.name}' is missing")
            return
        shape = self.shapes[tensor.name]
        items = self.items(tensor)
        if tensor.broadcast:
            full = self.flat(items)
            tail = full[max(0, len(full) - len(shape)) :]
            fits = len(shape) <= len(full) and all(
                n in (1, expected) for n, expected in zip(shape, tail, strict=True)
            )
            expected = full
        else:
            expected = tuple(
                n for item in items if not self.stretches(item) for n in self.flat([item])
            )
            inner = shape[len(shape) - len(expected) :] if len(expected) <= len(shape) else shape
            stretches = any(map(self.stretches, items))
            fits = (inner if stretches else shape) == expected
        if not fits:
            message = (
                f"{tensor.name} is {list(shape)} where the specification says {list(expected)}"
            )
            self._refuse(message, f"{tensor.name}.shape")


def _has_several_groups(tensor: Tensor) -> bool:
    return len({item.kind.per for item in tensor.shapes[0]} - {None}) > 1


def _text(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
