"""A run as Markdown, for a GitHub Actions step summary, and untrusted text in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.log.diagnosis import diagnosis_text
from conformance.log.run_log import RunLog
from conformance.report.cause_view import CauseView
from conformance.report.ci.failures import RunFailures
from conformance.report.view import OperatorRow, Tone, View, run_view
from conformance.report.wording import (
    cause_counts,
    duration,
    precision_text,
    shorten_distinctly,
    utc_time,
    worst_element_rows,
)
from conformance.safe_text import shortened, visible

# What begins a line may begin a list or a rule, a digit too. A colon begins what GitHub makes an
# emoji or a link of, but not before a space.
_MARKS = re.compile(r"^[\x00-@]|[^A-Za-z0-9 ,:;=/().'+\u0080-\U0010ffff-]|:(?! )")


def inline(text: str, length: int = 500) -> str:
    """Return text on one line that Markdown shows as it is.

    It may stand in a paragraph, a heading or a table.

    Marks become numeric character references, which Markdown never takes for structure. What it
    would turn into a link by itself (``www.``, ``://``) is broken in the same way.
    """
    line = shortened(visible(" ".join(text.split())), length)
    line = _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", line)
    return re.sub(r"(?i)www\.", lambda match: match[0][:-1] + "&#46;", line)


def block(text: str, length: int = 2000) -> str:
    """Return text as a block of code, between fences longer than any in it."""
    code = shortened(visible(text), length)
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{code}\n{fence}"


FILE = "summary.md"

MARKS = {Tone.GOOD: "✅", Tone.KNOWN: "⚠️", Tone.WEAK: "⚠️", Tone.NEUTRAL: "⚪", Tone.BAD: "❌"}

MAX_BYTES = 1_000_000
"""Bytes of the summary; GitHub refuses the summary of a step above 1 MiB."""

MAX_OPERATORS = 100
"""Operators with a row of their own."""

MAX_GROUPS = 10
"""Reasons for unsupported vectors that are listed."""

MAX_REASON = 300
"""Characters of a reason."""


def render(run: RunLog) -> str:
    """Return the verdict, the counts and as many causes as fit, worst first."""
    view = run_view(run)
    failures = RunFailures(run)
    text = "\n".join([*_heading(view), *_table(view), *_unsupported(view)])
    end = f"\n{inline(view.claim)}\n"
    room = MAX_BYTES - len((text + end).encode()) - 200
    for number, cause_view in enumerate(view.causes, 1):
        section = "\n".join(_cause(number, cause_view, failures.known_reason(cause_view.cause)))
        size = len(section.encode())
        if size > room:
            left_out = cause_counts((later.cause for later in view.causes[number - 1 :]), "cause")
            text += f"\nMore: {left_out}; the report has them all.\n"
            break
        room -= size
        text += section
    return text + end


def _heading(view: View) -> Iterator[str]:
    start, end = view.run.start, view.run.end
    backend, suite, options = start.backend, start.suite, start.options
    mark = MARKS[view.tone]
    name = inline(f"{backend.name} {backend.version}")
    yield f"## {mark} {view.headline}: {name}"
    yield ""
    yield inline(view.sentence)
    yield ""
    if view.command:
        yield block(view.command)
        yield ""
    seconds = "" if end is None else f", {duration(end.seconds)}"
    yield inline(
        f"Suite {suite.name} ({suite.digest[:12]}), level {options.level}, precision "
        f"{precision_text(options.precision)}; {utc_time(start.started)}{seconds}."
    )
    yield ""


def _table(view: View) -> Iterator[str]:
    yield "| operator | vectors | passed | failed | errors | unsupported | skipped | no result |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in view.table[:MAX_OPERATORS]:
        yield _row(row)
    yield _row(view.total)
    yield ""


def _row(row: OperatorRow) -> str:
    t = row.tally
    counts = (row.selected, t.passed, t.failed, t.errors, t.unsupported, t.skipped, row.missing)
    return f"| {inline(row.op)} | " + " | ".join(f"{count:,}" for count in counts) + " |"


def _unsupported(view: View) -> Iterator[str]:
    if view.unsupported:
        yield "### Unsupported"
        yield ""
    reasons = [group.reason for group in view.unsupported]
    for group in view.unsupported[:MAX_GROUPS]:
        reason = shorten_distinctly(group.reason, reasons, MAX_REASON) or "no reason given"
        yield f"- {inline(f'{group.op}, {group.count:,}: {reason}')}"
    left_out = sum(group.count for group in view.unsupported[MAX_GROUPS:])
    if left_out:
        yield f"- and {left_out:,} more"
    yield ""


def _cause(number: int, cause_view: CauseView, known_reason: str | None) -> Iterator[str]:
    cause, lead = cause_view.cause, cause_view.lead
    finding = lead.finding
    yield ""
    yield f"### {number}. {inline(cause.headline)}"
    yield ""
    if known_reason is not None:
        yield f"Known: {inline(known_reason)}"
        yield ""
    if cause.fixed:
        yield inline(f"Fixed in {', '.join(cause.fixed)}.")
        yield ""
    if explanation := diagnosis_text(finding):
        yield inline(explanation)
        yield ""
    for listed in cause.findings[:MAX_OPERATORS]:
        yield f"- {inline(f'{listed.op}: {listed.title}, {listed.smallest}')}"
    if len(cause.findings) > MAX_OPERATORS:
        yield f"- and {len(cause.findings) - MAX_OPERATORS:,} more"
    yield ""
    lines = [f"minimal reproducer: {finding.smallest}"]
    lines += [f"{label}: {text}" for label, text in worst_element_rows(finding.witness, lead.error)]
    yield block("\n".join([*lines, finding.message]))
    if finding.reproduce:
        yield ""
        yield block(finding.reproduce)
    yield ""
