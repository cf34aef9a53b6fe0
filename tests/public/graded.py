"""What the shipped core says of a backend with the fault of a public report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reported import Backend, Report

import conformance
from conformance.log.causes import Cause, causes
from conformance.log.diagnosis import parse_diagnosis

KINDS = ("named", "described", "refused", "misnamed", "inconclusive", "missed")
"""What may come of a report, the best first."""


@dataclass(frozen=True)
class Said:
    """What a check says of a report, and the words of each cause.

    ``kind`` is *named* if a cause is a mutant that the report lists, *misnamed* if it is another
    one, *described* if at least a condition is told, or what an exception says, *refused* if
    nothing is, *missed* if the backend is called conformant.
    """

    report: Report
    kind: str
    failing: int
    graded: int
    words: tuple[str, ...]

    @property
    def row(self) -> str:
        one = self.report
        words = "; ".join(self.words).replace("|", "\\|")
        about = f"{one.op} {' '.join(one.dtypes)} {'D '.join(map(str, one.ranks))}D"
        count = f"{self.failing} of {self.graded:,}"
        return f"| [{one.id}]({one.thread}) | {about} | {count} | {self.kind} | {words} |"


def said(report: Report) -> Said:
    run = conformance.check(None, Backend(report), ops=[report.op])
    counts = run.footer["counts"][report.op]
    found = causes(run.findings, run.results)
    return Said(
        report,
        _kind(report, run, found),
        counts["failed"] + counts["errors"],
        counts["graded"],
        tuple(map(_words, found)),
    )


def _kind(report: Report, run: conformance.Run, found: Sequence[Cause]) -> str:
    if run.conformant:
        return "missed"
    if not found:
        return "inconclusive"
    if {fault for cause in found for fault in _ids(cause)} & {*report.names}:
        return "named"
    if any(cause.named for cause in found):
        return "misnamed"
    return "described" if any(cause.explained for cause in found) else "refused"


def _ids(cause: Cause) -> Iterator[str]:
    """The mutants of a cause that is named."""
    for finding in cause.findings:
        told = parse_diagnosis(finding.diagnosis)
        if cause.named and told:
            yield from (fault.id for fault in told.faults)


def _words(cause: Cause) -> str:
    ids = ", ".join(dict.fromkeys(_ids(cause)))
    return f"{ids or cause.title} ({len(cause.vectors)})"
