"""From failures of an operator to few findings: confirmed, minimised and grouped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.core.operator import Operator
from conformance.diagnosis.agreement import Agreement
from conformance.failure_kind import FailureKind
from conformance.fuzz.calls import Calls
from conformance.fuzz.failure_causes import FailureCause, FailureCauses
from conformance.fuzz.guidance import Guidance
from conformance.fuzz.minimise_case import Remake, Simplify, minimise
from conformance.fuzz.simpler import case_cost
from conformance.model import FAILED, Case, Result, Status, Vector

MAX_CAUSES = 16
"""Causes of one operator that are minimised."""

MAX_CONTROLS = 8
"""Vectors that are kept beside a minimal one to tell mutants apart."""

MAX_ORIGINALS = 4
"""Failures that are kept beside a minimal one as they first were."""

MAX_COMPARED = 60
"""Failures without a mutant that are compared with what a minimal one looks like."""

MAX_CHECKED = 400
"""Passed vectors that are compared with the mutants of a cause."""

MAX_PASSED = 12
"""Passed vectors that are kept of an operator with failures, for comparison in reports."""


@dataclass
class Discovery:
    """A failure with its minimal case.

    A minimal case may look like several bugs: with one tap after a block, the last one and all
    after the block are the same. So ``originals`` keeps failures as they were before minimising,
    which the mutants do not give that give the minimal one.

    Attributes:
        first: the case on which it was first seen.
        cases: the number of cases tested until then.
        controls: vectors beside the minimal one that tell mutants apart.
        checked: the number of passed vectors compared with its mutants.
    """

    op: str
    cause: FailureCause
    vector: Vector
    result: Result
    first: Case
    calls: int
    cases: int
    seconds: float
    controls: dict[str, Vector] = field(default_factory=dict)
    checked: int = 0
    originals: dict[str, Vector] = field(default_factory=dict)
    compared: int = 0


class Failures:
    """The failures of one operator.

    Args:
        simplify: returns simpler cases of the declared subset.
        seconds: the time for minimising one failure, at most.
    """

    def __init__(
        self,
        spec: Operator,
        simplify: Simplify,
        guidance: Guidance,
        calls: Calls,
        level: str,
        precision: Mapping[str, str],
        seconds: float,
    ) -> None:
        self._spec, self._simplify = spec, simplify
        self._guidance, self._calls, self._seconds = guidance, calls, seconds
        self._causes = FailureCauses(spec, guidance.runner, level, dict(precision))
        self._passed: dict[str, Vector] = {}
        self.discoveries: list[Discovery] = []
        self.left_out = 0
        """Failures that no cause explains, and that were not examined."""

    def take(
        self,
        results: Sequence[tuple[Vector, Result]],
        origins: Mapping[str, tuple[Case, Remake]],
        cases: int,
        seconds: float,
    ) -> bool:
        """Examine results; return whether they have a new cause.

        Args:
            origins: for negative tests by id, the valid case and how the test is made of one.
        """
        before = len(self.discoveries)
        for vector, result in results:
            if result.status not in FAILED or result.kind == FailureKind.ABANDONED:
                continue
            cause = self._add_to_cause(vector, result)
            if cause is None and len(self.discoveries) < MAX_CAUSES and not self._calls.given_up:
                self._discover(vector, result, origins.get(vector.id), cases, seconds)
            elif cause is None:
                self.left_out += 1
        passed = [vector for vector, result in results if result.status is Status.PASS]
        self._check_passed(passed)
        for vector in passed:
            if len(self._passed) < MAX_PASSED and vector.case.reject is None:
                self._passed[vector.id] = vector
        return len(self.discoveries) > before

    def vectors(self) -> list[Vector]:
        """Return the minimal vectors and those beside them, once each, in order of discovery."""
        if not self.discoveries:
            return []
        vectors = {discovery.vector.id: discovery.vector for discovery in self.discoveries}
        for discovery in self.discoveries:
            beside = {**discovery.originals, **discovery.controls}
            vectors |= {name: vector for name, vector in beside.items() if name not in vectors}
        return [*vectors.values(), *(v for name, v in self._passed.items() if name not in vectors)]

    def merge(self) -> None:
        """Join discoveries with the same minimal case, or with mutants in common."""
        merged: list[Discovery] = []
        cost = lambda discovery: case_cost(self._spec, discovery.vector.case)  # noqa: E731
        for discovery in sorted(self.discoveries, key=cost):
            same = next((other for other in merged if _are_same(discovery, other)), None)
            if same is None:
                merged.append(discovery)
                continue
            same.cause.failures += discovery.cause.failures
            same.cause.mutants = same.cause.mutants & discovery.cause.mutants or same.cause.mutants
            originals = [*same.originals.items(), *discovery.originals.items()]
            same.originals = dict(originals[:MAX_ORIGINALS])
            if discovery.vector.id != same.vector.id:
                same.controls[discovery.vector.id] = discovery.vector
            if discovery.cases < same.cases:
                same.first, same.cases = discovery.first, discovery.cases
                same.seconds = discovery.seconds
        self.discoveries = merged

    def _add_to_cause(self, vector: Vector, result: Result) -> FailureCause | None:
        mutants_before = {id(discovery): discovery.cause.mutants for discovery in self.discoveries}
        cause = self._causes.match(vector, result)
        if cause is None:
            return None
        cause.failures += 1
        cause.partitions.add((result.dtype, result.rank))
        for discovery in self.discoveries:
            if discovery.cause is not cause:
                continue
            narrowed = mutants_before[id(discovery)] != cause.mutants
            if narrowed and len(discovery.controls) < MAX_CONTROLS:
                discovery.controls[vector.id] = vector
            # A failure that mutants explain was compared with them.
            if not cause.mutants:
                self._compare(discovery, vector, result)
            elif not discovery.originals and vector.id != discovery.vector.id:
                discovery.originals[vector.id] = vector
        return cause

    def _compare(self, discovery: Discovery, vector: Vector, result: Result) -> None:
        """Keep an original failure that contradicts what the minimal one looks like."""
        if (
            len(discovery.originals) >= MAX_ORIGINALS
            or discovery.compared >= MAX_COMPARED
            or vector.id == discovery.vector.id
        ):
            return
        discovery.compared += 1
        remaining = self._causes.remaining_candidates(discovery.cause, vector, result)
        if not remaining and discovery.cause.candidates:
            discovery.originals[vector.id] = vector
        elif remaining and not discovery.originals:
            discovery.cause.candidates = remaining
            discovery.originals[vector.id] = vector
        elif remaining != discovery.cause.candidates:
            discovery.cause.candidates = remaining
            if len(discovery.controls) < MAX_CONTROLS:
                discovery.controls[vector.id] = vector

    def _discover(
        self,
        vector: Vector,
        result: Result,
        origin: tuple[Case, Remake] | None,
        cases: int,
        seconds: float,
    ) -> None:
        again = self._calls.run_case(vector.case, patiently=True)
        if again is None or again[1].status not in FAILED:
            if result.kind != FailureKind.HUNG:  # which was slow once: how slow is known now
                self._unsteady(vector, result, cases, seconds)
            return
        vector, result = again
        cause = self._causes.new(vector, result)
        first, original = vector.case, again
        calls = 1
        if vector.case.reject is None or origin is not None:
            start, remake = origin or (None, lambda case: case)
            smallest = minimise(
                self._simplify,
                (vector, result),
                run=self._calls.run_case,
                same=lambda *failure: self._causes.same(cause, *failure),
                may_fail=lambda cases: self._may_fail(cause, cases),
                seconds=self._seconds,
                origin=start,
                remake=remake,
            )
            vector, result, calls = smallest.vector, smallest.result, 1 + smallest.calls
        explained = self._causes.explaining(vector, result)
        cause.mutants = (cause.mutants & explained) or cause.mutants or explained
        cause.candidates = self._causes.explaining(vector, result, Agreement.WITHIN)
        discovery = Discovery(self._spec.op, cause, vector, result, first, calls, cases, seconds)
        self._compare(discovery, *original)
        self._add(discovery)

    def _unsteady(self, vector: Vector, result: Result, cases: int, seconds: float) -> None:
        """Note a failure that did not repeat; those alike are one finding."""
        result = replace(result, kind=str(FailureKind.UNSTEADY))
        cause, op = self._causes.new(vector, result), self._spec.op
        for discovery in self.discoveries:
            if discovery.cause.key == cause.key:
                discovery.cause.failures += 1
                return
        self._add(Discovery(op, cause, vector, result, vector.case, 1, cases, seconds))

    def _add(self, discovery: Discovery) -> None:
        discovery.cause.failures = 1
        discovery.cause.partitions.add((discovery.result.dtype, discovery.result.rank))
        self._causes.causes.append(discovery.cause)
        self.discoveries.append(discovery)

    def _may_fail(self, cause: FailureCause, cases: list[Case]) -> list[Case]:
        """Return the cases on which the mutants of a cause may show."""
        if not cause.mutants or not cases:
            return cases
        rows = self._guidance.runner.restricted_to(cause.mutants).may_differ(cases)
        return [case for case, row in zip(cases, rows, strict=True) if row.any()]

    def _check_passed(self, passed: Iterable[Vector]) -> None:
        """Leave out mutants with which a passed vector would have failed.

        A vector that contradicts all that are left is kept, too: a diagnosis needs it.
        """
        passed = [vector for vector in passed if vector.case.reject is None]
        for discovery in self.discoveries:
            cause = discovery.cause
            mutants = cause.mutants or cause.candidates
            relevant = [
                vector
                for vector in passed
                if (vector.case.dtype, vector.case.rank) in cause.partitions
            ]
            if not mutants or discovery.checked >= MAX_CHECKED or not relevant:
                continue
            discovery.checked += len(relevant)
            runner = self._guidance.runner.restricted_to(mutants)
            rows = runner.may_differ([vector.case for vector in relevant])
            for vector, row in zip(relevant, rows, strict=True):
                before = cause.mutants or cause.candidates
                remaining = before.difference(self._guidance.kills(runner, vector, row))
                if remaining == before:
                    continue
                if len(discovery.controls) < MAX_CONTROLS:
                    discovery.controls[vector.id] = vector
                if not remaining:
                    discovery.checked = MAX_CHECKED
                    break
                if cause.mutants:
                    cause.mutants = remaining
                else:
                    cause.candidates = remaining


def _are_same(first: Discovery, second: Discovery) -> bool:
    common = first.cause.mutants & second.cause.mutants
    return first.vector.id == second.vector.id or bool(common)
