"""Mutants that explain the failures of one operator, in all outputs or in some alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conformance.core.operator import Operator
from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.code_path import code_path_of
from conformance.diagnosis.conditional_mutants import conditional_mutants
from conformance.diagnosis.error_regions import MIN_SHARING, Region, WrongElements, region_of_most
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.locate_errors import index_lines_of, wrong_elements
from conformance.diagnosis.operator_results import MAX_COMPARED_FAILURES, OperatorResults
from conformance.diagnosis.prepared_vectors import PreparedVectors
from conformance.diagnosis.search import Search
from conformance.failure_kind import FailureKind
from conformance.implementations import implementation_of, subject_of
from conformance.model import ALL_OPEN, Answer, Result, Status, Vector
from conformance.spec.catalogue import Mutant
from conformance.specification import interpretation_changes

EVERY = ALL_OPEN
"""An element that is not graded at any precision."""


def explain_failures(
    spec: Operator,
    results: Sequence[Result],
    mutants: Sequence[Mutant],
    *,
    read: Callable[[str], Vector],
    noticed: Mapping[str, Sequence[str]],
    precision: Mapping[str, str],
    level: str,
    chosen: bool = False,
) -> list[Explanation]:
    """Find the mutants behind the failures of an operator.

    Failures without explanation are searched again, without the outputs that are right in all of
    them: a kernel that computes values and indices apart may have a bug in one of them. Fewer
    outputs prove less, so such mutants are named only if they explain most of the rest. The same is
    done without the elements of a region in which most of the rest are wrong. ``chosen`` as for
    :class:`conformance.diagnosis.search.Search`, the other arguments as for
    :class:`conformance.diagnosis.operator_results.OperatorResults`.
    """
    vectors = PreparedVectors(spec, read)
    arguments = _Arguments(vectors, noticed, precision, level, mutants, chosen)
    evidence = arguments.evidence(spec, results)
    explanations = arguments.search(evidence)
    # A bug of one output is likelier than a condition under which another has the same failures.
    explanations += _in_some_outputs(evidence, results, explanations, arguments)
    explanations = _under_conditions(evidence, explanations, arguments) or explanations
    return _beside_a_place(evidence, results, explanations, arguments) or explanations


def _in_some_outputs(
    evidence: OperatorResults,
    results: Sequence[Result],
    explanations: Sequence[Explanation],
    arguments: _Arguments,
) -> list[Explanation]:
    """What explains most of the rest in the outputs that are wrong, where others are right."""
    spec = evidence.spec
    explained = {vector for explanation in explanations for vector in explanation.agreements}
    unexplained_vectors = [
        failure for vector, failure in evidence.failed.items() if vector not in explained
    ]
    wrong = sorted(
        frozenset[int]().union(*(failure.wrong_outputs for failure in unexplained_vectors))
    )
    if not 0 < len(wrong) < len(spec.outputs):
        return []
    unexplained = [result for result in results if result.id not in explained]
    # What notices nothing in all outputs does not in some.
    subset = arguments.evidence(spec, unexplained, only=wrong)
    names = tuple(unexplained_vectors[0].vector.answers[number].name for number in wrong)
    most = (
        explanation
        for explanation in arguments.search(subset)
        if 2 * len(explanation.agreements) > len(unexplained_vectors)
    )
    return [replace(explanation, outputs=names) for explanation in most]


def extend_explanations(
    explained: Sequence[Explanation],
    spec: Operator,
    results: Sequence[Result],
    *,
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> list[Explanation]:
    """Extend explanations to other ``results``, which were not searched for mutants.

    These are large cases, which take minutes to compare with a catalogue, and exceptions where an
    implementation with the mutants has no outputs. None are added where passed vectors contradict
    the mutants.
    """
    if not explained:
        return []
    vectors = PreparedVectors(spec, read)
    evidence = _Arguments(vectors, {}, precision, level).evidence(spec, results)
    raised = [r.id for r in results if r.kind == FailureKind.RAISED and r.reject is None]
    cases = {id: read(id) for id in raised[:MAX_COMPARED_FAILURES]}
    subjects = {id: subject_of(spec, v.case, v.arguments) for id, v in cases.items()}
    interpretations = interpretation_changes(spec)
    extended = []
    for explanation in explained:
        implementation = implementation_of(spec, *(mutant.change for mutant in explanation.mutants))
        agrees: dict[str, Agreement] = {}
        failures = {} if explanation.outputs else evidence.failed
        for id, failure in failures.items():
            if evidence.code_path(id) not in explanation.elsewhere:
                agrees[id] = failure.agreement(implementation, interpretations)
        for id, subject in subjects.items():
            elsewhere = code_path_of(cases[id].case) in explanation.elsewhere
            if not elsewhere and not subject.answers(implementation):
                agrees[id] = Agreement.WITHIN
        agrees = {id: agreement for id, agreement in agrees.items() if agreement}
        extended.append(
            replace(
                explanation,
                agreements={**explanation.agreements, **agrees},
                failing=explanation.failing + len(agrees),
            )
        )
    return extended


@dataclass(frozen=True)
class _Arguments:
    """What all evidence of one operator is looked at with."""

    vectors: PreparedVectors
    noticed: Mapping[str, Sequence[str]]
    precision: Mapping[str, str]
    level: str
    mutants: Sequence[Mutant] = ()
    chosen: bool = False

    def search(
        self, evidence: OperatorResults, mutants: Sequence[Mutant] | None = None
    ) -> list[Explanation]:
        """Search for the mutants behind some evidence, all of them if not for others."""
        sought = self.mutants if mutants is None else mutants
        return Search(evidence, sought, chosen=self.chosen).run()

    def evidence(
        self,
        spec: Operator,
        results: Sequence[Result],
        *,
        read: Callable[[str], Vector] | None = None,
        only: Sequence[int] | None = None,
    ) -> OperatorResults:
        return OperatorResults(
            spec,
            results,
            read=read or self.vectors.read,
            prepare=self.vectors.prepare,
            noticed=self.noticed,
            precision=self.precision,
            level=self.level,
            only=only,
        )


def _under_conditions(
    evidence: OperatorResults,
    explanations: Sequence[Explanation],
    arguments: _Arguments,
) -> list[Explanation] | None:
    """What explains the failures if mutants may hold under conditions alone.

    None where no more is explained.
    """
    explained = {vector for explanation in explanations for vector in explanation.agreements}
    if len(explained) == len(evidence.failed):
        return None
    conditional = conditional_mutants(evidence, arguments.mutants)
    if not conditional:
        return None
    named = {m.id: m for explanation in explanations for m in explanation.mutants}
    limited = arguments.search(evidence, [*named.values(), *conditional])
    more = {vector for explanation in limited for vector in explanation.agreements}
    return limited if len(more) > len(explained) else None


def _beside_a_place(
    evidence: OperatorResults,
    results: Sequence[Result],
    explanations: Sequence[Explanation],
    arguments: _Arguments,
) -> list[Explanation] | None:
    """What explains the failures if the elements of one place are left out, which explains others;
    None where there is no such place, or no more is explained.

    Failures that are wrong nowhere else count as passed: whatever else the backend does, elsewhere
    their elements are right.
    """
    spec, along, read = evidence.spec, index_lines_of(evidence.spec), arguments.vectors.read
    explained = {vector for explanation in explanations for vector in explanation.agreements}
    failed = [result for result in results if result.id in evidence.failed]
    unexplained = [result for result in failed if result.id not in explained]
    if len(unexplained) <= MIN_SHARING:
        return None
    wrong = dict(wrong_elements(unexplained, read, arguments.precision, arguments.level))
    most = region_of_most(list(wrong.values()), along)
    if most is None or len(most[1]) == len(unexplained):
        return None
    shared, at = most
    names = list(wrong)
    lost = {names[number] for number in at}

    def without(id: str) -> Vector:
        vector = read(id)
        return _without(vector, shared.region) if id in evidence.failed else vector

    elsewhere = [
        replace(result, status=Status.PASS, returned=None) if result.id in lost else result
        for result in results
    ]
    outside_explanations = arguments.search(arguments.evidence(spec, elsewhere, read=without))
    if len({v for explanation in outside_explanations for v in explanation.agreements}) <= len(
        explained
    ):
        return None
    return [_with_place(explanation, shared.region, wrong) for explanation in outside_explanations]


def _with_place(
    explanation: Explanation, region: Region, wrong: Mapping[str, WrongElements]
) -> Explanation:
    """An explanation that says in how many of its failures elements of a place are wrong, too."""
    places = {
        vector: [(mask, region.elements(mask.shape)) for mask in wrong[vector].masks]
        for vector in explanation.agreements
        if vector in wrong
    }
    affected = sum(
        any(in_region is not None and (mask & in_region).any() for mask, in_region in pairs)
        for pairs in places.values()
    )
    return (
        replace(explanation, beside_region=str(region), with_more=affected)
        if affected
        else explanation
    )


def _without(vector: Vector, region: Region) -> Vector:
    """A vector of which the elements in a region are not graded."""
    interpretations = {
        name: _ungraded(expected_outputs, region)
        for name, expected_outputs in vector.readings.items()
    }
    return replace(vector, answers=_ungraded(vector.answers, region), readings=interpretations)


def _ungraded(expected_outputs: Sequence[Answer], region: Region) -> tuple[Answer, ...]:
    ungraded = []
    for expected in expected_outputs:
        in_region = region.elements(expected.expected.shape)
        if in_region is not None:
            unspecified = 0 if expected.open is None else expected.open
            expected = replace(
                expected, open=np.where(in_region, np.uint8(EVERY), unspecified).astype(np.uint8)
            )
        ungraded.append(expected)
    return tuple(ungraded)
