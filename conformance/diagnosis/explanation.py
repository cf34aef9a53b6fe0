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

    ``agreements`` says by id how. ``alternatives`` are other mutants that explain exactly these, as
    well. Of the vectors at ``code_paths``, ``failing`` failed with outputs that could be looked at,
    and ``passing`` passed, all as an implementation with these mutants may; ``strained`` of these
    would have failed, had it added up its terms in order. ``elsewhere`` are the other places.
    ``outputs`` are the names of those that are as the mutants have them, where the others are
    right; empty for all. ``beside_region`` is a place whose elements were left out, where more is
    wrong: so it is in ``with_more`` of the failures. ``lone`` where one vector alone shows it, and
    no other was asked that might have spoken against it.
    """

    mutants: Mutants
    agreements: Mapping[str, Agreement]
    code_paths: frozenset[CodePath]
    elsewhere: frozenset[CodePath]
    failing: int
    passing: int
    strained: int = 0
    alternatives: tuple[Mutants, ...] = ()
    outputs: tuple[str, ...] = ()
    beside_region: str = ""
    with_more: int = 0
    lone: bool = False

    @property
    def is_everywhere(self) -> bool:
        """True if the mutants are on every code path."""
        return not self.elsewhere

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the mutants."""
        return tuple(mutant.id for mutant in self.mutants)

    @property
    def worth(self) -> tuple[int, bool, int, int]:
        """Sort key: a better explanation of the same failures has a larger one."""
        return len(self.agreements), self.is_everywhere, -self.strained, self.equal_count

    @property
    def equal_count(self) -> int:
        """Number of failures that agree in every element."""
        return sum(agreement is Agreement.EQUAL for agreement in self.agreements.values())


def with_alternatives_of(
    explanation: Explanation, replaced: Explanation, other_explanations: Sequence[Explanation]
) -> Explanation:
    """Add to an explanation the candidates of ``replaced`` that ``other_explanations`` allow."""
    if explanation.agreements.keys() != replaced.agreements.keys():
        return explanation
    choices = (
        mutants for other in other_explanations for mutants in (other.mutants, *other.alternatives)
    )
    allowed = mutant_ids(chain(*choices))
    candidates = (
        mutants
        for mutants in (replaced.mutants, *replaced.alternatives)
        if mutant_ids(mutants) <= allowed
    )
    return replace(
        explanation,
        alternatives=minimal_alternatives(
            explanation.mutants, (*explanation.alternatives, *candidates)
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
