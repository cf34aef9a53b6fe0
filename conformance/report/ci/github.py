"""A run as GitHub Actions annotations (workflow commands).

What a command may hold, and how it is escaped, is the runner's to say (``ActionCommand.cs``).
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.failure_kind import Severity
from conformance.log.diagnosis import diagnosis_text
from conformance.log.run_log import RunLog
from conformance.report.cause_view import CauseView
from conformance.report.ci.listed import ListedFailures, alarm, backend_file
from conformance.report.view import view
from conformance.report.wording import counted, evidence
from conformance.safe_text import shortened, visible

FILE = "annotations.txt"

MAX_PER_LEVEL = 10
"""Annotations of one level that GitHub shows of one step."""

MAX_TITLE = 200
MAX_MESSAGE = 2000
"""Characters; GitHub allows 255 and 64 KiB."""


def render(run: RunLog) -> str:
    """An error or warning a cause, worst first, as many as are shown; then one notice."""
    shown = view(run)
    failures = ListedFailures(run)
    file = backend_file(run)
    commands: dict[str, list[str]] = {"error": [], "warning": []}
    trouble = alarm(shown)
    if trouble is not None:
        commands["error"].append(_command("error", "conformance", trouble, None))
    known, more = [], []
    for one in shown.causes:
        if failures.why_known(one.cause) is not None:
            known.append(one.cause)
            continue
        level = "warning" if one.cause.severity is Severity.MILD else "error"
        if len(commands[level]) == MAX_PER_LEVEL:
            more.append(one.cause)
            continue
        commands[level].append(_command(level, one.cause.headline, "\n".join(_lines(one)), file))
    kept = [line for lines in commands.values() for line in lines]
    notice = f"{shown.headline}. {shown.advised}"
    if more:
        notice += f"\nMore: {counted(more, 'cause')}; see the report."
    if known:
        notice += f"\nAlready known: {counted(known, 'cause')}."
    title = f"conformance: {shown.headline}"
    return "\n".join([*kept, _command("notice", title, notice, None)]) + "\n"


def _lines(one: CauseView) -> Iterator[str]:
    finding = one.lead.finding
    if told := diagnosis_text(finding):
        yield told
    if one.cause.fixed:
        yield f"fixed in {', '.join(one.cause.fixed)}"
    if len(one.cause.operators) > 1:
        yield f"operators: {', '.join(one.cause.operators)}"
    yield f"smallest: {finding.smallest}"
    yield from (f"{label}: {text}" for label, text in evidence(finding.witness, one.lead.off))
    yield finding.message
    if finding.reproduce:
        yield f"reproduce: {finding.reproduce}"


def _command(level: str, title: str, message: str, file: str | None) -> str:
    properties = {"title": shortened(visible(" ".join(title.split())), MAX_TITLE)}
    if file is not None:
        properties = {"file": file, "line": "1", **properties}
    spelled = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {spelled}::{_data(shortened(visible(message), MAX_MESSAGE))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
