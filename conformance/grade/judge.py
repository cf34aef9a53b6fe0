"""The verdict on one vector: the outcome compared with what the vector allows."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from conformance.failure_kind import FailureKind
from conformance.grade.compare import Mismatch, worst_element
from conformance.grade.followed_interpretations import (
    EXPECTED_INTERPRETATION,
    NO_IMPLIED_CHANGES,
    followed_interpretations,
)
from conformance.grade.interpretation_match import (
    Match,
    deciding_match,
    match_all,
    nearest_match,
    required_precision,
    split_outputs,
)
from conformance.grade.outcome import Ending, Outcome, describe_value
from conformance.grade.returned import pack_outputs
from conformance.model import FAILED, Result, Status, Vector, Witness
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import implied_changes

NO_ANSWERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})

MAX_KEPT_ELEMENTS = 2_000
"""Elements of the inputs and outputs of a failure that are kept with it, at most."""

DIGITS = 12
"""Hexadecimal digits of a digest of what is wrong."""


@dataclass(frozen=True)
class _Terms:
    """By what a vector is judged; see :func:`judge`."""

    level: str
    precision: Mapping[str, str]
    spec: OpSpec | None


def judge(
    vector: Vector,
    outcome: Outcome,
    *,
    level: str,
    precision: Mapping[str, str],
    spec: OpSpec | None = None,
) -> Result:
    """Judge one vector; a failure keeps what was asked and expected, where that is small.

    ``level`` is the level of the run: at ``must`` the outputs may follow the base or any one
    reading, all outputs the same; at ``should`` only the base. ``precision`` maps a dtype to the
    precision asked of it; dtypes not in it are judged at ``standard``. ``spec`` is the
    specification that the vector was made from, if it is known: it tells which interpretations
    hold others, and so what outputs show of them. Whatever the backend returned, this raises
    nothing.
    """
    verdict = _judge_outcome(vector, outcome, _Terms(level, precision, spec))
    if verdict.status not in FAILED or verdict.size > MAX_KEPT_ELEMENTS:
        return verdict
    right = [one.expected if one.rounded is None else one.rounded for one in vector.answers]
    return replace(verdict, inputs=pack_outputs(vector.inputs), expected=pack_outputs(right))


def _judge_outcome(vector: Vector, outcome: Outcome, terms: _Terms) -> Result:
    """The verdict with the evidence for it."""
    if not is_tested(vector, terms.level):
        return skipped_result(vector)
    seconds = outcome.seconds
    if outcome.ending is Ending.UNSUPPORTED:
        return unsupported_result(vector, outcome.message, seconds=seconds)
    if outcome.ending not in (Ending.RETURNED, Ending.RAISED):  # for a negative test, too
        return make_result(vector, Status.ERROR, outcome.ending, outcome.message, seconds=seconds)
    if outcome.unsteady:
        return make_result(
            vector, Status.FAIL, FailureKind.UNSTEADY, outcome.unsteady, seconds=seconds
        )
    if vector.case.reject is None:
        if outcome.ending is Ending.RAISED:
            return make_result(
                vector, Status.ERROR, outcome.ending, outcome.message, seconds=seconds
            )
        verdict = _judge_outputs(vector, outcome, terms)
    elif outcome.ending is Ending.RETURNED:
        message = f"accepted, but {vector.case.reject} must be rejected"
        return make_result(vector, Status.FAIL, FailureKind.ACCEPTED, message, seconds=seconds)
    elif outcome.refuses_valid:
        why = f"it also rejects the valid version of this case: {outcome.refuses_valid}"
        return unsupported_result(vector, why, seconds=seconds)
    else:
        verdict = make_result(vector, Status.PASS, message=outcome.message, seconds=seconds)
    if verdict.status is Status.PASS and outcome.changed:
        which = ", ".join(str(i) for i in outcome.changed)
        message = f"the call changed its input {which}"
        return make_result(vector, Status.FAIL, FailureKind.INPUT_CHANGED, message, seconds=seconds)
    return verdict


def is_tested(vector: Vector, level: str) -> bool:
    """Whether a run at ``level`` tests this vector at all."""
    return level == "should" or vector.level == "must"


def skipped_result(vector: Vector) -> Result:
    """The result of a vector that the run does not test."""
    message = f"a vector of level {vector.level} is not tested at level must"
    return make_result(vector, Status.SKIPPED, message=message)


def unsupported_result(vector: Vector, reason: str, *, seconds: float = 0.0) -> Result:
    """The result of a vector that the backend does not claim to support."""
    return make_result(vector, Status.UNSUPPORTED, message=reason, seconds=seconds)


def make_result(
    vector: Vector,
    status: Status,
    kind: str = "",
    message: str = "",
    *,
    reading: str | None = None,
    precision: str | None = None,
    seconds: float = 0.0,
    witness: Witness | None = None,
    shows: Mapping[str, tuple[str, ...]] | None = None,
    within: tuple[int, ...] | None = None,
) -> Result:
    """A result that carries the facts of its vector."""
    inputs = sum(array.size for array in vector.inputs)
    outputs = sum(answer.expected.size for answer in vector.answers)
    return Result(
        id=vector.id,
        op=sys.intern(vector.case.op),
        status=status,
        edges=vector.edges,
        message=message,
        kind=str(kind),
        reading=reading,
        precision=precision,
        level=vector.level,
        dtype=sys.intern(next(iter(vector.case.types.values()), "")),
        size=inputs + outputs,
        reject=vector.case.reject,
        seconds=seconds,
        witness=witness,
        shows=shows or NO_ANSWERS,
        rank=vector.inputs[0].ndim if vector.inputs else 0,
        within=within,
        asked=vector.case.asked,
    )


def _judge_outputs(vector: Vector, outcome: Outcome, terms: _Terms) -> Result:
    seconds = outcome.seconds
    outputs = split_outputs(outcome.returned, vector.answers)
    if isinstance(outputs, Mismatch):
        return make_result(vector, Status.ERROR, outputs.kind, outputs.message, seconds=seconds)
    verdict = _judge_arrays(vector, outputs, terms, seconds)
    if verdict.status is Status.PASS:
        return verdict
    message = f"{verdict.message} ({outcome.note})" if outcome.note else verdict.message
    return replace(verdict, message=message, returned=pack_outputs(outputs))


def _judge_arrays(
    vector: Vector, outputs: tuple[Any, ...], terms: _Terms, seconds: float
) -> Result:
    precision, spec = terms.precision, terms.spec
    found = match_all(vector, outputs, precision)
    base, told = found[0], deciding_match(found, terms.level)
    shows = {}
    if vector.readings and (base.mismatch is None or base.mismatch.kind == FailureKind.SHAPE):
        right = [match.reading or EXPECTED_INTERPRETATION for match in found if not match.wrong]
        holds = NO_IMPLIED_CHANGES if spec is None else implied_changes(spec.interpretations)
        shows = followed_interpretations(vector, outputs, right, precision, holds)
    if not told.wrong:
        return make_result(
            vector,
            Status.PASS,
            reading=told.reading,
            precision=told.reached,
            seconds=seconds,
            shows=shows,
            within=told.within(precision),
        )
    other = nearest_match(found)
    followed = None if other.wrong else other.reading
    failure = _failure(vector, told, outputs, followed, precision, seconds)
    return replace(failure, shows=shows, within=told.within(precision))


def _failure(
    vector: Vector,
    told: Match,
    outputs: Sequence[Any],
    followed: str | None,
    precision: Mapping[str, str],
    seconds: float,
) -> Result:
    """Outputs that are not accepted, told by their match with the answers that decide.

    ``followed`` is a reading that accepts them, which the level does not allow.
    """
    if told.mismatch is None:
        kind, message, worst = _wrong_elements(told, precision)
        if told.reading:
            message += f" (against interpretation {told.reading}, the closest)"
    else:
        kind, message, worst = told.mismatch.kind, told.mismatch.message, None
    if followed is not None:
        kind = FailureKind.INTERPRETATION
        message = f"follows interpretation {followed}, which level should excludes; {message}"
    values = told.mismatch is None or followed is not None
    failed = make_result(
        vector,
        Status.FAIL if values else Status.ERROR,
        kind,
        message,
        reading=followed,
        precision=told.reached,
        seconds=seconds,
        witness=worst,
    )
    return replace(failed, wrong=_digest(told, outputs))


def _digest(told: Match, outputs: Sequence[Any]) -> str:
    """Which elements are wrong, or what the structure is where that is wrong, in a few letters."""
    seen = hashlib.sha256()
    if told.mismatch is None:
        for comparison in told.comparisons:
            seen.update(repr(comparison.wrong.shape).encode())
            seen.update(np.packbits(comparison.wrong).tobytes())
    else:
        for output in outputs:
            one = describe_value(output)
            seen.update(f"{one.type} {one.dtype} {one.shape}\n".encode("utf-8", "replace"))
    return seen.hexdigest()[:DIGITS]


def _wrong_elements(match: Match, precision: Mapping[str, str]) -> tuple[str, str, Witness]:
    """The kind, message and worst element; the kind and the element of the first wrong output."""
    wrong = [
        (answer, got, comparison)
        for answer, got, comparison in zip(
            match.answers, match.outputs, match.comparisons, strict=True
        )
        if comparison.count
    ]
    message = "; ".join(
        f"{answer.name}: {comparison.count} of {got.size} elements are wrong"
        for answer, got, comparison in wrong
    )
    answer, got, comparison = wrong[0]
    # Of integers is an output of indices, or the first, which holds values of an integer type.
    is_index = answer.rounded is None and answer is not match.answers[0]
    kind = FailureKind.INDEX if is_index else FailureKind.VALUE
    return (
        kind,
        message,
        worst_element(answer, got, comparison, required_precision(answer, precision)),
    )
