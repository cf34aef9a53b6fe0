"""Two probes side by side: which statements differ, and which results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.probe.repeatability import is_about_repeats
from conformance.probe.wording import said, sizes
from conformance.safe_text import number_of

Place = tuple[str, str, str, str]
"""Operator, element type, shape of windows, and property."""

ABSENT = "not asked"


@dataclass(frozen=True)
class Difference:
    """A property of which two probes say different things for windows of some sizes."""

    op: str
    dtype: str
    window: str
    property: str
    sizes: tuple[int, ...]
    old: str
    new: str


@dataclass(frozen=True)
class ProbeComparison:
    """What differs. ``results`` counts, by call, results that differ for the same inputs, of how
    many; ``same`` are the results that do not.
    """

    differences: tuple[Difference, ...]
    results: Mapping[str, tuple[int, int]]
    same: int

    @property
    def alike(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.results


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> ProbeComparison:
    """Compare what two probes say, size by size, and their results for the same inputs.

    Where all results of a size are the same, so is what they show: a statement on several sizes may
    differ all the same, for what other sizes show.
    """
    alike = _alike(old["calls"], new["calls"])
    before, after = (_by_size(one["statements"], alike) for one in (old, new))
    found: dict[tuple[Place, str, str], list[int]] = {}
    for key in dict.fromkeys([*before, *after]):
        place, size = key
        pair = before.get(key, ABSENT), after.get(key, ABSENT)
        if pair[0] != pair[1]:
            found.setdefault((place, *pair), []).append(size)
    differences = tuple(
        Difference(*place, tuple(sorted(at)), one, other)
        for (place, one, other), at in found.items()
    )
    results, same = _results(old["calls"], new["calls"])
    return ProbeComparison(differences, results, same)


def _by_size(
    statements: Sequence[Mapping[str, Any]], alike: Collection[tuple[Any, ...]]
) -> dict[tuple[Place, int], str]:
    return {
        ((one["op"], one["dtype"], one["window"], one["property"]), size): said(one)
        for one in statements
        for size in one["sizes"]
        if is_about_repeats(one["property"])
        or (one["op"], one["dtype"], one["window"], size) not in alike
    }


def _alike(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> set[tuple[Any, ...]]:
    """Operator, type, shape and size of the calls that have the same inputs and results."""
    before = {call["id"]: call["planes"] for call in old}
    return {
        (call["op"], call["dtype"], call["window"], call["elements"])
        for call in new
        if before.get(call["id"]) == call["planes"]
    }


def _results(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, tuple[int, int]], int]:
    before = {call["id"]: {plane[2]: plane[3] for plane in call["planes"]} for call in old}
    found, same = {}, 0
    for call in new:
        others = before.get(call["id"], {})
        pairs = [(others[key], code) for _, _, key, code in call["planes"] if key in others]
        differ = sum(one != other for one, other in pairs)
        same += len(pairs) - differ
        if differ:
            found[call["id"]] = differ, len(pairs)
    return found, same


def text(old: Mapping[str, Any], new: Mapping[str, Any], compared: ProbeComparison) -> list[str]:
    """The comparison in lines."""
    names = [f"{one['backend']['name']} {one['backend']['version']}" for one in (old, new)]
    lines = [f"old: {names[0]}", f"new: {names[1]}"]
    lines += [
        f"{one.op} {one.dtype}, {one.window} of {sizes(one.sizes)}, {one.property}: "
        f"{one.old} -> {one.new}"
        for one in compared.differences
    ]
    if compared.results:
        differ = sum(count for count, _ in compared.results.values())
        calls = number_of(len(compared.results), "call")
        lines.append(f"{number_of(differ, 'different result')} in {calls}:")
        lines += [f"  {call}: {n} of {of}" for call, (n, of) in compared.results.items()]
    if compared.alike:
        lines.append(f"nothing differs: {number_of(compared.same, 'equal result')}")
    elif not compared.results:
        lines.append(f"{number_of(compared.same, 'equal result')} for the same inputs")
    return lines
