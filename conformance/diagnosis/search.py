"""Search for a backend's mutants, by the vectors that failed and those that passed.

A mutant is named where outputs agree with it and nothing speaks against it: on no vector that
passed could an implementation with that mutant have passed. Where something does, the mutant may
still be in the kernel of some element types or ranks alone, and is then named for these. In the end
what failed otherwise than the mutant would have it speaks as well, see :meth:`Search.credible`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from conformance.implementations import (
    Implementation,
    implementation_of,
    may_be_together,
)
from conformance.spec.catalogue import Mutant
from conformance.specification import interpretation_changes

GLANCES = 20_000
"""How often failures are held against mutants of the whole catalogue, at most."""

PATIENCE = 3
"""Failures of one element type and rank in which the catalogue is searched in vain, at most."""

ALTERNATIVES = 6
"""Faults with the same outputs that are tried in combinations, at most."""

DIFFERENT = 8
"""Failures whose outputs are held one by one against the whole catalogue, at most."""

THREES = 6
"""Faults that show alone, at most, for three of them to be tried together."""

CONTRADICTED = 0.25
"""Failures on which mutants show and that nothing explains, at most, of each that they explain."""

UNKNOWN = 0.25
"""Failures that nothing explains, at most, of each that is explained, where some of them contradict
the mutants: with more, something else is likelier that resembles the mutants now and then."""

STRONG = 20
"""Failures that are equal bit for bit, from which what else is unexplained does not matter: a
backend with several bugs is to be told those that are known."""

NARROWER = 0.1
"""Unexplained failures that agree with mutants where passed vectors speak against them, at most, of
each failure that is equal."""

STRAINED = 0.1
"""Passed vectors on which sums in order would have failed, at most, of each failure that is equal
to such sums; or as many as there are failures that lie in the interval of another order."""


class Search:
    """The search for the mutants of one operator among those of a catalogue.

    ``chosen`` says that the failures are few and were picked because each shows something new, as a
    fuzz search does: then a contradiction counts, however few such failures are.
    """

    def __init__(
        self, evidence: OperatorResults, mutants: Sequence[Mutant], *, chosen: bool = False
    ) -> None:
        self._evidence, self._catalogue, self._chosen = evidence, mutants, chosen
        self._interpretations = interpretation_changes(evidence.spec)
        self._unexplained = dict.fromkeys(evidence.failed)
        self._explanations: dict[tuple[str, ...], Explanation] = {}
        self._glances = GLANCES
        self._cache: dict[tuple[str, ...], Implementation] = {}
        self._fitting: dict[tuple[str, ...], bool] = {}
        self._strained: dict[tuple[tuple[str, ...], CodePath], int | None] = {}

    def run(self) -> list[Explanation]:
        """Explain the failures by single mutants and by combinations, with no more than needed."""
        catalogue = [(mutant,) for mutant in self._catalogue]
        self._seek(catalogue, patience=PATIENCE)
        # Where patience ended there may be more of what was found elsewhere.
        self._seek([explanation.mutants for explanation in self._explanations.values()])
        single = list(self._explanations.values())
        for first, second in combinations(single, 2):
            self._seek(list(self._pairs(_choices(first), _choices(second))))
        for triple in combinations(single, 3) if len(single) <= THREES else ():
            a, b, c = (explanation.mutants for explanation in triple)
            self._seek(list(self._pairs(self._pairs([a], [b]), [c])))
        singles_and_pairs = set(self._explanations)
        for explanation in single:
            self._seek(list(self._pairs([explanation.mutants], catalogue)), patience=1)
        self._seek(list(self._by_output(catalogue)))
        # What shows only beside another mutant may be there together with each of the others, too.
        for ids, explanation in list(self._explanations.items()):
            if ids not in singles_and_pairs:
                single_mutants = [other.mutants for other in single]
                self._seek(list(self._pairs([explanation.mutants], single_mutants)))
        explained_counts: Counter[str] = Counter()
        for explanation in self._explanations.values():
            explained_counts.update(dict.fromkeys(explanation.ids, len(explanation.agreements)))
        for mutant, _ in reversed(explained_counts.most_common()):
            self._spare(mutant)
        return self._supported()

    def _by_output(self, catalogue: Sequence[Mutants]) -> Iterator[Mutants]:
        """Faults that may be together because each makes another output what it is: values and
        indices that are never wrong alone show no mutant alone.
        """
        looked_at: set[CodePath] = set()
        # Those that were held against all of it: their outputs are known, and they are small.
        for vector in self._evidence.glanced(catalogue):
            if vector not in self._unexplained:
                continue
            observed, code_path = self._evidence.failed[vector], self._evidence.code_path(vector)
            outputs = len(observed.outputs or ())
            if outputs < 2 or code_path in looked_at or len(looked_at) == DIFFERENT:
                continue
            looked_at.add(code_path)
            explain: list[list[Mutants]] = [[] for _ in range(outputs)]
            for mutants in catalogue:
                for number in observed.explained(self._implementation(mutants)):
                    explain[number].append(mutants)
            for first, second in combinations(explain, 2):
                yield from self._pairs(first[:ALTERNATIVES], second[:ALTERNATIVES])

    def credible(
        self, explanation: Explanation, other_explanations: Sequence[Explanation] = ()
    ) -> bool:
        """Return whether the failures support an explanation, given the ``other_explanations``.

        Of mutants in some kernels alone hardly an unexplained failure elsewhere agrees: what does
        the same there, where passed vectors speak against them, is something narrower. Of the
        failures on which the mutants have to show four in five are explained by them, alone or with
        others, and where one is not, four in five of all failures of these types are explained, or
        many are equal bit for bit: else they only look like another mutant now and then. Nor do as
        many failures remain as are explained, where some are by them: then more is unknown than
        known. And a single failure explained is no coincidence only if none is left, or if it is
        equal to mutants together that are each known from more.
        """
        places, kernel_of = explanation.code_paths, self._evidence.code_path
        explained = {
            vector
            for explanation in (explanation, *other_explanations)
            for vector in explanation.agreements
        }
        unexplained = [vector for vector in self._evidence.failed if vector not in explained]
        agreeing = {kernel_of(vector) for vector in explanation.agreements}
        beside, explained_beside = (
            sum(kernel_of(v) in agreeing for v in vectors) for vectors in (unexplained, explained)
        )
        lone = len(explanation.agreements) == 1 and not _of_known(explanation, other_explanations)
        if unexplained and (lone or beside >= explained_beside):
            return False
        sharing = [
            other for other in other_explanations if not set(other.ids).isdisjoint(explanation.ids)
        ]
        room = CONTRADICTED * sum(
            len(explanation.agreements) for explanation in (explanation, *sharing)
        )
        room = 0 if self._chosen else room
        types = {code_path.dtype for code_path in agreeing}
        unexplained_count, explained_count = (
            sum(kernel_of(v) in places and kernel_of(v).dtype in types for v in vectors)
            for vectors in (unexplained, explained)
        )
        implementation = self._implementation(explanation.mutants)
        narrower = 0
        for vector in unexplained:
            observed = self._evidence.failed[vector]
            if kernel_of(vector) not in places:
                narrower += (
                    observed.agreement(implementation, self._interpretations) is not Agreement.NONE
                )
                if narrower > NARROWER * explanation.equal_count:
                    return False
            elif observed.consistency(implementation) is Agreement.NONE:
                room -= 1
                if room < 0 or (
                    explanation.equal_count < STRONG
                    and unexplained_count > UNKNOWN * explained_count
                ):
                    return False
        return True

    def _pairs(self, first: Iterable[Mutants], second: Iterable[Mutants]) -> Iterator[Mutants]:
        """Faults of both; whether they may be together is looked at where both may show."""
        return (tuple(chain(*pair)) for pair in product(first, second))

    def _may_meet(self, vector: str, mutants: Mutants) -> bool:
        """Whether several mutants may be together, and each may show in a vector."""
        return self._evidence.may_show(vector, mutants) and self._fit(mutants)

    def _fit(self, mutants: Mutants) -> bool:
        """Whether several mutants may be together."""
        key = tuple(mutant.id for mutant in mutants)
        if key not in self._fitting:
            changes = [mutant.change for mutant in mutants]
            self._fitting[key] = may_be_together(self._evidence.spec, *changes)
        return self._fitting[key]

    def _supported(self) -> list[Explanation]:
        """The explanations that the failures bear out, alternatives too.

        What only a refused one explained is not explained, and may speak against others.
        """
        explanations = list(self._explanations.values())
        while True:
            supported = [
                explanation
                for candidate in explanations
                for explanation in self._supported_forms(candidate, explanations)
            ]
            if supported == explanations:
                return supported
            explanations = supported

    def _supported_forms(
        self, explanation: Explanation, explanations: Sequence[Explanation]
    ) -> Iterator[Explanation]:
        other_explanations = [other for other in explanations if other is not explanation]
        choices = (explanation.mutants, *explanation.alternatives)
        for candidate in (explanation, self._of_agreeing_types(explanation)):
            borne = [
                mutants
                for mutants in choices
                if self.credible(replace(candidate, mutants=mutants), other_explanations)
            ]
            if borne:
                yield replace(candidate, mutants=borne[0], alternatives=tuple(borne[1:]))
                return

    def _of_agreeing_types(self, explanation: Explanation) -> Explanation:
        """An explanation of the kernels of those element types alone in which a failure agrees."""
        types = {self._evidence.code_path(vector).dtype for vector in explanation.agreements}
        places = frozenset(
            code_path for code_path in explanation.code_paths if code_path.dtype in types
        )
        failing, passing = self._evidence.count(places)
        elsewhere = self._evidence.code_paths - places
        return replace(
            explanation, code_paths=places, elsewhere=elsewhere, failing=failing, passing=passing
        )

    def _spare(self, mutant: str) -> None:
        """Do without a mutant where those that are named besides explain all that it does."""
        having = [
            explanation for explanation in self._explanations.values() if mutant in explanation.ids
        ]
        other_explanations = [
            explanation
            for explanation in self._explanations.values()
            if mutant not in explanation.ids
        ]
        mutants = list(
            {
                mutant.id: (mutant,)
                for explanation in other_explanations
                for mutant in explanation.mutants
            }.values()
        )
        if not having or not mutants:
            return
        before, unexplained = self._explanations, self._unexplained
        self._explanations = {explanation.ids: explanation for explanation in other_explanations}
        self._unexplained = dict.fromkeys(
            chain(*(explanation.agreements for explanation in having))
        )
        pairs = (
            pair
            for first, second in combinations(mutants, 2)
            for pair in self._pairs([first], [second])
        )
        self._seek([*mutants, *pairs])
        if self._unexplained:
            self._explanations = before
        else:
            for explanation in having:
                self._explanations = {
                    ids: with_alternatives_of(other, explanation, other_explanations)
                    for ids, other in self._explanations.items()
                }
        self._unexplained = unexplained

    def _seek(self, hypotheses: Sequence[Mutants], *, patience: int | None = None) -> None:
        """Explain what is not explained yet by some hypotheses, the smallest failure first.

        ``patience`` bounds for how many failures of a type and rank this is tried in vain.
        """
        in_vain: Counter[CodePath] = Counter()
        for vector in list(self._unexplained):
            code_path = self._evidence.code_path(vector)
            if vector not in self._unexplained:
                continue
            if patience is not None:
                if in_vain[code_path] >= patience or self._glances <= 0:
                    continue
                self._glances -= len(hypotheses)
            candidates = list(self._candidates(vector, hypotheses))
            if candidates:
                self._keep_best(candidates)
            else:
                in_vain[code_path] += 1

    def _candidates(self, vector: str, hypotheses: Iterable[Mutants]) -> list[Explanation]:
        """The hypotheses that agree with a failure, and that nothing contradicts where it is.

        Those that explain fewer failures than another are left out.
        """
        code_path = self._evidence.code_path(vector)
        known_agreements: dict[tuple[str | bytes, ...], Agreement] = {}
        alike: list[tuple[int, Mutants, dict[str, Agreement]]] = []
        for number, mutants in enumerate(hypotheses):
            if len(mutants) > 1 and not self._may_meet(vector, mutants):
                continue
            if (
                self._glance(vector, mutants, known_agreements)
                and self._strain(mutants, code_path) is not None
            ):
                alike.append((number, mutants, self._agreeing(mutants)))
        # To look for what contradicts them takes long: those come first that may explain most.
        alike.sort(key=lambda hypothesis: -len(hypothesis[2]))
        candidates: list[tuple[int, Explanation]] = []
        most = 0
        for number, mutants, agreements in alike:
            if len(agreements) < most:
                break
            explanation = self._explanation(mutants, code_path, agreements)
            if explanation is not None and vector in explanation.agreements:
                candidates.append((number, explanation))
                most = max(most, len(explanation.agreements))
        return [explanation for _, explanation in sorted(candidates, key=lambda pair: pair[0])]

    def _glance(
        self,
        vector: str,
        mutants: Mutants,
        known_agreements: dict[tuple[str | bytes, ...], Agreement],
    ) -> Agreement:
        if len(mutants) == 1:
            return self._evidence.glance(vector, mutants[0], known_agreements)
        implementation = self._implementation(mutants)
        return self._evidence.failed[vector].quick_agreement(implementation, known_agreements)

    def _each_has_equal_failure(self, mutants: Mutants) -> bool:
        """Whether each of several mutants is equal to a failure that it explains alone."""
        alone = [self._explanations.get((mutant.id,)) for mutant in mutants]
        return len(alone) > 1 and all(
            explanation is not None and explanation.equal_count > 0 for explanation in alone
        )

    def _explanation(
        self, mutants: Mutants, code_path: CodePath, agreements: Mapping[str, Agreement]
    ) -> Explanation | None:
        """What some mutants explain, at a place and as many others as nothing speaks against.

        None where what they explain does not show them.
        """
        of_failure = self._evidence.code_path
        agreeing = {of_failure(vector) for vector in agreements}
        free = {path for path in agreeing if self._is_free(mutants, path, agreeing)}
        places = _kernels(
            free,
            lambda path: self._is_free(mutants, path, agreeing),
            self._evidence.code_paths,
        ) or frozenset({code_path})
        agrees = {vector: how for vector, how in agreements.items() if of_failure(vector) in places}
        strained = sum(self._strain(mutants, path) or 0 for path in places)
        explanation = self._counted(mutants, agrees, places, strained)
        # The interval of a poor accumulator holds much besides: outputs that merely lie
        # in it show nothing. Nor does one failure, where it takes a place apart to name it.
        # Several mutants need no more than that each is equal to a failure by itself.
        has_equal_failure = explanation.equal_count > 0 or self._each_has_equal_failure(mutants)
        enough = has_equal_failure and (
            explanation.is_everywhere or len(explanation.agreements) > 1
        )
        within = len(agrees) - explanation.equal_count
        in_order = strained <= max(within, STRAINED * explanation.equal_count)
        return explanation if enough and in_order else None

    def _is_free(self, mutants: Mutants, code_path: CodePath, agreeing: set[CodePath]) -> bool:
        """Whether nothing speaks against some mutants at a place.

        Where sums in order would have failed, and nothing did, they are of another kind.
        """
        strained = self._strain(mutants, code_path, whole=code_path in agreeing)
        return strained is not None and (code_path in agreeing or not strained)

    def _agreeing(self, mutants: Mutants) -> dict[str, Agreement]:
        """The failures that are not explained yet and agree with some mutants."""
        implementation = self._implementation(mutants)
        return {
            vector: agreement
            for vector, observed in self._evidence.failed.items()
            if vector in self._unexplained
            if self._evidence.may_show(vector, mutants)
            if (agreement := observed.agreement(implementation, self._interpretations))
        }

    def _counted(
        self,
        mutants: Mutants,
        agrees: Mapping[str, Agreement],
        places: frozenset[CodePath],
        strained: int,
    ) -> Explanation:
        failing, passing = self._evidence.count(places)
        elsewhere = self._evidence.code_paths - places
        return Explanation(mutants, agrees, places, elsewhere, failing, passing, strained)

    def _strain(self, mutants: Mutants, code_path: CodePath, *, whole: bool = True) -> int | None:
        """How many passed vectors at a place agree with mutants by another order of their sums
        alone; None where one contradicts them. If not ``whole`` it ends at the first.
        """
        key = tuple(mutant.id for mutant in mutants), code_path
        if key in self._strained:
            return self._strained[key]
        implementation = self._implementation(mutants)
        strained = 0
        for observed in self._evidence.passed(code_path, mutants):
            consistency = observed.consistency(implementation)
            if consistency is Agreement.NONE:
                self._strained[key] = None
                return None
            strained += consistency is Agreement.WITHIN
            if strained and not whole:
                return strained
        self._strained[key] = strained
        return strained

    def _keep_best(self, candidates: Sequence[Explanation]) -> None:
        """Keep the candidate that explains most, with those that explain the same as well."""
        best = max(candidates, key=lambda candidate: candidate.worth)
        alike = tuple(
            candidate.mutants
            for candidate in candidates
            if candidate is not best
            and (candidate.agreements, candidate.code_paths, candidate.strained)
            == (best.agreements, best.code_paths, best.strained)
        )
        for vector in best.agreements:
            del self._unexplained[vector]
        # Of those that fit alike one comes first whose words are about what was asked.
        first, *alternatives = sorted((best.mutants, *alike), key=self._unasked_types)
        best = replace(best, mutants=first, alternatives=minimal_alternatives(first, alternatives))
        self._explanations[best.ids] = self._merged(best)

    def _unasked_types(self, mutants: Mutants) -> int:
        """How often the words of mutants name element types of which no vector was asked."""
        tested_types = {code_path.dtype for code_path in self._evidence.code_paths}
        described_words = (
            word for mutant in mutants for word in re.findall(r"\w+", mutant.description)
        )
        return sum(word in DTYPES and word not in tested_types for word in described_words)

    def _merged(self, explanation: Explanation) -> Explanation:
        """An explanation with what the same mutants explained elsewhere."""
        earlier = self._explanations.get(explanation.ids)
        if earlier is None:
            return explanation
        places = earlier.code_paths | explanation.code_paths
        failing, passing = self._evidence.count(places)
        return replace(
            explanation,
            agreements={**earlier.agreements, **explanation.agreements},
            code_paths=places,
            elsewhere=self._evidence.code_paths - places,
            failing=failing,
            passing=passing,
            strained=earlier.strained + explanation.strained,
            alternatives=tuple(
                alternative
                for alternative in earlier.alternatives
                if alternative in explanation.alternatives
            ),
        )

    def _implementation(self, mutants: Mutants) -> Implementation:
        key = tuple(mutant.id for mutant in mutants)
        if key not in self._cache:
            self._cache[key] = implementation_of(
                self._evidence.spec, *(mutant.change for mutant in mutants)
            )
        return self._cache[key]


def _of_known(explanation: Explanation, other_explanations: Sequence[Explanation]) -> bool:
    """Whether mutants that are equal together to a failure each explain several without each other:
    then that they meet is to be expected.
    """
    independent = mutant_ids(
        chain(*(other.mutants for other in other_explanations if len(other.agreements) > 1))
    )
    return (
        len(explanation.ids) > 1
        and explanation.equal_count > 0
        and independent.issuperset(explanation.ids)
    )


def _choices(explanation: Explanation) -> list[Mutants]:
    return [explanation.mutants, *explanation.alternatives][:ALTERNATIVES]


def _kernels(
    agreeing: set[CodePath],
    is_free: Callable[[CodePath], bool],
    observed_paths: frozenset[CodePath],
) -> frozenset[CodePath]:
    """The most of the known places that may share a kernel, if it is one of all that agree.

    All, those of some element types, of some ranks, or of both; none that is not free.
    """
    dtypes = {code_path.dtype for code_path in agreeing}
    ranks = {code_path.rank for code_path in agreeing}
    of_types = frozenset(path for path in observed_paths if path.dtype in dtypes)
    of_ranks = frozenset(path for path in observed_paths if path.rank in ranks)
    several = (observed_paths, of_types, of_ranks, of_types & of_ranks)
    return next((kernels for kernels in several if all(map(is_free, kernels))), frozenset())
