"""The gate as text: lost requirements, known failures, out-of-date entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.report.view import View
from conformance.report.wording import vectors, why
from conformance.safe_text import wrap

SHOWN = 10
"""Entries of each kind that are shown at most; a log and its page have all."""


def gate(shown: View, width: int) -> list[list[str]]:
    """Blocks of lines; none of what the run was not asked."""
    return [
        block
        for block in (_known(shown, width), _out_of_date(shown, width), _required(shown, width))
        if block
    ]


def _known(shown: View, width: int) -> list[str]:
    used = [entry for entry in shown.known if entry["failures"]]
    if not used:
        return []
    lines = wrap(f"Known failures ({vectors(shown.total.tally.known)})", width)
    for entry in sorted(used, key=lambda entry: -entry["failures"])[:SHOWN]:
        lines += wrap(f"{_name(entry)} ({vectors(entry['failures'])})", width, "      ", "  ")
        lines += wrap(why(entry), width, "      ")[:3]
    return lines + _more(used)


def _out_of_date(shown: View, width: int) -> list[str]:
    stale = [entry for entry in shown.known if entry["problems"]]
    return _with_problems(f"Known failures out of date ({len(stale)})", stale, width)


def _required(shown: View, width: int) -> list[str]:
    if not shown.required:
        return []
    unmet = [entry for entry in shown.required if entry["problems"]]
    if not unmet:
        return wrap(f"Required: supported, all {len(shown.required)} entries.", width)
    heading = f"Required, but not supported ({len(unmet)} of {len(shown.required)})"
    return _with_problems(heading, unmet, width)


def _with_problems(heading: str, entries: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    if not entries:
        return []
    lines = wrap(heading, width)
    for entry in entries[:SHOWN]:
        lines += wrap(_name(entry), width, "      ", "  ")
        for problem in entry["problems"]:
            lines += wrap(problem, width, "      ")[:3]
    return lines + _more(entries)


def _name(entry: Mapping[str, Any]) -> str:
    return f"{entry['entry']}  {entry['about']}"


def _more(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"  and {len(entries) - SHOWN} more"] if len(entries) > SHOWN else []
