"""What the shipped core says of backends with the faults of public reports.

    python tests/public/run.py            # all of them, in minutes
    python tests/public/run.py ncnn xla   # those whose names begin so
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reports import REPORTS, Backend, Report

import conformance
from conformance.log.causes import Cause, causes
from conformance.log.diagnosis import diagnosis
from conformance.model import FAILED

KINDS = ("named", "misnamed", "described", "refused", "inconclusive", "missed")


@dataclass(frozen=True)
class Said:
    """What a check says of a report, and by which words.

    ``kind`` is *named* if a cause is a mutant that the report lists, *misnamed* if causes are only
    other ones, *described* if at least conditions or the words of an exception are told, *refused*
    if nothing is, *missed* if the backend is called conformant.
    """

    report: Report
    kind: str
    failing: int
    graded: int
    words: tuple[str, ...]
    verdict: str


def said(report: Report, suite: conformance.api.Suite | None = None) -> Said:
    run = conformance.check(suite, Backend(report), ops=[report.op])
    failing = [one for one in run.results if one.status in FAILED]
    graded = [one for one in run.results if one.reject is None and one.status != "unsupported"]
    found = causes(run.findings, run.results)
    kind = _kind(report, run, found)
    return Said(report, kind, len(failing), len(graded), tuple(_words(found)), run.log.verdict)


def _kind(report: Report, run: conformance.Run, found: Sequence[Cause]) -> str:
    if run.conformant:
        return "missed"
    if not found:
        return "inconclusive"
    if {id for cause in found for id in _ids(cause)} & {*report.names}:
        return "named"
    if any(cause.named for cause in found):
        return "misnamed"
    return "described" if any(cause.explained for cause in found) else "refused"


def _ids(cause: Cause) -> Iterator[str]:
    for finding in cause.findings:
        told = diagnosis(finding.diagnosis)
        if cause.named and told:
            yield from (fault.id for fault in told.faults)


def _words(found: Sequence[Cause]) -> Iterator[str]:
    for cause in found:
        ids = ", ".join(dict.fromkeys(_ids(cause)))
        yield f"{cause.headline}{f' [{ids}]' * bool(ids)}"


def main(wanted: Sequence[str]) -> int:
    chosen = [one for one in REPORTS.values() if one.id.startswith(tuple(wanted) or "")]
    suite = conformance.load_suite()
    every = []
    for one in chosen:
        started = time.monotonic()
        every.append(told := said(one, suite))
        print(
            f"{told.kind:12} {one.id}: {told.failing} of {told.graded} ({one.op}), "
            f"{told.verdict}, {time.monotonic() - started:.0f} s",
            *(f"    {words}" for words in told.words),
            sep="\n",
            flush=True,
        )
    fresh = [told for told in every if not told.report.known]
    counts = (f"{sum(told.kind == kind for told in fresh)} {kind}" for kind in KINDS)
    print(f"{len(fresh)} whose mechanism was new: {', '.join(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
