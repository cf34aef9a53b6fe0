"""Faults that a backend has together, and the failures that they explain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.code_path import CodePath
from conformance.spec.catalogue import Mutant

Mutants = tuple[Mutant, ...]


@dataclass(frozen=True)
class Explanation:
    """Faults that a backend has together, and the failures that they explain.

    ``agrees`` says by id how. ``alternatives`` are other faults that explain exactly these, as
    well. Of the vectors at ``places``, ``failing`` failed with outputs that could be looked at,
    and ``passing`` passed, all as an implementation with these faults may; ``strained`` of these
    would have failed, had it added up its terms in order. ``elsewhere`` are the other places.
    ``outputs`` are the names of those that are as the faults have them, where the others are right;
    empty for all. ``beside`` is a place whose elements were left out, where more is wrong: so it is
    in ``with_more`` of the failures. ``lone`` where one vector alone shows it, and no other
    was asked that might have spoken against it.
    """

    faults: Mutants
    agrees: Mapping[str, Agreement]
    places: frozenset[CodePath]
    elsewhere: frozenset[CodePath]
    failing: int
    passing: int
    strained: int = 0
    alternatives: tuple[Mutants, ...] = ()
    outputs: tuple[str, ...] = ()
    beside: str = ""
    with_more: int = 0
    lone: bool = False

    @property
    def whole(self) -> bool:
        """Whether the faults are everywhere."""
        return not self.elsewhere

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the faults."""
        return tuple(fault.id for fault in self.faults)

    @property
    def worth(self) -> tuple[int, bool, int, int]:
        """What makes one explanation better than another of the same failures."""
        return len(self.agrees), self.whole, -self.strained, self.equal

    @property
    def equal(self) -> int:
        """How many failures agree in every element."""
        return sum(one is Agreement.EQUAL for one in self.agrees.values())


def with_alternatives_of(
    one: Explanation, found: Explanation, others: Sequence[Explanation]
) -> Explanation:
    """An explanation in place of ``found``, with those of its candidates that ``others`` allow."""
    if one.agrees.keys() != found.agrees.keys():
        return one
    choices = (some for other in others for some in (other.faults, *other.alternatives))
    allowed = mutant_ids(chain(*choices))
    more = (some for some in (found.faults, *found.alternatives) if mutant_ids(some) <= allowed)
    return replace(one, alternatives=minimal_alternatives(one.faults, (*one.alternatives, *more)))


def mutant_ids(faults: Iterable[Mutant]) -> set[str]:
    return {fault.id for fault in faults}


def minimal_alternatives(best: Mutants, alternatives: Iterable[Mutants]) -> tuple[Mutants, ...]:
    """The alternatives that say no more than what is there already."""
    found: list[Mutants] = []
    for some in sorted(alternatives, key=len):
        if not any(mutant_ids(one) <= mutant_ids(some) for one in (best, *found)):
            found.append(some)
    return tuple(found)
