"""A definition over its index space: an array has an axis for every index, perhaps of 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conformance.core import bounds, exact
from conformance.core.bounds import RULES
from conformance.core.distinct import Distinct
from conformance.core.exact import Ball, Exact, MatrixLayout, Number
from conformance.core.functions import FUNCTIONS
from conformance.core.magnitude import NOTHING, Magnitude, magnitude
from conformance.core.operator import SKIP, Definition
from conformance.core.plain import PlainVisitor
from conformance.core.real import NO_GRID, ZERO_GRID, Between, Machine, Real, constant, source
from conformance.core.tree import Node
from conformance.core.window_search import Window, order_of, ranked
from conformance.dtypes import DTYPES, Array, DType, name_of
from conformance.errors import EvaluationError, InvalidCase, TooLarge

if TYPE_CHECKING:
    from conformance.core.evaluate import Evaluation

Part = tuple[int, slice]
"""An axis of the result, and which part of it."""

SEARCHES = ("max", "min", "first_max", "first_min", "last_max", "last_min")
"""What gives a single term of those of a row."""

FEW = 1 << 14
"""Terms up to which it takes as long to leave some out."""

MAX_EXPONENT = 1 << 10
"""The largest exponent of an element, which is multiplied so many times by itself."""

OF_ELEMENTS = ("abs", "negative", "**", "flushed")
"""Functions of a number that are cheap and, as most, the same for equal numbers."""

COMPARISONS = ("==", "!=", "<", "<=")

COORDINATES = Machine(DTYPES["f32"])
"""What coordinates are computed by at the least, whatever the type of elements is."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a definition gives, and where the document gives no value.

    These are reals, whole numbers or truth values.
    ``choices`` are the whole numbers that are allowed for each element, on an axis of their own
    that is filled up with -1; None where each element has a single one.
    """

    value: Real | Array
    unspecified: NDArray[np.bool_]
    choices: Array | None = None


@dataclass(frozen=True, eq=False)
class Combined:
    """What the terms of a definition combine to, before its end.

    ``names`` are the total, the number of terms, and indices as they were chosen; ``over`` are
    those as they were before, ``allowed`` which terms may be chosen, ``doubts`` where rounded
    numbers decide.
    """

    names: Mapping[str, Any]
    over: Mapping[str, Any]
    allowed: NDArray[np.bool_] | None
    doubts: tuple[NDArray[np.bool_], ...]


def concatenated(parts: Sequence[Result], axis: int) -> Result:
    """Join parts of a result along an axis."""
    reals = [part.value for part in parts if isinstance(part.value, Real)]
    arrays = [part.value for part in parts if not isinstance(part.value, Real)]
    unspecified = np.concatenate([part.unspecified for part in parts], axis)
    value = bounds.concatenated(reals, axis) if reals else np.concatenate(arrays, axis)
    return Result(value, unspecified, _joined([part.choices for part in parts], arrays, axis))


def _joined(parts: Sequence[Array | None], values: Sequence[Array], axis: int) -> Array | None:
    """Choices along an axis, each filled up to as many as any element has."""
    most = max((part.shape[-1] for part in parts if part is not None), default=0)
    if not most:
        return None
    filled = []
    for part, value in zip(parts, values, strict=True):
        choices = np.full((*value.shape, most), -1, np.int64)
        given = value[..., None] if part is None else part
        choices[..., : given.shape[-1]] = given
        filled.append(choices)
    return np.concatenate(filled, axis)


@dataclass(frozen=True, eq=False)
class _Search:
    """The best term of each row: ``order`` is larger for a better one, ``shape`` that of terms."""

    order: Array
    best: NDArray[np.int64]
    shape: tuple[int, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of a result that has an axis of 1 for each that is combined away."""
        return (*self.best.shape, *[1] * (len(self.shape) - self.best.ndim))

    def flat(self, array: Array) -> Array:
        """Return an array over the terms with the terms of a row on one axis."""
        return np.broadcast_to(array, self.shape).reshape(self.order.shape)

    def pick(self, array: Array) -> Array:
        """Return the entries of the best terms of an array."""
        return np.take_along_axis(self.flat(array), self.best[..., None], -1).reshape(self.kept)


