"""From the results of a run to what its failures come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from conformance.diagnosis.conditions import Separation, find_separation
from conformance.diagnosis.distinguishing_vector import distinguishing_vector, untested_vectors
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
from conformance.grade.outcome import describe
from conformance.model import FAILED, Finding, Result, Status
from conformance.spec.model import OpSpec, RuleChange
from conformance.suite.entries import Entry
from conformance.suite.store import Suite
from conformance.verdict import FUZZ

COMPARED = 20_000
"""Passed vectors of an operator with which failures are compared, the first of the suite."""

NUMBERED = 2_000
"""Passed vectors whose numbers are compared with those of failures, the first of the suite."""


class RunDiagnosis:
    """What the failures of a run come from.

    ``results`` are in the order of the suite; ``level`` is what was asked, ``precision`` what each
    element type was. ``backends`` gives the backend, as it was named, by operators of which it
    declares less than all.
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
        self._failed = {(one.op, one.id): one for one in results if one.status in FAILED}
        ops = dict.fromkeys(op for op, _ in self._failed)
        self._passed = _passed(results, ops)
        for op in ops:
            try:
                found = _explanations(op, results, suite, level, precision)
            except Exception as error:  # a defect here costs names, never the run
                self.defects[op] = describe(error)
                continue
            for one in found:
                one = replace(one, lone=self._is_lone(one, found))
                self._explained |= {(op, vector): one for vector in one.agrees}
        self._unnamed: dict[tuple[str, bool, str], list[Result]] = defaultdict(list)
        for at, failure in self._failed.items():
            if at not in self._explained or not is_named(self._explained[at]):
                alike = failure.op, failure.reject is not None, failure.kind
                self._unnamed[alike].append(failure)
        self._placed: dict[tuple[str, str], LocatedFailures] = {}
        for op in ops:
            try:
                self._placed |= self._places(op, level, precision)
            except Exception as error:
                self.defects.setdefault(op, describe(error))

    @property
    def causes(self) -> Mapping[tuple[str, str], str]:
        """By operator and id, a name for the faults that explain a failure, or for the place of
        its wrong elements."""
        named = {
            at: mutants_key(one.faults) for at, one in self._explained.items() if is_named(one)
        }
        return {at: str(one.found.region) for at, one in self._placed.items()} | named

    def variants(self, finding: Finding) -> list[RuleChange]:
        """The rules that the backend is taken to have in place of its specification's."""
        explained = self._explained.get((finding.op, finding.ids[0]))
        if explained is None or not is_named(explained):
            return []
        return [fault.variant for fault in explained.faults]

    def of(self, finding: Finding) -> dict[str, Any] | None:
        """What one finding comes from, as JSON data; None where nothing can be said."""
        explained = self._explained.get((finding.op, finding.ids[0]))
        named = explained is not None and is_named(explained)
        # What is not named makes no finding of its own: others may fail in the same way.
        if explained is None or not (named or explained.agrees.keys() >= {*finding.ids}):
            return self._without_faults(finding)
        open_ = explained.alternatives or explained.lone
        decides = self._decides(explained) if open_ else None
        backend = self._backends.get(finding.op, "")
        if named:
            return describe_mutants(explained, decides, backend)
        return describe_ambiguous(explained, self._without_faults(finding), decides, backend)

    def _is_lone(self, found: Explanation, others: Sequence[Explanation]) -> bool:
        """Whether one vector alone shows faults, though others exist that could speak against them.

        A search leaves few vectors, and those minimal; of a suite it may be that not all was asked.
        That faults meet which are each known from more needs no more than one.
        """
        several = (one for one in others if len(one.agrees) > 1)
        known = {name for one in several for name in one.ids}
        if len(found.agrees) > 1 or known.issuperset(found.ids):
            return False
        if self._suite.manifest.name == FUZZ:
            return True
        ids = {fault.id for some in candidates(found) for fault in some}
        return any(not ids.isdisjoint(entry.kills) for entry in self._unasked(found))

    def _unasked(self, found: Explanation) -> list[Entry]:
        """The vectors of the suite that were not asked, of the element types that have faults."""
        op = found.faults[0].op
        asked = {result.id for result in self._results if result.op == op}
        dtypes = {place.dtype for place in found.places}
        return list(untested_vectors(self._suite.manifest.of([op]), op, asked, dtypes))

    def _decides(self, found: Explanation) -> str | None:
        """A vector that was not asked and tells the candidates apart, by its id; of a single one
        the smallest that it fails on.
        """
        op, entries = found.faults[0].op, self._unasked(found)
        if not found.alternatives:
            ids = set(found.ids)
            may = (one for one in entries if not ids.isdisjoint(one.kills))
            smallest = min(may, key=lambda one: (one.bytes, one.id), default=None)
            return None if smallest is None else smallest.id
        spec = self._specs.get(op)
        assert spec is not None  # it has faults
        return distinguishing_vector(
            spec, candidates(found), entries, self._suite.get, found.places
        )

    def _places(
        self, op: str, level: str, precision: Mapping[str, str]
    ) -> Mapping[tuple[str, str], LocatedFailures]:
        """The places of the wrong elements of failures of an operator that no faults explain."""
        spec = self._specs.get(op)
        if spec is None:
            return {}
        failed = [
            one
            for (of, rejected, _), some in self._unnamed.items()
            if of == op and not rejected
            for one in some
        ]
        found = locate_failures(
            spec,
            failed,
            self._passed.get((op, False), ()),
            read=self._suite.get,
            precision=precision,
            level=level,
        )
        return {(op, id): one for one in found for id in one.ids}

    def _without_faults(self, finding: Finding) -> dict[str, Any] | None:
        """What can be said of a finding where none is named."""
        told, like = self._described(finding), self._like(finding)
        if not like:
            return told
        return {**({**UNKNOWN, "sentence": ""} if told is None else told), "advice": like}

    def _described(self, finding: Finding) -> dict[str, Any] | None:
        """Its place and its conditions, as far as they are known."""
        told = self._by_conditions(finding)
        there = self._placed.get((finding.op, finding.ids[0]))
        if there is None or not there.ids.issuperset(finding.ids):
            return told
        # What the vectors may have in common by chance says less than where they are wrong.
        told = None if told is None or told.get("by_chance") else told
        return describe_region(there.found, there.passing, told)

    def _like(self, finding: Finding) -> str:
        """What is said of failures that resemble a mutant which passed vectors speak against."""
        spec, bank = self._specs.get(finding.op), self._specs.faults(finding.op)
        failed = [self._failed[finding.op, name] for name in finding.ids]
        if spec is None or not bank or len(failed) < MIN_FAILURES or failed[0].reject is not None:
            return ""
        like = find_resemblance(self._evidence(spec), bank, finding.ids)
        if like is None or not like.passing:
            return ""
        passed = self._passed.get((finding.op, False), ())
        apart = find_separation(
            [failure for failure in failed if failure.id in like.agree],
            [result for result in passed if result.id in like.passing],
        )
        conditions = "" if apart is None else " and ".join(map(str, apart.conditions))
        return like.sentence(conditions)

    def _evidence(self, spec: OpSpec) -> OperatorResults:
        """What the run shows of an operator in small cases; read once for all of its findings."""
        if spec.op not in self._seen:
            large = {entry.id for entry in self._suite.manifest.of([spec.op]) if entry.is_large}
            results = (r for r in self._results if r.op == spec.op and r.id not in large)
            self._seen[spec.op] = OperatorResults(
                spec,
                results,
                read=self._suite.get,
                noticed={},
                precision=self._precision,
                level=self._level,
            )
        return self._seen[spec.op]

    def _by_conditions(self, finding: Finding) -> dict[str, Any] | None:
        failed = [self._failed[finding.op, name] for name in finding.ids]
        rejected = failed[0].reject is not None
        passed = self._passed.get((finding.op, rejected), ())
        found = find_separation(failed, passed)
        kinds = {one.kind for one in failed}
        alike = [
            one for kind in kinds for one in self._unnamed.get((finding.op, rejected, kind), ())
        ]
        by_chance = found is not None and found.by_chance(alike, passed)
        if not rejected and (found is None or by_chance or not found.exact):
            better = self._by_numbers(failed, alike, passed)
            if better is not None and (found is None or by_chance or better.meet < found.meet):
                found, by_chance = better, False
        if found is None:
            return None
        return describe_conditions(found, self._specs.get(finding.op), rejected, by_chance)

    def _by_numbers(
        self, failed: Sequence[Result], alike: Sequence[Result], passed: Sequence[Result]
    ) -> Separation | None:
        """What one comparison of one number says of some failures; None where that may be chance.

        ``alike`` are all that fail alike, also those that other conditions describe.
        """
        if self._specs.get(failed[0].op) is None:
            return None
        seen, own = self._numbers(passed[:NUMBERED]), self._numbers(failed)
        every = self._numbers(alike)
        found = best_comparison(own, seen) if len(own) == len(failed) else None
        if found is None:
            return None
        told, one, tried = found
        there = sum(map(one.met_by, every))
        return None if told.is_chance(tried, there, len(every)) else told

    def _numbers(self, results: Sequence[Result]) -> list[Numbers]:
        """The numbers of what some results asked, of those that say it."""
        found = []
        for one in results:
            at = one.op, one.id
            if at not in self._numbered and one.asked is not None:
                spec = self._specs.get(one.op)
                assert spec is not None
                self._numbered[at] = case_numbers(spec, case_from_request(one.op, one.asked))
            if at in self._numbered:
                found.append(self._numbered[at])
        return found


