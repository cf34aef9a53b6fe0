"""What a manifest states of an operator: infeasible pairs, equivalent mutants, parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.suite.strict_json import JsonObject
from conformance.suite.survivors import SurvivorTable, parse_survivors

Pair = tuple[str, str]
"""Two edges, their names in order; an edge with itself stands for the edge alone. Or an element
type and an edge: the edge in data of that type."""

InfeasiblePairs = Mapping[int, Mapping[Pair, tuple[str, ...]]]
"""By rank, what contradicts each pair that no case covers."""

_KEYS = ("infeasible", "equivalent", "indistinguishable", "parts")
_OPTIONAL = ("strata",)


@dataclass(frozen=True)
class Unreachable:
    """What nothing can show of one operator.

    ``infeasible`` gives by rank each pair of edges that no case shows together, each edge that no
    case shows in an element type, and what besides the edges themselves contradicts them: ``limit
    elements``, ``data nan``, ... (nothing where the edges contradict each other). ``equivalent``
    gives the reason for each fault that nothing can show, ``indistinguishable`` the groups of
    faults that every vector answers alike. ``parts`` says of each element type and rank what is
    not killed there, and is empty where that is not known. ``strata`` is the digest of the strata
    (:mod:`conformance.spec.strata`) of which ``infeasible`` speaks, too; empty if it does not.
    """

    infeasible: InfeasiblePairs = field(default_factory=dict)
    equivalent: Mapping[str, str] = field(default_factory=dict)
    indistinguishable: tuple[tuple[str, ...], ...] = ()
    parts: SurvivorTable = field(default_factory=SurvivorTable)
    strata: str = ""

    def to_json(self, places: Mapping[str, int]) -> dict[str, Any]:
        """As JSON data; ``places`` are those of the mutants in the manifest's table."""
        return {
            "infeasible": infeasible_to_json(self.infeasible),
            "equivalent": dict(sorted(self.equivalent.items())),
            "indistinguishable": [list(group) for group in self.indistinguishable],
            "parts": self.parts.to_json(places),
            **({"strata": self.strata} if self.strata else {}),
        }


def infeasible_to_json(infeasible: InfeasiblePairs) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Infeasible pairs as JSON data: by rank, first target and reason a list of second targets."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for rank, pairs in sorted(infeasible.items()):
        by_edge = found.setdefault(str(rank), {})
        for (first, second), reasons in sorted(pairs.items()):
            by_reason = by_edge.setdefault(first, {})
            by_reason.setdefault(", ".join(reasons), []).append(second)
    return found


def parse_unreachable(data: object, where: str, mutants: Sequence[str]) -> Unreachable:
    """The strength in JSON data; ``mutants`` is the operator's table in the manifest.

    Raises SuiteError for what is not of its form.
    """
    record = JsonObject(data, where, _KEYS, _OPTIONAL)
    groups = []
    for group in record.items("indistinguishable"):
        groups.append(JsonObject({"group": group}, where, ("group",)).texts("group"))
        if len(groups[-1]) < 2:
            record.refuse("a group of indistinguishable mutants has fewer than two")
    return Unreachable(
        infeasible=parse_infeasible(record),
        equivalent=record.texts_by_name("equivalent"),
        indistinguishable=tuple(groups),
        parts=parse_survivors(record.raw("parts"), f"{where}: parts", mutants),
        strata=record.text("strata") if record.has("strata") else "",
    )


def parse_infeasible(record: JsonObject) -> dict[int, dict[Pair, tuple[str, ...]]]:
    """The infeasible pairs under the key of that name, as :func:`infeasible_to_json` wrote them."""
    return {
        rank: dict(_pairs(by_edge, f"{record.where}: rank {rank}"))
        for rank, by_edge in _ranks(record)
    }


def _ranks(record: JsonObject) -> list[tuple[int, object]]:
    found = []
    for rank, by_edge in record.table("infeasible").items():
        if rank not in map(str, range(1, 20)):
            record.refuse(f"{rank[:20]!r} is not a rank")
        found.append((int(rank), by_edge))
    return found


def _pairs(by_edge: object, where: str) -> list[tuple[Pair, tuple[str, ...]]]:
    found = []
    edges = JsonObject({"edges": by_edge}, where, ("edges",)).table("edges")
    for first, by_reason in edges.items():
        reasons = JsonObject({first: by_reason}, where, (first,)).table(first)
        record = JsonObject(reasons, where, reasons)
        for reason in reasons:
            uses = tuple(reason.split(", ")) if reason else ()
            found += [((first, second), uses) for second in record.texts(reason)]
    return found
