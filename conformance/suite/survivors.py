"""Which mutants the vectors of each element type and rank do not kill, and why.

A mutant that no vector of a part kills is in one of the states of :class:`Survivors`; one of which
nothing is said was killed there. In files mutants are told by their places in the table of mutants
that the file has anyway (``faults``), and a reason is written once.
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
    """The mutants that no vector of a part kills at both levels.

    ``inert`` cannot show: the replaced rule is not reached there, or is the same. ``stated`` cannot
    either, and gives the reason. ``excused`` are killed at level should, and at level must an
    allowed interpretation gives what they give. ``undetermined`` might show, and nobody knows how;
    they may be killed at level should, and not at must.
    """

    inert: frozenset[str] = frozenset()
    stated: Mapping[str, str] = field(default_factory=dict)
    excused: frozenset[str] = frozenset()
    undetermined: frozenset[str] = frozenset()

    @property
    def mutants(self) -> frozenset[str]:
        """All of them."""
        return self.inert | self.stated.keys() | self.excused | self.undetermined

    def cannot_show(self, level: str) -> frozenset[str]:
        """Those that no vector could kill at a level, which say nothing against a suite."""
        never = self.inert | self.stated.keys()
        return never | self.excused if level == "must" else never


@dataclass(frozen=True)
class SurvivorTable:
    """The survivors in each part of an operator; false where nothing is known of any.

    ``profiles`` gives for each name of a profile the predicates of the cases that it leaves out, as
    a backend declares them (:class:`conformance.backends.capabilities.Exclusion`).
    """

    survivors: Mapping[Partition, Survivors] = field(default_factory=dict)
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.survivors)

    @cached_property
    def mutants(self) -> frozenset[str]:
        """All mutants that survive in some part."""
        return frozenset().union(*(one.mutants for one in self.survivors.values()))

    @property
    def nowhere(self) -> frozenset[str]:
        """The mutants that show in no part, whatever the case: they say nothing of a suite."""
        never = [one.cannot_show("should") for one in self.survivors.values()]
        return never[0].intersection(*never) if never else frozenset()

    def profile_without(self, predicates: Collection[str | None]) -> str:
        """The profile that leaves out the cases of these predicates; empty where there is none."""
        for name, of_profile in self.profiles.items():
            if {" ".join(one.split()) for one in of_profile} == set(predicates):
                return name
        return ""

    def to_json(self, places: Mapping[str, int]) -> dict[str, Any]:
        """As JSON data; ``places`` are those of the mutants in the table of the file."""
        found = sorted({why for one in self.survivors.values() for why in one.stated.values()})
        reasons = {why: place for place, why in enumerate(found)}
        return {
            "profiles": {name: list(self.profiles[name]) for name in sorted(self.profiles)},
            "reasons": found,
            "table": [
                _row(part, self.survivors[part], places, reasons) for part in sorted(self.survivors)
            ],
        }


def parse_survivors(data: object, where: str, mutants: Sequence[str]) -> SurvivorTable:
    """The parts in JSON data; ``mutants`` is the table of the file.

    Raises SuiteError for what is not of the form.
    """
    record = JsonObject(data, where, _KEYS)
    profiles = {
        name: JsonObject({name: when}, f"{where}: profiles", (name,)).texts(name)
        for name, when in record.table("profiles").items()
    }
    reasons = record.texts("reasons")
    survivors: dict[Partition, Survivors] = {}
    for row in record.items("table"):
        part, found = _survivors(JsonObject(row, f"{where}: a part", _ROW), mutants, reasons)
        if part in survivors:
            record.refuse(f"{part.dtype} of rank {part.rank} {part.profile!r} stands there twice")
        if part.profile and part.profile not in profiles:
            record.refuse(f"there is no profile {part.profile[:80]!r}")
        survivors[part] = found
    return SurvivorTable(survivors, profiles)


def _row(
    part: Partition, found: Survivors, places: Mapping[str, int], reasons: Mapping[str, int]
) -> dict[str, Any]:
    stated: dict[str, list[int]] = {}
    for reason, place in sorted((reasons[why], places[name]) for name, why in found.stated.items()):
        stated.setdefault(str(reason), []).append(place)
    return {
        "dtype": part.dtype,
        "rank": part.rank,
        "profile": part.profile or None,
        **{key: sorted(places[name] for name in getattr(found, key)) for key in _LISTS},
        "stated": stated,
    }


def _survivors(
    record: JsonObject, mutants: Sequence[str], reasons: Sequence[str]
) -> tuple[Partition, Survivors]:
    part = Partition(
        record.text("dtype"), record.whole("rank"), record.optional_text("profile") or ""
    )
    if part.dtype not in DTYPES or not 1 <= part.rank <= MAX_RANK:
        record.refuse(f"{part.dtype[:20]!r} of rank {part.rank} is no part")
    record.where += f" ({part.dtype} of rank {part.rank})"
    lists = {key: frozenset(record.named(key, mutants)) for key in _LISTS}
    stated: dict[str, str] = {}
    count = sum(map(len, lists.values()))
    known = {str(place): why for place, why in enumerate(reasons)}
    for place, why in record.table("stated").items():
        if place not in known:
            record.refuse(f"'stated' has the reason {place[:20]!r} of {len(reasons)}")
        where = f"{record.where}: stated"
        names = JsonObject({place: why}, where, (place,)).named(place, mutants)
        stated |= dict.fromkeys(names, known[place])
        count += len(names)
    found = Survivors(stated=stated, **lists)
    if len(found.mutants) != count:
        record.refuse("a mutant is in more than one state")
    return part, found
