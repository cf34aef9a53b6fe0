"""Prints the verdict on a vector, and each wrong element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from conformance.cli.text import aligned, shortest, wrapped
from conformance.cli.vector_text import distance, element, row, titles
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
from conformance.spec.model import OpSpec


def sentence(backend: str, result: Result, level: str, precision: Mapping[str, str]) -> str:
    """The verdict in a sentence; ``backend`` is its name and version."""
    asked_for = f"level {level} and precision {format_precision(precision)}"
    text = f"{one_line(backend)} {result.status.verb} at {asked_for}"
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
    """The outputs against the answers that decide; None where nothing could be compared."""
    if outcome is None or not vector.answers:
        return None
    outputs = split_outputs(outcome.returned, vector.answers)
    if isinstance(outputs, Mismatch):
        return None
    found = deciding_match(match_all(vector, outputs, precision), level)
    return found if found.comparisons else None


def wrong_elements(
    spec: OpSpec | None,
    vector: Vector,
    match: Match,
    precision: Mapping[str, str],
    width: int,
    *,
    limit: int | None,
) -> Iterator[str]:
    """Each wrong element in a line, with what was got; at most ``limit`` of each output."""
    for answer, got, comparison in zip(
        match.answers, match.outputs, match.comparisons, strict=True
    ):
        if not comparison.count:
            continue
        yield ""
        against = f", against interpretation {match.reading}" if match.reading else ""
        text = f"{answer.name}: {comparison.count} of {got.size} elements are wrong{against}"
        yield from wrapped("  ", text, width)
        indices = [tuple(map(int, index)) for index in np.argwhere(comparison.wrong)[:limit]]
        rows = []
        for index in indices:
            seen = row(
                spec, vector, answer, index, match.reading, required_precision(answer, precision)
            )
            rows.append((*_narrowed(seen), shortest(got[index]), distance(answer, got, index)))
        yield from aligned([(*_narrowed(titles(spec)), "got", "off"), *rows])
        left = comparison.count - len(indices)
        if left:
            yield f"    ... and {left} more"


def worst_element(
    spec: OpSpec | None,
    vector: Vector,
    result: Result,
    match: Match,
    precision: Mapping[str, str],
) -> Iterator[str]:
    """The element of the result's witness, tap by tap; nothing where there is none."""
    if result.witness is not None:
        yield ""
        yield from element(spec, vector, result.witness.index, match, precision)


def _narrowed(cells: tuple[str, ...]) -> tuple[str, ...]:
    """The columns without the expected value: what is accepted says it, and room is scarce."""
    return (*cells[:-2], cells[-1])
