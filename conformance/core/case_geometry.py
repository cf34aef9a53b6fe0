"""What mutants cannot change, by the geometry of thousands of cases at once.

Names have arrays over cases for values, and indices an axis each beside it. What is plain in a text
(sizes, positions, conditions) is compared by value; elements of tensors are taken to differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.binding import Binding
from conformance.core.changes import condition
from conformance.core.implementation import Implementation, along, wrong_part_exists
from conformance.core.mutant_changes import PathChange, StretchChange, TextChange
from conformance.core.operator import Definition, Operator
from conformance.core.plain import PlainVisitor
from conformance.core.stretch_mutants import places
from conformance.core.text_difference import (
    combine_axes,
    same_outline,
    same_text,
    text_difference,
)
from conformance.core.tree import Node
from conformance.core.watch import is_plain
from conformance.errors import ConformanceError, EvaluationError
from conformance.model import Case

SLICE = 500
"""Cases that are looked at together."""

MAX_GRID = 1 << 22
"""Numbers of a comparison over indices; what has more is taken to differ."""

Bools = NDArray[np.bool_]


def may_differ(
    operator: Operator, cases: Sequence[Case], implementations: Sequence[Implementation]
) -> Bools:
    """Mark the implementations that may have other outputs in each case, (cases, implementations).

    One that is not marked has the right outputs. Nothing is evaluated. The cases are valid.
    """
    geometry = Geometry(operator, cases)
    table = np.ones((len(cases), len(implementations)), np.bool_)
    for column, implementation in enumerate(implementations):
        table[:, column] = geometry.may_differ(implementation)
    return table


class Geometry:
    """The geometry of valid cases, in which implementations are looked at one after the other."""

    def __init__(self, operator: Operator, cases: Sequence[Case]) -> None:
        self.bindings = [
            Binding(operator, case.attributes, case.shapes, case.operands, case.types)
            for case in cases
        ]
        self._batches = [
            (rows, _Batch(operator, [self.bindings[row] for row in rows]))
            for rows in _alike(operator, self.bindings)
        ]

    def may_differ(self, implementation: Implementation) -> Bools:
        """Mark the cases in which an implementation may have other outputs."""
        change = implementation.changes[0] if len(implementation.changes) == 1 else None
        if isinstance(change, StretchChange):
            differs = [places(binding, change) is not None for binding in self.bindings]
            return np.asarray(differs, np.bool_)
        marks = np.ones(len(self.bindings), np.bool_)
        for rows, batch in self._batches:
            marks[rows] = batch.may_differ(implementation)
        return marks


def _alike(operator: Operator, bindings: Sequence[Binding]) -> Iterator[list[int]]:
    """Yield the rows of cases whose values have the same numbers of entries."""
    groups: dict[object, list[int]] = {}
    for row, binding in enumerate(bindings):
        lists = [a.name for a in operator.attributes.values() if a.list]
        lists += [t.name for t in operator.inputs if t.entries is not None and t.entries.list]
        ranks = tuple((name, len(shape)) for name, shape in binding.shapes.items())
        lengths = tuple(len(binding.value(name)) for name in lists)
        key = (ranks, lengths, tuple(binding.lengths.items()))
        groups.setdefault(key, []).append(row)
    for rows in groups.values():
        for first in range(0, len(rows), SLICE):
            yield rows[first : first + SLICE]


class _Batch:
    """Cases whose values have the same numbers of entries."""

    def __init__(self, operator: Operator, bindings: Sequence[Binding]) -> None:
        self.operator, self.count = operator, len(bindings)
        first = bindings[0]
        self.ranks = first.visitor.ranks
        self.given: dict[str, Any] = {
            name: tuple(range(length)) for name, length in first.lengths.items()
        }
        deciding = (tensor.name for tensor in operator.inputs if tensor.entries is not None)
        for name in (*operator.attributes, *operator.dims, *deciding, *operator.types):
            try:
                self.given[name] = _column([binding.value(name) for binding in bindings])
            except ConformanceError:
                continue  # a dimension or a type of a tensor that is not given
        self.right = _Columns(self, operator)

    def may_differ(self, implementation: Implementation) -> Bools:
        """Mark the cases in which an implementation may have other outputs."""
        if len(implementation.changes) != 1:
            # Several changes may meet in what none of them changes alone.
            return np.full(self.count, len(implementation.changes) > 1)
        (change,) = implementation.changes
        holds = self._holds(implementation.operator, change.where)
        if not holds.any():
            return holds
        if isinstance(change, PathChange):
            return holds & self._on_path(change)
        if not isinstance(change, TextChange):
            return holds
        try:
            other = _Columns(self, implementation.under([change]), self.right)
            return holds & _differ(self.right, other)
        except ConformanceError:
            return holds

    def _holds(self, operator: Operator, where: str) -> Bools:
        if not where:
            return np.ones(self.count, np.bool_)
        try:
            value = self.right.visitor.visit(condition(operator, where))
        except EvaluationError:
            return np.ones(self.count, np.bool_)
        entries = value if isinstance(value, tuple) else (value,)
        return np.logical_and.reduce([self._full(entry) for entry in entries])

    def _full(self, value: Any) -> Bools:
        return np.broadcast_to(np.asarray(value, np.bool_), (self.count,))

    def _on_path(self, path: PathChange) -> Bools:
        definition = self.operator.define[path.definition]
        extent = self.right.visitor.visit({**definition.at, **definition.over}[path.index])
        size = np.ones(self.count, np.int64)
        for entry in along(extent, path.axis):
            size = size * np.asarray(entry)
        return np.asarray(wrong_part_exists(size, path))


def _column(values: Sequence[Any]) -> Any:
    """The values of a name over cases: an array, or one for each entry."""
    if isinstance(values[0], tuple):
        return tuple(map(_column, zip(*values, strict=True)))
    return np.asarray(values)


class _Columns:
    """The values of an operator's names over the cases of a batch.

    ``right`` are those of the original: what a change does not reach has the same values.
    """

    def __init__(self, batch: _Batch, operator: Operator, right: _Columns | None = None) -> None:
        self.batch, self.operator, self.right = batch, operator, right
        self.given = dict(batch.given)
        self.moved: frozenset[str] = frozenset()
        if right is not None:
            difference = text_difference(right.operator, operator)
            if difference.interface:
                raise EvaluationError("another interface")
            self.moved = difference.reached
        self.visitor = PlainVisitor(self.value, batch.ranks)
        self._values: dict[str, Any] = {}
        self.grids: dict[tuple[str, ...], _Grid] = {}

    def value(self, name: str) -> Any:
        """Return the values of a name."""
        if name in self.given:
            return self.given[name]
        if name not in self.operator.let:
            raise EvaluationError(f"'{name}' has no value here")
        if self.right is not None and name not in self.moved:
            return self.right.value(name)
        if name not in self._values:
            self._values[name] = self.visitor.visit(self.operator.let[name])
        return self._values[name]

    def flat(self, nodes: Iterable[Node]) -> list[Any]:
        """Return the values of nodes in a row, with all their entries."""
        values = (self.visitor.visit(node) for node in nodes)
        return [v for value in values for v in (value if isinstance(value, tuple) else (value,))]


def _differ(right: _Columns, other: _Columns) -> Bools:
    """Mark the cases in which outputs may differ."""
    differing: dict[str, Bools] = {}
    for name, definition in other.operator.define.items():
        before = right.operator.define.get(name)
        if before is None:
            raise EvaluationError("another definition")
        comparison = _Comparison(right, other, before, definition, differing)
        differing[name] = comparison.of_definition()
    result = np.zeros(right.batch.count, np.bool_)
    for original, output in zip(right.operator.outputs, other.operator.outputs, strict=True):
        if output.type != original.type:
            return np.ones(right.batch.count, np.bool_)
        result = result | differing[output.name]
        for stated, nodes in ((original.shape, output.shape), (original.omit, output.omit)):
            result = result | _unequal(right.flat(stated), other.flat(nodes), right.batch.count)
    return result


def _unequal(a: Sequence[Any], b: Sequence[Any], count: int) -> Bools:
    """Where two rows of values differ in the cases."""
    if len(a) != len(b):
        return np.ones(count, np.bool_)
    result = np.zeros(count, np.bool_)
    for x, y in zip(a, b, strict=True):
        result = result | (np.asarray(x) != np.asarray(y))
    return result


class _Comparison:
    """Compares two texts of a definition over the cases of a batch."""

    def __init__(
        self,
        right: _Columns,
        other: _Columns,
        before: Definition,
        after: Definition,
        differing: Mapping[str, Bools],
    ) -> None:
        self.columns, self.definitions = (right, other), (before, after)
        self.count, self.differing = right.batch.count, differing
        self.every = np.ones(self.count, np.bool_)
        self.none = np.zeros(self.count, np.bool_)
        self.touched = {*other.moved, *(name for name, where in differing.items() if where.any())}
        for name, tree in after.abbreviations.items():
            stated = before.abbreviations.get(name)
            if stated is None or not self._is_same(stated, tree):
                self.touched.add(name)

    def _is_same(self, a: Node, b: Node) -> bool:
        """Whether nodes have one text, and speak of nothing that has other values."""
        return same_text(a, b) and self.touched.isdisjoint(a.names)

    def of_definition(self) -> Bools:
        """Mark the cases in which the definition may have other elements."""
        before, after = self.definitions
        if not same_outline(before, after):
            return self.every
        try:
            result = self.none
            for trees in ((before.at, after.at), (before.over, after.over)):
                if all(map(self._is_same, *(t.values() for t in trees))):
                    continue
                a, b = (c.flat(t.values()) for c, t in zip(self.columns, trees, strict=True))
                result = result | _unequal(a, b, self.count)
            for key in ("keep", "term", "finish", "unspecified", "outside"):
                stated, new = getattr(before, key), getattr(after, key)
                if isinstance(stated, Node) and isinstance(new, Node):
                    result = result | self.differ(stated, new)
                elif stated != new:
                    return self.every
            return result
        except ConformanceError:
            return self.every

    def differ(self, a: Node, b: Node) -> Bools:
        """Mark the cases in which two nodes may have other values."""
        if self._is_same(a, b):
            return self.none
        for side, node in enumerate((a, b)):
            if node.op == "where" and self._is_single(node.args[0]):
                holds = self.columns[side].visitor.visit(node.args[0])
                pairs = [(arg, b) if side == 0 else (a, arg) for arg in node.args[1:]]
                return np.where(holds, self.differ(*pairs[0]), self.differ(*pairs[1]))
        if is_plain(a) and is_plain(b) and not combine_axes(a, b):
            if a.key == b.key and a.op == "name" and a.value == "terms":
                return self.none
            return self._plain(a, b)
        if (a.op, a.value, len(a.args)) != (b.op, b.value, len(b.args)):
            return self.every
        if a.op == "name" and a.value in self.definitions[0].abbreviations:
            return self.differ(*(d.abbreviations[str(a.value)] for d in self.definitions))
        result = self.differing.get(str(a.value), self.none) if a.op == "read" else self.none
        for pair in zip(a.args, b.args, strict=True):
            result = result | self.differ(*pair)
        return result

    @staticmethod
    def _is_single(node: Node) -> bool:
        return is_plain(node) and not (node.kind.indices or node.kind.per)

    def _plain(self, a: Node, b: Node) -> Bools:
        """Mark the cases in which plain values differ at any of their indices."""
        indices = sorted(a.kind.indices | b.kind.indices)
        definition = self.definitions[0]
        extents = {
            name: self.columns[0].visitor.visit({**definition.at, **definition.over}[name])
            for name in indices
        }
        shape = [
            max(int(np.max(entry)), 0) for extent in extents.values() for entry in along(extent, "")
        ]
        if self.count * prod(shape) > MAX_GRID:
            return self.every
        right, other = self.columns
        key = (definition.name, *indices)
        if key not in right.grids:
            right.grids[key] = _Grid(right, definition, extents, shape)
        grid = right.grids[key]
        # What has the same values is computed once for all mutants.
        same = {*definition.abbreviations} - self.touched
        values = []
        for node, there in (
            (a, grid),
            (b, _Grid(other, self.definitions[1], extents, shape, (grid, same))),
        ):
            value = there.visit(node)
            values.append(value if isinstance(value, tuple) else (value,))
        if len(values[0]) != len(values[1]):
            return self.every
        result = self.none
        for x, y in zip(*values, strict=True):
            apart = np.asarray(np.asarray(x) != np.asarray(y))
            apart = apart.reshape([1] * (len(shape) + 1 - apart.ndim) + list(apart.shape))
            for axis, inside in enumerate(grid.inside):
                # Along the other axes nothing changes.
                apart = apart & inside if apart.shape[axis + 1] > 1 else apart
            result = result | apart.any(axis=tuple(range(1, len(shape) + 1)))
        return result


class _Grid(PlainVisitor):
    """Values over cases and some indices of a definition, each along an axis.

    ``shared`` is another grid over them, and the names of abbreviations that have the same values
    there.
    """

    def __init__(
        self,
        columns: _Columns,
        definition: Definition,
        extents: Mapping[str, Any],
        shape: Sequence[int],
        shared: tuple[_Grid, Collection[str]] | None = None,
    ) -> None:
        super().__init__(None, columns.batch.ranks)
        self.shared = shared
        self.columns, self.definition = columns, definition
        self.axes = len(shape)
        self.names: dict[str, Any] = {}
        self.inside: list[Any] = []
        axis = 0
        for name, extent in extents.items():
            entries = []
            for size in along(extent, ""):
                along_axis = [-1 if d == axis + 1 else 1 for d in range(self.axes + 1)]
                index = np.arange(shape[axis]).reshape(along_axis)
                self.inside.append(index < self._spread(size))
                entries.append(index)
                axis += 1
            self.names[name] = tuple(entries) if isinstance(extent, tuple) else entries[0]

    def lookup(self, name: str) -> Any:
        """Return the value of a name, computed on first use."""
        if name not in self.names:
            tree = self.definition.abbreviations.get(name)
            if self.shared is not None and name in self.shared[1]:
                self.names[name] = self.shared[0].lookup(name)
            elif tree is not None:
                self.names[name] = self.visit(tree)
            else:
                value = self.columns.value(name)
                is_tuple = isinstance(value, tuple)
                self.names[name] = (
                    tuple(map(self._spread, value)) if is_tuple else self._spread(value)
                )
        return self.names[name]

    def _spread(self, value: Any) -> Any:
        """Values over cases with an axis of 1 for each index."""
        if isinstance(value, np.ndarray) and value.ndim:
            return value.reshape(-1, *[1] * self.axes)
        return value
