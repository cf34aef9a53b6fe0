"""The expected outputs of a case, and those under each interpretation that changes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.binding import Binding
from conformance.core.changes import changed
from conformance.core.evaluate import Evaluation, Interval, decided
from conformance.core.moved import moved_bits
from conformance.core.operator import Interpretation, Operator, Output
from conformance.core.real import Machine, Real
from conformance.core.tiled import slack
from conformance.dtypes import DTYPES, Array, DType, name_of
from conformance.errors import ExpressionError, InvalidCase, SpecError
from conformance.model import ALL_OPEN, OPEN_BIT, Answer, Case
from conformance.spec.yaml_source import Source

Inputs = Sequence[Array | None]

IDEAL = Machine(
    DType("ideal", "float", np.dtype("f8"), np.dtype("f8"), 1 << 15, -(1 << 20), 1 << 20)
)
"""A machine that rounds nothing: what it leaves open has no value in the document either."""


def answers(
    operator: Operator, case: Case, inputs: Inputs, *, habits: Collection[str] = ()
) -> tuple[Answer, ...]:
    """Compute the expected outputs of a case.

    ``inputs`` are its tensors in the operator's order, None for those that are not given. Native
    ends are left out where they are those of precision standard. Accepted intervals hold what a
    machine with some ``habits`` of interpretations may give, too.

    Raises :class:`~conformance.errors.InvalidCase` for what the operator does not allow.
    """
    given = {
        tensor.name: array
        for tensor, array in zip(operator.inputs, inputs, strict=True)
        if array is not None
    }
    evaluations = _Evaluations(operator, case.attributes, given, habits)
    return tuple(map(evaluations.answer, operator.outputs))


class _Evaluations:
    """One case by machines of each precision; each is evaluated when it is needed."""

    def __init__(
        self,
        operator: Operator,
        attributes: Mapping[str, Any],
        inputs: Mapping[str, Array],
        habits: Collection[str],
    ) -> None:
        self.operator, self.attributes = operator, attributes
        self.habits = dict.fromkeys(habits, True)
        self._ideal = Evaluation(operator, attributes, inputs, IDEAL)
        self._by_machine = {IDEAL: self._ideal}

    def by(self, machine: Machine) -> Evaluation:
        """Return the case as a machine computes it."""
        if machine not in self._by_machine:
            self._by_machine[machine] = self._ideal.by(machine)
        return self._by_machine[machine]

    def answer(self, output: Output) -> Answer:
        """Return what an output must be."""
        dtype = DTYPES[self._ideal.dtype_of(output)]
        formats = {name: accumulator(dtype, name) for name in ("standard", "native")}
        others = self._ideal.others(output)
        if not dtype.is_float:
            evaluation = self._ideal
            if isinstance(evaluation.value(output.name), Real):  # and no index
                evaluation = self.by(Machine(evaluation.narrowest(), **self.habits))
            interval, right = evaluation.interval(output), self._ideal.output(output)
            nowhere, open_ = self._ideal.unspecified(output), interval.unspecified
            arrays = [*_between(right, interval), *(other.output(output) for other in others)]
            choices = self._ideal.choices(output)
            return Answer(
                output.name,
                dtype.name,
                right,
                open=self._open(output, {"exact": nowhere, **dict.fromkeys(formats, open_)}),
                choices=_choices(arrays) if choices is None else choices,
            )
        machines = {name: Machine(f, **self.habits) for name, f in formats.items()}
        standard = self.by(machines["standard"])
        ends = {name: self.by(machine).interval(output) for name, machine in machines.items()}
        moved = moved_bits(self._ideal, output)
        if moved is None:
            ends = {name: decided(interval, output, others) for name, interval in ends.items()}
        has_native = formats["native"] != formats["standard"]
        is_open = self._open(
            output, {name: interval.unspecified for name, interval in ends.items()}
        )
        if moved is not None:
            wide = standard.output(output, wide=True)
            each = [moved_bits(other, output) for other in others]
            return Answer(
                output.name,
                dtype.name,
                wide,
                moved,
                moved,
                moved,
                open=is_open,
                choices=_choices([moved, *(bits for bits in each if bits is not None)]),
                bits=True,
            )
        return Answer(
            name=output.name,
            dtype=dtype.name,
            expected=standard.output(output, wide=True),
            rounded=standard.output(output),
            lo=ends["standard"].lo,
            hi=ends["standard"].hi,
            lo_native=ends["native"].lo if has_native else None,
            hi_native=ends["native"].hi if has_native else None,
            open=is_open,
            slack=slack(standard, self.attributes, output, ends["standard"]),
        )

    def _open(
        self, output: Output, masks: Mapping[str, NDArray[np.bool_]]
    ) -> NDArray[np.uint8] | None:
        """The elements that are not checked, by precision; None if all are."""
        bits: Any = sum(np.where(mask, OPEN_BIT[name], 0) for name, mask in masks.items())
        stated = any(d.unspecified is not None for d in self.operator.define.values())
        # What has no value in the document is open to every machine.
        if stated and np.any(bits):
            # Ends of a machine that rounds nothing have a million bits.
            nowhere = self._ideal.unspecified(output)
            bits = bits | np.where(nowhere, ALL_OPEN, 0)
        return np.asarray(bits, np.uint8) if np.any(bits) else None


def _between(right: Array, interval: Interval) -> list[Array]:
    """What each element of whole numbers may be: the right one, and all of an interval."""
    ends = (np.where(interval.unspecified, right, end) for end in (interval.lo, interval.hi))
    lo, hi = (end.astype(object) for end in ends)
    width = np.max(hi - lo, initial=0)
    steps = range(width + 1) if width else ()
    return [right, *(np.asarray(np.minimum(lo + k, hi)).astype(right.dtype) for k in steps)]


def _choices(arrays: Sequence[Array]) -> Array | None:
    """What each element is in some arrays, each once; None where all are alike.

    They are filled up with the first, which is -1 where that is one of them.
    """
    values = np.stack(arrays, axis=-1)
    codes = values.view(DTYPES[name_of(values.dtype)].signed)
    repeated = np.zeros(values.shape, np.bool_)
    for place in range(1, len(arrays)):
        repeated[..., place] = (codes[..., :place] == codes[..., place : place + 1]).any(-1)
    most = int((~repeated).sum(-1).max(initial=0))
    if most <= 1:
        return None
    order = np.argsort(2 * repeated + (values != -1), axis=-1, kind="stable")[..., :most]
    taken, again = (np.take_along_axis(array, order, axis=-1) for array in (values, repeated))
    return np.where(again, taken[..., :1], taken)


def readings(
    operator: Operator, case: Case, inputs: Inputs, base: tuple[Answer, ...]
) -> Mapping[str, tuple[Answer, ...]]:
    """Compute the outputs under each interpretation that changes them, by name.

    ``base`` are the :func:`answers` of the case. Where several interpretations apply, their
    combinations follow, named ``a+b`` in the operator's order; one with the outputs of a smaller
    one is left out, and so is what refuses the case. What unspecified elements hold is no output.
    """
    outputs: dict[str, tuple[Answer, ...]] = {}
    single = []
    for interpretation in _applying(operator, case, inputs):
        under = _under(operator, case, inputs, (interpretation.name,))
        if under is not None and not alike(under, base):
            single.append(interpretation.name)
            outputs[interpretation.name] = under
    for count in range(2, len(single) + 1):
        for names in combinations(single, count):
            under = _under(operator, case, inputs, names)
            if under is not None and not any(alike(under, o) for o in (base, *outputs.values())):
                outputs["+".join(names)] = under
    return outputs


def alike(a: tuple[Answer, ...], b: tuple[Answer, ...]) -> bool:
    """Return whether two sets of answers accept the same outputs, unspecified elements aside."""
    return same(tuple(map(specified, a)), tuple(map(specified, b)))


def specified(answer: Answer) -> Answer:
    """Return an answer with 0 in all elements that are unspecified at every precision."""
    if answer.open is None or not (answer.open == ALL_OPEN).any():
        return answer
    nowhere = answer.open == ALL_OPEN
    names = ("expected", "rounded", "lo", "hi", "lo_native", "hi_native")
    arrays: dict[str, Any] = {name: _cleared(getattr(answer, name), nowhere) for name in names}
    choices = answer.choices
    if choices is not None:
        most = int((choices[~nowhere] != -1).sum(-1).max(initial=0))
        choices = _cleared(choices[..., :most], nowhere) if most > 1 else None
    return replace(answer, **arrays, choices=choices)


def _cleared(array: Array | None, mask: NDArray[np.bool_]) -> Array | None:
    if array is None:
        return None
    cleared: Array = array.copy()
    cleared[mask] = 0
    return cleared


def _applying(operator: Operator, case: Case, inputs: Inputs) -> Iterator[Interpretation]:
    """The interpretations whose condition holds, on any axis."""
    pairs = zip(operator.inputs, inputs, strict=True)
    shapes = {tensor.name: array.shape for tensor, array in pairs if array is not None}
    binding = Binding(operator, case.attributes, shapes, case.operands, case.types)
    for interpretation in operator.interpretations:
        if interpretation.where is None or np.any(binding.evaluate(interpretation.where)):
            yield interpretation


def _under(
    operator: Operator, case: Case, inputs: Inputs, names: tuple[str, ...]
) -> tuple[Answer, ...] | None:
    """What the outputs are under some interpretations at once; None where there is none."""
    entries = [entry for entry in operator.interpretations if entry.name in names]
    habits = {entry.habit for entry in entries if entry.habit}
    try:
        under = interpreted(operator, names)
        return answers(under, case, inputs, habits=habits)
    except (ExpressionError, InvalidCase, SpecError):
        return None


@lru_cache(maxsize=256)
def interpreted(operator: Operator, names: tuple[str, ...]) -> Operator:
    """Return an operator under some of its interpretations, one change after the other.

    Raises :class:`~conformance.errors.ExpressionError` or SpecError where they exclude each other.
    """
    for interpretation in operator.interpretations:
        if interpretation.name in names and interpretation.change:
            operator = changed(operator, interpretation.change)
    return operator


def check_interpretations(operator: Operator, source: Source) -> None:
    """Note in ``source`` each interpretation whose change does not apply to the operator's text."""
    for interpretation in operator.interpretations:
        path = ("interpretations", interpretation.name, "change")
        try:
            changed(operator, interpretation.change)
        except ExpressionError as error:
            source.problem(path, error.message, expected=error.expected, hint=error.hint)
        except SpecError as error:
            for problem in error.problems:
                source.problem(
                    path, f"under this change: {problem.message}", expected=problem.expected
                )


def accumulator(dtype: DType, precision: str) -> DType:
    """Return the least format of a sum: T for native, f32 or f64 for standard."""
    if precision == "native" or dtype.name == "f64":
        return dtype
    return DTYPES["f32"]


def same(a: tuple[Answer, ...], b: tuple[Answer, ...]) -> bool:
    """Return whether two answers accept the same outputs, whatever tiles may add to them."""
    return all(
        _equal(getattr(x, field.name), getattr(y, field.name))
        for x, y in zip(a, b, strict=True)
        for field in fields(Answer)
        if field.name not in ("name", "dtype", "slack", "bits")
    )


def _equal(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind not in "iub")
