"""What explains the failures of one operator: faults in all of its outputs, or in some alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.code_path import code_path_of
from conformance.diagnosis.error_regions import MIN_SHARING, Region, WrongElements, region_of_most
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.locate_errors import index_lines_of, wrong_elements
from conformance.diagnosis.operator_results import MAX_COMPARED_FAILURES, OperatorResults
from conformance.diagnosis.search import Search
from conformance.model import OPEN_BIT, Answer, Result, Status, Vector
from conformance.reference.subject import Altered, Subject
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec

EVERY = sum(OPEN_BIT.values())
"""An element that is not graded at any precision."""


def explain_failures(
    spec: OpSpec,
    results: Sequence[Result],
    bank: Sequence[Mutant],
    *,
    read: Callable[[str], Vector],
    noticed: Mapping[str, Sequence[str]],
    precision: Mapping[str, str],
    level: str,
    chosen: bool = False,
) -> list[Explanation]:
    """The faults of a ``bank`` behind the failures of an operator.

    What no faults explain is looked at again, without the outputs that are right in all of it: a
    kernel that computes values and indices apart may have a bug in one of them. Fewer outputs show
    less, so such faults are told only where they explain most of what was left. So it is without
    the elements of a place, where most of what is left is wrong there alone. ``chosen`` as for
    :class:`conformance.diagnosis.search.Search`, the rest as for
    :class:`conformance.diagnosis.operator_results.OperatorResults`.
    """
    arguments = _Arguments(noticed, precision, level)
    evidence = arguments.evidence(spec, results, read)
    found = Search(evidence, bank, chosen=chosen).run()
    found = _beside_a_place(evidence, results, found, bank, read, arguments, chosen) or found
    explained = {vector for one in found for vector in one.agrees}
    left = [one for vector, one in evidence.failed.items() if vector not in explained]
    wrong = sorted(frozenset[int]().union(*(one.wrong_outputs for one in left)))
    if not 0 < len(wrong) < len(spec.outputs):
        return found
    unexplained = [one for one in results if one.id not in explained]
    # What notices nothing in all outputs does not in some.
    part = arguments.evidence(spec, unexplained, read, only=wrong)
    names = tuple(left[0].vector.answers[number].name for number in wrong)
    more = Search(part, bank, chosen=chosen).run()
    most = (one for one in more if 2 * len(one.agrees) > len(left))
    return [*found, *(replace(one, outputs=names) for one in most)]


def extend_explanations(
    explained: Sequence[Explanation],
    spec: OpSpec,
    results: Sequence[Result],
    *,
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> list[Explanation]:
    """Explanations that take in other ``results``, which no faults were looked for in.

    These are large cases, against each of which it takes minutes to hold a whole catalogue, and
    exceptions where an implementation with the faults has no outputs. None are taken in where
    passed vectors speak against the faults.
    """
    if not explained:
        return []
    evidence = _Arguments({}, precision, level).evidence(spec, results, read)
    raised = [r.id for r in results if r.kind == "raised" and r.reject is None][
        :MAX_COMPARED_FAILURES
    ]
    vectors = {id: read(id) for id in raised}
    subjects = {id: Subject(spec, v.case, v.inputs) for id, v in vectors.items()}
    readings = {reading.name: reading for reading in spec.interpretations}
    extended = []
    for explanation in explained:
        altered = Altered(spec, *(fault.variant for fault in explanation.faults))
        agrees: dict[str, Agreement] = {}
        there = {} if explanation.outputs else evidence.failed
        for id, failure in there.items():
            if evidence.place(id) not in explanation.elsewhere:
                agrees[id] = failure.agreement(altered, readings)
        for id, subject in subjects.items():
            elsewhere = code_path_of(spec, vectors[id].case) in explanation.elsewhere
            if not elsewhere and not subject.answers(altered):
                agrees[id] = Agreement.WITHIN
        agrees = {id: agreement for id, agreement in agrees.items() if agreement}
        extended.append(
            replace(
                explanation,
                agrees={**explanation.agrees, **agrees},
                failing=explanation.failing + len(agrees),
            )
        )
    return extended


@dataclass(frozen=True)
class _Arguments:
    """What all evidence of one operator is looked at with."""

    noticed: Mapping[str, Sequence[str]]
    precision: Mapping[str, str]
    level: str

    def evidence(
        self,
        spec: OpSpec,
        results: Sequence[Result],
        read: Callable[[str], Vector],
        only: Sequence[int] | None = None,
    ) -> OperatorResults:
        return OperatorResults(
            spec,
            results,
            read=read,
            noticed=self.noticed,
            precision=self.precision,
            level=self.level,
            only=only,
        )


def _beside_a_place(
    evidence: OperatorResults,
    results: Sequence[Result],
    found: Sequence[Explanation],
    bank: Sequence[Mutant],
    read: Callable[[str], Vector],
    arguments: _Arguments,
    chosen: bool,
) -> list[Explanation] | None:
    """What explains the failures if the elements of one place are left out, which explains others;
    None where there is no such place, or no more is explained.

    Failures that are wrong nowhere else count as passed: whatever else the backend does, elsewhere
    their elements are right.
    """
    spec, along = evidence.spec, index_lines_of(evidence.spec)
    explained = {vector for one in found for vector in one.agrees}
    failed = [one for one in results if one.id in evidence.failed]
    left = [one for one in failed if one.id not in explained]
    if along is None or len(left) <= MIN_SHARING:
        return None
    wrong = dict(wrong_elements(left, read, arguments.precision, arguments.level))
    most = region_of_most(list(wrong.values()), along)
    if most is None or len(most[1]) == len(left):
        return None
    shared, at = most
    names = list(wrong)
    lost = {names[number] for number in at}

    def without(id: str) -> Vector:
        vector = read(id)
        return _without(vector, shared.region) if id in evidence.failed else vector

    elsewhere = [
        replace(one, status=Status.PASS, returned=None) if one.id in lost else one
        for one in results
    ]
    part = arguments.evidence(spec, elsewhere, without)
    more = Search(part, bank, chosen=chosen).run()
    if len({v for one in more for v in one.agrees}) <= len(explained):
        return None
    return [_with_place(one, shared.region, wrong) for one in more]


def _with_place(
    found: Explanation, region: Region, wrong: Mapping[str, WrongElements]
) -> Explanation:
    """An explanation that says in how many of its failures elements of a place are wrong, too."""
    places = {
        vector: [(mask, region.elements(mask.shape)) for mask in wrong[vector].masks]
        for vector in found.agrees
        if vector in wrong
    }
    more = sum(
        any(there is not None and (mask & there).any() for mask, there in pairs)
        for pairs in places.values()
    )
    return replace(found, beside=str(region), with_more=more) if more else found


def _without(vector: Vector, region: Region) -> Vector:
    """A vector of which the elements in a region are not graded."""
    readings = {name: _ungraded(answers, region) for name, answers in vector.readings.items()}
    return replace(vector, answers=_ungraded(vector.answers, region), readings=readings)


def _ungraded(answers: Sequence[Answer], region: Region) -> tuple[Answer, ...]:
    found = []
    for one in answers:
        there = region.elements(one.expected.shape)
        if there is not None:
            known = 0 if one.open is None else one.open
            one = replace(one, open=np.where(there, np.uint8(EVERY), known).astype(np.uint8))
        found.append(one)
    return tuple(found)
