"""An operator under some changes, and the evaluation of one case as it computes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core import bounds, exact
from conformance.core.binding import Binding
from conformance.core.changes import Change, changed, condition, is_around, unchanged
from conformance.core.evaluate import FIRST_PRECISION, Evaluation
from conformance.core.exact import Number, precision
from conformance.core.index_space import Result
from conformance.core.machine import EXACT, Simulation, Style, settled
from conformance.core.mutant_changes import (
    DefinitionChange,
    HabitChange,
    PathChange,
    StretchChange,
    TextChange,
)
from conformance.core.operator import Definition, Operator, Output
from conformance.core.real import Machine, Real, source
from conformance.core.real import constant as real_constant
from conformance.core.stretch_mutants import stretched
from conformance.dtypes import DTYPES, Array, DType, converted, name_of
from conformance.errors import ConformanceError, EvaluationError, InvalidCase

MAX_TERMS = 1 << 26
"""Terms of a definition beyond which no mutant is evaluated: seconds of work."""

MAX_TERMS_AT_ONCE = 1 << 22
"""Terms beyond which none is that cannot be divided: some 400 MB. Where an output has another shape
than the right one, which says enough, none is beyond so many at all."""

Positions = NDArray[np.int64]


class Implementation:
    """An operator under some changes, ready to be evaluated on many cases."""

    def __init__(self, operator: Operator, *changes: DefinitionChange) -> None:
        self.operator, self.changes = operator, changes
        self._operators: dict[tuple[TextChange, ...], Operator] = {(): operator}

    @property
    def accumulators(self) -> tuple[str, ...]:
        """The names of the changes that say how sums are kept."""
        return tuple(c.name for c in self.changes if isinstance(c, HabitChange))

    def beside(self, *changes: DefinitionChange) -> Implementation | None:
        """Return the implementation with further changes.

        None where they make no sense together, or write anew what another has written. A text
        around what was there is around what others make of it, too, in their order.
        """
        every = (*self.changes, *changes)
        edits = [
            edit for change in every if isinstance(change, TextChange) for edit in change.edits
        ]
        locations = [location for location, _, _ in edits]
        anew = [location for location, part, text in edits if not part and not is_around(text)]
        parts = [(location, part) for location, part, _ in edits if part]
        if len(set(parts)) < len(parts) or any(locations.count(at) > 1 for at in anew):
            return None
        together = Implementation(self.operator, *every)
        try:
            together.under(every)
        except ConformanceError:
            return None
        return together

    def holding(self, binding: Binding) -> tuple[DefinitionChange, ...]:
        """Return the changes whose conditions hold in a case."""
        return tuple(c for c in self.changes if not c.where or self._holds(binding, c.where))

    def _holds(self, binding: Binding, where: str) -> bool:
        try:
            value = binding.evaluate(condition(self.operator, where))
        except (EvaluationError, InvalidCase):
            return False  # it speaks of what the case does not have
        return bool(all(value) if isinstance(value, tuple) else value)

    def under(self, changes: Iterable[DefinitionChange]) -> Operator:
        """Return the operator under those of some changes that are changes of its text.

        Raises :class:`~conformance.errors.ExpressionError` and SpecError for changes that make no
        sense, or not together.
        """
        texts = tuple(change for change in changes if isinstance(change, TextChange))
        if texts not in self._operators:
            # Parts come first: a text around them might have a part once more.
            edits = sorted((edit for text in texts for edit in text.changes), key=_is_whole)
            self._operators[texts] = changed(self.operator, *edits)
        return self._operators[texts]


@lru_cache(maxsize=4096)
def implementation_of(operator: Operator, *changes: DefinitionChange) -> Implementation:
    """Return an operator under some changes, whose texts are read once."""
    return Implementation(operator, *changes)


class _Mutated(Evaluation):
    """An evaluation of a valid case under changes; what they do not reach is taken from another."""

    reads_anything = True
    most_terms: float = MAX_TERMS
    most_at_once = MAX_TERMS_AT_ONCE

    def __init__(
        self,
        original: Evaluation,
        operator: Operator,
        paths: tuple[PathChange, ...],
        attributes: Mapping[str, Any],
    ) -> None:
        self.operator, self.paths = operator, paths
        self.inputs, self.machine = original.inputs, original.machine
        self.operands = original.operands
        self.original = original
        self._sources, self._combined, self._arrays = original._sources, {}, {}
        self._holding, self._results = {}, {}
        self._mixed: dict[str, Result] = {}
        if operator.attributes == original.operator.attributes:
            self.binding = original.binding.under(operator)
        else:
            shapes = {name: array.shape for name, array in self.inputs.items()}
            types = original.binding.types
            self.binding = Binding(operator, attributes, shapes, original.operands, types)
        pairs = zip(operator.outputs, original.operator.outputs, strict=True)
        if any(self.shape_of(output) != original.shape_of(right) for output, right in pairs):
            self.most_terms = MAX_TERMS_AT_ONCE
        self.limit: tuple[str, Evaluation] | None = None
        self._take_from(original)

    def _take_from(self, original: Evaluation) -> None:
        """Take what the changes do not reach, and what terms combine to where only ends differ."""
        kept = unchanged(original, self)
        lost: set[str] = set()
        for name, definition in self.operator.define.items():
            moved = any(p.definition == name and self._shows(p) for p in self.paths)
            if moved or not lost.isdisjoint(definition.names):
                lost.add(name)
        self.unchanged = kept.definitions - lost
        self._results = {name: original.result(name) for name in self.unchanged}
        self.decides = original.decides
        for name in kept.combined - lost:
            original.result(name)
            combined = original.combined(name)
            if combined is not None:
                self._combined[name] = combined

    def keeps_outputs(self, original: Evaluation) -> bool:
        """Return whether outputs certainly have the elements, shapes and types of another's."""
        pairs = zip(self.operator.outputs, original.operator.outputs, strict=True)
        return all(self._keeps(output, right, original) for output, right in pairs)

    def _keeps(self, output: Output, right: Output, original: Evaluation) -> bool:
        if not self._keeps_elements(output.name):
            return False
        if self.dtype_of(output) != original.dtype_of(right):
            return False
        return all(
            self.binding.flat(nodes) == original.binding.flat(right_nodes)
            for nodes, right_nodes in ((output.shape, right.shape), (output.omit, right.omit))
        )

    def _keeps_elements(self, name: str) -> bool:
        if self.limit is None:
            return name in self.unchanged
        elements, otherwise = self.limit
        shapes = (
            evaluation.binding.flat([*evaluation.operator.define[name].at.values()])
            for evaluation in (self, otherwise)
        )
        return len({*shapes}) == 1 and not otherwise.holds(name, elements).any()

    def _shows(self, path: PathChange) -> bool:
        """Whether a path has both a full block and something else."""
        definition = self.operator.define[path.definition]
        tree = {**definition.at, **definition.over}[path.index]
        return bool(wrong_part_exists(prod(along(self.binding.evaluate(tree), path.axis)), path))

    def result(self, name: str) -> Result:
        """Return what a definition gives, computed on first use, as the paths leave it."""
        if self.limit is None or name in self.unchanged:
            return self._everywhere(name)
        if name not in self._mixed:
            self._mixed[name] = self._limited(name, self._everywhere(name))
        return self._mixed[name]

    def _everywhere(self, name: str) -> Result:
        """What a definition gives if the changes are of all elements."""
        if name not in self._results:
            result = super().result(name)
            for path in self.paths:
                if path.definition == name and path.index in self.operator.define[name].at:
                    result = replace(result, value=self._on_path(result.value, path))
            self._results[name] = result
        return self._results[name]

    def _rounded(self, output: Output, dtype: DType) -> Array:
        """Round the elements that are not those of an evaluation whose are rounded already."""
        elements, known = self.limit or ("", self.original)
        with precision(FIRST_PRECISION):
            own, theirs = self._everywhere(output.name).value, known.value(output.name)
            if not (dtype.is_float and isinstance(own, Real) and isinstance(theirs, Real)):
                return super()._rounded(output, dtype)
            shape = own.value.array.shape
            if shape != theirs.value.array.shape:
                return super()._rounded(output, dtype)
            differing = exact.differ(own.value, theirs.value)
            if elements:
                differing = differing & known.holds(output.name, elements)
            others = own.value.each(lambda array: np.broadcast_to(array, shape)[differing])
            part = exact.decided(others, dtype)
            if part is None:
                return super()._rounded(output, dtype)
        array = known.rounded(output, dtype).copy()
        array[differing] = part
        return array

    def limited(self, elements: str, otherwise: Evaluation) -> None:
        """Take other outputs where a condition on elements does not hold."""
        self.limit = elements, otherwise

    def by(self, machine: Machine | None) -> Evaluation:
        """Return the same case as another machine computes it, elements left alone among them."""
        other = copy(self)
        other._compute_by(machine)
        other._mixed = {}
        if other.limit is not None:
            elements, otherwise = other.limit
            other.limit = elements, otherwise.by(machine)
        return other

    def _limited(self, name: str, result: Result) -> Result:
        """A result, or another one in the elements that a change leaves alone."""
        if self.limit is None or all(name != output.name for output in self.operator.outputs):
            return result
        elements, otherwise = self.limit
        right = otherwise.result(name)
        if right.unspecified.shape != result.unspecified.shape:
            return result  # of another shape all is its own
        mask = otherwise.holds(name, elements)
        unspecified = np.where(mask, result.unspecified, right.unspecified)
        if not isinstance(result.value, Real) and not isinstance(right.value, Real):
            return Result(np.where(mask, result.value, right.value), unspecified, result.choices)
        # A change may give a plain number where there were sums, or the other way round.
        reals = [
            value if isinstance(value, Real) else real_constant(value, self.machine)
            for value in (result.value, right.value)
        ]
        return Result(bounds.choose(mask, *reals), unspecified)

    def _on_path(self, value: Real | Array, path: PathChange) -> Real | Array:
        """A value of which part is not as the right path has it."""
        definition = self.operator.define[path.definition]
        first = 0
        for name, tree in definition.at.items():
            extent = self.binding.evaluate(tree)
            if name == path.index:
                break
            first += len(extent) if isinstance(extent, tuple) else 1
        shape = np.shape(value.value.array if isinstance(value, Real) else value)
        size = along(extent, path.axis)
        axis = first + (len(extent) - 1 if path.axis == "last" else 0)
        merged = (*shape[:axis], prod(size), *shape[axis + len(size) :])
        wrong = _wrong_part(prod(size), path)
        if not wrong.any():
            return value
        neighbour = np.maximum(np.arange(len(wrong)) - wrong, 0)

        def take(array: Array) -> Array:
            return array.reshape(merged).take(neighbour, axis).reshape(shape)

        if path.template == "neighbour":
            return value.each(take) if isinstance(value, Real) else take(value)
        mask = wrong.reshape([-1 if d == axis else 1 for d in range(len(merged))])
        mask = np.broadcast_to(mask, merged).reshape(shape)
        return self._filled(value, mask, np.nan if path.template == "unwritten" else 0.0)

    def _filled(self, value: Real | Array, mask: NDArray[np.bool_], filler: float) -> Real | Array:
        if not isinstance(value, Real):
            return np.where(mask, value.dtype.type(0), value)
        blank = source(np.asarray(filler, np.float32), DTYPES["f32"], self.machine)
        return bounds.choose(mask, blank, value)

    def positions(
        self, definition: Definition, extents: Mapping[str, Any], axes: list[Positions]
    ) -> list[Positions]:
        """Return the positions along each axis, those combined away as the paths visit them."""
        for path in self.paths:
            if path.definition != definition.name or path.index not in definition.over:
                continue
            first = 0
            for name, extent in extents.items():
                count = len(extent) if isinstance(extent, tuple) else 1
                if name == path.index:
                    axis = first + (count - 1 if path.axis == "last" else 0)
                    axes[axis] = _visited(axes[axis], path)
                first += count
        return axes


