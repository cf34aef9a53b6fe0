"""Which faults of the catalogue a backend has, from the vectors that failed and those that passed.

A fault is named where outputs agree with it and nothing speaks against it: on no vector that passed
could an implementation with that fault have passed. Where something does, the fault may still be
in the kernel of some element types or ranks alone, and is then named for these. In the end what
failed otherwise than the fault would have it speaks as well, see :meth:`Search.credible`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product

from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.code_path import CodePath
from conformance.diagnosis.explanation import (
    Explanation,
    Mutants,
    minimal_alternatives,
    mutant_ids,
    with_alternatives_of,
)
from conformance.diagnosis.operator_results import OperatorResults
from conformance.dtypes import DTYPES
from conformance.reference.subject import Altered
from conformance.spec.catalogue import Mutant
from conformance.spec.rule_change import find_cycle

GLANCES = 20_000
"""How often failures are held against faults of the whole catalogue, at most."""

PATIENCE = 3
"""Failures of one element type and rank in which the catalogue is searched in vain, at most."""

ALTERNATIVES = 6
"""Faults with the same outputs that are tried in combinations, at most."""

DIFFERENT = 8
"""Failures whose outputs are held one by one against the whole catalogue, at most."""

THREES = 6
"""Faults that show alone, at most, for three of them to be tried together."""

CONTRADICTED = 0.25
"""Failures on which faults show and that nothing explains, at most, of each that they explain."""

UNKNOWN = 0.25
"""Failures that nothing explains, at most, of each that is explained, where some of them contradict
the faults: with more, something else is likelier that resembles the faults now and then."""

STRONG = 20
"""Failures that are equal bit for bit, from which what else is unexplained does not matter: a
backend with several bugs is to be told those that are known."""

NARROWER = 0.1
"""Unexplained failures that agree with faults where passed vectors speak against them, at most, of
each failure that is equal."""

STRAINED = 0.1
"""Passed vectors on which sums in order would have failed, at most, of each failure that is equal
to such sums; or as many as there are failures that lie in the interval of another order."""


class Search:
    """The search for the faults of one operator among those of a ``bank``.

    ``chosen`` says that the failures are few and were picked because each tells something, as those
    that a fuzz search leaves: then what contradicts faults does so, however few such failures are.
    """

    def __init__(
        self, evidence: OperatorResults, bank: Sequence[Mutant], *, chosen: bool = False
    ) -> None:
        self._evidence, self._bank, self._chosen = evidence, bank, chosen
        self._readings = {one.name: one for one in evidence.spec.interpretations}
        self._unexplained = dict.fromkeys(evidence.failed)
        self._found: dict[tuple[str, ...], Explanation] = {}
        self._glances = GLANCES
        self._cache: dict[tuple[str, ...], Altered] = {}

    def run(self) -> list[Explanation]:
        """What explains the failures: single faults, two that act on the same vectors, and no more
        faults than are needed.
        """
        catalogue = [(fault,) for fault in self._bank]
        self._seek(catalogue, patience=PATIENCE)
        # Where patience ended there may be more of what was found elsewhere.
        self._seek([one.faults for one in self._found.values()])
        single = list(self._found.values())
        for one, other in combinations(single, 2):
            self._seek(list(self._pairs(_choices(one), _choices(other))))
        for some in combinations(single, 3) if len(single) <= THREES else ():
            first, second, third = (one.faults for one in some)
            pairs = self._pairs([first], [second])
            self._seek(list(self._pairs(pairs, [third])))
        known = set(self._found)
        for one in single:
            self._seek(list(self._pairs([one.faults], catalogue)), patience=1)
        self._seek(list(self._by_output(catalogue)))
        # What shows only beside another fault may be there together with each of the others, too.
        for found in [found for ids, found in self._found.items() if ids not in known]:
            self._seek(list(self._pairs([found.faults], [one.faults for one in single])))
        named: Counter[str] = Counter()
        for found in self._found.values():
            named.update(dict.fromkeys(found.ids, len(found.agrees)))
        for fault, _ in reversed(named.most_common()):
            self._spare(fault)
        return self._kept()

    def _by_output(self, catalogue: Sequence[Mutants]) -> Iterator[Mutants]:
        """Faults that may be together because each makes another output what it is: values and
        indices that are never wrong alone show no fault alone.
        """
        looked_at: set[tuple[str, int]] = set()
        for vector in self._unexplained:
            asked, place = self._evidence.failed[vector], self._evidence.place(vector).of_data
            outputs = len(asked.outputs or ())
            if outputs < 2 or place in looked_at or len(looked_at) == DIFFERENT:
                continue
            looked_at.add(place)
            explain: list[list[Mutants]] = [[] for _ in range(outputs)]
            for faults in catalogue:
                for number in asked.explained(self._implementation(faults)):
                    explain[number].append(faults)
            for one, other in combinations(explain, 2):
                yield from self._pairs(one[:ALTERNATIVES], other[:ALTERNATIVES])

    def credible(self, found: Explanation, others: Sequence[Explanation] = ()) -> bool:
        """Whether the failures bear an explanation out; ``others`` are what explains the rest.

        Of faults in some kernels alone hardly an unexplained failure elsewhere agrees: what does
        the same there, where passed vectors speak against them, is something narrower. Of the
        failures on which the faults have to show four in five are explained by them, alone or with
        others, and where one is not, four in five of all failures of these types are explained, or
        many are equal bit for bit: else they only look like another fault now and then. Nor do as
        many failures remain as are explained, where some are by them: then more is unknown than
        known. And a single failure explained is no coincidence only if none is left, or if it is
        equal to faults together that are each known from more.
        """
        places, kernel_of = found.places, self._evidence.place
        explained = {vector for one in (found, *others) for vector in one.agrees}
        left = [vector for vector in self._evidence.failed if vector not in explained]
        agreeing = {kernel_of(vector).of_data for vector in found.agrees}
        beside, there = (
            sum(kernel_of(v).of_data in agreeing for v in some) for some in (left, explained)
        )
        lone = len(found.agrees) == 1 and not _of_known(found, others)
        if left and (lone or beside >= there):
            return False
        sharing = [one for one in others if not set(one.ids).isdisjoint(found.ids)]
        room = CONTRADICTED * sum(len(one.agrees) for one in (found, *sharing))
        room = 0 if self._chosen else room
        types = {dtype for dtype, _ in agreeing}
        unknown, known = (
            sum(kernel_of(v) in places and kernel_of(v).dtype in types for v in some)
            for some in (left, explained)
        )
        altered = self._implementation(found.faults)
        narrower = 0
        for vector in left:
            asked = self._evidence.failed[vector]
            if kernel_of(vector) not in places:
                narrower += asked.agreement(altered, self._readings) is not Agreement.NONE
                if narrower > NARROWER * found.equal:
                    return False
            elif asked.consistency(altered) is Agreement.NONE:
                room -= 1
                if room < 0 or (found.equal < STRONG and unknown > UNKNOWN * known):
                    return False
        return True

    def _pairs(self, some: Iterable[Mutants], others: Iterable[Mutants]) -> Iterator[Mutants]:
        """Faults that may be together: they replace different rules, none by what depends on it."""
        for pair in product(some, others):
            faults = tuple(chain(*pair))
            replacing = [fault.variant.replace for fault in faults]
            rules = list(chain(*replacing))
            apart = len(set(rules)) == len(rules)
            if apart and not any(find_cycle(self._evidence.spec, *replacing)):
                yield faults

    def _kept(self) -> list[Explanation]:
        """The explanations that the failures bear out, alternatives too.

        What only a refused one explained is not explained, and may speak against others.
        """
        found = list(self._found.values())
        while True:
            kept = [one for some in found for one in self._borne(some, found)]
            if kept == found:
                return kept
            found = kept

    def _borne(self, found: Explanation, kept: Sequence[Explanation]) -> Iterator[Explanation]:
        others = [one for one in kept if one is not found]
        choices = (found.faults, *found.alternatives)
        for some in (found, self._of_agreeing_types(found)):
            borne = [one for one in choices if self.credible(replace(some, faults=one), others)]
            if borne:
                yield replace(some, faults=borne[0], alternatives=tuple(borne[1:]))
                return

    def _of_agreeing_types(self, found: Explanation) -> Explanation:
        """An explanation of the kernels of those element types alone in which a failure agrees."""
        types = {self._evidence.place(vector).dtype for vector in found.agrees}
        places = frozenset(one for one in found.places if one.dtype in types)
        failing, passing = self._evidence.count(places)
        elsewhere = self._evidence.places - places
        return replace(found, places=places, elsewhere=elsewhere, failing=failing, passing=passing)

    def _spare(self, fault: str) -> None:
        """Do without a fault where those that are named besides explain all that it does."""
        having = [one for one in self._found.values() if fault in one.ids]
        others = [one for one in self._found.values() if fault not in one.ids]
        faults = list({one.id: (one,) for found in others for one in found.faults}.values())
        if not having or not faults:
            return
        before, unexplained = self._found, self._unexplained
        self._found = {one.ids: one for one in others}
        self._unexplained = dict.fromkeys(chain(*(one.agrees for one in having)))
        pairs = (
            pair for one, other in combinations(faults, 2) for pair in self._pairs([one], [other])
        )
        self._seek([*faults, *pairs])
        if self._unexplained:
            self._found = before
        else:
            for found in having:
                self._found = {
                    ids: with_alternatives_of(one, found, others)
                    for ids, one in self._found.items()
                }
        self._unexplained = unexplained

    def _seek(self, hypotheses: Sequence[Mutants], *, patience: int | None = None) -> None:
        """Explain what is not explained yet by some hypotheses, the smallest failure first.

        ``patience`` bounds for how many failures of a type and rank this is tried in vain.
        """
        in_vain: Counter[tuple[str, int]] = Counter()
        for vector in list(self._unexplained):
            place = self._evidence.place(vector)
            if vector not in self._unexplained:
                continue
            if patience is not None:
                if in_vain[place.of_data] >= patience or self._glances <= 0:
                    continue
                self._glances -= len(hypotheses)
            candidates = list(self._candidates(vector, hypotheses))
            if candidates:
                self._take(candidates)
            else:
                in_vain[place.of_data] += 1

    def _candidates(self, vector: str, hypotheses: Iterable[Mutants]) -> Iterator[Explanation]:
        """The hypotheses that agree with a failure, and that nothing contradicts where it is."""
        asked, place = self._evidence.failed[vector], self._evidence.place(vector)
        seen: dict[tuple[str | bytes, ...], Agreement] = {}
        for faults in hypotheses:
            altered = self._implementation(faults)
            if asked.glance(altered, seen) and self._strain(faults, place) is not None:
                found = self._explanation(faults, place)
                # The interval of a poor accumulator holds much besides: outputs that merely lie
                # in it show nothing. Nor does one failure, where it takes a place apart to name it.
                # Several faults need no more than that each is equal to a failure by itself.
                shown = found.equal > 0 or self._shown(faults)
                enough = shown and (found.whole or len(found.agrees) > 1)
                within = len(found.agrees) - found.equal
                in_order = found.strained <= max(within, STRAINED * found.equal)
                if vector in found.agrees and enough and in_order:
                    yield found

    def _shown(self, faults: Mutants) -> bool:
        """Whether each of several faults is equal to a failure that it explains alone."""
        alone = [self._found.get((fault.id,)) for fault in faults]
        return len(alone) > 1 and all(one is not None and one.equal > 0 for one in alone)

    def _explanation(self, faults: Mutants, place: CodePath) -> Explanation:
        """What some faults explain, at a place and as many others as nothing speaks against."""
        altered = self._implementation(faults)
        strain = {one: self._strain(faults, one) for one in self._evidence.places}
        free = frozenset(one for one, strained in strain.items() if strained is not None)
        agrees = {
            vector: agreement
            for vector, asked in self._evidence.failed.items()
            if vector in self._unexplained and self._evidence.place(vector) in free
            if (agreement := asked.agreement(altered, self._readings))
        }
        agreeing = {self._evidence.place(vector) for vector in agrees}
        # Where sums in order would have failed, and nothing did, they are of another kind.
        free = frozenset(one for one in free if not strain[one] or one in agreeing)
        places = _kernels(agreeing, free, self._evidence.places) or frozenset({place})
        agrees = {v: how for v, how in agrees.items() if self._evidence.place(v) in places}
        return self._counted(faults, agrees, places, strain)

    def _counted(
        self,
        faults: Mutants,
        agrees: Mapping[str, Agreement],
        places: frozenset[CodePath],
        strain: Mapping[CodePath, int | None],
    ) -> Explanation:
        failing, passing = self._evidence.count(places)
        strained = sum(strain[one] or 0 for one in places)
        elsewhere = self._evidence.places - places
        return Explanation(faults, agrees, places, elsewhere, failing, passing, strained)

    def _strain(self, faults: Mutants, place: CodePath) -> int | None:
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
            and (one.agrees, one.places, one.strained) == (best.agrees, best.places, best.strained)
        )
        for vector in best.agrees:
            del self._unexplained[vector]
        # Of those that fit alike one comes first whose words are about what was asked.
        first, *others = sorted((best.faults, *alike), key=self._unasked_types)
        best = replace(best, faults=first, alternatives=minimal_alternatives(first, others))
        self._found[best.ids] = self._joined(best)

    def _unasked_types(self, faults: Mutants) -> int:
        """How often the words of faults name element types of which no vector was asked."""
        seen = {place.dtype for place in self._evidence.places}
        words = (word for fault in faults for word in re.findall(r"\w+", fault.says))
        return sum(word in DTYPES and word not in seen for word in words)

    def _joined(self, found: Explanation) -> Explanation:
        """An explanation with what the same faults explained elsewhere."""
        earlier = self._found.get(found.ids)
        if earlier is None:
            return found
        places = earlier.places | found.places
        failing, passing = self._evidence.count(places)
        return replace(
            found,
            agrees={**earlier.agrees, **found.agrees},
            places=places,
            elsewhere=self._evidence.places - places,
            failing=failing,
            passing=passing,
            strained=earlier.strained + found.strained,
            alternatives=tuple(one for one in earlier.alternatives if one in found.alternatives),
        )

    def _implementation(self, faults: Mutants) -> Altered:
        key = tuple(fault.id for fault in faults)
        if key not in self._cache:
            self._cache[key] = Altered(self._evidence.spec, *(fault.variant for fault in faults))
        return self._cache[key]


def _of_known(found: Explanation, others: Sequence[Explanation]) -> bool:
    """Whether faults that are equal together to a failure each explain several without each other:
    then that they meet is to be expected.
    """
    known = mutant_ids(chain(*(one.faults for one in others if len(one.agrees) > 1)))
    return len(found.ids) > 1 and found.equal > 0 and known.issuperset(found.ids)


def _choices(found: Explanation) -> list[Mutants]:
    return [found.faults, *found.alternatives][:ALTERNATIVES]


def _kernels(
    agreeing: set[CodePath], free: frozenset[CodePath], known: frozenset[CodePath]
) -> frozenset[CodePath]:
    """The most of the known places that may share a kernel, if it is one of all that agree.

    All, those of some element types, of some ranks, or of both; of these the ones whose window is
    the whole plane, or not; none that is not ``free``.
    """
    dtypes = {one.dtype for one in agreeing}
    ranks = {one.rank for one in agreeing}
    planes = {one.plane for one in agreeing}
    for among in (known, {one for one in known if one.plane in planes}):
        for kernels in (
            frozenset(among),
            frozenset(one for one in among if one.dtype in dtypes),
            frozenset(one for one in among if one.rank in ranks),
            frozenset(one for one in among if one.dtype in dtypes and one.rank in ranks),
        ):
            if kernels <= free:
                return kernels
    return frozenset()
