"""A mutant that failures resemble though it is not the bug: they are what it gives, but where it
would show besides, vectors pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.operator_results import OperatorEvidence
from conformance.reference.subject import Altered
from conformance.spec.catalogue import Fault

FEWEST = 10
"""Failures below which a likeness may be chance."""

SHARE = 0.9
"""The least share of the failures that are what the mutant gives, half of these bit for bit."""

LOOKED_AT = 6
"""Failures that are held against the whole catalogue: the smallest."""

LIKELY = 3
"""Mutants that are held against all failures, at most."""

CONTRADICTING = 200
"""Passed vectors that the mutant would fail, at most, that are counted."""


@dataclass(frozen=True)
class Resembling:
    """A mutant that gives what ``agree``, by id, are of ``failing`` failures; ``passing`` vectors,
    by id, pass where an implementation with it could not."""

    fault: Fault
    agree: frozenset[str]
    failing: int
    passing: frozenset[str]

    def sentence(self, apart: str) -> str:
        """What is to be said; ``apart`` are conditions that those which pass do not meet, if any
        are known."""
        where = f" These fail only with {apart}." if apart else ""
        least = "at least " if len(self.passing) == CONTRADICTING else ""
        passing = f"{least}{len(self.passing)} vectors pass that it would fail"
        return (
            f"{len(self.agree)} of {self.failing} failures are what a mutant of the catalogue "
            f"gives ({self.fault.says.rstrip('.')}), but {passing}.{where}"
        )


def resembling(
    evidence: OperatorEvidence, bank: Sequence[Fault], ids: Sequence[str]
) -> Resembling | None:
    """The mutant that failures with these ids resemble most; None where they resemble none."""
    left = {id: evidence.failed[id] for id in ids if id in evidence.failed}
    if len(left) < FEWEST:
        return None
    implementations = [(fault, Altered(evidence.spec, fault.variant)) for fault in bank]
    seen: Counter[int] = Counter()
    for failure in islice(left.values(), LOOKED_AT):
        glanced: dict[tuple[str | bytes, ...], Agreement] = {}
        for number, (_, altered) in enumerate(implementations):
            seen[number] += failure.glance(altered, glanced) is Agreement.EQUAL
    for number, count in seen.most_common(LIKELY):
        fault, altered = implementations[number]
        if 2 * count < LOOKED_AT:
            break
        compared = {id: failure.agreement(altered, {}) for id, failure in left.items()}
        agree = frozenset(id for id, agreement in compared.items() if agreement)
        equal = sum(agreement is Agreement.EQUAL for agreement in compared.values())
        if len(agree) >= SHARE * len(left) and 2 * equal >= len(agree):
            places = {evidence.place(id) for id in agree}
            against = (
                passed.vector.id
                for place in places
                for passed in evidence.passed(place, [fault.id])
                if passed.consistency(altered) is Agreement.NONE
            )
            passing = frozenset(islice(against, CONTRADICTING))
            return Resembling(fault, agree, len(left), passing)
    return None
