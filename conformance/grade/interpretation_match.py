"""Matches the outputs of one vector with the expected ones and each interpretation."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from conformance.choices import PRECISIONS
from conformance.dtypes import Array
from conformance.failure_kind import FailureKind
from conformance.grade.compare import (
    Mismatch,
    OutputComparison,
    compare,
    interval_use,
    structure_mismatch,
)
from conformance.grade.outcome import describe_value
from conformance.grade.precision import DEFAULT_PRECISION
from conformance.model import Answer, Vector


@dataclass(frozen=True, slots=True)
class Match:
    """The outputs compared with the expected ones, or with those of an interpretation.

    Attributes:
        reading: the name of the interpretation; None for the expected outputs.
        comparisons: empty if a ``mismatch`` of structure kept elements from being compared.
    """

    reading: str | None
    answers: tuple[Answer, ...]
    outputs: tuple[Array, ...] = ()
    comparisons: tuple[OutputComparison, ...] = ()
    mismatch: Mismatch | None = None

    @property
    def wrong(self) -> float:
        """How many elements are wrong; infinite where none could be compared."""
        return math.inf if self.mismatch else sum(c.count for c in self.comparisons)

    @property
    def reached(self) -> str | None:
        """The best precision that every output reaches."""
        best = [c.reached for c in self.comparisons]
        if not best or None in best:
            return None
        return max(cast("list[str]", best), key=PRECISIONS.index)

    def within(self, precision: Mapping[str, str]) -> tuple[int, ...] | None:
        """Count the floating-point elements in each bin of interval use.

        Args:
            precision: what each dtype was compared at.

        Returns:
            None if no such element was compared.
        """
        counts = [
            interval_use(answer, got, required_precision(answer, precision))
            for answer, got in zip(self.answers, self.outputs, strict=False)
            if answer.rounded is not None
        ]
        return tuple(np.sum(counts, axis=0).tolist()) if counts else None


def match_all(
    vector: Vector, outputs: tuple[Any, ...], precision: Mapping[str, str]
) -> tuple[Match, ...]:
    """Compare outputs with the expected ones, which come first, and with every interpretation."""
    # Fewest joined names first; the sort is stable, so the suite's order decides the rest.
    names = sorted(vector.readings, key=lambda joined: joined.count("+"))
    base = _match(None, vector.answers, outputs, precision)
    return (base, *(_match(n, vector.readings[n], outputs, precision) for n in names))


def nearest_match(candidates: Sequence[Match]) -> Match:
    """Return the match with the fewest wrong elements, the first of equals."""
    return min(candidates, key=lambda match: match.wrong)


def deciding_match(candidates: Sequence[Match], level: str) -> Match:
    """Return the deciding match: at ``should`` the first, at ``must`` the nearest."""
    return candidates[0] if level == "should" else nearest_match(candidates)


def match_by_element(
    candidates: Sequence[Match], names: Collection[str], precision: Mapping[str, str]
) -> Match | None:
    """Match each element of outputs with what is expected, or with an interpretation.

    Args:
        candidates: the match with the expected outputs, then those with interpretations.
        names: the interpretations that elements may follow by themselves.
        precision: what each dtype was compared at.

    Returns:
        None if an element is neither.
    """
    expected, *others = candidates
    for other in others:
        if other.reading not in names or expected.mismatch or other.mismatch:
            continue
        comparisons = []
        for answer, first, second in zip(
            expected.answers, expected.comparisons, other.comparisons, strict=True
        ):
            wrong = first.wrong & second.wrong
            reached = None if wrong.any() else required_precision(answer, precision)
            comparisons.append(OutputComparison(wrong, int(np.count_nonzero(wrong)), reached))
        if all(comparison.count == 0 for comparison in comparisons):
            return Match(other.reading, (), (), tuple(comparisons))
    return None


def required_precision(answer: Answer, precision: Mapping[str, str]) -> str:
    """Return the precision that is required of an output."""
    return precision.get(answer.dtype, DEFAULT_PRECISION)


def split_outputs(returned: object, answers: Sequence[Answer]) -> tuple[Any, ...] | Mismatch:
    """Return the outputs one by one; a bare array stands for a list of one."""
    if type(returned) not in (list, tuple):
        value = describe_value(returned)
        if value.shape is not None and len(answers) == 1:
            return (returned,)
        return Mismatch(FailureKind.OUTPUTS, f"returned {value.type}, not a list of arrays")
    outputs = tuple(cast("Sequence[Any]", returned))
    if len(outputs) != len(answers):
        names = ", ".join(answer.name for answer in answers)
        count = f"returned {len(outputs)} outputs instead of {len(answers)} ({names})"
        return Mismatch(FailureKind.OUTPUTS, count)
    return outputs


def _match(
    reading: str | None,
    answers: tuple[Answer, ...],
    outputs: tuple[Any, ...],
    precision: Mapping[str, str],
) -> Match:
    pairs = list(zip(answers, outputs, strict=True))
    for answer, got in pairs:
        mismatch = structure_mismatch(answer, got)
        if mismatch:
            return Match(reading, answers, mismatch=mismatch)
    comparisons = tuple(
        compare(answer, got, required_precision(answer, precision)) for answer, got in pairs
    )
    return Match(reading, answers, outputs, comparisons)
