"""A case of a definition, prepared to be evaluated under many mutants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np

from conformance.core.evaluate import Evaluation, Interval
from conformance.core.implementation import Implementation, mutated
from conformance.core.machine import Style, settled
from conformance.core.mutant_changes import HabitChange, PathChange
from conformance.core.operator import Operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES, Array, DType, name_of
from conformance.errors import ConformanceError, EvaluationError, TooLarge
from conformance.model import Case

MOST_ELEMENTS = 1 << 59
"""Elements of eight bytes that an array of numpy may have, in no memory."""

KEPT = 1 << 16
"""Elements of outputs of implementations that are kept, at most, besides those of the last one."""


class Subject:
    """A valid case with its inputs; ``outputs`` are the right ones, in the operator's types.

    ``shapes`` are further output shapes in which outputs are of interest.
    """

    def __init__(
        self,
        operator: Operator,
        case: Case,
        inputs: Sequence[Array | None],
        shapes: Collection[tuple[int, ...]] = (),
    ) -> None:
        self.operator, self.case, self.shapes = operator, case, shapes
        names = [tensor.name for tensor in operator.inputs]
        self._exact = Evaluation(operator, case.attributes, dict(zip(names, inputs, strict=False)))
        self._traced: dict[str, Evaluation] = {}
        self._intervals: dict[str, list[Interval]] = {}
        self._outputs: dict[Implementation, list[Array] | None] = {}
        self._kept = 0
        self._last_accepted: tuple[Implementation, str, list[Interval]] | None = None
        self.outputs = self._exact.outputs()

    def under(self, implementation: Implementation) -> list[Array]:
        """Return the outputs of an implementation.

        They are ``self.outputs``, the same list, where its changes have no effect in this case,
        where it gives no outputs at all, and where those have the right shapes and are too large to
        be computed: that shows nothing. Too large in other shapes, they are zeros in these.
        """
        outputs = self.computed(implementation)
        return self.outputs if outputs is None else outputs

    def computed(self, implementation: Implementation) -> list[Array] | None:
        """Return the outputs of an implementation as :meth:`under` does; None where it has none."""
        # Comparisons need the outputs of one implementation several times, and so do searches.
        if implementation not in self._outputs:
            outputs = self._computed(implementation)
            new = outputs is not None and outputs is not self.outputs
            self._kept += sum(output.size for output in outputs or ()) if new else 0
            if self._kept > KEPT:
                self._outputs.clear()
                self._kept = 0
            self._outputs[implementation] = outputs
        return self._outputs[implementation]

    def _computed(self, implementation: Implementation) -> list[Array] | None:
        try:
            evaluation = mutated(self._exact, implementation, self.case.attributes)
            if evaluation is None:
                return self.outputs
            outputs = evaluation.operator.outputs
            shapes = list(map(evaluation.shape_of, outputs))
            if min(chain(*shapes), default=0) < 0 or self._are_of_interest(shapes):
                try:
                    return evaluation.outputs()
                except TooLarge:
                    if shapes == [right.shape for right in self.outputs]:
                        return self.outputs
            dtypes = map(evaluation.dtype_of, outputs)
            return [_zeros(shape, DTYPES[d]) for shape, d in zip(shapes, dtypes, strict=True)]
        except (ConformanceError, ValueError):
            # Among them outputs that do not have as many elements as their shapes say.
            return None

    def _are_of_interest(self, shapes: Iterable[tuple[int, ...]]) -> bool:
        """Whether no output is larger than the right one, but in a shape that is of interest."""
        pairs = zip(shapes, self.outputs, strict=True)
        return all(prod(shape) <= right.size or shape in self.shapes for shape, right in pairs)

    def answers(self, implementation: Implementation) -> bool:
        """Return whether an implementation has outputs, with elements."""
        outputs = self.computed(implementation)
        return outputs is not None and all(output.size for output in outputs)

    def ends(self, implementation: Implementation, precision: str) -> list[tuple[Array, Array]]:
        """Return for each output what is accepted of an implementation that is otherwise honest.

        One that adds in another format may add in any order, and cut off what does not fit; with
        another habit its outputs alone are accepted.
        """
        return [(i.lo, i.hi) for i in self._accepted(implementation, precision)]

    def unspecified(
        self, implementation: Implementation, precision: str | None = None
    ) -> list[Array]:
        """Mark for each output the elements of an implementation that have no value to check.

        With a ``precision`` also those whose partial sums may overflow there.
        """
        unwritten = any(
            isinstance(change, PathChange) and change.template == "unwritten"
            for change in implementation.changes
        )
        if precision is None and not unwritten and not self._leaves_open:
            return [interval.unspecified for interval in _single(self.under(implementation))]
        accepted = self._accepted(implementation, precision or "standard")
        if not unwritten:
            return [interval.unspecified for interval in accepted]
        pairs = zip(accepted, self.under(implementation), strict=True)
        return [interval.unspecified | np.isnan(output) for interval, output in pairs]

    def intervals(self, precision: str = "standard") -> list[Interval]:
        """Return what is accepted of the right outputs at a precision."""
        if precision not in self._intervals:
            if precision == "exact":
                self._intervals[precision] = _single(self.outputs)
            else:
                self._intervals[precision] = self._evaluation(precision).intervals()
        return self._intervals[precision]

    @cached_property
    def _leaves_open(self) -> bool:
        """Whether elements may have no value to check though no partial sum overflows."""
        if any(array.dtype.kind in "iub" for array in self.outputs):
            return True
        return any(d.unspecified is not None for d in self.operator.define.values())

    def _accepted(self, implementation: Implementation, precision: str) -> list[Interval]:
        last = self._last_accepted
        if last is None or last[0] is not implementation or last[1] != precision:
            last = implementation, precision, self._intervals_of(implementation, precision)
            self._last_accepted = last
        return last[2]

    def _intervals_of(self, implementation: Implementation, precision: str) -> list[Interval]:
        outputs = self.under(implementation)
        if outputs is self.outputs:
            return self.intervals(precision)
        of_interest = self._are_of_interest(output.shape for output in outputs)
        if precision == "exact" or not of_interest:
            return _single(outputs)
        honest = self._evaluation(precision)
        holding = implementation.holding(self._exact.binding)
        habits = [change for change in holding if isinstance(change, HabitChange)]
        if habits:
            format_ = self._accumulator(habits[-1].style)
            if not format_:
                return _single(outputs)
            honest = self._exact.by(Machine(DTYPES[format_]))
            rest = [change for change in holding if not isinstance(change, HabitChange)]
            implementation = Implementation(self.operator, *rest)
        try:
            evaluation = mutated(honest, implementation, self.case.attributes)
            intervals = (honest if evaluation is None else evaluation).intervals()
        except EvaluationError:
            # Zeros in another shape, or indices that numbers decide which a format rounds.
            return _single(outputs)
        cuts = any(habit.style.rounding != "nearest" for habit in habits)
        return [*map(_with_cut_off, intervals)] if cuts else intervals

    def _accumulator(self, style: Style) -> str:
        """The format in which a machine adds in any order; empty if it has another habit."""
        data = next(iter(self._exact.inputs.values()))
        style = settled(style, DTYPES[name_of(data.dtype)])
        format_ = style.sums or style.computes
        plain = style == Style(computes=style.computes, sums=style.sums, rounding=style.rounding)
        return format_ if plain and format_ in DTYPES and DTYPES[format_].is_float else ""

    def _evaluation(self, precision: str) -> Evaluation:
        """The right evaluation with the errors of a machine of a precision."""
        if precision not in self._traced:
            format_ = self._accumulators[precision]
            self._traced[precision] = self._exact.by(Machine(DTYPES[format_]))
        return self._traced[precision]

    @cached_property
    def _accumulators(self) -> dict[str, str]:
        """The formats that sums are kept in, at least, by precision."""
        types = [name_of(array.dtype) for array in self._exact.inputs.values()]
        narrowest = next((name for name in types if DTYPES[name].is_float), "f32")
        return {"standard": "f64" if narrowest == "f64" else "f32", "native": narrowest}


def _zeros(shape: tuple[int, ...], dtype: DType) -> Array:
    """Zeros that take no memory: their shape says enough, and halves of one that numpy has not."""
    extents = list(shape)
    while prod(extents) > MOST_ELEMENTS:
        longest = extents.index(max(extents))
        extents[longest] //= 2
    return np.broadcast_to(dtype.numpy.type(0), extents)


def _with_cut_off(interval: Interval) -> Interval:
    """An interval with what a number in it may be if the digits that do not fit are cut off."""
    lo, hi = interval.lo, interval.hi
    with np.errstate(invalid="ignore"):  # bfloat16 has no quiet comparison of NaN
        lo = np.where(lo > 0, np.nextafter(lo, lo.dtype.type(0)), lo)
        hi = np.where(hi < 0, np.nextafter(hi, hi.dtype.type(0)), hi)
    return Interval(lo, hi, interval.unspecified)


def _single(outputs: Sequence[Array]) -> list[Interval]:
    """The intervals of outputs that alone are accepted."""
    return [
        Interval(output, output, np.broadcast_to(np.False_, output.shape)) for output in outputs
    ]
