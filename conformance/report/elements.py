"""The wrong elements of a minimal reproducer, read from an untrusted log, and their pattern.

A distance of two million representable values says little. That all wrong elements are 9/4 of the
expected value, or are expected elsewhere in the output, says what to look for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.log.events import MAX_ELEMENTS
from conformance.report.wording import parse_number, relative_error, shortest_digits, ulps

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

    name: str
    exact: str
    rounded: str
    rounded_bits: str
    accepted: str
    got: str
    got_bits: str
    error: str


@dataclass(frozen=True)
class PlaneElement:
    """An element of a plane: its values, whether it is wrong, and the diagnosed mutant's value."""

    expected: str
    got: str
    wrong: bool
    mutant_output: str = ""


@dataclass(frozen=True)
class Plane:
    """A slice of an output, expected beside got.

    Attributes:
        caption: which slice; empty if there is only one.
        wrong: the number of wrong elements.
        is_cut: rows, columns or other slices are left out.
    """

    caption: str
    rows: tuple[tuple[PlaneElement, ...], ...]
    wrong: int
    is_cut: bool

    @property
    def has_mutant_output(self) -> bool:
        """True if the plane has the output of the diagnosed mutant."""
        return any(element.mutant_output for row in self.rows for element in row)


def wrong_elements(data: object, dtype: str = "") -> tuple[Element, ...]:
    """Return the elements of a finding's ``detail["elements"]``, without malformed ones.

    Numbers of the ``dtype`` are in the fewest digits.
    """
    if not isinstance(data, list | tuple):
        return ()
    return tuple(_element(item, dtype) for item in data[:MAX_ELEMENTS] if isinstance(item, Mapping))


def output_planes(data: object, dtype: str = "") -> tuple[Plane, ...]:
    """Return the slices of a finding's ``detail["plane"]``; empty if that is malformed.

    Numbers of the ``dtype`` are in the fewest digits.
    """
    if not isinstance(data, Mapping):
        return ()
    arrays = [data.get(name) for name in ("expected", "got", "wrong")]
    axes = _axes(arrays[0])
    if not 1 <= axes <= 3 or not _have_same_shape(arrays, axes):
        return ()
    if _have_same_shape([*arrays, data.get("given")], axes):
        arrays.append(data["given"])
    if axes == 3:
        slices = list(zip(*(array for array in arrays if isinstance(array, list)), strict=True))
        is_cut = len(slices) > MAX_SLICES
        total = f" of {len(slices)}" if is_cut else ""
        planes = (
            _plane(f"Slice {n}{total}", parts, dtype) for n, parts in enumerate(slices[:MAX_SLICES])
        )
        return tuple(replace(plane, is_cut=plane.is_cut or is_cut) for plane in planes)
    return (_plane("", [[array] for array in arrays] if axes == 1 else arrays, dtype),)


def _element(item: Mapping[str, object], dtype: str) -> Element:
    text = {name: value if isinstance(value := item.get(name), str) else "" for name in TEXTS}
    text |= {name: shortest_digits(text[name], dtype) for name in ("rounded", "lo", "hi", "got")}
    ulp, output = item.get("ulp"), item.get("output")
    accepted = text["lo"] if text["lo"] == text["hi"] or not text["hi"] else _interval(text)
    return Element(
        name=f"{output if isinstance(output, str) else ''}[{_index(item.get('index'))}]",
        exact=text["exact"],
        rounded=text["rounded"],
        rounded_bits=text["rounded_bits"],
        accepted=accepted,
        got=text["got"],
        got_bits=text["got_bits"],
        error=_error(ulp, text, dtype),
    )


def _interval(text: Mapping[str, str]) -> str:
    return f"[{text['lo']}, {text['hi']}]"


def _error(ulp: object, text: Mapping[str, str], dtype: str) -> str:
    if ulp in ("inf", math.inf):  # as a run log spells it, and as a run has it
        return ulps(math.inf)
    if isinstance(ulp, int | float) and not isinstance(ulp, bool) and 0 <= ulp <= 1e30:
        relative = relative_error(text["exact"], text["got"], dtype)
        return ", ".join(filter(None, (ulps(ulp), relative)))
    return ""


def _index(data: object) -> str:
    """Return integers with commas between them; empty for anything else."""
    if not isinstance(data, list | tuple) or not all(type(n) is int for n in data):
        return ""
    return ", ".join(map(str, data[:MAX_AXES]))


def _plane(caption: str, arrays: Sequence[Any], dtype: str) -> Plane:
    def text(value: Any) -> str:
        return shortest_digits(str(value), dtype)

    rows = tuple(
        tuple(
            PlaneElement(text(expected), text(got), wrong is True, *map(text, mutant_outputs))
            for expected, got, wrong, *mutant_outputs in zip(*row, strict=True)
        )
        for row in zip(*arrays, strict=True)
    )
    corner = tuple(row[:MAX_SIDE] for row in rows[:MAX_SIDE])
    wrong_count = sum(element.wrong for row in rows for element in row)
    is_cut = sum(map(len, corner)) < sum(map(len, rows))
    return Plane(caption, corner, wrong_count, is_cut)


