"""Wording of probes, from their JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.probe.statements import CONSISTENT, DECIDED
from conformance.safe_text import number_of

PROPERTIES = {
    "accumulator": "type of the sum",
    "order": "order of summation",
    "lanes": "interleaved partial sums",
    "division": "division",
    "results": "rounding of results",
    "rounding": "rounding of whole numbers",
    "inputs beside it": "an input alone, and beside others",
    "another process": "the same calls in another process",
}
"""Properties that have another name for readers."""

VALUES = {
    "divided": "divided",
    "reciprocal": "times one over the number",
    "rounded-divided": "rounded, then divided",
    "rounded-reciprocal": "rounded, then times one over the number",
    "reciprocal-f32": "times one over the number in f32",
    "divided-twice": "divided by rows, then by columns",
    "each-divided": "each element divided first",
    "each-reciprocal": "each element times one over the number first",
    "exact": "exact",
}

WINDOWS = {"row": "row", "square": "square", "whole": "whole plane"}


@dataclass(frozen=True)
class StatementRow:
    """Statements that say the same of one property.

    Attributes:
        places: windows and element types, in words.
        shown: element type, call and number of the input of each result.
    """

    property: str
    places: tuple[str, ...]
    verdict: str
    values: tuple[str, ...]
    note: str
    contradicted: tuple[str, ...]
    shown: tuple[tuple[str, str, int], ...]


def property_name(name: str) -> str:
    """Return a property's name for readers."""
    return PROPERTIES.get(name, name)


def value_name(name: str) -> str:
    """Return a value's name for readers."""
    return VALUES.get(name, name)


def size_range(sizes: Sequence[int]) -> str:
    """Return sizes in words: ``2 to 25 elements (9 sizes)``; one or two are listed."""
    if len(sizes) == 1:
        return f"{sizes[0]} element{'s' * (sizes[0] != 1)}"
    if len(sizes) == 2:
        return f"{sizes[0]} and {sizes[1]} elements"
    return f"{sizes[0]} to {sizes[-1]} elements ({len(sizes)} sizes)"


def statement_text(statement: Mapping[str, Any]) -> str:
    """Return a statement in a few words."""
    values = " or ".join(map(value_name, statement["values"]))
    if statement["verdict"] == DECIDED:
        return values
    if statement["verdict"] == CONSISTENT:
        return f"{CONSISTENT} {values}"
    return str(statement["verdict"])


def statement_rows(statements: Sequence[Mapping[str, Any]]) -> list[StatementRow]:
    """Group the statements on one operator that say the same of a property."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for statement in statements:
        key = statement["verdict"], tuple(statement["values"]), statement["note"]
        groups.setdefault((statement["property"], *key), []).append(statement)
    names = list(dict.fromkeys(statement["property"] for statement in statements))
    return [
        StatementRow(
            property=property_name(name),
            places=tuple(_places(group)),
            verdict=verdict,
            values=tuple(map(value_name, values)),
            note=note,
            contradicted=tuple(
                dict.fromkeys(value_name(value) for s in group for value in s["contradicted"])
            ),
            shown=tuple((s["dtype"], call, index) for s in group for call, index in s["shown_by"]),
        )
        for (name, verdict, values, note), group in sorted(
            groups.items(), key=lambda item: names.index(item[0][0])
        )
    ]


def _places(statements: Iterable[Mapping[str, Any]]) -> list[str]:
    """List windows and element types: ``f16, f32: row of 2 to 4096 elements (11 sizes)``."""
    dtypes_of: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for statement in statements:
        key = statement["window"], tuple(statement["sizes"])
        dtypes_of.setdefault(key, []).append(statement["dtype"])
    return [
        f"{', '.join(dtypes)}: {WINDOWS[window]} of {size_range(sizes)}"
        for (window, sizes), dtypes in dtypes_of.items()
    ]


def probe_lines(probe: Mapping[str, Any]) -> list[str]:
    """Return a probe in lines for a terminal."""
    lines = [f"{probe['backend']['name']} {probe['backend']['version']}, seed {probe['seed']}"]
    for op in dict.fromkeys(statement["op"] for statement in probe["statements"]):
        statements = [statement for statement in probe["statements"] if statement["op"] == op]
        lines += [op, *(f"  {line}" for line in _property_lines(statements))]
    failed = [call for call in probe["calls"] if call["message"]]
    if failed:
        count = number_of(len(failed), "call")
        lines.append(f"{count} gave no results; the first: {failed[0]['message'][:160]}")
    return [
        *lines,
        "A model that fits is no proof: others that are not listed may give the same bits.",
    ]


def _property_lines(statements: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each property and text; sizes are given where they differ."""
    dtypes_of: dict[tuple[str, tuple[str, ...]], dict[str, list[str]]] = {}
    for name in dict.fromkeys(statement["property"] for statement in statements):
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for statement in statements:
            if statement["property"] == name:
                key = statement["dtype"], statement["window"]
                groups.setdefault(key, []).append(statement)
        for (dtype, window), group in groups.items():
            windows = dtypes_of.setdefault((name, tuple(_texts_by_size(group))), {})
            windows.setdefault(window, []).append(dtype)
    return [
        f"{property_name(name)}: {', '.join(texts)} [{_dtypes_and_windows(windows)}]"
        for (name, texts), windows in dtypes_of.items()
    ]


def _texts_by_size(statements: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a text for each range of sizes; neighbours of one text are one range."""
    ranges: list[tuple[str, list[int]]] = []
    for statement in sorted(statements, key=lambda statement: statement["sizes"][0]):
        text = statement_text(statement)
        if ranges and ranges[-1][0] == text:
            ranges[-1][1].extend(statement["sizes"])
        else:
            ranges.append((text, list(statement["sizes"])))
    if len(ranges) == 1:
        return [ranges[0][0]]
    return [f"{text} ({_span(sizes)})" for text, sizes in ranges]


def _span(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def _dtypes_and_windows(windows: Mapping[str, Sequence[str]]) -> str:
    """List element types, and shapes of windows unless all have the same types."""
    if len({tuple(dtypes) for dtypes in windows.values()}) == 1 and len(windows) > 1:
        return ", ".join(next(iter(windows.values())))
    return "; ".join(f"{', '.join(dtypes)} {WINDOWS[window]}" for window, dtypes in windows.items())
