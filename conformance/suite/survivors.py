"""Which mutants the vectors of each element type and rank do not kill, and why.

A mutant that no vector of a part kills is in one of the states of :class:`Survivors`; one of which
nothing is said was killed there. Files hold the indices of mutants in the table of mutants that
they have anyway (``faults``), and a reason once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from conformance.dtypes import DTYPES
from conformance.suite.strict_json import JsonObject

MAX_RANK = 19

_KEYS = ("profiles", "reasons", "table")
_LISTS = ("inert", "excused", "undetermined")
_ROW = ("dtype", "rank", "profile", *_LISTS, "stated")


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

    ``inert`` cannot be killed: the replaced rule is not reached there, or is the same. ``stated``
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

    def to_json(self, indices: Mapping[str, int]) -> dict[str, Any]:
        """Return JSON data.

        ``indices`` are those of the mutants in the table of the file.
        """
        reasons = sorted(
            {
                reason
                for survivors in self.survivors.values()
                for reason in survivors.stated.values()
            }
        )
        reason_indices = {reason: index for index, reason in enumerate(reasons)}
        return {
            "profiles": {name: list(self.profiles[name]) for name in sorted(self.profiles)},
            "reasons": reasons,
            "table": [
                _row(partition, self.survivors[partition], indices, reason_indices)
                for partition in sorted(self.survivors)
            ],
        }


def parse_survivors(data: object, where: str, mutants: Sequence[str]) -> SurvivorTable:
    """Parse the survivors by partition; ``mutants`` is the table of the file.

    Raises SuiteError for what is not of the form.
    """
    record = JsonObject(data, where, _KEYS)
    profiles = {
        name: JsonObject({name: predicates}, f"{where}: profiles", (name,)).texts(name)
        for name, predicates in record.table("profiles").items()
    }
    reasons = record.texts("reasons")
    survivors: dict[Partition, Survivors] = {}
    for row in record.items("table"):
        partition, partition_survivors = _survivors(
            JsonObject(row, f"{where}: a part", _ROW), mutants, reasons
        )
        if partition in survivors:
            what = f"{partition.dtype} of rank {partition.rank} {partition.profile!r}"
            record.refuse(f"{what} stands there twice")
        if partition.profile and partition.profile not in profiles:
            record.refuse(f"there is no profile {partition.profile[:80]!r}")
        survivors[partition] = partition_survivors
    return SurvivorTable(survivors, profiles)


def _row(
    partition: Partition,
    survivors: Survivors,
    indices: Mapping[str, int],
    reasons: Mapping[str, int],
) -> dict[str, Any]:
    stated: dict[str, list[int]] = {}
    for reason_index, index in sorted(
        (reasons[reason], indices[name]) for name, reason in survivors.stated.items()
    ):
        stated.setdefault(str(reason_index), []).append(index)
    return {
        "dtype": partition.dtype,
        "rank": partition.rank,
        "profile": partition.profile or None,
        **{key: sorted(indices[name] for name in getattr(survivors, key)) for key in _LISTS},
        "stated": stated,
    }


def _survivors(
    record: JsonObject, mutants: Sequence[str], reasons: Sequence[str]
) -> tuple[Partition, Survivors]:
    partition = Partition(
        record.text("dtype"), record.whole("rank"), record.optional_text("profile") or ""
    )
    if partition.dtype not in DTYPES or not 1 <= partition.rank <= MAX_RANK:
        record.refuse(f"{partition.dtype[:20]!r} of rank {partition.rank} is no part")
    record.where += f" ({partition.dtype} of rank {partition.rank})"
    states = {key: frozenset(record.named(key, mutants)) for key in _LISTS}
    stated: dict[str, str] = {}
    count = sum(map(len, states.values()))
    reasons_by_index = {str(index): reason for index, reason in enumerate(reasons)}
    for index, places in record.table("stated").items():
        if index not in reasons_by_index:
            record.refuse(f"'stated' has the reason {index[:20]!r} of {len(reasons)}")
        where = f"{record.where}: stated"
        names = JsonObject({index: places}, where, (index,)).named(index, mutants)
        stated |= dict.fromkeys(names, reasons_by_index[index])
        count += len(names)
    survivors = Survivors(stated=stated, **states)
    if len(survivors.mutants) != count:
        record.refuse("a mutant is in more than one state")
    return partition, survivors