def _axes(data: object) -> int:
    """Return how deep a list is nested, by its first entries."""
    depth = 0
    while isinstance(data, list) and data:
        depth, data = depth + 1, data[0]
    return depth


def _have_same_shape(arrays: Sequence[object], axes: int) -> bool:
    """Return whether nested lists have the same shape, with plain values at the innermost level."""
    if axes == 0:
        return all(isinstance(value, str | int | float) for value in arrays)
    lists: list[list[object]] = [array for array in arrays if isinstance(array, list)]
    if len(lists) != len(arrays) or len({len(items) for items in lists}) != 1:
        return False
    children = list(zip(*lists, strict=True))
    lengths = {len(child) for group in children for child in group if isinstance(child, list)}
    return len(lengths) <= 1 and all(_have_same_shape(group, axes - 1) for group in children)


MIN_WRONG = 2
"""Wrong elements that share a pattern, at least: a single number has a ratio to any other."""

RATIO_TOLERANCE = 1e-3
"""The largest relative error of a ratio: values are rounded."""

MAX_TERM = 64
"""The largest numerator and denominator of a ratio that is shown as a fraction."""


def error_pattern(data: object, total: int, dtype: str = "") -> str:
    """Return a sentence about a finding's wrong elements; empty if they share no pattern.

    Only the planes around the worst element count, which ``data`` holds for :func:`output_planes`;
    ``total`` is the number of wrong elements of the output.
    """
    planes = [plane for plane in output_planes(data, dtype) if not plane.is_cut]
    elements = [element for plane in planes for row in plane.rows for element in row]
    wrong = [element for element in elements if element.wrong]
    if len(wrong) < MIN_WRONG:
        return ""
    sentence = _constant(wrong) or _ratio(wrong, dtype) or _elsewhere(elements, wrong)
    if not sentence or len(wrong) == total:
        return sentence
    return f"In the plane of the worst element, {sentence[0].lower()}{sentence[1:]}"


def _constant(wrong: Sequence[PlaneElement]) -> str:
    values = {element.got for element in wrong}
    if len(values) != 1 or len({element.expected for element in wrong}) == 1:
        return ""
    return f"All {len(wrong)} wrong elements are {values.pop()}."


def _ratio(wrong: Sequence[PlaneElement], dtype: str) -> str:
    """Describe the ratio of wrong elements to different expected values, if it is the same."""
    expected = [parse_number(element.expected, dtype) for element in wrong]
    got = [parse_number(element.got, dtype) for element in wrong]
    ratios = [g / e for e, g in zip(expected, got, strict=True) if e and math.isfinite(g / e)]
    if len(ratios) < len(wrong) or len(set(expected)) < MIN_WRONG:
        return ""
    first = ratios[0]
    if not first or any(abs(ratio - first) > RATIO_TOLERANCE * abs(first) for ratio in ratios):
        return ""
    factor = next(_fractions(first), f"{first:.4g}")
    if factor == "1":
        return ""
    preposition = "of" if "/" in factor else "times"
    return f"All {len(wrong)} wrong elements are {factor} {preposition} the expected value."


def _fractions(ratio: float) -> Iterator[str]:
    """Yield the fractions that a ratio may be, the simplest first."""
    if abs(ratio) > MAX_TERM + 1:
        return
    for denominator in range(1, MAX_TERM + 1):
        numerator = round(ratio * denominator)
        error = abs(numerator / denominator / ratio - 1)
        if 0 < abs(numerator) <= MAX_TERM and error <= RATIO_TOLERANCE:
            yield f"{numerator}/{denominator}" if denominator > 1 else f"{numerator}"


def _elsewhere(elements: Sequence[PlaneElement], wrong: Sequence[PlaneElement]) -> str:
    """Describe wrong elements that are expected elsewhere, if expected values mostly differ."""
    expected = [element.expected for element in elements]
    if len(set(expected)) * 2 < len(expected):
        return ""
    moved = [
        element
        for element in wrong
        if element.got in expected and parse_number(element.got, "") != 0
    ]
    other_values = Counter(element.got for element in wrong if element not in moved)
    value, count = other_values.most_common(1)[0] if other_values else ("", 0)
    if len(moved) < MIN_WRONG or (len(moved) + count) * 4 < len(wrong) * 3:
        return ""
    if len(moved) == len(wrong):
        return f"All {len(wrong)} wrong elements are what is expected elsewhere."
    also = f", {count} {'are' if count > 1 else 'is'} {value}" if count else ""
    return f"{len(moved)} of {len(wrong)} wrong elements are what is expected elsewhere{also}."
