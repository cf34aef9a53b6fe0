"""A mutant that failures resemble though it is not the bug: they are what it gives, but where it
would show besides, vectors pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.operator_results import OperatorResults
from conformance.implementations import implementation_of
from conformance.spec.catalogue import Mutant

MIN_FAILURES = 10
"""Failures below which a likeness may be chance."""

SHARE = 0.9
"""The least share of the failures that are what the mutant gives, half of these bit for bit."""

MAX_CATALOGUE_FAILURES = 6
"""Failures that are held against the whole catalogue: the smallest."""

MAX_LIKELY_MUTANTS = 3
"""Mutants that are held against all failures, at most."""

MAX_CONTRADICTIONS = 30
"""Passed vectors that the mutant would fail, at most, that are counted."""


@dataclass(frozen=True)
class Resemblance:
    """A mutant that failures resemble, and the vectors that contradict it.

    ``agree``, by id, of ``failing`` failures are what it gives; ``passing`` vectors, by id, pass
    where it would fail.
    """

    mutant: Mutant
    agree: frozenset[str]
    failing: int
    passing: frozenset[str]

    def sentence(self, apart: str) -> str:
        """Describe the resemblance in a sentence.

        ``apart`` are conditions that the passing vectors do not meet, if any are known.
        """
        where = f" These fail only with {apart}." if apart else ""
        least = "at least " if len(self.passing) == MAX_CONTRADICTIONS else ""
        passing = f"{least}{len(self.passing)} vectors pass that it would fail"
        return (
            f"{len(self.agree)} of {self.failing} failures are what a mutant of the catalogue "
            f"gives ({self.mutant.description.rstrip('.')}), but {passing}.{where}"
        )


def find_resemblance(
    evidence: OperatorResults, mutants: Sequence[Mutant], ids: Sequence[str]
) -> Resemblance | None:
    """Find the mutant that failures resemble most; None if they resemble none."""
    failures = {id: evidence.failed[id] for id in ids if id in evidence.failed}
    if len(failures) < MIN_FAILURES:
        return None
    spec = evidence.spec
    equal_counts: Counter[int] = Counter()
    for number_before, failure in enumerate(islice(failures.values(), MAX_CATALOGUE_FAILURES)):
        glanced: dict[tuple[str | bytes, ...], Agreement] = {}
        for number, mutant in enumerate(mutants):
            remaining = MAX_CATALOGUE_FAILURES - number_before
            if 2 * (equal_counts[number] + remaining) >= MAX_CATALOGUE_FAILURES:
                implementation = implementation_of(spec, mutant.change)
                agreement = failure.quick_agreement(implementation, glanced)
                equal_counts[number] += agreement is Agreement.EQUAL
    for number, count in equal_counts.most_common(MAX_LIKELY_MUTANTS):
        mutant = mutants[number]
        implementation = implementation_of(spec, mutant.change)
        if 2 * count < MAX_CATALOGUE_FAILURES:
            break
        compared = {id: failure.agreement(implementation, {}) for id, failure in failures.items()}
        agree = frozenset(id for id, agreement in compared.items() if agreement)
        equal = sum(agreement is Agreement.EQUAL for agreement in compared.values())
        if len(agree) >= SHARE * len(failures) and 2 * equal >= len(agree):
            places = {evidence.code_path(id) for id in agree}
            against = (
                passed.vector.id
                for code_path in places
                for passed in evidence.passed(code_path, [mutant])
                if passed.consistency(implementation) is Agreement.NONE
            )
            passing = frozenset(islice(against, MAX_CONTRADICTIONS))
            return Resemblance(mutant, agree, len(failures), passing)
    return None
