"""What a manifest states of an operator: mutants that are alike, and survivors of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from conformance.codec import Record
from conformance.suite.survivors import SurvivorData, SurvivorTable, survivors_from_data


class UnreachableData(Record, frozen=True):
    """:class:`Unreachable` in a file."""

    indistinguishable: tuple[Annotated[tuple[str, ...], Meta(min_length=2)], ...]
    parts: SurvivorData


@dataclass(frozen=True)
class Unreachable:
    """Mutants of one operator that no vector reaches.

    ``indistinguishable`` are the groups of mutants that no vector distinguishes. ``parts`` lists by
    partition what is not killed there, and is empty if that is not measured.
    """

    indistinguishable: tuple[tuple[str, ...], ...] = ()
    parts: SurvivorTable = field(default_factory=SurvivorTable)

    def to_data(self, indices: Mapping[str, int]) -> UnreachableData:
        """Return what a manifest holds; ``indices`` are the mutants' in its table."""
        return UnreachableData(
            indistinguishable=self.indistinguishable, parts=self.parts.to_data(indices)
        )


def unreachable_from_data(data: UnreachableData, mutants: Sequence[str]) -> Unreachable:
    """Return what a manifest states of an operator; ``mutants`` is the operator's table in it.

    Raises ValueError for what is not consistent.
    """
    return Unreachable(
        indistinguishable=data.indistinguishable, parts=survivors_from_data(data.parts, mutants)
    )
