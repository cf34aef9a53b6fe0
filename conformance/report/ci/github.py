"""A run as GitHub Actions annotations (workflow commands).

What a command may hold, and how it is escaped, is the runner's to say (``ActionCommand.cs``).
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.failure_kind import Severity
from conformance.log.diagnosis import diagnosis_text
from conformance.log.run_log import RunLog
from conformance.report.cause_view import CauseView
from conformance.report.ci.failures import RunFailures, backend_file, run_problem
from conformance.report.view import run_view
from conformance.report.wording import cause_counts, worst_element_rows
from conformance.safe_text import shortened, visible

FILE = "annotations.txt"

MAX_PER_LEVEL = 10
"""Annotations of one level that GitHub shows of one step."""

MAX_TITLE = 200
MAX_MESSAGE = 2000
"""Characters; GitHub allows 255 and 64 KiB."""


def render(run: RunLog) -> str:
    """Return an error or warning for each cause, worst first, then a notice.

    GitHub shows :data:`MAX_PER_LEVEL` of each level; the notice counts the others.
    """
    view = run_view(run)
    failures = RunFailures(run)
    file = backend_file(run)
    commands: dict[str, list[str]] = {"error": [], "warning": []}
    problem = run_problem(view)
    if problem is not None:
        commands["error"].append(_command("error", "conformance", problem, None))
    known_causes, left_out = [], []
    for cause_view in view.causes:
        cause = cause_view.cause
        level = "warning" if cause.severity is Severity.MILD else "error"
        if failures.known_reason(cause) is not None:
            known_causes.append(cause)
        elif len(commands[level]) == MAX_PER_LEVEL:
            left_out.append(cause)
        else:
            message = "\n".join(_lines(cause_view))
            commands[level].append(_command(level, cause.headline, message, file))
    notice = f"{view.headline}. {view.full_sentence}"
    if left_out:
        notice += f"\nMore: {cause_counts(left_out, 'cause')}; see the report."
    if known_causes:
        notice += f"\nAlready known: {cause_counts(known_causes, 'cause')}."
    title = f"conformance: {view.headline}"
    lines = [*commands["error"], *commands["warning"], _command("notice", title, notice, None)]
    return "\n".join(lines) + "\n"


def _lines(cause_view: CauseView) -> Iterator[str]:
    cause, lead = cause_view.cause, cause_view.lead
    finding = lead.finding
    if explanation := diagnosis_text(finding):
        yield explanation
    if cause.fixed:
        yield f"fixed in {', '.join(cause.fixed)}"
    if len(cause.operators) > 1:
        yield f"operators: {', '.join(cause.operators)}"
    yield f"smallest: {finding.smallest}"
    yield from (
        f"{label}: {text}" for label, text in worst_element_rows(finding.witness, lead.error)
    )
    yield finding.message
    if finding.reproduce:
        yield f"reproduce: {finding.reproduce}"


def _command(level: str, title: str, message: str, file: str | None) -> str:
    properties = {"title": shortened(visible(" ".join(title.split())), MAX_TITLE)}
    if file is not None:
        properties = {"file": file, "line": "1", **properties}
    text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {text}::{_data(shortened(visible(message), MAX_MESSAGE))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
