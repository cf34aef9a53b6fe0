"""Mutants that hold under a condition alone, as a bug of a fast path does.

A mutant that several failures equal may be contradicted by vectors that passed. Then a condition on
the case, over the operator's names, may tell these from the failures. Vectors that passed though
they meet the condition, and on which the mutant would have failed, make it narrower.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.condition_choice import likeliest_choice
from conformance.diagnosis.operator_results import OperatorResults
from conformance.implementations import implementation_of
from conformance.spec.catalogue import Mutant

MIN_AGREEING = 3
"""Failures that a mutant has to explain, at least, to be looked at under conditions."""

GLANCED = 6
"""Failures that are held against all mutants, at most."""

CANDIDATES = 6
"""Mutants that are looked at under conditions, at most: those that most of these failures equal."""

ALIKE = 3
"""Mutants that explain the same failures, at most: the first ones."""

MAX_COMPARED_FAILURES = 150
"""Failures that are held against such a mutant, at most, the smallest first."""

CONTRADICTING = 16
"""Passed vectors that contradict a mutant, at most, with which a search for conditions begins."""

FIRST_PASSES = 100
"""Passed vectors of a code path, at most, among which these are looked for."""

ROUNDS = 6
"""How often a condition is made narrower, at most."""


def conditional_mutants(evidence: OperatorResults, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return mutants under conditions, that failures equal and that no pass contradicts."""
    if len(evidence.failed) < MIN_AGREEING:
        return []
    conditional: list[Mutant] = []
    conditions: dict[frozenset[str], list[str]] = {}
    for mutant in _likely(evidence, mutants):
        agreeing = _agreeing(evidence, mutant)
        earlier = conditions.setdefault(agreeing, [])
        if len(agreeing) < MIN_AGREEING or len(earlier) >= ALIKE:
            continue
        condition = _Limited(evidence, mutant, agreeing).find(earlier)
        if condition is not None:
            conditional.append(under(mutant, condition))
            earlier.append(condition)
    return conditional


def under(mutant: Mutant, condition: str) -> Mutant:
    """Return a mutant that holds only where a condition over the operator's names does."""
    change: Any = mutant.change
    where = f"{change.where} and {condition}" if change.where else condition
    return replace(
        mutant,
        id=f"{mutant.id} where {condition}",
        change=replace(change, where=where),
        description=f"{mutant.description.rstrip('.')}, but only where {condition}.",
        cause="",
    )


def _likely(evidence: OperatorResults, mutants: Sequence[Mutant]) -> list[Mutant]:
    """The mutants that most of a few failures equal, from the smallest to larger ones."""
    # Those that a search has held against all mutants need no more time.
    failures = evidence.glanced(mutants) or list(evidence.failed)
    step = max(1, len(failures) // (2 * GLANCED))
    equal_counts: Counter[int] = Counter()
    for id in failures[:GLANCED] if step == 1 else failures[: GLANCED * step : step]:
        for number, mutant in enumerate(mutants):
            equal_counts[number] += evidence.glance(id, mutant) is Agreement.EQUAL
    least = 1 if len(failures) < GLANCED else 2
    likely = [n for n, count in equal_counts.most_common() if count >= least]
    return [mutants[number] for number in likely[:CANDIDATES]]


def _agreeing(evidence: OperatorResults, mutant: Mutant) -> frozenset[str]:
    implementation = implementation_of(evidence.spec, mutant.change)
    showing = (id for id in evidence.failed if evidence.may_show(id, [mutant]))
    agreements = {
        id: evidence.failed[id].agreement(implementation, {})
        for id in islice(showing, MAX_COMPARED_FAILURES)
    }
    equal_count = sum(agreement is Agreement.EQUAL for agreement in agreements.values())
    agreeing = frozenset(id for id, agreement in agreements.items() if agreement)
    return agreeing if 2 * equal_count >= len(agreeing) else frozenset()


@dataclass(frozen=True)
class _Limited:
    """The search for the condition of one mutant, which ``agreeing`` failures equal."""

    evidence: OperatorResults
    mutant: Mutant
    agreeing: frozenset[str]
    looked_at: dict[str, bool] = field(default_factory=dict)

    def find(self, earlier: Sequence[str]) -> str | None:
        """Find the likeliest condition under which nothing contradicts the mutant.

        It is one of ``earlier`` conditions, if it can be.
        """
        first = self._contradicting(self.mutant, FIRST_PASSES)
        contradicting = set(islice(first, CONTRADICTING))
        for condition in earlier if contradicting else ():
            if next(self._contradicting(under(self.mutant, condition)), None) is None:
                return condition
        for _ in range(ROUNDS if contradicting else 0):
            likeliest = self._condition(contradicting)
            if likeliest is None:
                return None
            limited = under(self.mutant, likeliest)
            more = set(islice(self._contradicting(limited), CONTRADICTING))
            if not more:
                return likeliest
            contradicting |= more
        return None

    def _contradicting(self, mutant: Mutant, most: int | None = None) -> Iterator[str]:
        """The passed vectors that a mutant would fail, of the first ``most`` of a code path."""
        agreeing = (id for id in self.evidence.failed if id in self.agreeing)
        for code_path in dict.fromkeys(map(self.evidence.code_path, agreeing)):
            for id in islice(self.evidence.passed_ids(code_path, [mutant]), most):
                if self._contradicts(id):
                    yield id

    def _contradicts(self, id: str) -> bool:
        """Whether a passed vector contradicts the mutant, where its condition holds."""
        if id not in self.looked_at:
            implementation = implementation_of(self.evidence.spec, self.mutant.change)
            consistency = self.evidence.read_passed(id).consistency(implementation)
            self.looked_at[id] = consistency is Agreement.NONE
        return self.looked_at[id]

    def _condition(self, contradicting: set[str]) -> str | None:
        """The likeliest condition that all failures meet, and none that contradicts does."""
        ids = self.evidence.ids
        shared = np.array([id in self.agreeing for id in ids])
        against = np.array([id in contradicting for id in ids])
        choice = likeliest_choice(self.evidence.conditions.of(shared), shared, against)
        return None if choice is None or choice.is_chance else choice.text
