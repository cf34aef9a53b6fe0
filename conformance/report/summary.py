"""A run as Markdown, for the summary of a step of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.log.diagnosis import because
from conformance.log.run_log import RunLog
from conformance.report.finding_view import FindingView
from conformance.report.findings import Findings
from conformance.report.markdown import block, inline
from conformance.report.view import OperatorRow, View, view
from conformance.report.wording import duration, evidence, precision, when

FILE = "summary.md"

MARKS = {"good": "✅", "known": "⚠️", "weak": "⚠️", "neutral": "⚪", "bad": "❌"}

MAX_BYTES = 1_000_000
"""Bytes of the whole; GitHub refuses the summary of a step above 1 MiB."""

MAX_OPERATORS = 100
"""Operators with a row of their own."""

MAX_GROUPS = 10
"""Reasons for unsupported vectors that are told."""


def render(run: RunLog) -> str:
    """The verdict, the counts and the findings, worst first, as many as there is room for."""
    shown = view(run)
    findings = Findings(run)
    text = "\n".join([*_heading(shown), *_table(shown), *_unsupported(shown)])
    end = f"\n{inline(shown.claim)}\n"
    room = MAX_BYTES - len((text + end).encode()) - 200
    for found in shown.findings:
        told = "\n".join(_finding(found, findings.why_known(found.finding)))
        size = len(told.encode())
        if size > room:
            rest = len(shown.findings) - found.number + 1
            text += f"\n{rest:,} findings more; the report has them all.\n"
            break
        room -= size
        text += told
    return text + end


def _heading(shown: View) -> Iterator[str]:
    header = shown.run.header
    backend, suite, options = header["backend"], header["suite"], header["options"]
    mark = MARKS[shown.tone]
    name = inline(f"{backend['name']} {backend['version']}")
    yield f"## {mark} {shown.headline}: {name}"
    yield ""
    yield inline(shown.sentence)
    yield ""
    seconds = "" if shown.run.footer is None else f", {duration(shown.run.footer['seconds'])}"
    yield inline(
        f"Suite {suite['name']} ({suite['digest'][:12]}), level {options['level']}, precision "
        f"{precision(options['precision'])}; {when(header['started'])}{seconds}."
    )
    yield ""


def _table(shown: View) -> Iterator[str]:
    yield "| operator | vectors | passed | failed | errors | unsupported | skipped | no result |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in shown.table[:MAX_OPERATORS]:
        yield _row(row)
    yield _row(shown.total)
    yield ""


def _row(row: OperatorRow) -> str:
    t = row.tally
    counts = (row.selected, t.passed, t.failed, t.errors, t.unsupported, t.skipped, row.missing)
    return f"| {inline(row.op)} | " + " | ".join(f"{count:,}" for count in counts) + " |"


def _unsupported(shown: View) -> Iterator[str]:
    if shown.unsupported:
        yield "### Unsupported"
        yield ""
    for group in shown.unsupported[:MAX_GROUPS]:
        reason = group.reason or "no reason given"
        yield f"- {inline(f'{group.op}, {group.count:,}: {reason}')}"
    rest = sum(group.count for group in shown.unsupported[MAX_GROUPS:])
    if rest:
        yield f"- and {rest:,} more"
    yield ""


def _finding(found: FindingView, known: str | None) -> Iterator[str]:
    finding = found.finding
    yield ""
    yield f"### {found.number}. {inline(f'{finding.op}: {finding.title}')}"
    yield ""
    if known is not None:
        yield f"Known: {inline(known)}"
        yield ""
    if told := because(finding):
        yield inline(told)
        yield ""
    lines = [f"smallest: {finding.smallest}"]
    lines += [f"{label}: {text}" for label, text in evidence(finding.witness)]
    yield block("\n".join([*lines, finding.message]))
    if finding.reproduce:
        yield ""
        yield block(finding.reproduce)
    yield ""
