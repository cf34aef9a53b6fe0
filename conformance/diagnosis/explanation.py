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
    """Mutants that a backend has together, and the failures that they explain.

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
        """True if the mutants are on every code path."""
        return not self.elsewhere

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the mutants."""
        return tuple(mutant.id for mutant in self.faults)

    @property
    def worth(self) -> tuple[int, bool, int, int]:
        """Sort key: a better explanation of the same failures has a larger one."""
        return len(self.agrees), self.whole, -self.strained, self.equal

    @property
    def equal(self) -> int:
        """Number of failures that agree in every element."""
        return sum(agreement is Agreement.EQUAL for agreement in self.agrees.values())


def with_alternatives_of(
    explanation: Explanation, replaced: Explanation, others: Sequence[Explanation]
) -> Explanation:
    """Add to an explanation the candidates of ``replaced`` that ``others`` allow."""
    if explanation.agrees.keys() != replaced.agrees.keys():
        return explanation
    choices = (mutants for other in others for mutants in (other.faults, *other.alternatives))
    allowed = mutant_ids(chain(*choices))
    candidates = (
        mutants
        for mutants in (replaced.faults, *replaced.alternatives)
        if mutant_ids(mutants) <= allowed
    )
    return replace(
        explanation,
        alternatives=minimal_alternatives(
            explanation.faults, (*explanation.alternatives, *candidates)
        ),
    )


def mutant_ids(mutants: Iterable[Mutant]) -> set[str]:
    return {mutant.id for mutant in mutants}


def minimal_alternatives(best: Mutants, alternatives: Iterable[Mutants]) -> tuple[Mutants, ...]:
    """Drop alternatives that contain ``best`` or another alternative."""
    minimal: list[Mutants] = []
    for mutants in sorted(alternatives, key=len):
        if not any(mutant_ids(smaller) <= mutant_ids(mutants) for smaller in (best, *minimal)):
            minimal.append(mutants)
    return tuple(minimal)
