"""Evaluates a case: each definition over its index space, its values and its accepted intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core import bounds, exact
from conformance.core.binding import Binding
from conformance.core.bounds import RULES, Machine, Real
from conformance.core.exact import Ball, MatrixLayout, Number, precision
from conformance.core.functions import FUNCTIONS
from conformance.core.magnitude import magnitude
from conformance.core.operator import SKIP, Definition, Operator, Output
from conformance.core.plain import PlainVisitor
from conformance.core.tree import Node
from conformance.dtypes import DTYPES, Array, DType, name_of
from conformance.errors import EvaluationError, InvalidCase

FIRST_PRECISION = 96
MAX_PRECISION = 6000
"""Bits of balls. What is not decided by the last is on the boundary of two values: the root of a
rational number that is further off differs from a boundary by more (degrees below 5, f64)."""

BLOCK = 1 << 21
"""Terms that are evaluated at once: some 200 MB with all that is traced of them."""

Part = tuple[int, slice]
"""An axis of the result, and which part of it."""

COMPARISONS = ("==", "!=", "<", "<=")


@dataclass(frozen=True)
class Interval:
    """What is accepted of an output: from ``lo`` to ``hi``, and anything where ``unspecified``."""

    lo: Array
    hi: Array
    unspecified: NDArray[np.bool_]


class Evaluation:
    """One case of an operator.

    ``inputs`` are arrays of the types of :data:`~conformance.dtypes.DTYPES` by name, None for those
    that are not given. With a ``machine`` its errors are traced along.

    Raises :class:`~conformance.errors.InvalidCase` for what the operator does not allow.
    """

    def __init__(
        self,
        operator: Operator,
        attributes: Mapping[str, Any],
        inputs: Mapping[str, Array | None],
        machine: Machine | None = None,
    ) -> None:
        self.operator = operator
        self.inputs = {name: array for name, array in inputs.items() if array is not None}
        self._check_types()
        shapes = {name: array.shape for name, array in self.inputs.items()}
        self.binding = Binding(operator, attributes, shapes)
        # Whole numbers are computed as such: nothing of them may be off.
        self.machine = machine if any(map(_is_float, self.inputs.values())) else None
        self._sources: dict[str, Real | Array] = {}
        self._values: dict[str, Real | Array] = {}
        broken = self.binding.violations()
        if broken:
            raise InvalidCase(f"{operator.op}: {', '.join(broken)} does not hold", broken)

    def _check_types(self) -> None:
        """Refuse inputs of other types than the operator has, or of two types for one variable."""
        seen: dict[str, str] = {}
        for name, array in self.inputs.items():
            tensor = self.operator.tensors.get(name)
            if tensor is None:
                raise InvalidCase(f"{self.operator.op} has no input '{name}'")
            dtype = name_of(array.dtype)
            allowed = self.operator.types.get(tensor.type, (tensor.type,))
            if dtype not in allowed or seen.setdefault(tensor.type, dtype) != dtype:
                expected = seen.get(tensor.type) if dtype in allowed else ", ".join(allowed)
                message = f"{name} is {dtype} where the specification says {expected}"
                raise InvalidCase(message, (f"{tensor.type}.type",))

    def input(self, name: str) -> Real | Array:
        """Return an input: reals, or an array of whole numbers that indices may use."""
        if name not in self._sources:
            array = self.inputs[name]
            dtype = DTYPES[name_of(array.dtype)]
            variable = self.operator.tensors[name].type
            if variable in DTYPES and not DTYPES[variable].is_float:
                self._sources[name] = array.astype(np.int64)
            else:
                self._sources[name] = bounds.source(array, dtype, self.machine)
        return self._sources[name]

    def value(self, name: str) -> Real | Array:
        """Return a definition's value, computed on first use."""
        if name not in self._values:
            self._values[name] = self._in_blocks(self.operator.define[name])
        return self._values[name]

    def _in_blocks(self, definition: Definition) -> Real | Array:
        """A definition, part by part of its longest index where there are many terms."""
        space = self.space(definition)
        size = prod(space.shape)
        if size <= BLOCK or not space.rows:
            return space.evaluate()
        axis = int(np.argmax(space.shape[: space.rows]))
        extent = space.shape[axis]
        count = max(1, extent * BLOCK // size)
        parts = [
            self.space(definition, (axis, slice(first, first + count))).evaluate()
            for first in range(0, extent, count)
        ]
        reals = [part for part in parts if isinstance(part, Real)]
        if reals:
            return bounds.concatenated(reals, axis)
        return np.concatenate([part for part in parts if isinstance(part, np.ndarray)], axis)

    def space(self, definition: Definition, part: Part | None = None) -> IndexSpace:
        """Return a definition over its index space, or over a part of it."""
        return IndexSpace(self, definition, part)

    def outputs(self, wide: bool = False) -> list[Array]:
        """Return each output in its type, rounded once from the exact value.

        Where ``wide``, numbers that are not whole are in float64.
        """
        return [
            self._arranged(output, self._rounded(output, self._dtype(output, wide)))
            for output in self.operator.outputs
        ]

    def _dtype(self, output: Output, wide: bool) -> DType:
        dtype = DTYPES[self.dtype_of(output)]
        return DTYPES["f64"] if wide and dtype.is_float else dtype

    def intervals(self) -> list[Interval]:
        """Return what is accepted of each output; of whole numbers, the value alone."""
        return [self._interval(output) for output in self.operator.outputs]

    def dtype_of(self, output: Output) -> str:
        """Return the element type of an output, perhaps that of an input of its variable."""
        if output.type in DTYPES:
            return output.type
        for tensor in self.operator.inputs:
            if tensor.type == output.type and tensor.name in self.inputs:
                return name_of(self.inputs[tensor.name].dtype)
        raise InvalidCase(f"no input says the type of {output.name}")

    def _rounded(self, output: Output, dtype: DType) -> Array:
        bits = FIRST_PRECISION
        while True:
            with precision(bits):
                value = self.value(output.name)
                if not isinstance(value, Real):
                    return value.astype(dtype.numpy)
                if isinstance(value.value, Number):
                    return _in_type(value.value, dtype)
                low, high = (exact.rounded(end, dtype) for end in exact.ends(value.value))
                undecided = (low != high) & ~np.isnan(low)
                if not undecided.any() or bits >= MAX_PRECISION:
                    return high
            bits *= 4
            self._forget_balls()

    def _forget_balls(self) -> None:
        for name, value in list(self._values.items()):
            if isinstance(value, Real) and isinstance(value.value, Ball):
                del self._values[name]

    def _interval(self, output: Output) -> Interval:
        with precision(FIRST_PRECISION):
            value = self.value(output.name)
            dtype = DTYPES[self.dtype_of(output)]
            if not isinstance(value, Real) or not dtype.is_float:
                array = self._arranged(output, self._rounded(output, dtype))
                fits = np.ones(array.shape, np.bool_)
                if isinstance(value, Real) and isinstance(value.value, Number):
                    fits = self._arranged(output, _fits_type(value.value, dtype))
                return Interval(array, array, ~fits)
            return Interval(*(self._arranged(output, a) for a in bounds.interval(value, dtype)))

    def _arranged(self, output: Output, array: Array) -> Array:
        """An output in the shape that is stated, or without the dimensions that it omits."""
        if output.shape:
            return np.asarray(array).reshape(self.binding.flat(output.shape))
        omit = self.binding.flat(output.omit) or (0,) * array.ndim
        return array.reshape([n for n, gone in zip(array.shape, omit, strict=True) if not gone])


def reference_outputs(
    operator: Operator, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> list[Array]:
    """Return the exact outputs of an operator: float64, rounded once, or whole numbers.

    ``inputs`` are its tensors in their order, None for one that is not given. Raises
    :class:`~conformance.errors.InvalidCase` for what the operator does not allow.
    """
    names = [tensor.name for tensor in operator.inputs]
    if len(inputs) > len(names):
        message = f"{operator.op} has {len(names)} inputs: {', '.join(names)}"
        raise InvalidCase(f"{message}; {len(inputs)} are given")
    arrays = [None if array is None else np.asarray(array) for array in inputs]
    given = dict(zip(names, arrays, strict=False))
    return Evaluation(operator, attributes, given).outputs(wide=True)


class IndexSpace(PlainVisitor):
    """A definition over its index space.

    An index is an array of integers that varies along an axis of its own, one for each axis of its
    group, so values broadcast. The first ``rows`` axes are those of the result, ``summed`` the
    others.
    """

    def __init__(
        self, evaluation: Evaluation, definition: Definition, part: Part | None = None
    ) -> None:
        ranks = {name: array.ndim for name, array in evaluation.inputs.items()}
        super().__init__(self._name, ranks)
        self.evaluation = evaluation
        self.definition = definition
        self.machine = evaluation.machine
        self.masks: list[NDArray[np.bool_]] = []
        self.doubts: list[NDArray[np.bool_]] = []
        binding = evaluation.binding
        extents = {
            name: binding.evaluate(tree)
            for name, tree in {**definition.at, **definition.over}.items()
        }
        self.shape = tuple(int(n) for value in extents.values() for n in _entries(value))
        if min(self.shape, default=0) < 0:
            raise InvalidCase(
                f"{definition.name} has a negative extent", (f"{definition.name}.extent",)
            )
        self.rows = sum(len(_entries(extents[name])) for name in definition.at)
        self.summed = tuple(range(self.rows, len(self.shape)))
        self.names: dict[str, Any] = {}
        axes = [np.arange(n) for n in self.shape]
        if part is not None:
            axes[part[0]] = axes[part[0]][part[1]]
        self.shape = tuple(map(len, axes))
        axis = 0
        for name, extent in extents.items():
            entries = []
            for _ in _entries(extent):
                shape = [-1 if d == axis else 1 for d in range(len(axes))]
                entries.append(axes[axis].reshape(shape))
                axis += 1
            self.names[name] = tuple(entries) if isinstance(extent, tuple) else entries[0]

    def _name(self, name: str) -> Any:
        if name not in self.names:
            if name not in self.definition.abbreviations:
                return self.evaluation.binding.value(name)
            tree = self.definition.abbreviations[name]
            self.names[name] = self.real(tree) if tree.kind.type == "real" else self.visit(tree)
        return self.names[name]

    # -- values

    def evaluate(self) -> Real | Array:
        """Compute the definition: reals, or an array of whole numbers."""
        definition = self.definition
        if definition.term is not None:
            self.names["total"], self.names["terms"] = self._combined(definition.term)
        shape = self.shape[: self.rows]

        def arrange(array: Array) -> Array:
            array = np.asarray(array)
            array = array.reshape([1] * (len(self.shape) - array.ndim) + list(array.shape))
            return np.broadcast_to(array.reshape(array.shape[: self.rows]), shape)

        if definition.finish.kind.type == "int":
            array = arrange(np.asarray(self.visit(definition.finish)))
            if self.doubts:
                raise EvaluationError(f"{definition.name} is decided by numbers that are rounded")
            return array
        value = self.real(definition.finish).each(arrange).settled()
        if definition.unspecified is not None and self.machine is not None:
            self.doubts.append(np.asarray(self.visit(definition.unspecified)))
        for doubt in self.doubts:
            full = np.broadcast_to(doubt, np.broadcast_shapes(doubt.shape, (1,) * len(self.shape)))
            value = value.unknown(arrange(np.asarray(full.any(axis=self.summed, keepdims=True))))
        return value

    def visit(self, node: Node) -> Any:
        """Compute a plain value; a comparison of reals is one."""
        if node.op in COMPARISONS and any(arg.kind.type == "real" for arg in node.args):
            order, doubt = bounds.compared(*(self.real(arg) for arg in node.args))
            if doubt.any():
                self.doubts.append(doubt)
            return FUNCTIONS[node.op].plain(order, np.float64(0))
        return super().visit(node)

    def real(self, node: Node) -> Real:
        """Compute a number with the reals that it is made of."""
        kind = node.kind
        if kind.type != "real" and not (kind.type == "rational" and kind.indices):
            return self.constant(self.visit(node))
        if kind.per:
            raise EvaluationError(f"{self.definition.name}: a number per {kind.per} meets elements")
        if node.op == "read":
            value = self.read(node)
            return value if isinstance(value, Real) else self.constant(value)
        if node.op == "name":
            value = self.lookup(str(node.value))
            if isinstance(value, Real):
                return value
            return self.real(self.definition.abbreviations[str(node.value)])
        return self.operation(node)

    def constant(self, value: Any) -> Real:
        """Return a plain value as reals."""
        return bounds.constant(value, self.machine)

    def operation(self, node: Node) -> Real:
        """Apply an operation to reals."""
        if node.op == "where":
            condition = self.visit(node.args[0])
            if not isinstance(condition, np.ndarray):
                return self.real(node.args[1 if condition else 2])
            return bounds.choose(condition, self.real(node.args[1]), self.real(node.args[2]))
        if node.op == "**":
            return bounds.power(self.real(node.args[0]), self._whole(node.args[1]))
        if FUNCTIONS[node.op].real is not None:
            parameters = [self._whole(arg) for arg in node.args[1:]]
            return bounds.function(node.op, self.real(node.args[0]), *parameters)
        if node.op not in RULES:
            # A fraction that a machine computes by nothing but whole numbers.
            return self.constant(super().visit(node))
        return RULES[node.op](*map(self.real, node.args))

    def _whole(self, node: Node) -> int:
        return int(self.visit(node))

    # -- reading

    def read(self, node: Node) -> Any:
        """Read a tensor, or a definition, at the indices of a node."""
        name, evaluation = str(node.value), self.evaluation
        indices = [self.visit(arg) for arg in node.args]
        if name in evaluation.operator.define:
            source = evaluation.value(name)
            at = [entry for index in indices for entry in _entries(index)]
        elif name in evaluation.inputs:
            source = evaluation.input(name)
            at = self._positions(name, indices)
        else:
            return self.constant(evaluation.operator.tensors[name].absent)
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
            raise EvaluationError(f"{self.definition.name} reads outside of {name}")
        if isinstance(picked, Real):
            return bounds.choose(inside, picked, self.real(policy))
        return np.where(inside, picked, self.visit(policy))

    def _positions(self, name: str, indices: list[Any]) -> list[Any]:
        """Positions in a tensor as it is given: it may lack dimensions, or be stretched."""
        evaluation = self.evaluation
        tensor, shape = evaluation.operator.tensors[name], evaluation.inputs[name].shape
        items = evaluation.binding.items(tensor)
        if items is not tensor.shapes[0]:
            settled = evaluation.binding.settled
            keys = {settled(item).key for item in items}
            indices = [
                index
                for item, index in zip(tensor.shapes[0], indices, strict=True)
                if settled(item).key in keys
            ]
        single = sum(not item.kind.per for item in items)
        at: list[Any] = []
        for item, index in zip(items, indices, strict=True):
            entries = list(_entries(index))
            if evaluation.binding.stretches(item):
                entries = entries[len(entries) - (len(shape) - single) :]
                entries = [e * 0 if n == 1 else e for e, n in zip(entries, shape, strict=False)]
            at += entries
        if tensor.broadcast:
            at = at[len(at) - len(shape) :]
            at = [entry * 0 if n == 1 else entry for entry, n in zip(at, shape, strict=True)]
        return at

    # -- combining

    def _combined(self, term: Node) -> tuple[Real, NDArray[np.int64]]:
        """What the terms combine to, and how many count."""
        definition = self.definition
        keep = [] if definition.keep is None else [np.asarray(self.visit(definition.keep))]
        factors = [self.real(arg) for arg in (term.args if term.op == "*" else (term,))]
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
            return bounds.summed(self._masked(real, mask, 0), self.summed), terms
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
            grids.append(grid.min(axis=axis, keepdims=True, initial=bounds.ZERO_GRID))
        if all(part.all() for part in present):
            terms = np.full(np.shape(mass.num), present[0].shape[2], np.int64)
        else:
            terms = layout.back(np.matmul(*present)).astype(np.int64)
        grid = np.clip(layout.back(grids[0] + grids[1]), bounds.NO_GRID, bounds.ZERO_GRID)
        whole = bool(np.all(a.exact) and np.all(b.exact))
        return bounds.summed_products(value, magnitude(mass), terms, grid, whole, self.machine)

    def _product(self, real: Real) -> Real:
        """The product of the terms, one after the other."""
        rows, result = self.rows, self.constant(1)
        flat = real.each(lambda array: array.reshape((*array.shape[:rows], -1)))

        def factor(k: int) -> Real:
            inner = [1] * len(self.summed)
            return flat.each(lambda array: array[..., k].reshape((*array.shape[:-1], *inner)))

        for k in range(int(np.prod(self.shape[rows:]))):
            result = bounds.multiply(result, factor(k))
        return result

    def _extreme(self, real: Real, mask: NDArray[np.bool_] | None) -> Real:
        """The largest or the smallest term, or for ``finish`` the indices of the first or last."""
        kind = self.definition.combine
        order = exact.ordered(real.value)
        order = -order if "min" in kind else order
        if "min" in kind and real.value.special is not None:  # NaN comes first all the same
            order = np.where(np.isnan(real.value.special), -order, order)
        if mask is not None:
            order, kept = np.broadcast_arrays(order, mask)
            lowest = int(np.asarray(order).min(initial=0))
            if order.dtype != object and lowest <= np.iinfo(np.int64).min + 1:
                order = order.astype(object)
            order = np.where(kept, order, lowest - 1)
        flat = order.reshape((*order.shape[: self.rows], -1))
        if not flat.shape[-1] or (mask is not None and not self._count(mask).all()):
            raise EvaluationError(f"{self.definition.name}: the {kind} of nothing")
        last = flat.shape[-1] - 1
        best = last - flat[..., ::-1].argmax(-1) if kind.startswith("last") else flat.argmax(-1)
        kept_shape = (*best.shape, *[1] * len(self.summed))
        if "_" in kind:
            if real.machine is not None and np.any(real.wrong.is_positive):
                self.doubts.append(np.asarray(True))
            self._choose_indices(best, kept_shape)

        def pick(array: Array) -> Array:
            full = np.broadcast_to(array, order.shape).reshape(flat.shape)
            return np.take_along_axis(full, best[..., None], -1).reshape(kept_shape)

        picked = real.each(pick)
        if real.machine is None:
            return picked
        # Whichever a machine takes, it is no further off than the worst of all.
        worst = real.full().wrong.each(lambda array: np.broadcast_to(array, order.shape))
        err = worst.largest(self.summed)
        return Real(
            picked.value,
            real.machine,
            magnitude(picked.value),
            err,
            ~err.is_positive & picked.exact,
            picked.grid,
            positive=picked.positive,
        )

    def _choose_indices(self, best: NDArray[np.int64], shape: tuple[int, ...]) -> None:
        """Give the indices that are combined away the values of the chosen term."""
        inner = self.shape[self.rows :]
        for name in self.definition.over:
            index = self.names[name]
            chosen = tuple(
                np.broadcast_to(entry, (1,) * self.rows + inner).ravel()[best].reshape(shape)
                for entry in _entries(index)
            )
            self.names[name] = chosen if isinstance(index, tuple) else chosen[0]
        for name in self.definition.abbreviations:  # they speak of those indices
            self.names.pop(name, None)


def _is_float(array: Array) -> bool:
    return DTYPES[name_of(array.dtype)].is_float


def _whole(value: Number) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """The numbers as Python integers, rounded down, and where they are whole."""
    num = np.asarray(value.num, object) * 2 ** max(value.exp, 0)
    den = np.asarray(value.den, object) * 2 ** max(-value.exp, 0)
    whole = np.asarray(num // den, object)
    return whole, np.asarray(whole * den == num, np.bool_)


def _fits_type(value: Number, dtype: DType) -> NDArray[np.bool_]:
    limits = np.iinfo(dtype.numpy)
    whole, exactly = _whole(value)
    return np.asarray(exactly & (whole >= limits.min) & (whole <= limits.max), np.bool_)


def _in_type(value: Number, dtype: DType) -> Array:
    """Numbers in a type; of integer types those that are too large wrap around."""
    if dtype.is_float:
        return exact.rounded(value, dtype)
    bits = 8 * dtype.numpy.itemsize
    low = int(np.iinfo(dtype.numpy).min)
    return np.asarray((_whole(value)[0] - low) % (1 << bits) + low, object).astype(dtype.numpy)


def _entries(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


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
        and not np.any(real.err.is_positive)
        and not np.any(real.adds)
    )


def _magnitude(number: Number) -> Number:
    """The magnitudes of numbers."""
    return Number(abs(number.num), number.den, number.exp, number.bits)


def _covers(array: Array, mask: Array) -> bool:
    return all(m == 1 or m == n for m, n in zip(mask.shape, array.shape, strict=True))


def _zeros(source: Real | Array) -> Real | Array:
    """A single zero in as many dimensions as a tensor has."""

    def clear(array: Array) -> Array:
        return np.zeros([1] * np.ndim(array), array.dtype)

    return source.each(clear) if isinstance(source, Real) else clear(source)
