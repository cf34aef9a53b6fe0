"""The elements of inputs that an element of an output is computed from.

They follow from the text: a definition is visited at the element's indices, and so are those that
it reads, the last of them first. Values of tensors decide only where they are indices, or where a
condition compares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.binding import Shape
from conformance.core.evaluate import BLOCK, Evaluation
from conformance.core.index_space import IndexSpace
from conformance.core.operator import SKIP, Definition, Output
from conformance.core.tree import Node
from conformance.errors import EvaluationError

Index = tuple[int, ...]
Positions = NDArray[np.int64]
"""Indices of elements, one in each row."""

Mask = NDArray[np.bool_]

MAX_TERMS = 1 << 26
"""Terms that are visited for an element at most."""


@dataclass(frozen=True)
class Element:
    """An element of a tensor or of a definition."""

    tensor: str
    index: Index

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(map(str, self.index))}]"


@dataclass(frozen=True)
class Access:
    """What an expression reads of a tensor, with a row for each term.

    ``counts`` is how often an element is read: 0 where a term is left out. ``outside`` is where a
    position does not exist.
    """

    tensor: str
    shape: Shape
    positions: Positions
    counts: NDArray[np.int64]
    outside: Mask

    def element(self, row: int) -> Element:
        return Element(self.tensor, tuple(map(int, self.positions[row])))


@dataclass(frozen=True)
class TensorReads:
    """The elements of an input that are read.

    ``positions`` are sorted and differ, ``counts`` is how often each is read, over all definitions
    on the way. ``padding`` has the positions outside of the input that terms reach.
    """

    tensor: str
    shape: Shape
    positions: Positions
    counts: NDArray[np.int64]
    padding: Positions


@dataclass(frozen=True)
class ElementReads:
    """What an element of an output is computed from: elements of each given input.

    ``products`` are the factors of a sum of products, with a row for each term; of another
    definition there are none.
    """

    element: Element
    tensors: tuple[TensorReads, ...]
    products: tuple[Access, ...] = ()

    def terms(self, most: int) -> tuple[tuple[Element, ...], ...]:
        """Return the factors of each of the first terms of a sum of products."""
        return self._terms_at(self._taken, most)

    @property
    def term_count(self) -> int:
        """How many terms a sum of products has."""
        return int(self._taken.sum())

    def partners(self, element: Element, most: int = 4) -> tuple[tuple[Element, ...], ...]:
        """Return what an element is multiplied with, for each of the first terms."""
        lists: list[tuple[Element, ...]] = []
        for factor in self.products:
            if factor.tensor == element.tensor:
                rows = (factor.counts > 0) & (factor.positions == element.index).all(axis=1)
                lists += self._terms_at(rows, most, factor)
        return tuple(lists[:most])

    @property
    def _taken(self) -> Mask:
        counts = [factor.counts > 0 for factor in self.products]
        return reduce(np.logical_or, counts, np.zeros(len(counts[0]) if counts else 0, np.bool_))

    def _terms_at(
        self, rows: Mask, most: int, without: Access | None = None
    ) -> tuple[tuple[Element, ...], ...]:
        factors = [factor for factor in self.products if factor is not without]
        return tuple(
            tuple(factor.element(int(row)) for factor in factors if factor.counts[row])
            for row in np.flatnonzero(rows)[:most]
        )


def reads_of(evaluation: Evaluation, output: Output, index: Index) -> ElementReads:
    """Return what the element of an output is computed from.

    Raises ValueError for an index that the output does not have, and
    :class:`~conformance.errors.EvaluationError` where :data:`MAX_TERMS` do not suffice.
    """
    definition = evaluation.operator.define[output.name]
    space = evaluation.space(definition)
    shape = space.shape[: space.rows]
    outer = evaluation.shape_of(output)
    if len(index) != len(outer) or not all(0 <= i < n for i, n in zip(index, outer, strict=True)):
        raise ValueError(f"{output.name} has the shape {list(outer)}, no element {list(index)}")
    # What joins or omits dimensions leaves the order of the elements as it is.
    flat = int(np.ravel_multi_index(index, outer)) if outer else 0
    point = _positions(np.array([flat]), shape)
    accesses, products = _followed(evaluation, definition, point)
    tensors = tuple(
        _merged(name, array.shape, accesses.get(name, []))
        for name, array in evaluation.inputs.items()
    )
    return ElementReads(Element(output.name, index), tensors, products)


def _followed(
    evaluation: Evaluation, definition: Definition, point: Positions
) -> tuple[dict[str, list[Access]], tuple[Access, ...]]:
    """What a definition reads at a point, by input, and the factors of its terms."""
    accesses: dict[str, list[Access]] = {}
    products: tuple[Access, ...] = ()
    budget = MAX_TERMS
    for name in reversed(list(evaluation.operator.define)):
        current = evaluation.operator.define[name]
        points, counts = point, np.ones(1, np.int64)
        if current is not definition:
            if name not in accesses:
                continue
            points, counts = _gathered(accesses.pop(name))
        for space in _spaces(evaluation, current, points, counts):
            budget -= prod(space.shape)
            if budget < 0:
                raise EvaluationError(f"an element of {definition.name} reads too much to list")
            for access in space.accesses():
                accesses.setdefault(access.tensor, []).append(access)
            if current is definition:
                products = space.products
    return accesses, products


def _spaces(
    evaluation: Evaluation, definition: Definition, points: Positions, counts: NDArray[np.int64]
) -> Iterator[_Points]:
    """Yield a definition at points, at as many at once as memory allows."""
    terms = prod(_Points(evaluation, definition, points[:1], counts[:1]).shape)
    step = max(1, BLOCK // max(1, terms))
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        yield _Points(evaluation, definition, points[part], counts[part])


def _gathered(accesses: Sequence[Access]) -> tuple[Positions, NDArray[np.int64]]:
    """The elements that are read, sorted, and how often each is."""
    shape = accesses[0].shape
    taken = [access.counts > 0 for access in accesses]
    positions = np.concatenate([a.positions[t] for a, t in zip(accesses, taken, strict=True)])
    counts = np.concatenate([a.counts[t] for a, t in zip(accesses, taken, strict=True)])
    flat = np.ravel_multi_index(tuple(positions.T), shape) if shape else np.zeros(len(counts), int)
    unique, inverse = np.unique(flat, return_inverse=True)
    sums = np.zeros(len(unique), np.int64)
    np.add.at(sums, inverse, counts)
    return _positions(unique, shape), sums


def _positions(flat: NDArray[np.int64], shape: Shape) -> Positions:
    """The positions of elements in row-major order; a tensor without dimensions has one."""
    columns = np.unravel_index(flat, shape) if shape else ()
    return np.array(columns, np.int64).reshape(len(shape), len(flat)).T


def _merged(name: str, shape: Shape, accesses: Sequence[Access]) -> TensorReads:
    if not accesses:
        nothing = np.zeros((0, len(shape)), np.int64)
        return TensorReads(name, shape, nothing, np.zeros(0, np.int64), nothing)
    positions, counts = _gathered(accesses)
    padding = np.concatenate([access.positions[access.outside] for access in accesses])
    return TensorReads(name, shape, positions, counts, np.unique(padding, axis=0))


class _Points(IndexSpace):
    """A definition at points of its result, along the first axis; the others are summed.

    ``weights`` is how often each point is read.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        definition: Definition,
        points: Positions,
        weights: NDArray[np.int64],
    ) -> None:
        super().__init__(evaluation, definition)
        rows, inner = self.rows, self.shape[self.rows :]
        columns = iter(points.T.reshape(points.shape[1], len(points), *[1] * len(inner)))
        for name, index in self.names.items():
            entries = index if isinstance(index, tuple) else (index,)
            moved = tuple(
                next(columns) if name in definition.at else entry.reshape(1, *entry.shape[rows:])
                for entry in entries
            )
            self.names[name] = moved if isinstance(index, tuple) else moved[0]
        self.shape = (len(points), *inner)
        self.rows, self.summed = 1, tuple(range(1, len(self.shape)))
        self.weights = weights.reshape(len(points), *[1] * len(inner))
        self.products: tuple[Access, ...] = ()

    def lookup(self, name: str) -> Any:
        """Return the value of a name, computed on first use."""
        term = self.definition.term
        if name in ("total", "terms") and name not in self.names and term is not None:
            self.names["total"], self.names["terms"] = self._combined(term)
        return super().lookup(name)

    def accesses(self) -> Iterator[Access]:
        """Yield what the definition reads at the points; ``products`` are set on the way."""
        definition, everywhere = self.definition, np.ones((1,) * len(self.shape), np.bool_)
        if definition.term is not None:
            kept, reads = everywhere, []
            if definition.keep is not None:
                reads = list(self._reads(definition.keep, everywhere))
                kept = np.asarray(self.visit(definition.keep))
            keep_reads = len(reads)
            reads += self._reads(definition.term, kept)
            taken = everywhere
            if definition.outside == SKIP:
                taken = reduce(np.logical_and, (read.inside for read in reads), everywhere)
            rows = [read.access(self.shape, self.weights, taken) for read in reads]
            self.products = tuple(rows[keep_reads:]) if _is_product(definition) else ()
            yield from rows
            if "_" in definition.combine:
                self.lookup("total")  # it gives the indices the values of the chosen term
        for read in self._reads(definition.finish, everywhere):
            yield read.access(
                (len(self.weights), *[1] * len(self.summed)), self.weights, everywhere
            )

    def _reads(self, node: Node, mask: Mask) -> Iterator[_Read]:
        """Yield what an expression reads where ``mask`` holds."""
        if node.op == "where":
            yield from self._reads(node.args[0], mask)
            condition = self.visit(node.args[0])
            # What holds for each axis decides where anything is read for any axis.
            entries = condition if isinstance(condition, tuple) else (condition,)
            taken = [np.asarray(entry, np.bool_) for entry in entries]
            left = [~entry for entry in taken]
            for arg, holding in zip(node.args[1:], (taken, left), strict=True):
                holds = reduce(np.logical_or, holding, np.asarray(False))
                if holds.ndim or holds:
                    yield from self._reads(arg, mask & holds)
            return
        if node.op == "name" and node.value in self.definition.abbreviations:
            yield from self._reads(self.definition.abbreviations[str(node.value)], mask)
        for arg in node.args:
            yield from self._reads(arg, mask)
        if node.op == "read":
            for indices in self.places(node):
                yield from self._reads_at(str(node.value), indices, mask)

    def _reads_at(self, name: str, indices: list[Any], mask: Mask) -> Iterator[_Read]:
        evaluation = self.evaluation
        if name in evaluation.operator.define:
            space = evaluation.space(evaluation.operator.define[name])
            shape = space.shape[: space.rows]
            entries = [index if isinstance(index, tuple) else (index,) for index in indices]
            at = [entry for index in entries for entry in index]
        elif name in evaluation.inputs:
            shape, at = evaluation.inputs[name].shape, self._positions(name, indices)
        else:
            return  # it is not given
        inside, _ = self._inside(at, shape)
        everywhere = np.ones((1,) * len(self.shape), np.bool_)
        read = _Read(name, shape, at, everywhere if inside is None else inside, mask)
        yield read
        policy = self.definition.outside
        if isinstance(policy, Node) and inside is not None:
            yield from self._reads(policy, mask & ~inside)