class IndexSpace(PlainVisitor):
    """A definition over its index space.

    An index is an array of integers that varies along an axis of its own, one for each axis of its
    group, so values broadcast. The first ``rows`` axes are those of the result, whose shape is
    ``of_result``; ``summed`` are the others.
    """

    def __init__(
        self, evaluation: Evaluation, definition: Definition, part: Part | None = None
    ) -> None:
        ranks = {name: array.ndim for name, array in evaluation.inputs.items()}
        super().__init__(None, ranks)
        self.evaluation = evaluation
        self.definition = definition
        self.machine = evaluation.machine
        self.masks: list[NDArray[np.bool_]] = []
        self.allowed: NDArray[np.bool_] | None = None
        self.doubts: list[NDArray[np.bool_]] = []
        self._tensors: dict[tuple[object, ...], Real | None] = {}
        self._parts: dict[tuple[object, ...], Any] = {}
        self._entry: int | None = None
        binding = evaluation.binding
        extents = {
            name: binding.evaluate(tree)
            for name, tree in {**definition.at, **definition.over}.items()
        }
        self.extents = extents
        self.shape = tuple(int(n) for value in extents.values() for n in _entries(value))
        if min(self.shape, default=0) < 0:
            raise InvalidCase(
                f"{definition.name} has a negative extent", (f"{definition.name}.extent",)
            )
        if max(self.shape, default=0) > evaluation.most_terms:
            raise TooLarge(f"{definition.name} is too large")
        self.rows = sum(len(_entries(extents[name])) for name in definition.at)
        self.summed = tuple(range(self.rows, len(self.shape)))
        self.count = prod(self.shape[self.rows :])
        self.over: dict[str, Any] = {}
        axes = [np.arange(n) for n in self.shape]
        if part is not None:
            axes[part[0]] = axes[part[0]][part[1]]
        axes = evaluation.positions(definition, extents, axes)
        self.of_result = tuple(map(len, axes[: self.rows]))
        if not prod(self.of_result):
            # Nothing comes out, so nothing is computed, whatever the other extents are.
            axes = [axis[: int(d >= self.rows)] for d, axis in enumerate(axes)]
        self._give_indices(axes)

    def _give_indices(self, axes: Sequence[NDArray[np.int64]]) -> None:
        """Give each index its values, along an axis of its own."""
        self.axes, self.shape = axes, tuple(map(len, axes))
        self.names: dict[str, Any] = {}
        axis = 0
        for name, extent in self.extents.items():
            entries = []
            for _ in _entries(extent):
                shape = [-1 if d == axis else 1 for d in range(len(axes))]
                entries.append(axes[axis].reshape(shape))
                axis += 1
            self.names[name] = tuple(entries) if isinstance(extent, tuple) else entries[0]

    def without_unread(self) -> IndexSpace:
        """Return the space without terms of a sum that all read outside of a tensor."""
        definition, term = self.definition, self.definition.term
        if term is None or definition.combine != "sum" or definition.outside != SKIP:
            return self
        read = _innermost(term)
        if self._of_elements(term) is None or prod(self.shape) < FEW:
            return self
        name, axes = str(read.value), list(self.axes)
        at = self._positions(name, [self.visit(arg) for arg in read.args])
        for entry, size in zip(at, self.evaluation.inputs[name].shape, strict=True):
            position = self._stretched(entry)
            varying = [axis for axis in self.summed if position.shape[axis] > 1]
            if len(varying) == 1:
                others = tuple(axis for axis in range(position.ndim) if axis != varying[0])
                used = ((position >= 0) & (position < size)).any(axis=others)
                used[0] |= not used.any()
                axes[varying[0]] = self.axes[varying[0]][used]
        self._give_indices(axes)
        self.masks = []
        return self

    def lookup(self, name: str) -> Any:
        """Return the value of a name, computed on first use."""
        if name not in self.names:
            if name not in self.definition.abbreviations:
                return self.evaluation.binding.value(name)
            tree = self.definition.abbreviations[name]
            is_real = tree.kind.type == "real"
            self.names[name] = self.each_once(tree) if is_real else self.visit(tree)
        return self.names[name]

    # -- values

    def combine(self) -> Combined | None:
        """Combine the terms of the definition; None where it has none."""
        if self.definition.term is None:
            return None
        self.names["total"], self.names["terms"] = self._combined(self.definition.term)
        kept = ("total", "terms", *self.over)
        names = {name: self.names[name] for name in kept}
        return Combined(names, dict(self.over), self.allowed, tuple(self.doubts))

    def take(self, combined: Combined) -> None:
        """Go on from terms that are combined, of a definition that combines alike."""
        self.names |= combined.names
        self.over, self.allowed = dict(combined.over), combined.allowed
        self.doubts = [*combined.doubts]

    def finish(self) -> Result:
        """Compute the elements of the definition from its terms, which are combined."""
        definition = self.definition
        holds = False if definition.unspecified is None else self.visit(definition.unspecified)
        unspecified = self._arranged(np.asarray(holds))
        self._refuse_nothing(unspecified)
        if definition.finish.kind.type in ("int", "bool"):
            array = self._arranged(np.asarray(self.visit(definition.finish)))
            if self.doubts:
                raise EvaluationError(f"{definition.name} is decided by numbers that are rounded")
            return Result(array, unspecified, self._choices(array, unspecified))
        value = self.each_once(definition.finish, Real.settled).each(self._arranged)
        value = value.unknown(unspecified)
        for doubt in self.doubts:
            full = np.broadcast_to(doubt, np.broadcast_shapes(doubt.shape, (1,) * len(self.shape)))
            mask = self._arranged(np.asarray(full.any(axis=self.summed, keepdims=True)))
            value = value.unknown(mask)
        return Result(value, unspecified)

    def _arranged(self, array: Array) -> Array:
        """An array without the axes of what is combined away, in the shape of the result."""
        array = self._stretched(array)
        array = array.reshape(array.shape[: self.rows])
        return np.broadcast_to(array, self.shape[: self.rows]).reshape(self.of_result)

    def _choices(self, values: Array, unspecified: NDArray[np.bool_]) -> Array | None:
        """What ``finish`` gives for each term that is allowed, in their order and each once.

        ``values`` are those of the chosen terms.
        """
        if self.allowed is None or not values.size:
            return None
        allowed = self.allowed & ~unspecified[..., None]
        most = int(allowed.sum(-1).max(initial=0))
        if most <= 1:
            return None
        listed = np.argsort(~allowed, axis=-1, kind="stable")[..., :most]
        # The last index that is combined away has the allowed terms one after the other.
        inner = (*[1] * (len(self.summed) - 1), most)
        self._choose_indices(listed, (*listed.shape[:-1], *inner))
        finished = self._stretched(np.asarray(self.visit(self.definition.finish)))
        shape = (*values.shape, *inner)
        finished = np.broadcast_to(finished, shape).reshape((*values.shape, most))
        counts = np.take_along_axis(allowed, listed, axis=-1)
        choices = np.where(counts, finished, -1)
        choices[..., 0] = np.where(counts[..., 0], choices[..., 0], values)
        return _each_once(choices)

    def _refuse_nothing(self, unspecified: NDArray[np.bool_]) -> None:
        """Raise EvaluationError where nothing is the largest, and the document wants a value."""
        kind = self.definition.combine
        if ("max" not in kind and "min" not in kind) or self.evaluation.reads_anything:
            return
        if (self._arranged(np.asarray(self.names["terms"] == 0)) & ~unspecified).any():
            raise EvaluationError(f"{self.definition.name}: the {kind} of nothing")

    def visit(self, node: Node) -> Any:
        """Compute a plain value; a comparison of reals is one."""
        if node.key in self._parts:
            return self._parts[node.key]
        if node.op == "is_nan" and node.args[0].kind.type == "real":
            return bounds.is_nan(self.real(node.args[0]))
        if node.op in COMPARISONS and any(arg.kind.type == "real" for arg in node.args):
            order, doubt = bounds.compared(*(self.real(arg) for arg in node.args))
            if doubt.any():
                self.doubts.append(doubt)
            return FUNCTIONS[node.op].plain(order, np.float64(0))
        if node.op == "computed":
            return self._leaning(node)
        return super().visit(node)

    def _leaning(self, node: Node) -> Any:
        """A coordinate, on some axes as far off to one side as the evaluation leans.

        The axes on which a whole number is within its error are noted.
        """
        value, evaluation = self.visit(node.args[0]), self.evaluation
        evaluation.decides = True
        if evaluation.sides is None:
            return value
        floor, ceil = FUNCTIONS["floor"].plain, FUNCTIONS["ceil"].plain
        entries = [np.asarray(entry) for entry in _entries(value)]
        for axis, entry in enumerate(entries):
            key = node.key, axis
            if key not in evaluation.errors:
                evaluation.errors[key] = self._per_entry(axis, self._computed, node).err.fractions()
            err = evaluation.errors[key]
            if axis in evaluation.sides:
                entries[axis] = np.asarray(entry + evaluation.sides[axis] * err)
            elif np.any((err > 0) & (floor(entry + err) >= ceil(entry - err))):
                evaluation.unsure.add(axis)
        return tuple(entries) if isinstance(value, tuple) else entries[0]

    def _computed(self, node: Node) -> Real:
        """A coordinate with its error in f32, which is stored before it is used."""
        own, self.machine = self.machine, COORDINATES
        try:
            return replace(self.real(node.args[0]).settled(), machine=own)
        finally:
            self.machine = own

    def _per_entry(self, entry: int, compute: Callable[[Node], Real], node: Node) -> Real:
        """What is computed for one of the axes that a node has an entry for each of."""
        before, self._entry = self._entry, entry
        try:
            return compute(node)
        finally:
            self._entry = before

    def _plain(self, node: Node) -> Any:
        """A plain value, on the axis that is computed for."""
        value = self.visit(node)
        return value if self._entry is None or not node.kind.per else value[self._entry]

    def real(self, node: Node) -> Real:
        """Compute a number with the reals that it is made of."""
        kind = node.kind
        if kind.type != "real" and not (kind.type == "rational" and kind.indices):
            return self.constant(self._plain(node))
        if node.key in self._parts:
            return self._parts[node.key]
        if kind.per and self._entry is None:
            raise EvaluationError(f"{self.definition.name}: a number per {kind.per} meets elements")
        if node.op == "computed":
            return self.real(node.args[0]) if self.machine is None else self._computed(node)
        if node.op == "prod":
            (factor,) = node.args
            axes = range(len(self.lookup(str(factor.kind.per))))
            return reduce(self.times, (self._per_entry(k, self.real, factor) for k in axes))
        if node.op == "read":
            value = self.read(node)
            return value if isinstance(value, Real) else self.constant(value)
        if node.op in ("lowest", "bottom"):
            dtype = self._dtype_of(str(node.value))
            return self.given(dtype.lowest if node.op == "lowest" else dtype.bottom, dtype)
        if node.op == "name":
            name = str(node.value)
            value = self.lookup(name) if kind.type == "real" else None
            return value if value is not None else self.real(self.definition.abbreviations[name])
        return self.operation(node)

    def each_once(self, node: Node, then: Callable[[Real], Real] = lambda real: real) -> Real:
        """Compute a number, and what follows, once for all elements made of the same numbers.

        That is done where there are functions or balls, which are computed one by one.
        """
        leaves = {leaf.key: leaf for leaf in self._leaves(node)}
        if node.key in leaves or self._parts:
            return then(self.real(node))
        parts = {key: self._part(leaf) for key, leaf in leaves.items()}
        distinct = self._distinct(node, [*parts.values()])
        if distinct is not None:
            parts = {key: distinct.one_of_each(part) for key, part in parts.items()}
        before, self.doubts, self._parts = self.doubts, [], parts
        try:
            real = then(self.real(node))
        finally:
            self._parts = {}
        doubts = self.doubts
        if distinct is not None:
            real, doubts = distinct.of_each(real), [distinct.spread(doubt) for doubt in doubts]
        self.doubts = before + doubts
        return real

    def _part(self, node: Node) -> Any:
        kind = node.kind
        is_real = kind.type == "real" or (kind.type == "rational" and kind.indices)
        return self.real(node) if is_real else self.visit(node)

    def _distinct(self, node: Node, parts: Sequence[Any]) -> Distinct | None:
        values = [part for part in parts if isinstance(part, Real | np.ndarray)]
        if not _has_function(node) and not any(map(_is_ball, values)):
            return None
        shapes = (np.shape(v.value.array if isinstance(v, Real) else v) for v in values)
        return Distinct.of(values, np.broadcast_shapes((1,) * len(self.shape), *shapes))

    def _leaves(self, node: Node) -> Iterator[Node]:
        """The largest parts of a tree that read, or have indices but no numbers of tensors."""
        if not any(self._varies(part) for part in node.walk()):
            return
        is_plain = not any(part.kind.type == "real" for part in node.walk())
        is_element = node.op in OF_ELEMENTS and self.definition.outside == SKIP
        if is_plain or node.op in ("read", "name") or (is_element and self._of_elements(node)):
            yield node
            return
        args = node.args
        if node.op == "where" and not any(map(self._varies, args[0].walk())):
            # The other branch may have no value.
            args = (args[1 if self.visit(args[0]) else 2],)
        for arg in args:
            yield from self._leaves(arg)

    def _varies(self, node: Node) -> bool:
        local = node.value in self.names or node.value in self.definition.abbreviations
        return node.op == "read" or (node.op == "name" and local)

    def constant(self, value: Any) -> Real:
        """Return a plain value as reals."""
        return constant(value, self.machine)

    def given(self, value: Any, dtype: DType) -> Real:
        """Return a number of a type."""
        return source(np.asarray(value), dtype, self.machine)

    def operation(self, node: Node) -> Real:
        """Apply an operation to reals."""
        if node.op == "where":
            condition = self._plain(node.args[0])
            if not isinstance(condition, np.ndarray):
                return self.real(node.args[1 if condition else 2])
            return bounds.choose(condition, self.real(node.args[1]), self.real(node.args[2]))
        if node.op in OF_ELEMENTS:
            tensor = self._of_elements(node) if self.definition.outside == SKIP else None
            if tensor is not None:
                return self._picked(_innermost(node), tensor)
            return self._of_element(node, self.real(node.args[0]))
        if FUNCTIONS[node.op].real is not None and node.op not in RULES:
            parameters = [self._whole(arg) for arg in node.args[1:]]
            return bounds.function(node.op, self.real(node.args[0]), *parameters)
        if node.op not in RULES:
            # A fraction that a machine computes by nothing but whole numbers.
            return self.constant(self._plain(node))
        return RULES[node.op](*map(self.real, node.args))

    def times(self, a: Real, b: Real) -> Real:
        """Multiply two numbers."""
        return bounds.multiply(a, b)

    def _of_element(self, node: Node, number: Real) -> Real:
        if node.op == "**":
            exponent = self._whole(node.args[1])
            if exponent > MAX_EXPONENT:
                raise EvaluationError(f"an exponent of {exponent}, more than {MAX_EXPONENT}")
            return bounds.power(number, exponent)
        if node.op == "flushed":
            return bounds.flushed(number, self._dtype_of(str(node.args[0].value)))
        return RULES[node.op](number)

    def _of_elements(self, node: Node) -> Real | None:
        """A function of single elements of an input, for all of them; None of anything else.

        It is computed before elements are read, many of them more than once.
        """
        if node.op == "read":
            name, evaluation = str(node.value), self.evaluation
            source = evaluation.input(name) if name in evaluation.inputs else None
            return source if isinstance(source, Real) else None
        if node.op not in OF_ELEMENTS or any(arg.kind.indices for arg in node.args[1:]):
            return None
        if node.key not in self._tensors:
            inner = self._of_elements(node.args[0])
            self._tensors[node.key] = None if inner is None else self._of_element(node, inner)
        return self._tensors[node.key]

    def _whole(self, node: Node) -> int:
        return int(self.visit(node))

    def _dtype_of(self, name: str) -> DType:
        if name not in self.evaluation.inputs:
            raise EvaluationError(f"{name} is not given")
        return self.evaluation.type_of(name)

    # -- reading

    def read(self, node: Node) -> Any:
        """Read a tensor, or a definition, at the indices of a node."""
        values = tuple(self._read_at(node, indices) for indices in self.places(node))
        return values if node.kind.per else values[0]

    def _read_at(self, node: Node, indices: list[Any]) -> Any:
        name, evaluation = str(node.value), self.evaluation
        if name in evaluation.operator.define:
            source = evaluation.value(name)
            at = [entry for index in indices for entry in _entries(index)]
        elif name in evaluation.inputs:
            source = evaluation.input(name)
            at = self._positions(name, indices)
        else:
            absent = evaluation.operator.tensors[name].absent
            if node.kind.type != "real":
                return bool(absent) if node.kind.type == "bool" else int(absent or 0)
            return self.constant(absent)
        return self._picked_at(name, at, source)

    def _picked(self, node: Node, tensor: Real) -> Real:
        """Numbers for each element of an input at the indices of a node that reads it."""
        name = str(node.value)
        picked = self._picked_at(
            name, self._positions(name, [self.visit(a) for a in node.args]), tensor
        )
        assert isinstance(picked, Real)
        return picked

    def _picked_at(self, name: str, at: list[Any], source: Real | Array) -> Any:
        shape = np.shape(source.value.array if isinstance(source, Real) else source)
        inside, safe = self._inside(at, shape)
        if inside is not None and not inside.any():
            # Nothing is read, perhaps since there is nothing.
            source = _zeros(source)
            safe = [np.zeros_like(position) for position in safe]

        def pick(array: Array) -> Array:
            return array[tuple(safe)] if safe else np.reshape(array, [1] * len(self.shape))

        picked = source.each(pick) if isinstance(source, Real) else pick(source)
        return picked if inside is None else self._outside(name, picked, inside)

    def _inside(
        self, at: list[Any], shape: tuple[int, ...]
    ) -> tuple[NDArray[np.bool_] | None, list[NDArray[np.int64]]]:
        """Where positions are inside of a tensor (None: everywhere), and the nearest that are."""
        inside, safe = None, []
        for entry, size in zip(at, shape, strict=True):
            position = _narrowed(np.asarray(entry))
            if position.size and (position.min() < 0 or position.max() >= size):
                here = (position >= 0) & (position < size)
                inside = here if inside is None else inside & here
                position = np.clip(position, 0, max(size - 1, 0))
            safe.append(position)
        return inside, safe

    def _outside(self, name: str, picked: Any, inside: NDArray[np.bool_]) -> Any:
        policy = self.definition.outside
        if policy == SKIP:
            self.masks.append(inside)
            return picked
        if not isinstance(policy, Node):
            if self.evaluation.reads_anything:
                return picked
            raise EvaluationError(f"{self.definition.name} reads outside of {name}")
        if isinstance(picked, Real):
            return bounds.choose(inside, picked, self.real(policy))
        return np.where(inside, picked, self.visit(policy))

    def _positions(self, name: str, indices: list[Any]) -> list[Any]:
        shape = self.evaluation.inputs[name].shape
        return self.evaluation.binding.positions(name, shape, indices)

    # -- combining

    def _combined(self, term: Node) -> tuple[Real, NDArray[np.int64]]:
        """What the terms combine to, and how many count."""
        definition = self.definition
        if self.window is not None:
            return self._best_of_window(self.window, term)
        keep = [] if definition.keep is None else [np.asarray(self.visit(definition.keep))]
        factors = [self.each_once(arg) for arg in (term.args if term.op == "*" else (term,))]
        masks = keep + self.masks
        mask = self._stretched(reduce(np.logical_and, masks)) if masks else None
        terms = self._count(mask)
        if definition.combine == "sum" and len(factors) == 2:
            total = self._contracted(factors[0], factors[1], mask)
            if total is not None:
                return total, terms
        real = factors[0] if len(factors) == 1 else bounds.multiply(*factors)
        real = real.each(self._over_all)
        if definition.combine == "sum":
            return bounds.summed(self._masked(real, mask, 0), self.summed, self.count), terms
        if definition.combine == "product":
            return self._product(self._masked(real, mask, 1)), terms
        return self._extreme(real, mask), terms

    def _stretched(self, array: Array) -> Array:
        """An array with an axis for every index, perhaps of 1."""
        array = np.asarray(array)
        return array.reshape([1] * (len(self.shape) - array.ndim) + list(array.shape))

    def _over_all(self, array: Array) -> Array:
        """An array with all of the indices that are combined away."""
        inner = (1,) * self.rows + self.shape[self.rows :]
        return np.broadcast_to(array, np.broadcast_shapes(np.shape(array), inner))

    def _count(self, mask: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        ones = np.ones([1] * len(self.shape), np.int64) if mask is None else mask.astype(np.int64)
        spread = int(np.prod([self.shape[d] for d in self.summed if ones.shape[d] == 1]))
        return np.asarray(ones.sum(axis=self.summed, keepdims=True) * spread)

    def _masked(self, real: Real, mask: NDArray[np.bool_] | None, neutral: int) -> Real:
        return real if mask is None else bounds.choose(mask, real, self.constant(neutral))

    def _contracted(self, a: Real, b: Real, mask: NDArray[np.bool_] | None) -> Real | None:
        """A sum of products as a product of matrices, where both factors are given numbers."""
        if not all(map(_is_given, (a, b))):
            return None
        a, b = a.each(self._stretched), b.each(self._stretched)
        if mask is not None:
            if not _covers(a.value.array, mask):
                a, b = b, a
            # What is left out is 0 in one factor.
            a = bounds.choose(mask, a, self.constant(0)).full()
        assert isinstance(a.value, Number)
        assert isinstance(b.value, Number)
        layout = MatrixLayout.of(a.value.num.shape, b.value.num.shape, self.shape, self.rows)
        value = exact.contracted(a.value, b.value, layout)
        if value is None or self.machine is None:
            return None if value is None else Real(value)
        mass = exact.contracted(_magnitude(a.value), _magnitude(b.value), layout)
        assert mass is not None
        return self._traced(a.full(), b.full(), layout, value, mass)

    def _traced(self, a: Real, b: Real, layout: MatrixLayout, value: Number, mass: Number) -> Real:
        """The error of a sum of products of given numbers, by products of matrices too."""
        assert self.machine is not None
        present, grids = [], []
        for x, matrices, axis in ((a, layout.left, 2), (b, layout.right, 1)):
            present.append(matrices(x.mass.is_positive.astype(np.float64)))
            grid = matrices(np.broadcast_to(x.grid, x.value.array.shape))
            grids.append(grid.min(axis=axis, keepdims=True, initial=ZERO_GRID))
        if all(part.all() for part in present):
            terms = np.full(np.shape(mass.num), present[0].shape[2], np.int64)
        else:
            terms = layout.back(np.matmul(*present)).astype(np.int64)
        grid = np.clip(layout.back(grids[0] + grids[1]), NO_GRID, ZERO_GRID)
        whole = bool(np.all(a.exact) and np.all(b.exact))
        return bounds.summed_products(value, magnitude(mass), terms, grid, whole, self.machine)

    def _product(self, real: Real) -> Real:
        """The product of the terms, in pairs, of which many are multiplied at once."""
        rows = self.rows
        flat = real.each(lambda array: array.reshape((*array.shape[:rows], -1)))
        count = prod(self.shape[rows:])
        if not count:
            return self.constant(1)

        def part(real: Real, first: int, last: int) -> Real:
            return real.each(lambda array: array[..., first:last])

        result, rest = flat, None
        while count > 1:
            half, odd = divmod(count, 2)
            if odd:
                last = part(result, count - 1, count)
                rest = last if rest is None else bounds.multiply(rest, last)
            result = bounds.multiply(part(result, 0, half), part(result, half, 2 * half))
            count = half
        if rest is not None:
            result = bounds.multiply(result, rest)
        result = bounds.in_any_order(result, flat)
        inner = [1] * len(self.summed)
        return result.each(lambda array: array.reshape((*array.shape[:-1], *inner)))

    def _extreme(self, real: Real, mask: NDArray[np.bool_] | None) -> Real:
        """The largest or the smallest term, or for ``finish`` the indices of the first or last."""
        real = real.closed()
        search = self._search(real.value, mask)
        if "_" in self.definition.combine:
            self._choose(real, mask, search)
        picked = real.each(search.pick)
        if real.machine is not None:
            worst = real.full().wrong.each(lambda array: np.broadcast_to(array, search.shape))
            if mask is not None:
                worst = worst.where(mask, NOTHING)
            err = worst.largest(self.summed)
            picked = _extreme_of(picked, err, self._between(real.between, mask))
        return self._or_nothing(picked, self._count(mask) > 0)

    @cached_property
    def window(self) -> Window | None:
        """Where a tensor is read of which the largest or the smallest number is the result.

        None unless each of its dimensions has indices of its own, and one term is certainly best.
        """
        definition, term = self.definition, self.definition.term
        if definition.combine not in SEARCHES or definition.keep is not None or term is None:
            return None
        source = self._of_elements(term)
        if source is None or not source.value.array.size:
            return None
        if "_" in definition.combine and np.any(source.wrong.is_positive):
            return None
        if isinstance(source.value, Number) and exact.NARROW < source.value.bits <= 64:
            return None  # as keys its lowest number would be one that is left out
        read = _innermost(term)
        at = self._positions(str(read.value), [self.visit(arg) for arg in read.args])
        at = [_narrowed(np.asarray(entry)) for entry in at]
        window = Window.of(at, source.value.array.shape, self.shape, self.rows)
        if window is None or self.masks or (definition.outside != SKIP and not window.is_inside):
            return None
        return window

    @property
    def size(self) -> int:
        """How many terms are in memory at once."""
        return prod(self.shape if self.window is None else self.window.shape)

    def _best_of_window(self, window: Window, term: Node) -> tuple[Real, NDArray[np.int64]]:
        """The largest or the smallest number of a tensor, and how many count."""
        source, kind = self._of_elements(term), self.definition.combine
        assert source is not None
        array = self.evaluation.inputs[str(_innermost(term).value)]
        dtype = DTYPES[name_of(array.dtype)]
        if term.op == "read" and dtype.is_float:
            order = order_of(array, dtype, largest="max" in kind)
        else:
            order = ranked(self._order(source.value))
        best, positions = window.best(order, last=kind.startswith("last"))
        terms = self._over_result(window.count())
        if "_" in kind:
            self._choose_indices(best, terms.shape)
        picked = source.each(lambda numbers: self._over_result(numbers[tuple(positions)]))
        if source.machine is not None:
            worst, ends = source.full().wrong, source.between
            err = NOTHING
            if np.any(worst.is_positive):
                err = self._best_numbers(worst, worst.order(), window).grown()
            between = None
            if ends is not None:
                low, high = (
                    self._best_numbers(end, ranked(self._order(end)), window)
                    for end in (ends.low, ends.high)
                )
                between = Between(low, high)
            picked = _extreme_of(picked, err, between)
        return self._or_nothing(picked, terms > 0), terms

    def _best_numbers(self, numbers: Any, order: NDArray[np.int64], window: Window) -> Any:
        """The numbers of a window that are last in an order."""
        _, positions = window.best(order, last=False)
        return numbers.each(lambda array: self._over_result(array[tuple(positions)]))

    def _order(self, value: Exact) -> NDArray[np.int64]:
        """Whole numbers in the order in which numbers are better, NaN above all."""
        order = exact.ordered(value)
        if "min" in self.definition.combine:
            missing = False if value.special is None else np.isnan(value.special)
            order = np.where(missing, order, -order)  # NaN comes first all the same
        return order

    def _over_result(self, array: Array) -> Array:
        """An array of the shape of the result with an axis for every index."""
        return array.reshape((*array.shape, *[1] * len(self.summed)))

    def _search(self, value: Exact, mask: NDArray[np.bool_] | None) -> _Search:
        """Search each row of terms for the best of those that count."""
        kind = self.definition.combine
        order = self._order(value)
        if mask is not None:
            order, kept = np.broadcast_arrays(order, mask)
            lowest = int(np.asarray(order).min(initial=0))
            if order.dtype != object and lowest <= np.iinfo(np.int64).min + 1:
                order = order.astype(object)
            order = np.where(kept, order, lowest - 1)
        shape = order.shape
        flat = order.reshape((*shape[: self.rows], prod(shape[self.rows :])))
        if not flat.shape[-1]:
            raise EvaluationError(f"{self.definition.name}: the {kind} of nothing")
        last = flat.shape[-1] - 1
        best = last - flat[..., ::-1].argmax(-1) if kind.startswith("last") else flat.argmax(-1)
        return _Search(flat, best, shape)

    def _between(self, ends: Between | None, mask: NDArray[np.bool_] | None) -> Between | None:
        """What the best lies between: it is no worse if each term is no worse, and no better."""
        if ends is None:
            return None
        low, high = (end.each(self._search(end, mask).pick) for end in (ends.low, ends.high))
        return Between(low, high)

    def _choose(self, real: Real, mask: NDArray[np.bool_] | None, search: _Search) -> None:
        """Choose the best term, and say which others may be chosen."""
        if real.between is not None:
            self.allowed = self._possible(real.between, mask, search)
        elif real.machine is not None and np.any(real.wrong.is_positive):
            self.doubts.append(np.asarray(True))
        elif self.definition.combine.startswith("any"):
            self.allowed = search.order == np.take_along_axis(
                search.order, search.best[..., None], -1
            )
        self._choose_indices(search.best, search.kept)

    def _possible(
        self, ends: Between, mask: NDArray[np.bool_] | None, search: _Search
    ) -> NDArray[np.bool_]:
        """Where a term may be the best, whatever each is between its ends.

        Where those that may be are certain, one of them is chosen, unless any may be.
        """
        sign, kind = (-1, "min") if "min" in self.definition.combine else (1, "max")
        worst, finest = (ends.low, ends.high)[::sign]
        least = worst.each(self._search(worst, mask).pick)
        may = search.flat(np.asarray(sign * exact.compared(finest, least) >= 0))
        if mask is not None:
            may = may & search.flat(mask)
        if self.definition.combine == f"any_{kind}":
            return may
        uncertain = may & search.flat(np.asarray(exact.compared(ends.high, ends.low) != 0))
        chosen = np.arange(may.shape[-1]) == search.best[..., None]
        return np.where(uncertain.any(-1, keepdims=True), may, chosen)

    def _or_nothing(self, extreme: Real, present: NDArray[np.bool_]) -> Real:
        """The largest or the smallest terms; of none it is an infinity, which changes no other."""
        if present.all():
            return extreme
        nothing = exact.infinity(-1 if "max" in self.definition.combine else 1)
        return bounds.choose(present, extreme, Real(nothing, self.machine))

    def _choose_indices(self, best: NDArray[np.int64], shape: tuple[int, ...]) -> None:
        """Give the indices that are combined away the values of the chosen terms."""
        inner = self.shape[self.rows :]
        for name in self.definition.over:
            index = self.over.setdefault(name, self.names[name])
            chosen = tuple(
                np.broadcast_to(entry, (1,) * self.rows + inner).ravel()[best].reshape(shape)
                for entry in _entries(index)
            )
            self.names[name] = chosen if isinstance(index, tuple) else chosen[0]
        for name in self.definition.abbreviations:  # they speak of those indices
            self.names.pop(name, None)


def _entries(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _extreme_of(picked: Real, err: Magnitude, between: Between | None) -> Real:
    """The best of some numbers as a machine has it: off by ``err``, that of the worst of all.

    Whichever it takes, it is no further off.
    """
    return Real(
        picked.value,
        picked.machine,
        magnitude(picked.value),
        err,
        ~err.is_positive & picked.exact,
        picked.grid,
        positive=picked.positive,
        between=between,
    )


def _has_function(node: Node) -> bool:
    """Whether a tree has a function that is computed number by number."""
    return any(p.op in FUNCTIONS and FUNCTIONS[p.op].real is not None for p in node.walk())


def _is_ball(value: Real | Array) -> bool:
    return isinstance(value, Real) and isinstance(value.value, Ball)


def _innermost(node: Node) -> Node:
    """The first argument of the first argument, and so on."""
    while node.op in OF_ELEMENTS:
        node = node.args[0]
    return node


def _each_once(choices: Array) -> Array | None:
    """Choices without those that an element has already; None where none has two."""
    order = np.argsort(choices, axis=-1, kind="stable")
    in_order = np.take_along_axis(choices, order, axis=-1)
    repeated = np.zeros(choices.shape, np.bool_)
    np.put_along_axis(repeated, order[..., 1:], in_order[..., 1:] == in_order[..., :-1], axis=-1)
    choices = np.where(repeated, -1, choices)
    most = int((choices != -1).sum(-1).max(initial=0))
    front = np.argsort(choices == -1, axis=-1, kind="stable")[..., :most]
    return None if most <= 1 else np.take_along_axis(choices, front, axis=-1)


def _narrowed(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """An index without the extent of axes along which it does not change: less is read."""
    for axis in range(index.ndim):
        if index.shape[axis] > 1:
            first = index.take([0], axis)
            if (index == first).all():
                index = first
    return index


def _is_given(real: Real) -> bool:
    """Whether numbers are exact ones that nothing was computed of."""
    value = real.value
    return (
        isinstance(value, Number)
        and isinstance(value.den, int)
        and value.special is None
        and not np.any(real.all_err.is_positive)
        and not np.any(real.adds)
    )


def _magnitude(number: Number) -> Number:
    """The magnitudes of numbers."""
    return Number(abs(number.num), number.den, number.exp, number.bits)


def _covers(array: Array, mask: Array) -> bool:
    return all(m == 1 or m == n for m, n in zip(mask.shape, array.shape, strict=True))


def _zeros(source: Real | Array) -> Real | Array:
    """A single zero in as many dimensions as a tensor has."""
    if isinstance(source, Real):
        zero = np.zeros([1] * np.ndim(source.value.array), np.int64)
        return constant(zero, source.machine)
    return np.zeros([1] * np.ndim(source), source.dtype)
