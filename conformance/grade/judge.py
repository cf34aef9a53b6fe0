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
from conformance.grade.compare import Mismatch, witness
from conformance.grade.following import BASE, NOTHING_HELD, evidence
from conformance.grade.match import Match, as_outputs, asked, decisive, matches, nearest
from conformance.grade.outcome import Ending, Outcome, described
from conformance.grade.returned import packed
from conformance.model import FAILED, Result, Status, Vector, Witness
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import implied_changes

NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})

SMALL = 2_000
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
    verdict = _judged(vector, outcome, _Terms(level, precision, spec))
    if verdict.status not in FAILED or verdict.size > SMALL:
        return verdict
    right = [one.expected if one.rounded is None else one.rounded for one in vector.answers]
    return replace(verdict, inputs=packed(vector.inputs), expected=packed(right))


def _judged(vector: Vector, outcome: Outcome, terms: _Terms) -> Result:
    """The verdict with the evidence for it."""
    if not applies(vector, terms.level):
        return skipped(vector)
    seconds = outcome.seconds
    if outcome.ending is Ending.UNSUPPORTED:
        return unsupported(vector, outcome.message, seconds=seconds)
    if outcome.ending not in (Ending.RETURNED, Ending.RAISED):  # for a negative test, too
        return result(vector, Status.ERROR, outcome.ending, outcome.message, seconds=seconds)
    if outcome.unsteady:
        return result(vector, Status.FAIL, FailureKind.UNSTEADY, outcome.unsteady, seconds=seconds)
    if vector.case.reject is None:
        if outcome.ending is Ending.RAISED:
            return result(vector, Status.ERROR, outcome.ending, outcome.message, seconds=seconds)
        verdict = _judge_outputs(vector, outcome, terms)
    elif outcome.ending is Ending.RETURNED:
        message = f"accepted, but {vector.case.reject} must be rejected"
        return result(vector, Status.FAIL, FailureKind.ACCEPTED, message, seconds=seconds)
    elif outcome.refuses_valid:
        why = f"it also rejects the valid version of this case: {outcome.refuses_valid}"
        return unsupported(vector, why, seconds=seconds)
    else:
        verdict = result(vector, Status.PASS, message=outcome.message, seconds=seconds)
    if verdict.status is Status.PASS and outcome.changed:
        which = ", ".join(str(i) for i in outcome.changed)
        message = f"the call changed its input {which}"
        return result(vector, Status.FAIL, FailureKind.INPUT_CHANGED, message, seconds=seconds)
    return verdict


def applies(vector: Vector, level: str) -> bool:
    """Whether a run at ``level`` tests this vector at all."""
    return level == "should" or vector.level == "must"


def skipped(vector: Vector) -> Result:
    """The result of a vector that the run does not test."""
    message = f"a vector of level {vector.level} is not tested at level must"
    return result(vector, Status.SKIPPED, message=message)


def unsupported(vector: Vector, reason: str, *, seconds: float = 0.0) -> Result:
    """The result of a vector that the backend does not claim to support."""
    return result(vector, Status.UNSUPPORTED, message=reason, seconds=seconds)


def result(
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
        shows=shows or NOTHING,
        rank=vector.inputs[0].ndim if vector.inputs else 0,
        within=within,
        asked=vector.case.request,
    )


def _judge_outputs(vector: Vector, outcome: Outcome, terms: _Terms) -> Result:
    seconds = outcome.seconds
    outputs = as_outputs(outcome.returned, vector.answers)
    if isinstance(outputs, Mismatch):
        return result(vector, Status.ERROR, outputs.kind, outputs.message, seconds=seconds)
    verdict = _judge_arrays(vector, outputs, terms, seconds)
    if verdict.status is Status.PASS:
        return verdict
    message = f"{verdict.message} ({outcome.note})" if outcome.note else verdict.message
    return replace(verdict, message=message, returned=packed(outputs))


def _judge_arrays(
    vector: Vector, outputs: tuple[Any, ...], terms: _Terms, seconds: float
) -> Result:
    precision, spec = terms.precision, terms.spec
    found = matches(vector, outputs, precision)
    base, told = found[0], decisive(found, terms.level)
    shows = {}
    if vector.readings and (base.mismatch is None or base.mismatch.kind == FailureKind.SHAPE):
        right = [match.reading or BASE for match in found if not match.wrong]
        holds = NOTHING_HELD if spec is None else implied_changes(spec.interpretations)
        shows = evidence(vector, outputs, right, precision, holds)
    if not told.wrong:
        return result(
            vector,
            Status.PASS,
            reading=told.reading,
            precision=told.reached,
            seconds=seconds,
            shows=shows,
            within=told.within(precision),
        )
    other = nearest(found)
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
    failed = result(
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
            one = described(output)
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
    return kind, message, witness(answer, got, comparison, asked(answer, precision))
