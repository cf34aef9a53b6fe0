"""A run as a badge: what https://shields.io/badges/endpoint-badge reads."""

from __future__ import annotations

import json

from conformance.log.run_log import RunLog
from conformance.report.view import Tone, View, view
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
    shown = view(run)
    badge = {
        "schemaVersion": 1,
        "label": "conformance",
        "message": _message(shown),
        "color": _colour(shown),
    }
    return json.dumps(badge, indent=2) + "\n"


def _message(shown: View) -> str:
    total, strength = shown.total, shown.strength
    counts = f"{shown.headline.lower()}, {total.tally.passed:,} of {total.selected:,}"
    return f"{counts}, {strength}" if strength else counts


def _colour(shown: View) -> str:
    unmeasured = shown.verdict is Verdict.CONFORMANT and shown.tone is Tone.NEUTRAL
    if not (shown.good or unmeasured):
        return COLOURS[shown.tone]
    evidence = shown.run.evidence
    return "brightgreen" if evidence.parts and not evidence.unknown else COLOURS[Tone.GOOD]
