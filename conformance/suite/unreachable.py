"""What a manifest states of an operator: infeasible pairs, equivalent mutants, parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.suite.strict_json import JsonObject
from conformance.suite.survivors import SurvivorTable, parse_survivors

Pair = tuple[str, str]
"""Two coverage targets, their names in order; a target with itself stands for the target alone. Or
an element type and a target: the target in data of that type."""

InfeasiblePairs = Mapping[int, Mapping[Pair, tuple[str, ...]]]
"""By rank, what contradicts each pair that no case covers."""

_KEYS = ("infeasible", "equivalent", "indistinguishable", "parts")
_OPTIONAL = ("strata",)


@dataclass(frozen=True)
class Unreachable:
    """Pairs and mutants of one operator that no vector can reach.

    ``infeasible`` gives by rank each pair of targets that no case covers together, each target that
    no case covers in an element type, and what besides the targets contradicts them: ``limit
    elements``, ``data nan``, ... (nothing if the targets contradict each other). ``equivalent``
    gives the reason for each mutant that nothing can kill, ``indistinguishable`` the groups of
    mutants that no vector distinguishes. ``parts`` lists by partition what is not killed there, and
    is empty if that is not measured. ``strata`` is the digest of the strata
    (:mod:`conformance.spec.strata`) that ``infeasible`` covers, too; empty if it covers none.
    """

    infeasible: InfeasiblePairs = field(default_factory=dict)
    equivalent: Mapping[str, str] = field(default_factory=dict)
    indistinguishable: tuple[tuple[str, ...], ...] = ()
    parts: SurvivorTable = field(default_factory=SurvivorTable)
    strata: str = ""

    def to_json(self, indices: Mapping[str, int]) -> dict[str, Any]:
        """Return JSON data; ``indices`` are the mutants' in the manifest's table."""
        return {
            "infeasible": infeasible_to_json(self.infeasible),
            "equivalent": dict(sorted(self.equivalent.items())),
            "indistinguishable": [list(group) for group in self.indistinguishable],
            "parts": self.parts.to_json(indices),
            **({"strata": self.strata} if self.strata else {}),
        }


def infeasible_to_json(infeasible: InfeasiblePairs) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return infeasible pairs as JSON data.

    By rank, first target and reason there is a list of second targets.
    """
    by_rank: dict[str, dict[str, dict[str, list[str]]]] = {}
    for rank, pairs in sorted(infeasible.items()):
        by_first = by_rank.setdefault(str(rank), {})
        for (first, second), reasons in sorted(pairs.items()):
            by_reason = by_first.setdefault(first, {})
            by_reason.setdefault(", ".join(reasons), []).append(second)
    return by_rank


def parse_unreachable(data: object, where: str, mutants: Sequence[str]) -> Unreachable:
    """Parse what a manifest states of an operator.

    ``mutants`` is the operator's table in the manifest.

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
    """Parse the infeasible pairs, as :func:`infeasible_to_json` wrote them."""
    return {
        rank: dict(_pairs(by_first, f"{record.where}: rank {rank}"))
        for rank, by_first in _ranks(record)
    }


def _ranks(record: JsonObject) -> list[tuple[int, object]]:
    ranks = []
    for rank, by_first in record.table("infeasible").items():
        if rank not in map(str, range(1, 20)):
            record.refuse(f"{rank[:20]!r} is not a rank")
        ranks.append((int(rank), by_first))
    return ranks


def _pairs(by_first: object, where: str) -> list[tuple[Pair, tuple[str, ...]]]:
    pairs = []
    reasons_by_first = JsonObject({"edges": by_first}, where, ("edges",)).table("edges")
    for first, by_reason in reasons_by_first.items():
        reasons = JsonObject({first: by_reason}, where, (first,)).table(first)
        record = JsonObject(reasons, where, reasons)
        for reason in reasons:
            uses = tuple(reason.split(", ")) if reason else ()
            pairs += [((first, second), uses) for second in record.texts(reason)]
    return pairs
