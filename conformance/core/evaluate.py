"""Evaluates a case: each definition over its index space, its values and its accepted intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core import bounds, exact
from conformance.core.binding import Binding
from conformance.core.distinct import Distinct
from conformance.core.exact import Ball, Number, precision
from conformance.core.index_space import Combined, IndexSpace, Part, Result, concatenated
from conformance.core.operator import Definition, Operator, Output
from conformance.core.real import WITHOUT_ROUNDING, Machine, Real, source
from conformance.core.tree import Kind, Node, constant
from conformance.dtypes import DTYPES, Array, DType, name_of
from conformance.errors import EvaluationError, InvalidCase, TooLarge

FIRST_PRECISION = 96
MAX_PRECISION = 6000
"""Bits of balls. What is not decided by the last is on the boundary of two values: the root of a
rational number that is further off differs from a boundary by more (degrees below 5, f64)."""

BLOCK = 1 << 19
"""Terms that are evaluated at once: some 50 MB with all that is traced of them."""


PART = 1 << 17
"""Elements whose intervals are computed at once: some 50 MB."""


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

    reads_anything = False
    """Whether a read outside of a tensor has some value, as a program's has, and is no error."""

    errors: dict[tuple[object, int], Array]
    """Those of coordinates, on each axis."""

    unsure: set[int]

    most_terms: float = inf
    """Terms of a definition that are evaluated; those that certainly do not count are no terms."""

    most_at_once: float = inf
    """Terms that are in memory at once, where a result has no more to be divided by."""

    sides: Mapping[int, int] | None = None
    """To which side of itself a coordinate leans on an axis, by its error: -1 or 1.

    Without it nothing is asked of errors; those axes are ``unsure`` on which one may decide."""

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
        self.operands = {
            tensor.name: self.inputs[tensor.name].ravel().tolist()
            for tensor in operator.inputs
            if tensor.entries is not None and tensor.name in self.inputs
        }
        self.binding = Binding(operator, attributes, shapes, self.operands, self._types())
        self._compute_by(machine)
        broken = self.binding.violations()
        if broken:
            raise InvalidCase(f"{operator.op}: {', '.join(broken)} does not hold", broken)

    def _compute_by(self, machine: Machine | None) -> None:
        # Whole numbers are computed as such: nothing of them may be off.
        self.machine = machine if any(map(_is_float, self.inputs.values())) else None
        self._sources: dict[str, Real | Array] = {}
        self._results: dict[str, Result] = {}
        self._combined: dict[str, Combined] = {}
        self._arrays: dict[tuple[str, str], Array] = {}
        self._holding: dict[tuple[str, str], NDArray[np.bool_]] = {}
        self.decides = False  # whether a coordinate has decided something

    def by(self, machine: Machine | None) -> Evaluation:
        """Return the same case as another machine computes it."""
        other = copy(self)
        other._compute_by(machine)
        return other

    def others(self, output: Output) -> list[Evaluation]:
        """Return the case with coordinates to either side on each axis where that may matter.

        Coordinates are those of ``computed``; there are none where no error decides anything.
        """
        if not self.operator.has_coordinates:
            return []
        self.value(output.name)
        if not self.decides:
            return []
        asking = self._leaning({})
        asking.value(output.name)
        axes = sorted(asking.unsure)
        each = product((-1, 1), repeat=len(axes)) if axes else ()
        return [asking._leaning(dict(zip(axes, sides, strict=True))) for sides in each]

    def _leaning(self, sides: Mapping[int, int]) -> Evaluation:
        other = self.by(None)
        if self.sides is None:
            other.errors, other.unsure = {}, set()
        other.sides = sides
        return other

    def narrowest(self, *formats: DType) -> DType:
        """Return the format of the fewest digits of some and those of the data."""
        given = (DTYPES[name_of(array.dtype)] for array in self.inputs.values())
        formats = (*formats, *(format_ for format_ in given if format_.is_float))
        return min(formats, key=lambda format_: format_.digits, default=DTYPES["f32"])

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

    def _types(self) -> dict[str, str]:
        """The element type of each type variable: of the inputs, or the first that it can be."""
        first = {variable: dtypes[0] for variable, dtypes in self.operator.types.items()}
        tensors = self.operator.tensors
        return first | {tensors[n].type: name_of(a.dtype) for n, a in self.inputs.items()}

    def input(self, name: str) -> Real | Array:
        """Return an input: reals, truth values, or whole numbers that indices may use."""
        if name not in self._sources:
            array = self.inputs[name]
            dtype = DTYPES[name_of(array.dtype)]
            holds = self.operator.names.scope[name].holds
            if holds == "real":
                self._sources[name] = source(array, dtype, self.machine)
            else:
                self._sources[name] = array.astype(np.bool_ if holds == "bool" else np.int64)
        return self._sources[name]

    def with_input(self, name: str, array: Array) -> Evaluation:
        """Return the case with an input in a shape that it stretches to."""
        other = self.by(self.machine)
        other.inputs = {**self.inputs, name: array}
        return other

    def put(self, name: str, numbers: Real) -> None:
        """Take other numbers for an input, of its shape."""
        self._sources[name] = numbers

    def know(self, name: str, result: Result) -> None:
        """Take what a definition gives as it is."""
        self._results[name] = result

    def type_of(self, name: str) -> DType:
        """Return the element type that an input is computed in."""
        return DTYPES[name_of(self.inputs[name].dtype)]

    def value(self, name: str) -> Real | Array:
        """Return a definition's value, computed on first use."""
        return self.result(name).value

    def result(self, name: str) -> Result:
        """Return what a definition gives, computed on first use."""
        if name not in self._results:
            self._results[name] = self.in_blocks(self.operator.define[name])
        return self._results[name]

    def in_blocks(self, definition: Definition) -> Result:
        """Compute a definition, part by part of its longest index where there are many terms.

        The definition is the operator's of its name, or combines alike: what terms combine to is
        computed once. Raises :class:`~conformance.errors.TooLarge` for more terms than are
        evaluated.
        """
        space = self.space(definition)
        known = self._combined.get(definition.name) or self._searched(definition)
        if known is not None:
            space.take(known)
            return space.finish()
        space = space.without_unread()
        size = space.size
        extent = max((1, *space.shape[: space.rows]))
        if size > min(self.most_terms, extent * self.most_at_once):
            raise TooLarge(f"{definition.name} is too large")
        if size <= BLOCK or not space.rows:
            combined = space.combine()
            if combined is not None:
                self._combined[definition.name] = combined
            return space.finish()
        axis = space.shape.index(extent)
        count = max(1, extent * BLOCK // size)
        parts = []
        for first in range(0, extent, count):
            part = self.space(definition, (axis, slice(first, first + count))).without_unread()
            part.combine()
            parts.append(part.finish())
        return concatenated(parts, axis)

    def _searched(self, definition: Definition) -> Combined | None:
        """What the best of some terms is, if another definition chooses among the same."""
        name = self.operator.searches.get(definition.name)
        if name is None or self.machine is not None:  # which is chosen is not decided by errors
            return None
        self.result(name)
        return self._combined.get(name)

    def holds(self, name: str, elements: str) -> NDArray[np.bool_]:
        """Return of which elements of a definition a condition holds."""
        if (name, elements) not in self._holding:
            definition = self.operator.define[name]
            condition = self.operator.element_condition(definition, elements)
            kind = Kind("int", indices=condition.kind.indices)
            marks = Node("where", (condition, constant(1), constant(0)), kind)
            value = self.in_blocks(replace(definition, finish=marks)).value
            self._holding[name, elements] = np.asarray(value == 1)
        return self._holding[name, elements]

    def combined(self, name: str) -> Combined | None:
        """Return what the terms of a definition combine to, if that is computed and kept."""
        return self._combined.get(name)

    def space(self, definition: Definition, part: Part | None = None) -> IndexSpace:
        """Return a definition over its index space, or over a part of it."""
        return IndexSpace(self, definition, part)

    def positions(
        self, _definition: Definition, _extents: Mapping[str, Any], axes: list[NDArray[np.int64]]
    ) -> list[NDArray[np.int64]]:
        """Return the positions along each axis of an index space, which are all of ``axes``."""
        return axes

    def outputs(self, wide: bool = False) -> list[Array]:
        """Return each output in its type, rounded once from the exact value.

        Where ``wide``, numbers that are not whole are in float64.
        """
        return [self.output(output, wide) for output in self.operator.outputs]

    def output(self, output: Output, wide: bool = False) -> Array:
        """Return one of the :meth:`outputs`."""
        return self._arranged(output, self.rounded(output, self._dtype(output, wide)))

    def _dtype(self, output: Output, wide: bool) -> DType:
        dtype = DTYPES[self.dtype_of(output)]
        return DTYPES["f64"] if wide and dtype.is_float else dtype

    def intervals(self) -> list[Interval]:
        """Return what is accepted of each output; of whole numbers, the value alone.

        Any value passes where coordinates that are rounded decide otherwise.
        """
        return [
            decided(self.interval(output), output, self.others(output))
            for output in self.operator.outputs
        ]

    def interval(self, output: Output) -> Interval:
        """Return what is accepted of an output."""
        with precision(FIRST_PRECISION):
            value = self.value(output.name)
            dtype = DTYPES[self.dtype_of(output)]
            if not isinstance(value, Real) or not dtype.is_float:
                array = self._arranged(output, self.rounded(output, dtype))
                unspecified = self.result(output.name).unspecified
                if isinstance(value, Real) and isinstance(value.value, Number):
                    fits = _fits_type(value.value, dtype, self._rounding_of(output))
                    unspecified = unspecified | ~fits
                right = Interval(array, array, self._arranged(output, unspecified))
                return reduce(_joined, self._leaning_to_sides(output, value), right)
            return self.accepted(output, value)

    def _leaning_to_sides(self, output: Output, value: Real | Array) -> Iterator[Interval]:
        """What an output of whole numbers is where those that it is made of lean to either side."""
        machine = self.machine
        if machine is None or not isinstance(value, Real):
            return
        if machine.leans or machine.format.digits >= WITHOUT_ROUNDING:
            return
        machine = replace(machine, format=self.narrowest(machine.format))
        if machine == self.machine and not np.any(value.wrong.is_positive):
            return
        for side in (-1, 1):
            other = self.by(replace(machine, leans=side))
            interval, leaning = other.interval(output), other.value(output.name)
            assert isinstance(leaning, Real)
            unknown = self._arranged(output, bounds.unspecified(leaning))
            yield replace(interval, unspecified=interval.unspecified | unknown)

    def dtype_of(self, output: Output) -> str:
        """Return the element type of an output.

        It is stated, the word of an attribute, or that of its variable.
        """
        if output.type in DTYPES:
            return output.type
        if output.type in self.operator.attributes:
            return str(self.binding.value(output.type))
        return self.binding.types[output.type]

    def rounded(self, output: Output, dtype: DType) -> Array:
        """Return the elements of an output in a type, in the shape of its definition."""
        key = output.name, dtype.name
        if key not in self._arrays:
            self._arrays[key] = self._rounded(output, dtype)
        return self._arrays[key]

    def _rounded(self, output: Output, dtype: DType) -> Array:
        bits, evaluation = FIRST_PRECISION, self
        while True:
            with precision(bits):
                value = evaluation.value(output.name)
                if not isinstance(value, Real):
                    return value.astype(dtype.numpy)
                if isinstance(value.value, Number):
                    rounding = self._rounding_of(output)
                    number = bounds.leaned(value) if rounding else value.value
                    assert isinstance(number, Number)
                    return _in_type(number, dtype, rounding)
                array = exact.decided(value.value, dtype)
                if array is not None:
                    return array
                if bits >= MAX_PRECISION:
                    return exact.rounded_tie(value.value, dtype)
            bits *= 4
            evaluation = self.by(None)  # nothing but the value is wanted

    def _rounding_of(self, output: Output) -> str:
        """How an output of integers is rounded."""
        return self.operator.define[output.name].rounding

    def unspecified(self, output: Output) -> NDArray[np.bool_]:
        """Return where any value of an output passes."""
        with precision(FIRST_PRECISION):
            value = self.value(output.name)
            if not isinstance(value, Real) or not DTYPES[self.dtype_of(output)].is_float:
                return self.interval(output).unspecified
            return self._arranged(output, bounds.unspecified(value))

    def choices(self, output: Output) -> Array | None:
        """Return the whole numbers that are allowed for each element of an output.

        They are on a last axis, filled up with -1; None where each element has a single one.
        """
        choices = self.result(output.name).choices
        if choices is None:
            return None
        dtype = DTYPES[self.dtype_of(output)].numpy
        return choices.astype(dtype).reshape((*self.shape_of(output), -1))

    def accepted(self, output: Output, value: Real) -> Interval:
        """Return what is accepted of an output of floating-point numbers, given its value."""
        dtype, shape = DTYPES[self.dtype_of(output)], value.value.array.shape
        ends: Iterable[Array] = ()
        distinct = Distinct.of([value], shape) if isinstance(value.value, Ball) else None
        if distinct is not None:
            few = distinct.one_of_each(value)
            ends = map(distinct.spread, bounds.interval(few, dtype))
        elif prod(shape) <= PART:
            ends = bounds.interval(value, dtype)
        else:
            axis = int(np.argmax(shape))
            parts = [bounds.interval(part, dtype) for part in _parts(value, axis)]
            ends = (np.concatenate(arrays, axis) for arrays in zip(*parts, strict=True))
        return Interval(*(self._arranged(output, array) for array in ends))

    def shape_of(self, output: Output) -> tuple[int, ...]:
        """Return the shape of an output: as stated, or that of its definition, less some.

        Raises :class:`~conformance.errors.EvaluationError` where it has not as many elements.
        """
        given = self.binding.flat(list(self.operator.define[output.name].at.values()))
        if output.shape:
            shape = self.binding.flat(output.shape)
        else:
            omit = self.binding.flat(output.omit) or (0,) * len(given)
            shape = tuple(n for n, gone in zip(given, omit, strict=True) if not gone)
        if prod(shape) != prod(given):
            raise EvaluationError(f"{output.name} has the shape {shape} and {prod(given)} elements")
        return shape

    def _arranged(self, output: Output, array: Array) -> Array:
        return np.asarray(array).reshape(self.shape_of(output))


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


def _parts(value: Real, axis: int) -> Iterator[Real]:
    """Numbers part by part of an axis, so that bounds of few are in memory at once."""
    extent = value.value.array.shape[axis]
    count = max(1, extent * PART // value.value.array.size)
    for first in range(0, extent, count):
        part = (*[slice(None)] * axis, slice(first, first + count))
        yield value.each(partial(_at, part))


def _at(part: tuple[slice, ...], array: Array) -> Array:
    return np.asarray(array[part])


def _is_float(array: Array) -> bool:
    return DTYPES[name_of(array.dtype)].is_float


def _fits_type(value: Number, dtype: DType, rounding: str) -> NDArray[np.bool_]:
    low, high = dtype.limits
    whole, has_value = exact.whole_parts(value, rounding)
    return np.asarray(has_value & (whole >= low) & (whole <= high), np.bool_)


def _in_type(value: Number, dtype: DType, rounding: str) -> Array:
    """Numbers in a type; of integer types those that are too large wrap around.

    An infinity is the greatest or the lowest number there.
    """
    if dtype.is_float:
        return exact.rounded(value, dtype)
    low, high = dtype.limits
    count = high - low + 1
    whole = np.asarray((exact.whole_parts(value, rounding)[0] - low) % count + low, object)
    array: Array = whole.astype(dtype.numpy)
    if value.special is None:
        return array
    array = np.where(np.isposinf(value.special), high, array)
    return np.where(np.isneginf(value.special), low, array).astype(dtype.numpy)


def _joined(a: Interval, b: Interval) -> Interval:
    """Both intervals, and what lies between them."""
    lo, hi = np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi)
    return Interval(lo, hi, a.unspecified | b.unspecified)


def decided(interval: Interval, output: Output, others: Iterable[Evaluation]) -> Interval:
    """Return an interval in which any value passes where others lie outside of it."""
    for other in others:
        array = other.output(output)
        with np.errstate(invalid="ignore"):
            inside = (interval.lo <= array) & (array <= interval.hi)
        inside |= (array != array) & (interval.lo != interval.lo)
        interval = replace(interval, unspecified=interval.unspecified | ~inside)
    return interval
