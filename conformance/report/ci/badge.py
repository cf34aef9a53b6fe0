"""A run as a badge: what https://shields.io/badges/endpoint-badge reads."""

from __future__ import annotations

import json

from conformance.log.run_log import RunLog
from conformance.report.view import Tone, View, run_view
from conformance.verdict import Verdict

FILE = "badge.json"

COLOURS = {
    Tone.GOOD: "green",
    Tone.KNOWN: "orange",
    Tone.WEAK: "yellow",
    Tone.NEUTRAL: "lightgrey",
    Tone.BAD: "red",
}


def render(run: RunLog) -> str:
    """Return the badge: verdict, counts and strength, in the colour of the verdict.

    Green if the run is conformant, bright if the strength of all its evidence is known. Yellow if
    nothing failed and too little was proven, grey if a part of a suite was tested, which makes no
    claim; orange if all that failed is known to fail. Any other run is red.
    """
    view = run_view(run)
    badge = {
        "schemaVersion": 1,
        "label": "conformance",
        "message": _message(view),
        "color": _colour(view),
    }
    return json.dumps(badge, indent=2) + "\n"


def _message(view: View) -> str:
    total, strength = view.total, view.strength
    counts = f"{view.headline.lower()}, {total.tally.passed:,} of {total.selected:,}"
    return f"{counts}, {strength}" if strength else counts


def _colour(view: View) -> str:
    unmeasured = view.verdict is Verdict.CONFORMANT and view.tone is Tone.NEUTRAL
    if not (view.is_green or unmeasured):
        return COLOURS[view.tone]
    evidence = view.run.evidence
    return "brightgreen" if evidence.parts and not evidence.unknown else COLOURS[Tone.GOOD]
