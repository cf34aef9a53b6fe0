"""Known bugs of operators as records, and why an operator does not have some.

:mod:`conformance.core.catalogue` makes them of ``specs/faults/``. The format: docs/fault-format.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from conformance.errors import ConformanceError


@dataclass(frozen=True)
class StatedEquivalence:
    """A statement that nothing kills a mutant in some partitions, with the reason.

    It holds in each of these element types, ranks and profiles, where they are given.

    At ``level`` should it cannot show there; at must what shows is what an interpretation allows.
    """

    why: str
    level: str = "should"
    types: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    profiles: tuple[str, ...] = ()

    def holds(self, dtype: str, rank: int, profile: str) -> bool:
        """Return whether it covers an element type and rank, within a profile or any."""
        limits = ((self.types, dtype), (self.ranks, rank), (self.profiles, profile))
        return all(not among or value in among for among, value in limits)


class Change(Protocol):
    """What a mutant changes: the text of a definition, or how a machine computes it."""

    @property
    def name(self) -> str:
        """The name of the change."""


@dataclass(frozen=True)
class Mutant:
    """A way in which an implementation of one operator goes wrong.

    ``change`` is one of :mod:`conformance.core.mutant_changes`.
    ``says`` is a sentence for whoever wrote the kernel, ``look`` where in it to look; ``threads``
    are public places where a real one had it, ``fixed`` runtimes that had it, each with the version
    in which it was fixed. ``cause`` are words that mutants of one origin share, or empty.
    ``reading`` names the interpretation that excuses it at level must, ``equivalent`` why nothing
    can show it (both empty where there is none), and ``stated`` why nothing can in some element
    types, ranks and profiles.
    """

    id: str
    kind: str
    op: str
    change: Change
    description: str
    where_to_look: str = ""
    threads: tuple[str, ...] = ()
    excused_by: str = ""
    equivalent: str = ""
    stated_equivalences: tuple[StatedEquivalence, ...] = ()
    cause: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict, hash=False)


class Why(Enum):
    """A reason why an operator does not have a mutant."""

    NAMED = "the entry names other operators"
    KIND = "the entry is for other kinds of operators"
    LACKS = "the operator lacks what the entry speaks of"
    IDLE = "the operator computes the same with it"


@dataclass(frozen=True)
class LeftOut:
    """A mutant that an operator does not have, by ``id`` and name of its ``entry``.

    ``of`` is the kind that the entry is for, or the name that the operator lacks, if it is a name;
    ``error`` says what it lacks.
    """

    op: str
    entry: str
    id: str
    why: Why
    of: str = ""
    error: ConformanceError | None = None


class Idle(ConformanceError):
    """A mutant changes nothing that an operator computes."""


def stated(
    raw: Iterable[Mapping[str, Any]], spelled: Collection[str]
) -> Iterator[StatedEquivalence]:
    """Parse the statements on one mutant of an operator that is ``spelled`` so."""
    for entry in raw:
        if "of" not in entry or not {*entry["of"]}.isdisjoint(spelled):
            limits = (tuple(entry.get(key, ())) for key in ("types", "ranks", "profiles"))
            yield StatedEquivalence(entry["why"], entry.get("level", "should"), *limits)