def _passed(
    results: Sequence[Result], ops: Collection[str]
) -> Mapping[tuple[str, bool], Sequence[Result]]:
    """The passed vectors of some operators by whether they must be rejected, as many of each as are
    compared."""
    found: dict[tuple[str, bool], list[Result]] = {}
    for result in results if ops else ():
        if result.op in ops and result.status is Status.PASS:
            own = found.setdefault((result.op, result.reject is not None), [])
            if len(own) < COMPARED:
                own.append(result)
    return found


def _explanations(
    op: str, results: Sequence[Result], suite: Suite, level: str, precision: Mapping[str, str]
) -> list[Explanation]:
    """The faults behind the failures of an operator; none for one without specification."""
    spec, bank = suite.specs.get(op), suite.specs.faults(op)
    if spec is None or not bank:
        return []
    told = any(suite.manifest.faults.get(op, {}).values())
    entries = suite.manifest.of([op])
    noticed = {entry.id: entry.kills for entry in entries} if told else {}
    large = {entry.id for entry in entries if entry.is_large}
    of_op = [result for result in results if result.op == op]
    small = [result for result in of_op if result.id not in large]
    others = [result for result in of_op if result.id in large or result.kind == "raised"]
    try:
        by_small = explain_failures(
            spec,
            small,
            bank,
            read=suite.get,
            noticed=noticed,
            precision=precision,
            level=level,
            chosen=suite.manifest.name == FUZZ,
        )
        return extend_explanations(
            by_small, spec, others, read=suite.get, precision=precision, level=level
        )
    except ConformanceError:
        return []  # an old suite, of another version of the specification
