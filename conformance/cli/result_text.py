"""Prints the result of a vector, and each wrong element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from conformance.cli.text import aligned, shortest, wrapped
from conformance.cli.vector_text import TITLES, distance, element, row
from conformance.core.operator import Operator
from conformance.grade.compare import Mismatch
from conformance.grade.interpretation_match import (
    Match,
    deciding_match,
    match_all,
    required_precision,
    split_outputs,
)
from conformance.grade.outcome import Outcome
from conformance.grade.precision import format_precision
from conformance.model import Result, Status, Vector
from conformance.safe_text import one_line


def result_sentence(backend: str, result: Result, level: str, precision: Mapping[str, str]) -> str:
    """Return a result as a sentence; ``backend`` is its name and version."""
    conditions = f"level {level} and precision {format_precision(precision)}"
    text = f"{one_line(backend)} {result.status.verb} at {conditions}"
    if result.status is not Status.PASS:
        return f"{text}: {one_line(result.message)}"
    if result.reject is not None:
        return f"{text}: it rejects the case, as it must ({one_line(result.message)})"
    if result.reading is not None:
        text += f", by the allowed interpretation {result.reading}"
    return text + (f"; it reaches precision {result.precision}" if result.precision else "")


def match_of(
    vector: Vector, outcome: Outcome | None, level: str, precision: Mapping[str, str]
) -> Match | None:
    """Compare the outputs with the interpretation that decides; None if impossible."""
    if outcome is None or not vector.answers:
        return None
    outputs = split_outputs(outcome.returned, vector.answers)
    if isinstance(outputs, Mismatch):
        return None
    match = deciding_match(match_all(vector, outputs, precision), level)
    return match if match.comparisons else None


def wrong_element_lines(
    match: Match, precision: Mapping[str, str], width: int, *, limit: int | None
) -> Iterator[str]:
    """Yield a line for each wrong element; at most ``limit`` of each output."""
    for output, got, comparison in zip(
        match.answers, match.outputs, match.comparisons, strict=True
    ):
        if not comparison.count:
            continue
        yield ""
        against = f", against interpretation {match.reading}" if match.reading else ""
        text = f"{output.name}: {comparison.count} of {got.size} elements are wrong{against}"
        yield from wrapped("  ", text, width)
        indices = [tuple(map(int, index)) for index in np.argwhere(comparison.wrong)[:limit]]
        rows = []
        for index in indices:
            at = required_precision(output, precision)
            cells = row(output, index, at)
            off = distance(output, got, index)
            rows.append((*_without_expected(cells), shortest(got[index]), off))
        yield from aligned([(*_without_expected(TITLES), "got", "off"), *rows])
        left_out = comparison.count - len(indices)
        if left_out:
            yield f"    ... and {left_out} more"


def worst_element_lines(
    spec: Operator | None,
    vector: Vector,
    result: Result,
    match: Match,
    precision: Mapping[str, str],
) -> Iterator[str]:
    """Yield the worst element of a result, with what it reads, if it has such."""
    if result.witness is not None:
        yield ""
        yield from element(spec, vector, result.witness.index, match, precision)


def _without_expected(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the expected value: the accepted values show it, and space is scarce."""
    return (*cells[:-2], cells[-1])
