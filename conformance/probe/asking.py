"""Asks a backend designed inputs, and takes the bits of its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.dtypes import DTYPES, Array, name_of
from conformance.grade.outcome import Ending, Outcome, described
from conformance.model import Case, Vector
from conformance.probe.designs import designed, space_of
from conformance.probe.forms import Form, case_of, vector_of
from conformance.probe.models import Codes, Space, codes
from conformance.probe.special import Predict, SpecialInput, of_maxima, of_means
from conformance.run.pipeline import Pipeline
from conformance.spec.model import OpSpec

DESIGNED = "designed"


@dataclass(frozen=True)
class AskedPlane:
    """One designed input: which property it asks for, and what it holds in words."""

    about: str
    name: str


@dataclass(frozen=True, eq=False)
class ProbeCall:
    """One call of the backend: designed inputs of one size, each in a window of its own."""

    id: str
    spec: OpSpec = field(repr=False)
    dtype: str
    form: Form
    planes: tuple[AskedPlane, ...] = field(repr=False)
    inputs: Array = field(repr=False)
    predicted: Codes | None = field(repr=False)
    """What each listed model predicts for the first inputs, which are there to tell them apart."""
    case: Case = field(repr=False)

    @property
    def space(self) -> Space | None:
        """The listed models, where sums are asked for."""
        if self.predicted is None:
            return None
        return space_of(self.dtype, self.form.elements, self.form.side)

    @property
    def vector(self) -> Vector:
        """The call as a vector."""
        return vector_of(self.spec, self.case, self.form.data(self.inputs), self.id)

    def alone(self, number: int) -> ProbeCall:
        """The call with one of the inputs alone, on a single channel."""
        form = replace(self.form, channels=1)
        case = case_of(self.spec, form, 1, self.dtype)
        assert case is not None  # as there is one of several channels
        one = self.inputs[[number] * form.across]
        planes = (self.planes[number],) * form.across
        return ProbeCall(f"{self.id}-alone", self.spec, self.dtype, form, planes, one, None, case)

    def questions(self, predict: Predict | None = None) -> list[SpecialInput]:
        """The questions about special numbers; ``predict`` as :func:`of_means` takes it."""
        mean = self.predicted is not None
        return _questions(self.dtype, self.form.elements, predict or _nothing, mean=mean)


@dataclass(frozen=True, eq=False)
class Answered:
    """What came back of a call: the code of each result, or why there is none."""

    call: ProbeCall
    results: Codes | None
    message: str = ""


def _nothing(data: Array) -> Codes:
    return np.zeros((1, len(data)), np.uint64)


def reduce_of(spec: OpSpec) -> str:
    """What becomes of a window: the text of the rule ``reduce``, empty if there is none."""
    rule = spec.definitions.get("reduce")
    return "" if rule is None else rule.text


def call_of(spec: OpSpec, dtype: str, form: Form, seed: int) -> ProbeCall:
    """The call that asks an operator for one size; there must be a valid case of the form."""
    planes: list[AskedPlane] = []
    inputs: list[Array] = []
    predicted = None
    n = form.elements
    if reduce_of(spec) == "mean":
        data, predicted = designed(dtype, n, form.side, seed)
        planes += [AskedPlane(DESIGNED, f"designed input {i + 1}") for i in range(len(data))]
        inputs.append(data)
    for question in _questions(dtype, n, _nothing, mean=predicted is not None):
        planes += [AskedPlane(question.about, name) for name in question.names]
        inputs.append(question.inputs)
    together = np.concatenate(inputs)
    case = case_of(spec, form, form.shape(len(together))[1], dtype)
    assert case is not None
    name = f"{spec.op}-{dtype}-{form.window}-{n}"
    return ProbeCall(name, spec, dtype, form, tuple(planes), together, predicted, case)


def _questions(dtype: str, n: int, predict: Predict, *, mean: bool) -> list[SpecialInput]:
    if not DTYPES[dtype].is_float:
        return []
    return list(of_means(dtype, n, predict) if mean else of_maxima(dtype, n))


def ask(pipeline: Pipeline, calls: Iterable[ProbeCall]) -> Iterator[Answered]:
    """The results of some calls, in their order."""
    waiting: list[ProbeCall] = []

    def vectors() -> Iterator[Vector]:
        for call in calls:
            waiting.append(call)
            yield call.vector

    for _, outcome in pipeline.run(vectors()):
        assert isinstance(outcome, Outcome)
        yield _seen(waiting.pop(0), outcome)


def _seen(call: ProbeCall, outcome: Outcome) -> Answered:
    if outcome.ending is not Ending.RETURNED:
        message = outcome.message.partition("\n")[0] or outcome.ending.value
        return Answered(call, None, f"{outcome.ending.value}: {message}")
    count = len(call.inputs)
    kind, shape = DTYPES[call.dtype], call.form.shape(count)
    returned = outcome.returned
    first = returned[0] if isinstance(returned, list | tuple) and returned else returned
    if type(first) is not np.ndarray or name_of(first.dtype) != call.dtype or first.shape != shape:
        told = described(first)
        what = f"{told.dtype} {list(told.shape or ())}" if told.dtype else told.type
        return Answered(call, None, f"wrong output: {what}, not {call.dtype} {list(shape)}")
    return Answered(call, codes(call.form.results(first, count), kind))
