"""Which faults of the catalogue a backend has, from the vectors that failed and those that passed.

A fault is named where outputs agree with it and nothing speaks against it: on no vector that passed
could an implementation with that fault have passed. Where something does, the fault may still be
in the kernel of some element types or ranks alone, and is then named for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from conformance.diagnosis.agreement import Agreement, Place
from conformance.diagnosis.evidence import Evidence
from conformance.reference.subject import Altered
from conformance.spec.catalogue import Fault

GLANCES = 2_500
"""How often a failure is held against a hypothesis, at most, before the rest is not looked at."""

ALTERNATIVES = 6
"""Faults with the same outputs that are tried in combinations, at most."""

Faults = tuple[Fault, ...]


@dataclass(frozen=True)
class Scope:
    """Where a backend has a fault: the element types and ranks, None for all of them."""

    dtypes: frozenset[str] | None = None
    ranks: frozenset[int] | None = None

    def __contains__(self, place: object) -> bool:
        return (
            isinstance(place, Place)
            and (self.dtypes is None or place.dtype in self.dtypes)
            and (self.ranks is None or place.rank in self.ranks)
        )

    @property
    def whole(self) -> bool:
        """Whether it is everywhere."""
        return self.dtypes is None and self.ranks is None


@dataclass(frozen=True)
class Explanation:
    """Faults that a backend has together, and the failures that they explain.

    ``agrees`` says by id how. ``alternatives`` are other faults that explain exactly these, as
    well. Of the vectors within ``scope``, ``failing`` failed with outputs that could be looked at,
    and ``passing`` passed, all as an implementation with these faults may; ``strained`` of these
    would have failed, had it added up its terms in order.
    """

    faults: Faults
    agrees: dict[str, Agreement]
    scope: Scope
    failing: int
    passing: int
    strained: int = 0
    alternatives: tuple[Faults, ...] = ()

    @property
    def worth(self) -> tuple[int, bool, int, int]:
        """What makes one explanation better than another of the same failures."""
        return len(self.agrees), self.scope.whole, -self.strained, self.equal

    @property
    def equal(self) -> int:
        """How many failures agree in every element."""
        return sum(one is Agreement.EQUAL for one in self.agrees.values())


class Search:
    """The search for the faults of one operator among those of a ``bank``."""

    def __init__(self, evidence: Evidence, bank: Sequence[Fault]) -> None:
        self._evidence, self._bank = evidence, bank
        self._readings = {one.name: one for one in evidence.spec.interpretations}
        self._unexplained = dict.fromkeys(evidence.failed)
        self._found: list[Explanation] = []
        self._cache: dict[tuple[str, ...], Altered] = {}

    def run(self) -> list[Explanation]:
        """What explains the failures: single faults, then two that act on the same vectors."""
        catalogue = [(fault,) for fault in self._bank]
        self._seek(catalogue)
        single = list(self._found)
        for one, other in combinations(single, 2):
            self._seek(list(_pairs(_choices(one), _choices(other))))
        for one in single:
            self._seek(list(_pairs([one.faults], catalogue)), GLANCES // (2 * len(single)))
        return self._found

    def _seek(self, hypotheses: Sequence[Faults], glances: int = GLANCES) -> None:
        """Explain what is not explained yet by some hypotheses, the smallest failure first."""
        for vector in list(self._unexplained):
            if vector in self._unexplained and hypotheses and glances > 0:
                glances -= len(hypotheses)
                candidates = list(self._candidates(vector, hypotheses))
                if candidates:
                    self._take(candidates)

    def _candidates(self, vector: str, hypotheses: Iterable[Faults]) -> Iterator[Explanation]:
        """The hypotheses that agree with a failure, and that nothing contradicts where it is."""
        asked, place = self._evidence.failed[vector], self._evidence.place(vector)
        seen: dict[tuple[str | bytes, ...], Agreement] = {}
        for faults in hypotheses:
            altered = self._implementation(faults)
            if asked.glance(altered, seen) and self._strain(faults, place) is not None:
                found = self._explanation(faults, place)
                # One failure alone could be anything, where it takes a place apart to name it.
                if vector in found.agrees and (found.scope.whole or len(found.agrees) > 1):
                    yield found

    def _explanation(self, faults: Faults, place: Place) -> Explanation:
        """What some faults explain, within the widest scope around a place that allows them."""
        altered = self._implementation(faults)
        strain = {one: self._strain(faults, one) for one in self._evidence.places}
        against = [one for one, strained in strain.items() if strained is None]
        agrees = {
            vector: agreement
            for vector, asked in self._evidence.failed.items()
            if vector in self._unexplained and self._evidence.place(vector) not in against
            if (agreement := asked.agreement(altered, self._readings))
        }
        scope = _scope({self._evidence.place(vector) for vector in agrees}, against, place)
        agrees = {v: how for v, how in agrees.items() if self._evidence.place(v) in scope}
        failing, passing = self._evidence.count(scope)
        strained = sum(count or 0 for one, count in strain.items() if one in scope)
        return Explanation(faults, agrees, scope, failing, passing, strained)

    def _strain(self, faults: Faults, place: Place) -> int | None:
        """How many passed vectors at a place agree with faults by another order of their sums
        alone; None where one contradicts them.
        """
        altered = self._implementation(faults)
        strained = 0
        for asked in self._evidence.passed(place, [fault.id for fault in faults]):
            consistency = asked.consistency(altered)
            if consistency is Agreement.NONE:
                return None
            strained += consistency is Agreement.WITHIN
        return strained

    def _take(self, candidates: Sequence[Explanation]) -> None:
        """Keep the candidate that explains most, with those that explain the same as well."""
        best = max(candidates, key=lambda one: one.worth)
        alike = tuple(
            one.faults
            for one in candidates
            if one is not best
            and (one.agrees, one.scope, one.strained) == (best.agrees, best.scope, best.strained)
        )
        self._found.append(replace(best, alternatives=alike))
        for vector in best.agrees:
            del self._unexplained[vector]

    def _implementation(self, faults: Faults) -> Altered:
        key = tuple(fault.id for fault in faults)
        if key not in self._cache:
            self._cache[key] = Altered(self._evidence.spec, *(fault.variant for fault in faults))
        return self._cache[key]


def _choices(found: Explanation) -> list[Faults]:
    return [found.faults, *found.alternatives][:ALTERNATIVES]


def _pairs(some: Iterable[Faults], others: Iterable[Faults]) -> Iterator[Faults]:
    """Faults that may be together: they replace different rules."""
    for one, other in product(some, others):
        rules = [name for fault in (*one, *other) for name in fault.variant.replace]
        if len(set(rules)) == len(rules):
            yield (*one, *other)


def _scope(agreeing: set[Place], against: Sequence[Place], place: Place) -> Scope:
    """The widest scope with the places that agree and none of those that speak against it."""
    dtypes = frozenset(one.dtype for one in agreeing)
    ranks = frozenset(one.rank for one in agreeing)
    for scope in (Scope(), Scope(dtypes), Scope(None, ranks), Scope(dtypes, ranks)):
        if not any(one in scope for one in against):
            return scope
    return Scope(frozenset({place.dtype}), frozenset({place.rank}))
