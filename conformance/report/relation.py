"""Patterns in wrong elements: constant, a multiple of the expected value, misplaced.

Two million representable values between them say little; that all of them are 9/4 of what they
should be, or stand elsewhere in the output, says what to look for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.report.elements import Place, planes

FEW = 2
"""Wrong elements that something has to hold for, at least: one number has a ratio to any."""

SLACK = 1e-3
"""How far a ratio may be off, relatively: values are rounded."""

MOST = 64
"""The largest numerator and denominator of a ratio that is told as a fraction."""


def relation(detail: Mapping[str, Any], total: int) -> str:
    """A sentence about the wrong elements around the worst one of a finding; empty for none.

    ``total`` is how many elements of the output are wrong: those of other planes are not looked at.
    """
    shown = [plane for plane in planes(detail.get("plane")) if not plane.cut]
    places = [place for plane in shown for row in plane.rows for place in row]
    wrong = [place for place in places if place.wrong]
    if len(wrong) < FEW:
        return ""
    said = _constant(wrong) or _ratio(wrong) or _elsewhere(places, wrong)
    if not said or len(wrong) == total:
        return said
    return f"In the plane of the worst element, {said[0].lower()}{said[1:]}"


def _constant(wrong: Sequence[Place]) -> str:
    values = {place.got for place in wrong}
    if len(values) != 1 or len({place.expected for place in wrong}) == 1:
        return ""
    return f"All {len(wrong)} wrong elements are {values.pop()}."


def _ratio(wrong: Sequence[Place]) -> str:
    """That all are the same multiple of what is expected, which are not all alike."""
    pairs = [(_number(place.expected), _number(place.got)) for place in wrong]
    ratios = [got / right for right, got in pairs if right and math.isfinite(got / right)]
    if len(ratios) < len(pairs) or len({right for right, _ in pairs}) < FEW:
        return ""
    first = ratios[0]
    if not first or any(abs(ratio - first) > SLACK * abs(first) for ratio in ratios):
        return ""
    told = next(_fractions(first), f"{first:.4g}")
    if told == "1":
        return ""
    of = "of" if "/" in told else "times"
    return f"All {len(wrong)} wrong elements are {told} {of} the expected value."


def _fractions(ratio: float) -> Iterator[str]:
    """The fractions that a ratio may be, the simplest first."""
    if abs(ratio) > MOST + 1:
        return
    for denominator in range(1, MOST + 1):
        numerator = round(ratio * denominator)
        if 0 < abs(numerator) <= MOST and abs(numerator / denominator / ratio - 1) <= SLACK:
            yield f"{numerator}/{denominator}" if denominator > 1 else f"{numerator}"


def _elsewhere(places: Sequence[Place], wrong: Sequence[Place]) -> str:
    """That what came is expected at other places, and what is expected differs enough to tell."""
    expected = [place.expected for place in places]
    if len(set(expected)) * 2 < len(expected):
        return ""
    there = [place for place in wrong if place.got in expected and _number(place.got) != 0]
    others = Counter(place.got for place in wrong if place not in there)
    rest, count = others.most_common(1)[0] if others else ("", 0)
    if len(there) < FEW or (len(there) + count) * 4 < len(wrong) * 3:
        return ""
    if len(there) == len(wrong):
        return f"All {len(wrong)} wrong elements are what is expected elsewhere."
    also = f", {count} {'are' if count > 1 else 'is'} {rest}" if count else ""
    return f"{len(there)} of {len(wrong)} wrong elements are what is expected elsewhere{also}."


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
