"""Sends designed inputs to a backend and takes the bits of its results."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES, Array, name_of
from conformance.grade.outcome import Ending, Outcome, describe_value
from conformance.model import Case, Vector
from conformance.probe.designed_cases import WindowForm, case_of_form, make_vector
from conformance.probe.designs import designed_inputs, space_of
from conformance.probe.models import Codes, Space, codes
from conformance.probe.special import Predict, SpecialInput, of_maxima, of_means
from conformance.run.pipeline import Pipeline

DESIGNED = "designed"

CallKey = tuple[str, str, str]
"""Operator, element type and shape of windows."""


@dataclass(frozen=True)
class ProbePlane:
    """One designed input: the property that it tests, and its content in words."""

    about: str
    name: str


@dataclass(frozen=True, eq=False)
class ProbeCall:
    """A call of the backend: designed inputs of one size, each in its window.

    Attributes:
        predicted: what each listed model predicts for the first inputs, which tell models apart.
            None where no mean is probed.
    """

    id: str
    spec: Operator = field(repr=False)
    dtype: str
    form: WindowForm
    planes: tuple[ProbePlane, ...] = field(repr=False)
    inputs: Array = field(repr=False)
    predicted: Codes | None = field(repr=False)
    case: Case = field(repr=False)

    @property
    def key(self) -> CallKey:
        """Operator, element type and shape of windows: calls of one key differ in size."""
        return self.spec.op, self.dtype, self.form.window

    @property
    def space(self) -> Space | None:
        """The listed models of a mean, else None."""
        if self.predicted is None:
            return None
        return space_of(self.dtype, self.form.elements, self.form.side)

    @property
    def vector(self) -> Vector:
        """The call as a vector."""
        return make_vector(self.spec, self.case, self.form.data(self.inputs), self.id)

    def alone(self, number: int) -> ProbeCall:
        """Make a call with one of the inputs alone, on a single channel."""
        form = replace(self.form, channels=1)
        case = case_of_form(self.spec, form, 1, self.dtype)
        assert case is not None  # since one of several channels is valid
        inputs = self.inputs[[number] * form.across]
        planes = (self.planes[number],) * form.across
        return ProbeCall(
            f"{self.id}-alone", self.spec, self.dtype, form, planes, inputs, None, case
        )

    def special_inputs(self, predict: Predict | None = None) -> list[SpecialInput]:
        """List the inputs with special numbers; ``predict`` is that of :func:`of_means`."""
        is_mean = self.predicted is not None
        return _special_inputs(self.dtype, self.form.elements, predict or _zero_codes, is_mean)


@dataclass(frozen=True, eq=False)
class ProbeResponse:
    """The result codes of a call, or None and a message that says why."""

    call: ProbeCall
    results: Codes | None
    message: str = ""


def _zero_codes(data: Array) -> Codes:
    return np.zeros((1, len(data)), np.uint64)


def reduce_of(spec: Operator) -> str:
    """Return what an operator makes of elements: ``mean``, ``max``, or empty for anything else.

    A mean is stated as a sum of elements; its cases show whether it is one.
    """
    data = [tensor for tensor in spec.inputs if tensor.entries is None]
    result = spec.define[spec.outputs[0].name]
    if len(data) != 1 or result.term is None or result.term.op != "read":
        return ""
    return {"sum": "mean", "max": "max"}.get(result.combine, "")


def make_call(spec: Operator, dtype: str, form: WindowForm, seed: int) -> ProbeCall:
    """Design a call for one size; a valid case of the form must exist."""
    planes: list[ProbePlane] = []
    inputs: list[Array] = []
    predicted = None
    n = form.elements
    if reduce_of(spec) == "mean":
        data, predicted = designed_inputs(dtype, n, form.side, seed)
        planes += [ProbePlane(DESIGNED, f"designed input {i + 1}") for i in range(len(data))]
        inputs.append(data)
    for special in _special_inputs(dtype, n, _zero_codes, predicted is not None):
        planes += [ProbePlane(special.about, name) for name in special.names]
        inputs.append(special.inputs)
    data = np.concatenate(inputs)
    case = case_of_form(spec, form, form.shape(len(data))[1], dtype)
    assert case is not None
    name = f"{spec.op}-{dtype}-{form.window}-{n}"
    return ProbeCall(name, spec, dtype, form, tuple(planes), data, predicted, case)


def _special_inputs(dtype: str, n: int, predict: Predict, is_mean: bool) -> list[SpecialInput]:
    if not DTYPES[dtype].is_float:
        return []
    return list(of_means(dtype, n, predict) if is_mean else of_maxima(dtype, n))


def run_calls(pipeline: Pipeline, calls: Iterable[ProbeCall]) -> Iterator[ProbeResponse]:
    """Run calls and yield their responses, in order."""
    pending: deque[ProbeCall] = deque()

    def vectors() -> Iterator[Vector]:
        for call in calls:
            pending.append(call)
            yield call.vector

    for _, outcome in pipeline.run(vectors()):
        assert isinstance(outcome, Outcome)
        yield _response(pending.popleft(), outcome)


def _response(call: ProbeCall, outcome: Outcome) -> ProbeResponse:
    if outcome.ending is not Ending.RETURNED:
        message = outcome.message.partition("\n")[0] or outcome.ending.value
        return ProbeResponse(call, None, f"{outcome.ending.value}: {message}")
    count = len(call.inputs)
    shape = call.form.shape(count)
    returned = outcome.returned
    first = returned[0] if isinstance(returned, list | tuple) and returned else returned
    if type(first) is not np.ndarray or name_of(first.dtype) != call.dtype or first.shape != shape:
        value = describe_value(first)
        text = f"{value.dtype} {list(value.shape or ())}" if value.dtype else value.type
        return ProbeResponse(call, None, f"wrong output: {text}, not {call.dtype} {list(shape)}")
    return ProbeResponse(call, codes(first.reshape(-1)[:count], DTYPES[call.dtype]))
