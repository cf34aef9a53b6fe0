"""A run as Markdown, for a GitHub Actions step summary."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.log.diagnosis import because
from conformance.log.run_log import RunLog
from conformance.report.cause_view import CauseView
from conformance.report.failures import Failures
from conformance.report.markdown import block, inline
from conformance.report.view import OperatorRow, View, view
from conformance.report.wording import counted, duration, evidence, precision, when

FILE = "summary.md"

MARKS = {"good": "✅", "known": "⚠️", "weak": "⚠️", "neutral": "⚪", "bad": "❌"}

MAX_BYTES = 1_000_000
"""Bytes of the whole; GitHub refuses the summary of a step above 1 MiB."""

MAX_OPERATORS = 100
"""Operators with a row of their own."""

MAX_GROUPS = 10
"""Reasons for unsupported vectors that are told."""


def render(run: RunLog) -> str:
    """The verdict, the counts and the causes, worst first, as many as there is room for."""
    shown = view(run)
    failures = Failures(run)
    text = "\n".join([*_heading(shown), *_table(shown), *_unsupported(shown)])
    end = f"\n{inline(shown.claim)}\n"
    room = MAX_BYTES - len((text + end).encode()) - 200
    for number, one in enumerate(shown.causes, 1):
        told = "\n".join(_cause(number, one, failures.why_known(one.cause)))
        size = len(told.encode())
        if size > room:
            rest = counted((other.cause for other in shown.causes[number - 1 :]), "cause")
            text += f"\nMore: {rest}; the report has them all.\n"
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


def _cause(number: int, one: CauseView, known: str | None) -> Iterator[str]:
    finding = one.lead.finding
    yield ""
    yield f"### {number}. {inline(one.cause.headline)}"
    yield ""
    if known is not None:
        yield f"Known: {inline(known)}"
        yield ""
    if one.cause.fixed:
        yield inline(f"Fixed in {', '.join(one.cause.fixed)}.")
        yield ""
    if told := because(finding):
        yield inline(told)
        yield ""
    for found in one.findings[:MAX_OPERATORS]:
        other = found.finding
        yield f"- {inline(f'{other.op}: {other.title}, {other.smallest}')}"
    if len(one.findings) > MAX_OPERATORS:
        yield f"- and {len(one.findings) - MAX_OPERATORS:,} more"
    yield ""
    lines = [f"minimal reproducer: {finding.smallest}"]
    lines += [f"{label}: {text}" for label, text in evidence(finding.witness, one.lead.off)]
    yield block("\n".join([*lines, finding.message]))
    if finding.reproduce:
        yield ""
        yield block(finding.reproduce)
    yield ""
