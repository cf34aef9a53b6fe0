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
class Row:
    """Statements that say the same of one property, for several element types."""

    property: str
    window: str
    dtypes: tuple[str, ...]
    sizes: str
    verdict: str
    values: tuple[str, ...]
    note: str
    contradicted: tuple[str, ...]
    shown: tuple[tuple[str, str, int], ...]
    """Element type, call and number of the input."""


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


def rows(statements: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The statements on one operator, those that say the same of several types as one."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in statements:
        key = (
            one["property"],
            one["window"],
            tuple(one["sizes"]),
            one["verdict"],
            tuple(one["values"]),
            one["note"],
        )
        found.setdefault(key, []).append(one)
    ordered = sorted(found.items(), key=lambda item: _place(statements, item[1][0]))
    return [
        Row(
            property=property_of(name),
            window=window,
            dtypes=tuple(one["dtype"] for one in same),
            sizes=sizes(at),
            verdict=verdict,
            values=tuple(map(value_of, values)),
            note=note,
            contradicted=tuple(
                map(value_of, dict.fromkeys(v for s in same for v in s["contradicted"]))
            ),
            shown=tuple(
                (one["dtype"], call, place) for one in same for call, place in one["shown_by"]
            ),
        )
        for (name, window, at, verdict, values, note), same in ordered
    ]


def _place(statements: Iterable[Mapping[str, Any]], one: Mapping[str, Any]) -> tuple[int, str, int]:
    names = list(dict.fromkeys(other["property"] for other in statements))
    return names.index(one["property"]), one["window"], one["sizes"][0]


def lines(found: Mapping[str, Any]) -> list[str]:
    """What a probe found, in lines for a terminal."""
    told = [f"{found['backend']['name']} {found['backend']['version']}, seed {found['seed']}"]
    for op in dict.fromkeys(one["op"] for one in found["statements"]):
        told.append(op)
        fits = [one for one in found["fits"] if one["op"] == op]
        told += [f"  {_fitting(one)}" for one in fits]
        for row in rows([one for one in found["statements"] if one["op"] == op]):
            words = " or ".join(row.values)
            if row.verdict == "consistent with":
                words = f"consistent with {words}"
            told.append(
                f"  {row.property}, {row.window} of {row.sizes}, {', '.join(row.dtypes)}: "
                + (words or row.verdict)
            )
    failed = [call for call in found["calls"] if call["message"]]
    if failed:
        told.append(f"{len(failed)} calls gave no results; the first: {failed[0]['message'][:160]}")
    told.append("A model that fits is no proof: others that are not listed may give the same bits.")
    return told


def _fitting(fit: Mapping[str, Any]) -> str:
    at = f"{fit['dtype']}, {fit['window']} of {sizes(fit['sizes'])}"
    if not fit["models"]:
        return f"{at}: none of {fit['listed']} listed models fits"
    return (
        f"{at}: {fit['fitting']} of {fit['listed']} listed models fit, such as: {fit['models'][0]}"
    )