@dataclass(frozen=True)
class _Read:
    """What a part of an expression reads: arrays over the index space, which broadcast.

    It reads where ``mask`` holds, ``at`` each position that is ``inside``.
    """

    tensor: str
    shape: Shape
    at: Sequence[Any]
    inside: Mask
    mask: Mask

    def access(self, space: Shape, weights: NDArray[np.int64], taken: Mask) -> Access:
        """List it, with a row for each point of ``space``."""
        columns = [np.broadcast_to(entry, space).reshape(-1) for entry in self.at]
        counts = np.broadcast_to(weights * (self.mask & self.inside & taken), space)
        outside = np.broadcast_to(self.mask & ~self.inside, space)
        rows = (prod(space), len(columns))
        positions = np.stack(columns, 1) if columns else np.zeros(rows, np.int64)
        return Access(self.tensor, self.shape, positions, counts.reshape(-1), outside.reshape(-1))


def _is_product(definition: Definition) -> bool:
    """Return whether a definition is a sum of products of elements."""
    term = definition.term
    return (
        definition.combine == "sum"
        and term is not None
        and term.op == "*"
        and all(_is_element(arg, definition.abbreviations) for arg in _factors(term))
    )


def _factors(node: Node) -> Iterator[Node]:
    for arg in node.args if node.op == "*" else ():
        yield from _factors(arg) if arg.op == "*" else (arg,)


def _is_element(node: Node, abbreviations: Mapping[str, Node]) -> bool:
    """Return whether an expression is an element of a tensor, which a condition may choose."""
    if node.op == "name":
        node = abbreviations.get(str(node.value), node)
    if node.op == "where":
        return all(_is_element(arg, abbreviations) for arg in node.args[1:])
    return node.op == "read" and not any(
        part.op == "read" for arg in node.args for part in arg.walk()
    )
