"""Diagnosis of a run: from its results to mutants, regions and conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from conformance.choices import SuiteName
from conformance.core.operator import Operator
from conformance.diagnosis.case_separation import CaseSeparations
from conformance.diagnosis.conditions import Separation, find_separation
from conformance.diagnosis.distinguishing_vector import distinguishing_vector, untested_vectors
from conformance.diagnosis.explain_exceptions import explain_exceptions
from conformance.diagnosis.explain_failures import explain_failures, extend_explanations
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.locate_errors import LocatedFailures, locate_failures
from conformance.diagnosis.numbers import Numbers, best_comparison, case_numbers
from conformance.diagnosis.operator_results import OperatorResults, case_from_request
from conformance.diagnosis.resemblance import MIN_FAILURES, find_resemblance
from conformance.diagnosis.wording import (
    UNKNOWN,
    candidates,
    describe_ambiguous,
    describe_conditions,
    describe_mutants,
    describe_region,
    is_named,
    mutants_key,
)
from conformance.errors import ConformanceError
from conformance.failure_kind import FailureKind
from conformance.grade.outcome import describe_exception
from conformance.model import FAILED, Finding, Result, Status
from conformance.spec.catalogue import Change
from conformance.suite.entries import Entry
from conformance.suite.store import Suite

COMPARED = 20_000
"""Passed vectors of an operator with which failures are compared, the first of the suite."""

NUMBERED = 2_000
"""Passed vectors whose numbers are compared with those of failures, the first of the suite."""


class RunDiagnosis:
    """The diagnosis of a run: mutants, regions and conditions behind its failures.

    ``results`` are in the order of the suite; ``level`` and ``precision``, by element type, are
    those of the run. ``backends`` names the backend by operator where it declares a subset of the
    operator.
    """

    def __init__(
        self,
        results: Sequence[Result],
        suite: Suite,
        *,
        level: str,
        precision: Mapping[str, str],
        backends: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._results, self._suite = results, suite
        self._level, self._precision = level, precision
        self._seen: dict[str, OperatorResults] = {}
        self._backends = backends
        self._numbered: dict[tuple[str, str], Numbers] = {}
        self._specs = suite.specs
        self._explained: dict[tuple[str, str], Explanation] = {}
        self.defects: dict[str, str] = {}
        """By operator, why its failures could not be held against the catalogue."""
        self._failed = {
            (result.op, result.id): result for result in results if result.status in FAILED
        }
        ops = dict.fromkeys(op for op, _ in self._failed)
        self._passed = _passed(results, ops)
        for op in ops:
            try:
                explanations = _explanations(op, results, suite, level, precision)
            except Exception as error:  # a defect here costs names, never the run
                self.defects[op] = describe_exception(error)
                continue
            for explanation in explanations:
                explanation = replace(explanation, lone=self._is_lone(explanation, explanations))
                self._explained |= {(op, vector): explanation for vector in explanation.agreements}
        self._unnamed: dict[tuple[str, bool, str], list[Result]] = defaultdict(list)
        for at, failure in self._failed.items():
            if at not in self._explained or not is_named(self._explained[at]):
                alike = failure.op, failure.reject is not None, failure.kind
                self._unnamed[alike].append(failure)
        self._placed: dict[tuple[str, str], LocatedFailures] = {}
        self._separations: dict[str, CaseSeparations] = {}
        self._gathered: dict[tuple[str, str], Separation] = {}
        for op in ops:
            try:
                self._placed |= self._locate(op, level, precision)
                self._gathered |= self._gather(op)
            except Exception as error:
                self.defects.setdefault(op, describe_exception(error))

    @property
    def causes(self) -> Mapping[tuple[str, str], str]:
        """Key of the mutants, region or conditions of a failure, by operator and id."""
        by_mutants = {
            at: mutants_key(explanation.mutants)
            for at, explanation in self._explained.items()
            if is_named(explanation)
        }
        by_region = {at: str(located.shared.region) for at, located in self._placed.items()}
        by_conditions = {
            at: " and ".join(map(str, separation.conditions))
            for at, separation in self._gathered.items()
        }
        return by_conditions | by_region | by_mutants

    def changes(self, finding: Finding) -> list[Change]:
        """Return the changes that the backend is taken to have."""
        explained = self._explained.get((finding.op, finding.ids[0]))
        if explained is None or not is_named(explained):
            return []
        return [mutant.change for mutant in explained.mutants]

    def diagnose(self, finding: Finding) -> dict[str, Any] | None:
        """Diagnose one finding as JSON data; None if nothing can be said."""
        explained = self._explained.get((finding.op, finding.ids[0]))
        has_names = explained is not None and is_named(explained)
        # What is not named makes no finding of its own: others may fail in the same way.
        if explained is None or not (has_names or explained.agreements.keys() >= {*finding.ids}):
            return self._without_faults(finding)
        open_ = explained.alternatives or explained.lone
        decides = self._decides(explained) if open_ else None
        backend = self._backends.get(finding.op, "")
        if has_names:
            return describe_mutants(explained, decides, backend)
        return describe_ambiguous(explained, self._without_faults(finding), decides, backend)

    def _is_lone(self, explanation: Explanation, explanations: Sequence[Explanation]) -> bool:
        """Whether one vector alone shows mutants, though others exist that could speak against
        them.

        A search leaves few vectors, and those minimal; of a suite it may be that not all was asked.
        That mutants meet which are each known from more needs no more than one.
        """
        several = (other for other in explanations if len(other.agreements) > 1)
        independent = {name for other in several for name in other.ids}
        if len(explanation.agreements) > 1 or independent.issuperset(explanation.ids):
            return False
        if self._suite.manifest.name == SuiteName.FUZZ:
            return True
        ids = {mutant.id for mutants in candidates(explanation) for mutant in mutants}
        return any(not ids.isdisjoint(entry.kills) for entry in self._unasked(explanation))

    def _unasked(self, explanation: Explanation) -> list[Entry]:
        """The vectors of the suite that were not asked, of the element types that have mutants."""
        op = explanation.mutants[0].op
        tested = {result.id for result in self._results if result.op == op}
        dtypes = {code_path.dtype for code_path in explanation.code_paths}
        return list(untested_vectors(self._suite.manifest.of([op]), op, tested, dtypes))

    def _decides(self, explanation: Explanation) -> str | None:
        """A vector that was not asked and tells the candidates apart, by its id; of a single one
        the smallest that it fails on.
        """
        op, entries = explanation.mutants[0].op, self._unasked(explanation)
        if not explanation.alternatives:
            ids = set(explanation.ids)
            may = (entry for entry in entries if not ids.isdisjoint(entry.kills))
            smallest = min(may, key=lambda entry: (entry.bytes, entry.id), default=None)
            return None if smallest is None else smallest.id
        spec = self._specs.get(op)
        assert spec is not None  # it has mutants
        return distinguishing_vector(
            spec, candidates(explanation), entries, self._suite.get, explanation.code_paths
        )

    def _locate(
        self, op: str, level: str, precision: Mapping[str, str]
    ) -> Mapping[tuple[str, str], LocatedFailures]:
        """The places of the wrong elements of failures of an operator that no mutants explain."""
        spec = self._specs.get(op)
        if spec is None:
            return {}
        failed = [
            result
            for (failing_op, rejected, _), results in self._unnamed.items()
            if failing_op == op and not rejected
            for result in results
        ]
        located = locate_failures(
            spec,
            failed,
            self._passed.get((op, False), ()),
            read=self._suite.get,
            precision=precision,
            level=level,
        )
        return {(op, id): group for group in located for id in group.ids}

    def _gather(self, op: str) -> Mapping[tuple[str, str], Separation]:
        """The conditions that wrong outputs of an operator share that nothing else explains."""
        failed = [
            result
            for (failing_op, rejected, _), results in self._unnamed.items()
            if failing_op == op and not rejected
            for result in results
            if result.witness is not None and (op, result.id) not in self._placed
        ]
        separation = self._by_case_conditions(failed, failed)
        return {} if separation is None else {(op, result.id): separation for result in failed}

    def _without_faults(self, finding: Finding) -> dict[str, Any] | None:
        """What can be said of a finding where none is named."""
        description, like = self._described(finding), self._like(finding)
        if not like:
            return description
        return {
            **({**UNKNOWN, "sentence": ""} if description is None else description),
            "advice": like,
        }

    def _described(self, finding: Finding) -> dict[str, Any] | None:
        """Its place and its conditions, as far as they are known."""
        description = self._by_conditions(finding)
        located = self._placed.get((finding.op, finding.ids[0]))
        if located is None or not located.ids.issuperset(finding.ids):
            return description
        # What the vectors may have in common by chance says less than where they are wrong.
        description = None if description is None or description.get("by_chance") else description
        return describe_region(located.shared, located.passing, description)

    def _like(self, finding: Finding) -> str:
        """What is said of failures that resemble a mutant which passed vectors speak against."""
        spec, mutants = self._specs.get(finding.op), self._specs.faults(finding.op)
        failed = [self._failed[finding.op, name] for name in finding.ids]
        if (
            spec is None
            or not mutants
            or len(failed) < MIN_FAILURES
            or failed[0].reject is not None
        ):
            return ""
        like = find_resemblance(self._evidence(spec), mutants, finding.ids)
        if like is None or not like.passing:
            return ""
        passed = self._passed.get((finding.op, False), ())
        apart = find_separation(
            [failure for failure in failed if failure.id in like.agree],
            [result for result in passed if result.id in like.passing],
        )
        conditions = "" if apart is None else " and ".join(map(str, apart.conditions))
        return like.sentence(conditions)

    def _evidence(self, spec: Operator) -> OperatorResults:
        """What the run shows of an operator in small cases; read once for all of its findings."""
        if spec.op not in self._seen:
            large = {entry.id for entry in self._suite.manifest.of([spec.op]) if entry.is_large}
            results = (r for r in self._results if r.op == spec.op and r.id not in large)
            self._seen.clear()  # findings of an operator follow each other
            self._seen[spec.op] = OperatorResults(
                spec,
                results,
                read=self._suite.get,
                noticed=_recorded_kills(self._suite, spec.op),
                precision=self._precision,
                level=self._level,
            )
        return self._seen[spec.op]

    def _by_conditions(self, finding: Finding) -> dict[str, Any] | None:
        failed = [self._failed[finding.op, name] for name in finding.ids]
        rejected = failed[0].reject is not None
        passed = self._passed.get((finding.op, rejected), ())
        separation = find_separation(failed, passed)
        kinds = {result.kind for result in failed}
        alike = [
            result
            for kind in kinds
            for result in self._unnamed.get((finding.op, rejected, kind), ())
        ]
        by_chance = separation is not None and separation.by_chance(alike, passed)
        if not rejected and (separation is None or by_chance or not separation.exact):
            for better in (
                self._by_numbers(failed, alike, passed),
                self._by_case_conditions(failed, alike),
            ):
                if better is not None and (
                    separation is None or by_chance or better.meet < separation.meet
                ):
                    separation, by_chance = better, False
        if separation is None:
            return None
        return describe_conditions(separation, self._specs.get(finding.op), rejected, by_chance)

    def _by_case_conditions(
        self, failed: Sequence[Result], alike: Sequence[Result]
    ) -> Separation | None:
        """What conditions over the names of an operator say of some failures."""
        op = failed[0].op if failed else ""
        spec = self._specs.get(op)
        if spec is None:
            return None
        if op not in self._separations:
            every = [r for r in self._failed.values() if r.op == op and r.reject is None]
            passed = self._passed.get((op, False), ())[:NUMBERED]
            self._separations[op] = CaseSeparations(spec, every, passed)
        return self._separations[op].find(failed, alike)

    def _by_numbers(
        self, failed: Sequence[Result], alike: Sequence[Result], passed: Sequence[Result]
    ) -> Separation | None:
        """What one comparison of one number says of some failures; None where that may be chance.

        ``alike`` are all that fail alike, also those that other conditions describe.
        """
        if self._specs.get(failed[0].op) is None:
            return None
        passed_numbers, failed_numbers = self._numbers(passed[:NUMBERED]), self._numbers(failed)
        every = self._numbers(alike)
        best = (
            best_comparison(failed_numbers, passed_numbers)
            if len(failed_numbers) == len(failed)
            else None
        )
        if best is None:
            return None
        separation, comparison, tried = best
        met_count = sum(map(comparison.met_by, every))
        return None if separation.is_chance(tried, met_count, len(every)) else separation

    def _numbers(self, results: Sequence[Result]) -> list[Numbers]:
        """The numbers of what some results asked, of those that say it."""
        numbers = []
        for result in results:
            at = result.op, result.id
            if at not in self._numbered and result.asked is not None:
                spec = self._specs.get(result.op)
                assert spec is not None
                self._numbered[at] = case_numbers(spec, case_from_request(result.op, result.asked))
            if at in self._numbered:
                numbers.append(self._numbered[at])
        return numbers


def _passed(
    results: Sequence[Result], ops: Collection[str]
) -> Mapping[tuple[str, bool], Sequence[Result]]:
    """The passed vectors of some operators by whether they must be rejected, as many of each as are
    compared."""
    passed: dict[tuple[str, bool], list[Result]] = {}
    for result in results if ops else ():
        if result.op in ops and result.status is Status.PASS:
            group = passed.setdefault((result.op, result.reject is not None), [])
            if len(group) < COMPARED:
                group.append(result)
    return passed


def _recorded_kills(suite: Suite, op: str) -> Mapping[str, Sequence[str]]:
    """The mutants that each vector kills; none where the suite does not record them."""
    if not any(suite.manifest.faults.get(op, {}).values()):
        return {}
    return {entry.id: entry.kills for entry in suite.manifest.of([op])}


def _explanations(
    op: str, results: Sequence[Result], suite: Suite, level: str, precision: Mapping[str, str]
) -> list[Explanation]:
    """The mutants behind the failures of an operator; none for one without specification."""
    spec, mutants = suite.specs.get(op), suite.specs.faults(op)
    if spec is None or not mutants:
        return []
    entries = suite.manifest.of([op])
    noticed = _recorded_kills(suite, op)
    large = {entry.id for entry in entries if entry.is_large}
    of_op = [result for result in results if result.op == op]
    small = [result for result in of_op if result.id not in large]
    remaining = [
        result for result in of_op if result.id in large or result.kind == FailureKind.RAISED
    ]
    try:
        by_small = explain_failures(
            spec,
            small,
            mutants,
            read=suite.get,
            noticed=noticed,
            precision=precision,
            level=level,
            chosen=suite.manifest.name == SuiteName.FUZZ,
        )
        extended = extend_explanations(
            by_small, spec, remaining, read=suite.get, precision=precision, level=level
        )
        named = {id for explanation in extended for id in explanation.agreements}
        others = [result for result in small if result.id not in named]
        return [*extended, *explain_exceptions(spec, others, mutants, read=suite.get)]
    except ConformanceError:
        return []  # a suite may hold what is no case of its specification
