"""Sentences of the verdict on unmet requirements and out-of-date known failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Expected = Mapping[str, Sequence[Mapping[str, Any]]]
"""``known_failures`` and ``required`` as in the footer of a log, each if it was given."""

SHOWN = 3
"""Requirements that a sentence names."""


def unmet(expected: Expected, *, strict: bool) -> bool:
    """Whether a run fails for what its gate expects, new failures aside."""
    lacking = any(entry["problems"] for entry in expected.get("required", ()))
    return lacking or (strict and _out_of_date(expected) > 0)


def remarks(expected: Expected, *, strict: bool) -> list[str]:
    """Sentences for the verdict; none where all is as expected."""
    said = []
    lacking = [entry["about"] for entry in expected.get("required", ()) if entry["problems"]]
    if lacking:
        more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        said.append(f"Required, but not supported: {'; '.join(lacking[:SHOWN])}{more}.")
    stale = _out_of_date(expected)
    if stale:
        entries = "1 entry" if stale == 1 else f"{stale} entries"
        why = ", which strict does not allow" if strict else ""
        said.append(f"{entries} of the known failures out of date{why}.")
    return said


def _out_of_date(expected: Expected) -> int:
    return sum(bool(entry["problems"]) for entry in expected.get("known_failures", ()))
