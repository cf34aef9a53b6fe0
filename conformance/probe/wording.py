"""Words for what a probe found, from its JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
"""Properties that are called otherwise where people read them."""

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


@dataclass(frozen=True)
class StatementRow:
    """Statements that say the same of one property; ``places`` tells windows and element types."""

    property: str
    places: tuple[str, ...]
    verdict: str
    values: tuple[str, ...]
    note: str
    contradicted: tuple[str, ...]
    shown: tuple[tuple[str, str, int], ...]
    """Element type, call and number of the input."""


WINDOWS = {"row": "row", "square": "square", "whole": "whole plane"}


def property_of(name: str) -> str:
    """A property as people call it."""
    return PROPERTIES.get(name, name)


def value_of(name: str) -> str:
    """A value as people call it."""
    return VALUES.get(name, name)


def sizes(found: Sequence[int]) -> str:
    """Sizes that were asked: ``2 to 25`` of neighbours among them, else each."""
    if len(found) == 1:
        return f"{found[0]} elements" if found[0] != 1 else "1 element"
    if len(found) == 2:
        return f"{found[0]} and {found[1]} elements"
    return f"{found[0]} to {found[-1]} elements ({len(found)} sizes)"


def said(statement: Mapping[str, Any]) -> str:
    """What a statement says, in a few words."""
    values = " or ".join(map(value_of, statement["values"]))
    if statement["verdict"] == "contradicts all other listed models":
        return values
    if statement["verdict"] == "consistent with":
        return f"consistent with {values}"
    return str(statement["verdict"])


def rows(statements: Sequence[Mapping[str, Any]]) -> list[StatementRow]:
    """The statements on one operator, those that say the same of a property as one."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in statements:
        key = one["property"], one["verdict"], tuple(one["values"]), one["note"]
        found.setdefault(key, []).append(one)
    names = list(dict.fromkeys(one["property"] for one in statements))
    return [
        StatementRow(
            property=property_of(name),
            places=tuple(_places(same)),
            verdict=verdict,
            values=tuple(map(value_of, values)),
            note=note,
            contradicted=tuple(
                map(value_of, dict.fromkeys(name for one in same for name in one["contradicted"]))
            ),
            shown=tuple(
                (one["dtype"], call, place) for one in same for call, place in one["shown_by"]
            ),
        )
        for (name, verdict, values, note), same in sorted(
            found.items(), key=lambda item: names.index(item[0][0])
        )
    ]


def _places(statements: Iterable[Mapping[str, Any]]) -> list[str]:
    """Windows and element types: ``f16, f32: row of 2 to 4096 elements (11 sizes)``."""
    found: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for one in statements:
        found.setdefault((one["window"], tuple(one["sizes"])), []).append(one["dtype"])
    return [
        f"{', '.join(dtypes)}: {WINDOWS[window]} of {sizes(at)}"
        for (window, at), dtypes in found.items()
    ]


def lines(found: Mapping[str, Any]) -> list[str]:
    """What a probe found, in lines for a terminal."""
    told = [f"{found['backend']['name']} {found['backend']['version']}, seed {found['seed']}"]
    for op in dict.fromkeys(one["op"] for one in found["statements"]):
        told.append(op)
        told += [
            f"  {line}"
            for line in _properties([one for one in found["statements"] if one["op"] == op])
        ]
    failed = [call for call in found["calls"] if call["message"]]
    if failed:
        count = "1 call" if len(failed) == 1 else f"{len(failed)} calls"
        told.append(f"{count} gave no results; the first: {failed[0]['message'][:160]}")
    told.append("A model that fits is no proof: others that are not listed may give the same bits.")
    return told


def _properties(statements: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each property and answer; sizes are told where not all are answered alike."""
    found: dict[tuple[str, tuple[str, ...]], dict[str, list[str]]] = {}
    for name in dict.fromkeys(one["property"] for one in statements):
        places: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for one in statements:
            if one["property"] == name:
                places.setdefault((one["dtype"], one["window"]), []).append(one)
        for (dtype, window), own in places.items():
            words = tuple(_answers(own))
            found.setdefault((name, words), {}).setdefault(window, []).append(dtype)
    return [
        f"{property_of(name)}: {', '.join(words)} [{_where(windows)}]"
        for (name, words), windows in found.items()
    ]


def _answers(statements: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is said for each range of sizes; of neighbours that say the same, once."""
    found: list[tuple[str, list[int]]] = []
    for one in sorted(statements, key=lambda one: one["sizes"][0]):
        if found and found[-1][0] == said(one):
            found[-1][1].extend(one["sizes"])
        else:
            found.append((said(one), list(one["sizes"])))
    if len(found) == 1:
        return [found[0][0]]
    return [f"{words} ({_span(at)})" for words, at in found]


def _span(at: Sequence[int]) -> str:
    return str(at[0]) if len(at) == 1 else f"{at[0]} to {at[-1]}"


def _where(windows: Mapping[str, Sequence[str]]) -> str:
    """Element types, and the shapes of windows where these are not the same for all of them."""
    if len({tuple(dtypes) for dtypes in windows.values()}) == 1 and len(windows) > 1:
        return ", ".join(next(iter(windows.values())))
    return "; ".join(f"{', '.join(dtypes)} {WINDOWS[window]}" for window, dtypes in windows.items())
