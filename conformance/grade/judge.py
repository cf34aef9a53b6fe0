"""The verdict of one vector: what a backend did, against what the vector allows."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

from numpy.typing import NDArray

from conformance.grade.compare import Comparison, Mismatch, compare, structure, witness
from conformance.grade.evidence import BASE, evidence
from conformance.grade.outcome import LOST, Ending, Outcome, described
from conformance.grade.precision import DEFAULT
from conformance.model import PRECISIONS, Answer, Result, Status, Vector, Witness

Array = NDArray[Any]

NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})

ABNORMAL = LOST | {Ending.ABORTED, Ending.ABANDONED}
"""Endings that are an error whatever was asked; none of them rejects anything."""


@dataclass(frozen=True, slots=True)
class _Match:
    """The outputs against the answers of one reading; ``reading`` None is the base's own.

    ``comparisons`` is empty where a ``mismatch`` of structure kept elements from being compared.
    """

    reading: str | None
    answers: tuple[Answer, ...]
    outputs: tuple[Array, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    mismatch: Mismatch | None = None

    @property
    def wrong(self) -> float:
        return math.inf if self.mismatch else sum(c.count for c in self.comparisons)

    @property
    def reached(self) -> str | None:
        """The best precision that every output reaches."""
        best = [c.reached for c in self.comparisons]
        if not best or None in best:
            return None
        return max(cast("list[str]", best), key=PRECISIONS.index)


def judge(vector: Vector, outcome: Outcome, *, level: str, precision: Mapping[str, str]) -> Result:
    """Judge one vector.

    ``level`` is the level of the run: at ``must`` the outputs may follow the base or any one
    reading, all outputs the same; at ``should`` only the base. ``precision`` maps a dtype to the
    precision asked of it; dtypes not in it are judged at ``standard``. Whatever the backend
    returned, this raises nothing.
    """
    if not applies(vector, level):
        return skipped(vector)
    seconds = outcome.seconds
    if outcome.ending is Ending.UNSUPPORTED:
        return unsupported(vector, outcome.message, seconds=seconds)
    if outcome.ending in ABNORMAL:
        return result(vector, Status.ERROR, outcome.ending.value, outcome.message, seconds=seconds)
    if outcome.unsteady:
        return result(vector, Status.FAIL, "unsteady", outcome.unsteady, seconds=seconds)
    if vector.case.reject is None:
        if outcome.ending is Ending.RAISED:
            return result(vector, Status.ERROR, "raised", outcome.message, seconds=seconds)
        verdict = _judge_outputs(vector, outcome, level, precision)
    elif outcome.ending is Ending.RETURNED:
        message = f"accepted, but {vector.case.reject} must be rejected"
        return result(vector, Status.FAIL, "accepted", message, seconds=seconds)
    else:
        verdict = result(vector, Status.PASS, message=outcome.message, seconds=seconds)
    if verdict.status is Status.PASS and outcome.changed:
        which = ", ".join(str(i) for i in outcome.changed)
        message = f"the call changed its input {which}"
        return result(vector, Status.FAIL, "input-changed", message, seconds=seconds)
    return verdict


def applies(vector: Vector, level: str) -> bool:
    """Whether a run at ``level`` asks this vector at all."""
    return level == "should" or vector.level == "must"


def skipped(vector: Vector) -> Result:
    """The result of a vector that the run does not ask."""
    message = f"a vector of level {vector.level} is not asked at level must"
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
        kind=kind,
        reading=reading,
        precision=precision,
        level=vector.level,
        dtype=sys.intern(next(iter(vector.case.types.values()), "")),
        size=inputs + outputs,
        reject=vector.case.reject,
        seconds=seconds,
        witness=witness,
        shows=shows or NOTHING,
    )


def _judge_outputs(
    vector: Vector, outcome: Outcome, level: str, precision: Mapping[str, str]
) -> Result:
    seconds = outcome.seconds
    outputs = _as_outputs(outcome.returned, vector.answers)
    if isinstance(outputs, Mismatch):
        return result(vector, Status.ERROR, outputs.kind, outputs.message, seconds=seconds)
    base = closest = _match(None, vector.answers, outputs, precision)
    shows = {}
    if vector.readings:
        # Fewest joined names first; the sort is stable, so the suite's order decides the rest.
        names = sorted(vector.readings, key=lambda joined: joined.count("+"))
        matches = [base, *(_match(n, vector.readings[n], outputs, precision) for n in names)]
        nearest = min(matches, key=lambda match: match.wrong)
        if level == "must" or not nearest.wrong:
            closest = nearest
        if base.mismatch is None or base.mismatch.kind == "shape":
            right = [match.reading or BASE for match in matches if not match.wrong]
            shows = evidence(vector, outputs, right, precision)
    if not closest.wrong and (closest is base or level == "must"):
        return result(
            vector,
            Status.PASS,
            reading=closest.reading,
            precision=closest.reached,
            seconds=seconds,
            shows=shows,
        )
    return replace(_failure(vector, base, closest, precision, seconds), shows=shows)


def _failure(
    vector: Vector, base: _Match, closest: _Match, precision: Mapping[str, str], seconds: float
) -> Result:
    """Outputs that are not accepted, described against the answers that they come closest to."""
    kind, told = "", closest
    if not closest.wrong:
        kind, told = "reading", base
    if told.mismatch is None:
        elements, message, worst = _wrong_elements(told, precision)
        kind = kind or elements
        if told.reading:
            message += f" (against the reading {told.reading}, the closest)"
    else:
        kind, message, worst = kind or told.mismatch.kind, told.mismatch.message, None
    if kind == "reading":
        message = f"follows the reading {closest.reading}, which level should excludes; {message}"
    values = kind in ("value", "index", "reading")
    return result(
        vector,
        Status.FAIL if values else Status.ERROR,
        kind,
        message,
        reading=closest.reading if kind == "reading" else None,
        precision=told.reached,
        seconds=seconds,
        witness=worst,
    )


def _wrong_elements(match: _Match, precision: Mapping[str, str]) -> tuple[str, str, Witness]:
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
    kind = "index" if answer.rounded is None else "value"
    return kind, message, witness(answer, got, comparison, _asked(answer, precision))


def _match(
    reading: str | None,
    answers: tuple[Answer, ...],
    outputs: tuple[Any, ...],
    precision: Mapping[str, str],
) -> _Match:
    pairs = list(zip(answers, outputs, strict=True))
    for answer, got in pairs:
        mismatch = structure(answer, got)
        if mismatch:
            return _Match(reading, answers, mismatch=mismatch)
    comparisons = tuple(compare(answer, got, _asked(answer, precision)) for answer, got in pairs)
    return _Match(reading, answers, outputs, comparisons)


def _asked(answer: Answer, precision: Mapping[str, str]) -> str:
    return precision.get(answer.dtype, DEFAULT)


def _as_outputs(returned: object, answers: Sequence[Answer]) -> tuple[Any, ...] | Mismatch:
    """One entry an output. A bare array stands for the list that holds only it."""
    if type(returned) not in (list, tuple):
        seen = described(returned)
        if seen.shape is not None and len(answers) == 1:
            return (returned,)
        return Mismatch("outputs", f"returned {seen.type}, not a list of arrays")
    outputs = tuple(cast("Sequence[Any]", returned))
    if len(outputs) != len(answers):
        names = ", ".join(answer.name for answer in answers)
        count = f"returned {len(outputs)} outputs instead of {len(answers)} ({names})"
        return Mismatch("outputs", count)
    return outputs
