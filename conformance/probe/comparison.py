"""Compares two probes: which statements differ, and which results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.probe.repeatability import is_about_repeats
from conformance.probe.wording import size_range, statement_text
from conformance.safe_text import number_of

Property = tuple[str, str, str, str]
"""Operator, element type, shape of windows, and property."""

ABSENT = "not asked"


@dataclass(frozen=True)
class Difference:
    """A property with different statements of two probes, for windows of these sizes."""

    op: str
    dtype: str
    window: str
    property: str
    sizes: tuple[int, ...]
    old: str
    new: str


@dataclass(frozen=True)
class ProbeComparison:
    """The differences of two probes.

    Attributes:
        results: by call, how many results differ for the same inputs, and of how many.
        same: the number of equal results for the same inputs.
    """

    differences: tuple[Difference, ...]
    results: Mapping[str, tuple[int, int]]
    same: int

    @property
    def alike(self) -> bool:
        """True if nothing differs."""
        return not self.differences and not self.results


def compare_probes(old: Mapping[str, Any], new: Mapping[str, Any]) -> ProbeComparison:
    """Compare the statements of two probes by size, and their results for the same inputs.

    Where all results of a size are equal, the size shows no difference: a statement on several
    sizes may still differ, because of other sizes.
    """
    equal_calls = _equal_calls(old["calls"], new["calls"])
    before, after = (_by_size(probe["statements"], equal_calls) for probe in (old, new))
    sizes: dict[tuple[Property, str, str], list[int]] = {}
    for key in dict.fromkeys([*before, *after]):
        subject, size = key
        texts = before.get(key, ABSENT), after.get(key, ABSENT)
        if texts[0] != texts[1]:
            sizes.setdefault((subject, *texts), []).append(size)
    differences = tuple(
        Difference(*subject, tuple(sorted(numbers)), old_text, new_text)
        for (subject, old_text, new_text), numbers in sizes.items()
    )
    return ProbeComparison(differences, *_compare_results(old["calls"], new["calls"]))


def _by_size(
    statements: Sequence[Mapping[str, Any]], equal_calls: Collection[tuple[Any, ...]]
) -> dict[tuple[Property, int], str]:
    return {
        ((entry["op"], entry["dtype"], entry["window"], entry["property"]), size): statement_text(
            entry
        )
        for entry in statements
        for size in entry["sizes"]
        if is_about_repeats(entry["property"])
        or (entry["op"], entry["dtype"], entry["window"], size) not in equal_calls
    }


def _equal_calls(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> set[tuple[Any, ...]]:
    """Return operator, type, shape and size of calls with the same inputs and results."""
    before = {call["id"]: call["planes"] for call in old}
    return {
        (call["op"], call["dtype"], call["window"], call["elements"])
        for call in new
        if before.get(call["id"]) == call["planes"]
    }


def _compare_results(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, tuple[int, int]], int]:
    before = {call["id"]: {plane[2]: plane[3] for plane in call["planes"]} for call in old}
    different, same = {}, 0
    for call in new:
        old_codes = before.get(call["id"], {})
        pairs = [(old_codes[key], code) for _, _, key, code in call["planes"] if key in old_codes]
        count = sum(old_code != new_code for old_code, new_code in pairs)
        same += len(pairs) - count
        if count:
            different[call["id"]] = count, len(pairs)
    return different, same


def comparison_text(
    old: Mapping[str, Any], new: Mapping[str, Any], compared: ProbeComparison
) -> list[str]:
    """Return a comparison in lines."""
    lines = [
        f"{label}: {probe['backend']['name']} {probe['backend']['version']}"
        for label, probe in (("old", old), ("new", new))
    ]
    lines += [
        f"{d.op} {d.dtype}, {d.window} of {size_range(d.sizes)}, {d.property}: {d.old} -> {d.new}"
        for d in compared.differences
    ]
    if compared.results:
        count = sum(count for count, _ in compared.results.values())
        calls = number_of(len(compared.results), "call")
        lines.append(f"{number_of(count, 'different result')} in {calls}:")
        lines += [f"  {call}: {n} of {total}" for call, (n, total) in compared.results.items()]
    if compared.alike:
        lines.append(f"nothing differs: {number_of(compared.same, 'equal result')}")
    elif not compared.results:
        lines.append(f"{number_of(compared.same, 'equal result')} for the same inputs")
    return lines
