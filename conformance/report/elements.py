"""The wrong elements of a minimal reproducer, read from an untrusted log, and their pattern.

Two million representable values between them say little; that all of them are 9/4 of what they
should be, or stand elsewhere in the output, says what to look for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.log.events import MAX_ELEMENTS
from conformance.report.wording import number, relative, shortest, ulps

MAX_AXES = 8
"""Axes of an index that are shown at most."""

MAX_SIDE = 16
"""Rows and columns of a plane that are shown at most."""

MAX_SLICES = 4
"""Slices of a plane of three axes that are shown at most."""

TEXTS = ("exact", "rounded", "lo", "hi", "got", "rounded_bits", "got_bits")


@dataclass(frozen=True)
class Element:
    """A wrong element, all as text; what the log does not say is empty."""

    place: str
    exact: str
    rounded: str
    rounded_bits: str
    accepted: str
    got: str
    got_bits: str
    off: str


@dataclass(frozen=True)
class ElementRow:
    """One place of an output: what is expected and what came, whether that is wrong, and what the
    diagnosed bug gives there, or nothing.
    """

    expected: str
    got: str
    wrong: bool
    given: str = ""


@dataclass(frozen=True)
class Plane:
    """One slice of an output, expected beside got; ``caption`` says which, empty for the only one.

    ``wrong`` counts its wrong places; ``cut`` says that rows, columns or other slices are left out.
    """

    caption: str
    rows: tuple[tuple[ElementRow, ...], ...]
    wrong: int
    cut: bool

    @property
    def told(self) -> bool:
        """Whether it says what the diagnosed bug gives."""
        return any(place.given for row in self.rows for place in row)


def elements(data: object, dtype: str = "") -> tuple[Element, ...]:
    """The elements of a finding's ``detail["elements"]``, without those not of the form.

    Numbers of the ``dtype`` are in the fewest digits.
    """
    if not isinstance(data, list | tuple):
        return ()
    return tuple(_element(item, dtype) for item in data[:MAX_ELEMENTS] if isinstance(item, Mapping))


def planes(data: object, dtype: str = "") -> tuple[Plane, ...]:
    """The slices of a finding's ``detail["plane"]``; none where that is not of the form.

    Numbers of the ``dtype`` are in the fewest digits.
    """
    if not isinstance(data, Mapping):
        return ()
    parts = [data.get(name) for name in ("expected", "got", "wrong")]
    axes = _axes(parts[0])
    if not 1 <= axes <= 3 or not _alike(parts, axes):
        return ()
    if _alike([*parts, data.get("given")], axes):
        parts.append(data["given"])
    if axes == 3:
        slices = list(zip(*(part for part in parts if isinstance(part, list)), strict=True))
        more = len(slices) > MAX_SLICES
        of = f" of {len(slices)}" if more else ""
        found = (
            _plane(f"Slice {n}{of}", part, dtype) for n, part in enumerate(slices[:MAX_SLICES])
        )
        return tuple(replace(one, cut=one.cut or more) for one in found)
    return (_plane("", [[part] for part in parts] if axes == 1 else parts, dtype),)


def _element(item: Mapping[str, object], dtype: str) -> Element:
    text = {name: value if isinstance(value := item.get(name), str) else "" for name in TEXTS}
    text |= {name: shortest(text[name], dtype) for name in ("rounded", "lo", "hi", "got")}
    ulp, output = item.get("ulp"), item.get("output")
    accepted = text["lo"] if text["lo"] == text["hi"] or not text["hi"] else _interval(text)
    return Element(
        place=f"{output if isinstance(output, str) else ''}[{_index(item.get('index'))}]",
        exact=text["exact"],
        rounded=text["rounded"],
        rounded_bits=text["rounded_bits"],
        accepted=accepted,
        got=text["got"],
        got_bits=text["got_bits"],
        off=_off(ulp, text, dtype),
    )


def _interval(text: Mapping[str, str]) -> str:
    return f"[{text['lo']}, {text['hi']}]"


def _off(ulp: object, text: Mapping[str, str], dtype: str) -> str:
    if ulp in ("inf", math.inf):  # as a run log spells it, and as a run has it
        return ulps(math.inf)
    if isinstance(ulp, int | float) and not isinstance(ulp, bool) and 0 <= ulp <= 1e30:
        return ", ".join(filter(None, (ulps(ulp), relative(text["exact"], text["got"], dtype))))
    return ""


def _index(data: object) -> str:
    """Whole numbers with commas between; nothing for anything else."""
    if not isinstance(data, list | tuple) or not all(type(n) is int for n in data):
        return ""
    return ", ".join(map(str, data[:MAX_AXES]))


def _plane(caption: str, parts: Sequence[Any], dtype: str) -> Plane:
    def text(value: Any) -> str:
        return shortest(str(value), dtype)

    rows = tuple(
        tuple(
            ElementRow(text(e), text(g), w is True, *map(text, given))
            for e, g, w, *given in zip(*row, strict=True)
        )
        for row in zip(*parts, strict=True)
    )
    shown = tuple(row[:MAX_SIDE] for row in rows[:MAX_SIDE])
    wrong = sum(place.wrong for row in rows for place in row)
    return Plane(caption, shown, wrong, cut=sum(map(len, shown)) < sum(map(len, rows)))


def _axes(data: object) -> int:
    """How deep a list is nested, by its first entries."""
    depth = 0
    while isinstance(data, list) and data:
        depth, data = depth + 1, data[0]
    return depth


def _alike(three: Sequence[object], axes: int) -> bool:
    """Whether nested lists have the same shape, with plain values in the end."""
    if axes == 0:
        return all(isinstance(value, str | int | float) for value in three)
    lists: list[list[object]] = [part for part in three if isinstance(part, list)]
    if len(lists) != len(three) or len({len(part) for part in lists}) != 1:
        return False
    inner = list(_children(lists))
    return len({len(part) for one in inner for part in one if isinstance(part, list)}) <= 1 and all(
        _alike(one, axes - 1) for one in inner
    )


def _children(lists: Sequence[Sequence[object]]) -> Iterator[list[object]]:
    yield from (list(parts) for parts in zip(*lists, strict=True))


FEW = 2
"""Wrong elements that something has to hold for, at least: one number has a ratio to any."""

SLACK = 1e-3
"""How far a ratio may be off, relatively: values are rounded."""

MOST = 64
"""The largest numerator and denominator of a ratio that is told as a fraction."""


def relation(data: object, total: int, dtype: str = "") -> str:
    """A sentence about the wrong elements of a plane, ``data`` of :func:`planes`; empty for none.

    ``total`` is how many elements of the output are wrong: those of other planes are not looked at.
    """
    shown = [plane for plane in planes(data, dtype) if not plane.cut]
    places = [place for plane in shown for row in plane.rows for place in row]
    wrong = [place for place in places if place.wrong]
    if len(wrong) < FEW:
        return ""
    said = _constant(wrong) or _ratio(wrong, dtype) or _elsewhere(places, wrong)
    if not said or len(wrong) == total:
        return said
    return f"In the plane of the worst element, {said[0].lower()}{said[1:]}"


def _constant(wrong: Sequence[ElementRow]) -> str:
    values = {place.got for place in wrong}
    if len(values) != 1 or len({place.expected for place in wrong}) == 1:
        return ""
    return f"All {len(wrong)} wrong elements are {values.pop()}."


def _ratio(wrong: Sequence[ElementRow], dtype: str) -> str:
    """That all are the same multiple of what is expected, which are not all alike."""
    pairs = [(number(place.expected, dtype), number(place.got, dtype)) for place in wrong]
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


def _elsewhere(places: Sequence[ElementRow], wrong: Sequence[ElementRow]) -> str:
    """That what came is expected at other places, and what is expected differs enough to tell."""
    expected = [place.expected for place in places]
    if len(set(expected)) * 2 < len(expected):
        return ""
    there = [place for place in wrong if place.got in expected and number(place.got, "") != 0]
    others = Counter(place.got for place in wrong if place not in there)
    rest, count = others.most_common(1)[0] if others else ("", 0)
    if len(there) < FEW or (len(there) + count) * 4 < len(wrong) * 3:
        return ""
    if len(there) == len(wrong):
        return f"All {len(wrong)} wrong elements are what is expected elsewhere."
    also = f", {count} {'are' if count > 1 else 'is'} {rest}" if count else ""
    return f"{len(there)} of {len(wrong)} wrong elements are what is expected elsewhere{also}."
