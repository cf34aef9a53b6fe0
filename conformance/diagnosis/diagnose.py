"""From the results of a run to what its failures come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from conformance.diagnosis.cause import (
    by_conditions,
    by_faults,
    by_place,
    candidates,
    is_named,
    key,
    undecided,
)
from conformance.diagnosis.conditions import separation
from conformance.diagnosis.deciding import decider, unasked
from conformance.diagnosis.explaining import explanations
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.placing import Placed, placed
from conformance.errors import ConformanceError
from conformance.grade.outcome import describe
from conformance.model import FAILED, Finding, Result, Status
from conformance.spec.model import Variant
from conformance.suite.store import Suite
from conformance.verdict import FUZZ

COMPARED = 20_000
"""Passed vectors of an operator with which failures are compared, the first of the suite."""


class Diagnosis:
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
        self._backends = backends
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
                self._explained |= {(op, vector): one for vector in one.agrees}
        self._unnamed: dict[tuple[str, bool, str], list[Result]] = defaultdict(list)
        for at, failure in self._failed.items():
            if at not in self._explained or not is_named(self._explained[at]):
                alike = failure.op, failure.reject is not None, failure.kind
                self._unnamed[alike].append(failure)
        self._placed: dict[tuple[str, str], Placed] = {}
        for op in ops:
            try:
                self._placed |= self._places(op, level, precision)
            except Exception as error:
                self.defects.setdefault(op, describe(error))

    @property
    def causes(self) -> Mapping[tuple[str, str], str]:
        """By operator and id, a name for the faults that explain a failure, or for the place of
        its wrong elements."""
        named = {at: key(one.faults) for at, one in self._explained.items() if is_named(one)}
        return {at: str(one.found.region) for at, one in self._placed.items()} | named

    def variants(self, finding: Finding) -> list[Variant]:
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
        decides = self._decides(explained) if explained.alternatives else None
        backend = self._backends.get(finding.op, "")
        if named:
            return by_faults(explained, decides, backend)
        return undecided(explained, self._without_faults(finding), decides, backend)

    def _decides(self, found: Explanation) -> str | None:
        """A vector that was not asked and tells the candidates apart, by its id."""
        op = found.faults[0].op
        asked = {result.id for result in self._results if result.op == op}
        dtypes = {place.dtype for place in found.places}
        entries = list(unasked(self._suite.manifest.of([op]), op, asked, dtypes))
        spec = self._specs.get(op)
        assert spec is not None  # it has faults
        return decider(spec, candidates(found), entries, self._suite.get, found.places)

    def _places(
        self, op: str, level: str, precision: Mapping[str, str]
    ) -> Mapping[tuple[str, str], Placed]:
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
        found = placed(
            spec,
            failed,
            self._passed.get((op, False), ()),
            read=self._suite.get,
            precision=precision,
            level=level,
        )
        return {(op, id): one for one in found for id in one.ids}

    def _without_faults(self, finding: Finding) -> dict[str, Any] | None:
        """What can be said of a finding where none is named: its place, and its conditions."""
        told = self._by_conditions(finding)
        there = self._placed.get((finding.op, finding.ids[0]))
        if there is None or not there.ids.issuperset(finding.ids):
            return told
        # What the vectors may have in common by chance says less than where they are wrong.
        told = None if told is None or told.get("by_chance") else told
        return by_place(there.found, there.passing, told)

    def _by_conditions(self, finding: Finding) -> dict[str, Any] | None:
        failed = [self._failed[finding.op, name] for name in finding.ids]
        rejected = failed[0].reject is not None
        passed = self._passed.get((finding.op, rejected), ())
        found = separation(failed, passed)
        if found is None:
            return None
        kinds = {one.kind for one in failed}
        alike = [
            one for kind in kinds for one in self._unnamed.get((finding.op, rejected, kind), ())
        ]
        by_chance = found.by_chance(alike, passed)
        return by_conditions(found, self._specs.get(finding.op), rejected, by_chance)


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
    noticed = {entry.id: entry.kills for entry in suite.manifest.of([op])} if told else {}
    try:
        return explanations(
            spec,
            results,
            bank,
            read=suite.get,
            noticed=noticed,
            precision=precision,
            level=level,
            chosen=suite.manifest.name == FUZZ,
        )
    except ConformanceError:
        return []  # an old suite, of another version of the specification
