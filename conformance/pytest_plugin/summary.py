"""Lists the causes of failures at the end of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.codec import decode
from conformance.errors import ConformanceError
from conformance.log.causes import causes
from conformance.log.encoding import encode
from conformance.log.events import ResultEvent, result_event, to_result
from conformance.model import FAILED, Result
from conformance.report.wording import cause_counts
from conformance.run.summarise import diagnosed_findings, in_suite_order
from conformance.safe_text import wrap
from conformance.suite.store import Suite

WIDTH = 96
MAX_CAUSES = 20
"""Causes that are listed."""


def encode_result(result: Result) -> str:
    """Encode a result as text that a report of pytest can carry from a worker."""
    return encode(result_event(result))


def decode_result(text: str) -> Result:
    """Decode a result."""
    return to_result(decode(text.encode(), ResultEvent, printable=False))


def cause_lines(
    results: Sequence[Result], suite: Suite, *, level: str, precision: Mapping[str, str]
) -> Iterator[str]:
    """Yield lines that name the causes of failures, the worst first; none if nothing failed."""
    if not any(result.status in FAILED for result in results):
        return
    ordered = in_suite_order(results, suite)
    try:
        findings = diagnosed_findings(
            ordered, suite, level=level, precision=precision, command=(), show=()
        )
        grouped = causes(findings, ordered)
    except ConformanceError as error:
        yield f"conformance: the causes cannot be determined: {error}"
        return
    yield f"conformance: {cause_counts(grouped, 'cause')}, worst first"
    for number, cause in enumerate(grouped[:MAX_CAUSES], 1):
        known = " (known)" if cause.known else ""
        yield from wrap(f"{cause.headline}{known}", WIDTH, "     ", f"{number:>3}. ")
    if len(grouped) > MAX_CAUSES:
        yield f"     and {len(grouped) - MAX_CAUSES} more"
