"""The verdict on one vector: the outcome compared with what the vector allows."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

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
    match_by_element,
    nearest_match,
    required_precision,
    split_outputs,
)
from conformance.grade.outcome import Ending, Outcome, describe_value
from conformance.grade.returned import pack_outputs
from conformance.model import FAILED, Result, Status, Vector, Witness

if TYPE_CHECKING:
    from conformance.core.operator import Operator

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
    spec: Operator | None


def judge(
    vector: Vector,
    outcome: Outcome,
    *,
    level: str,
    precision: Mapping[str, str],
    spec: Operator | None = None,
) -> Result:
    """Judge one vector; a failure keeps inputs and expected outputs if they are small.

    Whatever the backend returned, this raises nothing.

    Args:
        level: the level of the run: at ``must`` all outputs may follow the same interpretation; at
            ``should`` only the expected one.
        precision: the required precision by dtype; dtypes not in it are judged at ``standard``.
        spec: the specification of the vector, which tells what interpretations imply, and so which
            of them outputs follow; None if there is none.
    """
    verdict = _judge_outcome(vector, outcome, _Terms(level, precision, spec))
    if verdict.status not in FAILED or verdict.size > MAX_KEPT_ELEMENTS:
        return verdict
    expected = [
        answer.expected if answer.rounded is None else answer.rounded for answer in vector.answers
    ]
    return replace(verdict, inputs=pack_outputs(vector.inputs), expected=pack_outputs(expected))


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
    """Return whether a run at ``level`` tests this vector at all."""
    return level == "should" or vector.level == "must"


def skipped_result(vector: Vector) -> Result:
    """Return the result of a vector that the run does not test."""
    message = f"a vector of level {vector.level} is not tested at level must"
    return make_result(vector, Status.SKIPPED, message=message)


def unsupported_result(vector: Vector, reason: str, *, seconds: float = 0.0) -> Result:
    """Return the result of a vector that the backend does not claim to support."""
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
    """Make a result that carries the facts of its vector."""
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
        rank=vector.case.rank,
        within=within,
        asked=vector.case.request,
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
    candidates = match_all(vector, outputs, precision)
    expected, decided = candidates[0], deciding_match(candidates, terms.level)
    if decided.wrong and terms.level == "must" and spec is not None:
        by_element = match_by_element(candidates, _interpreted_by_element(spec), precision)
        decided = by_element or decided
    shows = {}
    if vector.readings and (
        expected.mismatch is None or expected.mismatch.kind == FailureKind.SHAPE
    ):
        right = [
            match.reading or EXPECTED_INTERPRETATION for match in candidates if not match.wrong
        ]
        holds = NO_IMPLIED_CHANGES if spec is None else _implied(spec)
        shows = followed_interpretations(vector, outputs, right, precision, holds)
    if not decided.wrong:
        return make_result(
            vector,
            Status.PASS,
            reading=decided.reading,
            precision=decided.reached,
            seconds=seconds,
            shows=shows,
            within=decided.within(precision),
        )
    other = nearest_match(candidates)
    followed = None if other.wrong else other.reading
    failure = _failure(vector, decided, outputs, followed, precision, seconds)
    return replace(failure, shows=shows, within=decided.within(precision))


def _implied(spec: Operator) -> Mapping[str, frozenset[str]]:
    # A worker imports this module, and reads no specification.
    from conformance.specification import implied_interpretations

    return implied_interpretations(spec)


def _interpreted_by_element(spec: Operator) -> frozenset[str]:
    from conformance.specification import interpretations_by_element

    return interpretations_by_element(spec)


def _failure(
    vector: Vector,
    decided: Match,
    outputs: Sequence[Any],
    followed: str | None,
    precision: Mapping[str, str],
    seconds: float,
) -> Result:
    """Make the result of outputs that are not accepted, by their deciding match.

    ``followed`` is an interpretation that accepts them, which the level does not allow.
    """
    if decided.mismatch is None:
        kind, message, worst = _wrong_elements(decided, precision)
        if decided.reached == "tiled":
            message += "; all are within precision tiled"
        if decided.reading:
            message += f" (against interpretation {decided.reading}, the closest)"
    else:
        kind, message, worst = decided.mismatch.kind, decided.mismatch.message, None
    if followed is not None:
        kind = FailureKind.INTERPRETATION
        message = f"follows interpretation {followed}, which level should excludes; {message}"
    values = decided.mismatch is None or followed is not None
    failed = make_result(
        vector,
        Status.FAIL if values else Status.ERROR,
        kind,
        message,
        reading=followed,
        precision=decided.reached,
        seconds=seconds,
        witness=worst,
    )
    return replace(failed, wrong=_digest(decided, outputs))


def _digest(decided: Match, outputs: Sequence[Any]) -> str:
    """Which elements are wrong, or what the structure is where that is wrong, in a few letters."""
    digest = hashlib.sha256()
    if decided.mismatch is None:
        for comparison in decided.comparisons:
            digest.update(repr(comparison.wrong.shape).encode())
            digest.update(np.packbits(comparison.wrong).tobytes())
    else:
        for output in outputs:
            value = describe_value(output)
            digest.update(f"{value.type} {value.dtype} {value.shape}\n".encode("utf-8", "replace"))
    return digest.hexdigest()[:DIGITS]


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
