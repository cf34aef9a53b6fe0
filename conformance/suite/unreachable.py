"""What a manifest states of an operator: infeasible pairs, equivalent mutants, parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from conformance.codec import Record
from conformance.suite.survivors import MAX_RANK, SurvivorData, SurvivorTable, survivors_from_data

Pair = tuple[str, str]
"""Two coverage targets, their names in order; a target with itself stands for the target alone. Or
an element type and a target: the target in data of that type."""

InfeasiblePairs = Mapping[int, Mapping[Pair, tuple[str, ...]]]
"""By rank, what contradicts each pair that no case covers."""

InfeasibleData = dict[str, dict[str, dict[str, tuple[str, ...]]]]
"""Infeasible pairs in a file: by rank, first target and reason a list of second targets."""


class UnreachableData(Record, frozen=True, omit_defaults=True):
    """:class:`Unreachable` in a file."""

    infeasible: InfeasibleData
    equivalent: dict[str, str]
    indistinguishable: tuple[Annotated[tuple[str, ...], Meta(min_length=2)], ...]
    parts: SurvivorData
    strata: str = ""


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

    def to_data(self, indices: Mapping[str, int]) -> UnreachableData:
        """Return what a manifest holds; ``indices`` are the mutants' in its table."""
        return UnreachableData(
            infeasible=infeasible_to_data(self.infeasible),
            equivalent=dict(sorted(self.equivalent.items())),
            indistinguishable=self.indistinguishable,
            parts=self.parts.to_data(indices),
            strata=self.strata,
        )


def unreachable_from_data(data: UnreachableData, mutants: Sequence[str]) -> Unreachable:
    """Return what a manifest states of an operator; ``mutants`` is the operator's table in it.

    Raises ValueError for what is not consistent.
    """
    return Unreachable(
        infeasible=infeasible_from_data(data.infeasible),
        equivalent=data.equivalent,
        indistinguishable=data.indistinguishable,
        parts=survivors_from_data(data.parts, mutants),
        strata=data.strata,
    )


def infeasible_to_data(infeasible: InfeasiblePairs) -> dict[str, Any]:
    """Return infeasible pairs as :data:`InfeasibleData`."""
    by_rank: dict[str, dict[str, dict[str, list[str]]]] = {}
    for rank, pairs in sorted(infeasible.items()):
        by_first = by_rank.setdefault(str(rank), {})
        for (first, second), reasons in sorted(pairs.items()):
            by_reason = by_first.setdefault(first, {})
            by_reason.setdefault(", ".join(reasons), []).append(second)
    return by_rank


def infeasible_from_data(data: InfeasibleData) -> dict[int, dict[Pair, tuple[str, ...]]]:
    """Return infeasible pairs by rank, the inverse of :func:`infeasible_to_data`.

    Raises ValueError for what is no rank.
    """
    if wrong := data.keys() - set(map(str, range(1, MAX_RANK + 1))):
        raise ValueError(f"infeasible: {min(wrong)[:20]!r} is not a rank")
    return {
        int(rank): {
            (first, second): tuple(reason.split(", ")) if reason else ()
            for first, by_reason in by_first.items()
            for reason, seconds in by_reason.items()
            for second in seconds
        }
        for rank, by_first in data.items()
    }
