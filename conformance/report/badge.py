"""A run as a badge: what https://shields.io/badges/endpoint-badge reads."""

from __future__ import annotations

import json

from conformance.log.run_log import RunLog
from conformance.report.view import View, view

FILE = "badge.json"


def render(run: RunLog) -> str:
    """Green where everything that was selected passed, yellow where it was conformant with less.

    Orange where all that failed is known to fail; any other run is red.
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
    return f"{shown.headline.lower()}, {total.tally.passed:,} of {total.selected:,}"


def _colour(shown: View) -> str:
    run, total = shown.run, shown.total
    if not shown.good:
        return "orange" if shown.tone == "known" else "red"
    options = run.header["options"]
    part = options["only"] or options.get("shard")
    return "yellow" if part or total.tally.passed < total.selected else "brightgreen"
