"""A run as a badge: what https://shields.io/badges/endpoint-badge reads."""

from __future__ import annotations

import json

from conformance.log.run_log import RunLog
from conformance.report.gate import green
from conformance.report.view import View, view

FILE = "badge.json"


def render(run: RunLog) -> str:
    """Green where everything that was selected passed, yellow where it was conformant with less.

    Any other run is red.
    """
    shown = view(run)
    badge = {
        "schemaVersion": 1,
        "label": "conformance",
        "message": _message(shown),
        "color": _colour(shown),
    }
    return json.dumps(badge, indent=2) + "\n"


def _message(shown: View) -> str:
    total = shown.total
    counts = f"{total.tally.passed:,} of {total.selected:,}"
    if green(shown):
        return f"conformant, {counts}"
    if shown.good:
        return f"failed, {counts}"
    return f"{shown.headline.lower()}, {counts}"


def _colour(shown: View) -> str:
    if not green(shown):
        return "red"
    whole = shown.total.tally.passed == shown.total.selected
    return "brightgreen" if whole and not shown.run.header["options"]["only"] else "yellow"