class _MutatedMachine(_Mutated, Simulation):
    """A mutated evaluation on a machine of some style."""

    _rounded = Simulation._rounded

    def __init__(
        self,
        original: Evaluation,
        operator: Operator,
        paths: tuple[PathChange, ...],
        attributes: Mapping[str, Any],
        style: Style,
    ) -> None:
        self.style = style
        super().__init__(original, operator, paths, attributes)
        self._sources, self._results, self._combined = {}, {}, {}

    def _filled(self, value: Real | Array, mask: NDArray[np.bool_], filler: float) -> Real | Array:
        if not isinstance(value, Real):
            return np.where(mask, value.dtype.type(0), value)
        assert isinstance(value.value, Number)
        return Real(Number(np.where(mask, filler, value.value.num)))


class _MutatedInputs(_Mutated):
    """A mutated evaluation, exact but for inputs that pass through the format of a style."""

    def __init__(
        self,
        original: Evaluation,
        operator: Operator,
        paths: tuple[PathChange, ...],
        attributes: Mapping[str, Any],
        style: Style,
    ) -> None:
        self.style = style
        super().__init__(original, operator, paths, attributes)
        self._sources, self._results, self._combined = {}, {}, {}
        if style.converts:
            self.inputs = {
                name: self._passed(array) if isinstance(original.input(name), Real) else array
                for name, array in self.inputs.items()
            }

    def type_of(self, name: str) -> DType:
        """Return the format that an input passes through, where it has fractions."""
        given = super().type_of(name)
        through = DTYPES[self.style.converts or given.name]
        return through if given.is_float and through.is_float else given

    def _passed(self, array: Array) -> Array:
        """An array whose elements went through the format of the style."""
        through = converted(array, DTYPES[self.style.converts], saturates=self.style.clamps)
        return converted(through, DTYPES[name_of(array.dtype)])


