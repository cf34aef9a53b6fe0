"""The counts of an operator as a stacked bar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.log.tally import Tally
from conformance.report.view import OperatorRow

BAR = 1000
"""Width of a stacked bar, in units of its own."""

BAR_LEAST = 8
"""Width of the narrowest part that is not empty, so that one failure in thousands shows."""


@dataclass(frozen=True)
class Part:
    """A part of a stacked bar: ``kind`` is its colour, ``x`` and ``width`` of :data:`BAR`."""

    kind: str
    label: str
    count: int
    x: float
    width: float


def bar(row: OperatorRow) -> tuple[Part, ...]:
    """The parts of an operator's bar, from what passed to what is missing; empty ones left out."""
    counts = [(kind, label, count) for kind, label, count in _counts(row) if count]
    total = sum(count for _, _, count in counts)
    widths = [max(BAR_LEAST, BAR * count / total) for _, _, count in counts]
    scale = BAR / sum(widths) if widths else 0
    parts, x = [], 0.0
    for (kind, label, count), width in zip(counts, widths, strict=True):
        parts.append(Part(kind, label, count, round(x, 2), round(width * scale, 2)))
        x += width * scale
    return tuple(parts)


def _counts(row: OperatorRow) -> Iterator[tuple[str, str, int]]:
    tally: Tally = row.tally
    yield "pass", "passed", tally.passed - tally.by_reading
    yield "reading", "passed by an allowed interpretation", tally.by_reading
    yield "fail", "failed", tally.failed
    yield "error", "ended in an error", tally.errors
    yield "unsupported", "unsupported", tally.unsupported
    yield "skipped", "skipped", tally.skipped
    yield "missing", "without a result", row.missing
