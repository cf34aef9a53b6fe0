"""Lists the causes of failures at the end of a session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.errors import ConformanceError
from conformance.log.causes import causes
from conformance.log.encoding import encode
from conformance.log.events import result_event, result_from_event
from conformance.model import FAILED, Result
from conformance.report.wording import counted
from conformance.run.summarise import diagnosed_findings, in_suite_order
from conformance.safe_text import wrap
from conformance.suite.store import Suite

WIDTH = 96
MOST = 20
"""Causes that are told at most."""


def packed(result: Result) -> str:
    """A result as text that a report of pytest can carry from a worker."""
    return encode(result_event(result))


def unpacked(text: str) -> Result:
    """The result again."""
    event: dict[str, Any] = json.loads(text)
    return result_from_event(event)


def told(
    results: Sequence[Result], suite: Suite, *, level: str, precision: Mapping[str, str]
) -> Iterator[str]:
    """Lines that name the causes of the failures, the worst first; none where nothing failed."""
    if not any(result.status in FAILED for result in results):
        return
    ordered = in_suite_order(results, suite)
    try:
        findings = diagnosed_findings(
            ordered, suite, level=level, precision=precision, command=(), show=()
        )
        named = causes(findings, ordered)
    except ConformanceError as error:
        yield f"conformance: the causes cannot be determined: {error}"
        return
    yield f"conformance: {counted(named, 'cause')}, worst first"
    for number, cause in enumerate(named[:MOST], 1):
        known = " (known)" if cause.known else ""
        yield from wrap(f"{cause.headline}{known}", WIDTH, "     ", f"{number:>3}. ")
    if len(named) > MOST:
        yield f"     and {len(named) - MOST} more"