def mutated(
    original: Evaluation,
    implementation: Implementation,
    attributes: Mapping[str, Any],
) -> Evaluation | None:
    """Prepare the evaluation of a valid case under an implementation.

    ``original`` is that of the operator. None where nothing that the implementation changes has
    another value in this case. Raises
    :class:`~conformance.errors.ConformanceError` where it cannot be evaluated.
    """
    holding = implementation.holding(original.binding)
    if not holding:
        return None
    return _under(original, implementation, sorted(holding, key=_elements), attributes)


def _elements(change: DefinitionChange) -> str:
    """The condition on elements of a change, if it has one."""
    return change.elements if isinstance(change, TextChange) else ""


def _is_whole(change: Change) -> bool:
    """Whether a change of one place is of all of its text."""
    return any(isinstance(text, str) for text in change.values())


def _under(
    original: Evaluation,
    implementation: Implementation,
    holding: Sequence[DefinitionChange],
    attributes: Mapping[str, Any],
) -> Evaluation | None:
    """The evaluation under changes; those of some elements alone come last, one after the other."""
    operator, given = implementation.under(holding), original
    for change in holding:
        if isinstance(change, StretchChange):
            original = stretched(original, change)
    paths = tuple(change for change in holding if isinstance(change, PathChange))
    styles = [change.style for change in holding if isinstance(change, HabitChange)]
    if styles:
        data = next(iter(original.inputs.values()))
        style = settled(styles[-1], DTYPES[name_of(data.dtype)])
        kind = _MutatedInputs if style.computes == EXACT else _MutatedMachine
        return kind(original, operator, paths, attributes, style)
    evaluation = _Mutated(original, operator, paths, attributes)
    if evaluation.keeps_outputs(original):
        return None if original is given else original
    elements = _elements(holding[-1])
    if not elements:
        return evaluation
    before = _under(original, implementation, holding[:-1], attributes) if holding[1:] else None
    evaluation.limited(elements, before or original)
    return before if evaluation.keeps_outputs(before or original) else evaluation


def along(extent: Any, axis: str) -> tuple[Any, ...]:
    """Return the extents of an index along an axis of it, or all."""
    extents = extent if isinstance(extent, tuple) else (extent,)
    if axis == "first":
        return extents[:1]
    return extents[-1:] if axis == "last" else extents


def wrong_part_exists(size: Any, path: PathChange) -> Any:
    """Return whether an index of some extents has both a full block and something else."""
    rest = (size % path.block > 0) | path.template.endswith("block")
    return (size > path.block) & rest


def _wrong_part(size: int, path: PathChange) -> NDArray[np.bool_]:
    """Where along an index a path is wrong."""
    at, block = np.arange(size), path.block
    if size <= block:
        return np.zeros(size, np.bool_)
    if path.template == "first_block":
        return np.asarray(at >= block)
    if path.template == "last_block":
        return np.asarray(at < size - block)
    return np.asarray(at >= size - size % block)


def _visited(axis: Positions, path: PathChange) -> Positions:
    """The positions that a path combines."""
    wrong = _wrong_part(len(axis), path)
    return np.concatenate([axis, axis[wrong]]) if path.template == "twice" else axis[~wrong]
