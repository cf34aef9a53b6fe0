"""A case of a definition, prepared to be evaluated under many mutants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from math import prod

import numpy as np

from conformance.core.evaluate import Evaluation, Interval
from conformance.core.implementation import Implementation, mutated
from conformance.core.mutant_changes import PathChange
from conformance.core.operator import Operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import ConformanceError
from conformance.model import Case


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
        self._last_outputs: tuple[Implementation, list[Array] | None] | None = None
        self._last_accepted: tuple[Implementation, str, list[Interval]] | None = None
        self.outputs = self._exact.outputs()

    def under(self, implementation: Implementation) -> list[Array]:
        """Return the outputs of an implementation.

        They are ``self.outputs``, the same list, where its changes have no effect in this case, and
        where it gives no outputs at all: what cannot be computed shows nothing.
        """
        outputs = self.computed(implementation)
        return self.outputs if outputs is None else outputs

    def computed(self, implementation: Implementation) -> list[Array] | None:
        """Return the outputs of an implementation as :meth:`under` does; None where it has none."""
        # Comparisons need the outputs of one implementation several times in a row.
        if self._last_outputs is None or self._last_outputs[0] is not implementation:
            self._last_outputs = implementation, self._computed(implementation)
        return self._last_outputs[1]

    def _computed(self, implementation: Implementation) -> list[Array] | None:
        try:
            evaluation = mutated(self._exact, implementation, self.case.attributes)
            if evaluation is None:
                return self.outputs
            return self._unlike(evaluation) or evaluation.outputs()
        except (ConformanceError, ValueError):
            # Among them outputs that do not have as many elements as their shapes say.
            return None

    def _unlike(self, evaluation: Evaluation) -> list[Array] | None:
        """Outputs of zeros where some are larger than the right ones, and of no interest.

        None where that is not so. Their shapes say enough, and they take no memory.
        """
        shapes = list(map(evaluation.shape_of, self.operator.outputs))
        for shape, right in zip(shapes, self.outputs, strict=True):
            if prod(shape) > right.size and min(shape, default=0) >= 0 and shape not in self.shapes:
                dtypes = (output.dtype for output in self.outputs)
                return [np.broadcast_to(d.type(0), s) for d, s in zip(dtypes, shapes, strict=True)]
        return None

    def answers(self, implementation: Implementation) -> bool:
        """Return whether an implementation has outputs, with elements."""
        outputs = self.computed(implementation)
        return outputs is not None and all(output.size for output in outputs)

    def ends(self, implementation: Implementation, precision: str) -> list[tuple[Array, Array]]:
        """Return for each output what is accepted of an implementation that is otherwise honest.

        Of a machine with a habit that are its outputs alone.
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
            return [np.zeros(array.shape, np.bool_) for array in self.under(implementation)]
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
        if any(array.dtype.kind in "iu" for array in self.outputs):
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
        alike = all(
            output.size <= right.size or output.shape in self.shapes
            for output, right in zip(outputs, self.outputs, strict=True)
        )
        if precision == "exact" or implementation.accumulators or not alike:
            return _single(outputs)
        evaluation = mutated(self._evaluation(precision), implementation, self.case.attributes)
        return self.intervals(precision) if evaluation is None else evaluation.intervals()

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


def _single(outputs: Sequence[Array]) -> list[Interval]:
    """The intervals of outputs that alone are accepted."""
    return [Interval(output, output, np.zeros(output.shape, np.bool_)) for output in outputs]
