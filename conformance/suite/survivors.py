"""Which mutants the vectors of each element type and rank do not kill, and why.

A mutant that no vector of a part kills is in one of the states of :class:`Survivors`; one of which
nothing is said was killed there. Files hold the indices of mutants in the table of mutants that
they have anyway (``faults``), and a reason once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from msgspec import Meta

from conformance.codec import Record
from conformance.dtypes import DTYPES
from conformance.suite.strict_json import Indices, names_at

MAX_RANK = 19
NOT_SEEN = "not seen to show in"
"""How the reason begins of what no case has killed, though some might."""

DTypeName = Annotated[str, Meta(pattern=f"^({'|'.join(DTYPES)})$")]
_STATES = ("inert", "excused", "undetermined")


class SurvivorRow(Record, frozen=True):
    """The survivors of a partition; ``stated`` gives their indices by that of the reason."""

    dtype: DTypeName
    rank: Annotated[int, Meta(ge=0, le=MAX_RANK)]
    profile: str | None
    inert: Indices
    excused: Indices
    undetermined: Indices
    stated: dict[str, Indices]


class SurvivorData(Record, frozen=True):
    """A :class:`SurvivorTable` in a file."""

    profiles: dict[str, tuple[str, ...]]
    reasons: tuple[str, ...]
    table: tuple[SurvivorRow, ...]


@dataclass(frozen=True, order=True)
class Partition:
    """The cases of an operator with data of one element type and rank.

    ``profile`` names the restriction that they are narrowed to; empty for all of them.
    """

    dtype: str
    rank: int
    profile: str = ""

    def __str__(self) -> str:
        return f"{self.dtype} {self.rank}D {self.profile}".rstrip()


@dataclass(frozen=True)
class Survivors:
    """The mutants that no vector of a partition kills at both levels.

    ``inert`` cannot be killed: what they change is not reached there, or is the same. ``stated``
    cannot either, and gives the reason. ``excused`` are killed at level should, and at level must
    an allowed interpretation gives what they give. ``undetermined`` might be killed, and it is open
    how; they may be killed at level should, and not at must.
    """

    inert: frozenset[str] = frozenset()
    stated: Mapping[str, str] = field(default_factory=dict)
    excused: frozenset[str] = frozenset()
    undetermined: frozenset[str] = frozenset()

    @property
    def mutants(self) -> frozenset[str]:
        """All survivors."""
        return self.inert | self.stated.keys() | self.excused | self.undetermined

    @property
    def unseen(self) -> Mapping[str, str]:
        """Those that no tried case kills, with the statement; others might."""
        return {name: why for name, why in self.stated.items() if why.startswith(NOT_SEEN)}

    def unkillable(self, level: str) -> frozenset[str]:
        """Return those that no vector can kill at a level."""
        unkillable = self.inert | self.stated.keys()
        return unkillable | self.excused if level == "must" else unkillable


@dataclass(frozen=True)
class SurvivorTable:
    """Surviving mutants by partition; false if none is known.

    ``profiles`` gives for each name of a profile the predicates of the cases that it leaves out, as
    a backend declares them (:class:`conformance.backends.capabilities.Exclusion`).
    """

    survivors: Mapping[Partition, Survivors] = field(default_factory=dict)
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.survivors)

    @cached_property
    def mutants(self) -> frozenset[str]:
        """All mutants that survive in any partition."""
        return frozenset().union(*(survivors.mutants for survivors in self.survivors.values()))

    @property
    def never_killed(self) -> frozenset[str]:
        """The mutants that no vector of any partition can kill; they do not lower a score."""
        unkillable = [survivors.unkillable("should") for survivors in self.survivors.values()]
        return unkillable[0].intersection(*unkillable) if unkillable else frozenset()

    def profile_without(self, predicates: Collection[str | None]) -> str:
        """Return the profile that leaves out the cases of these predicates, or an empty text."""
        for name, excluded in self.profiles.items():
            if {" ".join(predicate.split()) for predicate in excluded} == set(predicates):
                return name
        return ""

    def to_data(self, indices: Mapping[str, int]) -> SurvivorData:
        """Return what a file holds; ``indices`` are those of the mutants in its table."""
        reasons = sorted({why for each in self.survivors.values() for why in each.stated.values()})
        return SurvivorData(
            profiles={name: self.profiles[name] for name in sorted(self.profiles)},
            reasons=tuple(reasons),
            table=tuple(
                _row(partition, self.survivors[partition], indices, reasons)
                for partition in sorted(self.survivors)
            ),
        )


def survivors_from_data(data: SurvivorData, mutants: Sequence[str]) -> SurvivorTable:
    """Return the survivors in a file; ``mutants`` is its table.

    Raises ValueError for what is not consistent.
    """
    survivors: dict[Partition, Survivors] = {}
    for row in data.table:
        partition = Partition(row.dtype, row.rank, row.profile or "")
        where = f"parts of {row.dtype} of rank {row.rank}"
        if partition in survivors:
            raise ValueError(f"{where}: {partition.profile!r} stands there twice")
        if partition.profile and partition.profile not in data.profiles:
            raise ValueError(f"{where}: there is no profile {partition.profile[:80]!r}")
        survivors[partition] = _survivors(row, mutants, data.reasons, where)
    return SurvivorTable(survivors, data.profiles)


def _row(
    partition: Partition,
    survivors: Survivors,
    indices: Mapping[str, int],
    reasons: Sequence[str],
) -> SurvivorRow:
    def sorted_indices(names: Collection[str]) -> Indices:
        return tuple(sorted(indices[name] for name in names))

    by_reason: dict[str, list[str]] = {}
    for name, reason in survivors.stated.items():
        by_reason.setdefault(reason, []).append(name)
    return SurvivorRow(
        partition.dtype,
        partition.rank,
        partition.profile or None,
        **{state: sorted_indices(getattr(survivors, state)) for state in _STATES},
        stated={
            str(index): sorted_indices(by_reason[reason])
            for index, reason in enumerate(reasons)
            if reason in by_reason
        },
    )


def _survivors(
    row: SurvivorRow, mutants: Sequence[str], reasons: Sequence[str], where: str
) -> Survivors:
    states = {
        state: frozenset(names_at(getattr(row, state), mutants, f"{where}: {state!r}"))
        for state in _STATES
    }
    count = sum(map(len, states.values()))
    reasons_by_index = {str(index): reason for index, reason in enumerate(reasons)}
    stated: dict[str, str] = {}
    for index, places in row.stated.items():
        if index not in reasons_by_index:
            raise ValueError(f"{where}: 'stated' has the reason {index[:20]!r} of {len(reasons)}")
        names = names_at(places, mutants, f"{where}: stated: {index!r}")
        stated |= dict.fromkeys(names, reasons_by_index[index])
        count += len(names)
    survivors = Survivors(stated=stated, **states)
    if len(survivors.mutants) != count:
        raise ValueError(f"{where}: a mutant is in more than one state")
    return survivors
