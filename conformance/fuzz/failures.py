"""From failures of one operator to few findings: each confirmed, minimised, and told apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.diagnosis.agreement import Agreement
from conformance.failure_kind import FailureKind
from conformance.fuzz.calls import Calls
from conformance.fuzz.guidance import Guidance
from conformance.fuzz.minimise import Remake, minimised
from conformance.fuzz.same_cause import Causes, FailureCause
from conformance.fuzz.simpler import cost_of
from conformance.model import FAILED, Case, Result, Status, Vector
from conformance.spec.model import OpSpec

MOST = 16
"""Causes of one operator that are minimised, at most."""

CONTROLS = 8
"""Vectors that are kept beside a minimal one to tell mutants apart, at most."""

MET = 4
"""Failures that are kept beside a minimal one as they were met, at most."""

COMPARED = 60
"""Failures without a mutant that are held against what a minimal one looks like, at most."""

LOOKED_AT = 400
"""Passed vectors that are held against the mutants of a cause, at most."""

PASSED = 12
"""Vectors of an operator with a failure that passed and are kept, for a report to compare with."""


@dataclass
class Discovery:
    """A failure with its minimal case; ``first`` is the case on which it was seen first.

    A minimal case looks like more bugs than there are: with one tap after a block, the last one and
    all after the block are the same. So ``met`` keeps failures as they were before minimising that
    mutants do not give which give the minimal one.
    """

    op: str
    cause: FailureCause
    vector: Vector
    result: Result
    first: Case
    calls: int
    cases: int
    """Cases that had been asked when it was seen."""
    seconds: float
    controls: dict[str, Vector] = field(default_factory=dict)
    looked_at: int = 0
    met: dict[str, Vector] = field(default_factory=dict)
    compared: int = 0


class Failures:
    """The failures of one operator; ``spec`` is what is claimed of it, on some ``ranks``.

    ``seconds`` are for making one failure minimal, at most.
    """

    def __init__(
        self,
        spec: OpSpec,
        whole: OpSpec,
        ranks: Collection[int],
        guidance: Guidance,
        calls: Calls,
        level: str,
        precision: Mapping[str, str],
        seconds: float,
    ) -> None:
        self._spec, self._whole, self._ranks = spec, whole, ranks
        self._guidance, self._calls, self._seconds = guidance, calls, seconds
        self._causes = Causes(whole, guidance.bank, level, dict(precision))
        self._passed: dict[str, Vector] = {}
        self.found: list[Discovery] = []
        self.left = 0
        """Failures that no known cause explains, and that were not looked at any more."""

    def take(
        self,
        asked: Sequence[tuple[Vector, Result]],
        origins: Mapping[str, tuple[Case, Remake]],
        cases: int,
        seconds: float,
    ) -> bool:
        """Look at some verdicts, and say whether a new cause was among them.

        ``origins`` gives, for negative tests by id, the valid case and how the test is made of one.
        """
        before = len(self.found)
        for vector, result in asked:
            if result.status not in FAILED or result.kind == FailureKind.ABANDONED:
                continue
            known = self._known(vector, result)
            if known is None and len(self.found) < MOST and not self._calls.given_up:
                self._discover(vector, result, origins.get(vector.id), cases, seconds)
            elif known is None:
                self.left += 1
        passed = [vector for vector, result in asked if result.status is Status.PASS]
        self._hold_against(passed)
        for vector in passed:
            if len(self._passed) < PASSED and vector.case.reject is None:
                self._passed[vector.id] = vector
        return len(self.found) > before

    def vectors(self) -> list[Vector]:
        """The minimal vectors, and those beside them; each once, in the order of discovery."""
        if not self.found:
            return []
        kept = {one.vector.id: one.vector for one in self.found}
        for one in self.found:
            beside = {**one.met, **one.controls}
            kept |= {name: vector for name, vector in beside.items() if name not in kept}
        return [*kept.values(), *(v for name, v in self._passed.items() if name not in kept)]

    def merge(self) -> None:
        """Join discoveries that are one after all: with one minimal case, or mutants in common."""
        kept: list[Discovery] = []
        for one in sorted(self.found, key=lambda one: cost_of(self._whole, one.vector.case)):
            same = next((other for other in kept if _alike(one, other)), None)
            if same is None:
                kept.append(one)
                continue
            same.cause.failures += one.cause.failures
            same.cause.faults = same.cause.faults & one.cause.faults or same.cause.faults
            same.met = dict([*same.met.items(), *one.met.items()][:MET])
            same.controls |= {} if one.vector.id == same.vector.id else {one.vector.id: one.vector}
            if one.cases < same.cases:
                same.first, same.cases, same.seconds = one.first, one.cases, one.seconds
        self.found = kept

    def _known(self, vector: Vector, result: Result) -> FailureCause | None:
        before = {id(one): one.cause.faults for one in self.found}
        cause = self._causes.known(vector, result)
        if cause is None:
            return None
        cause.failures += 1
        cause.places.add((result.dtype, result.rank))
        for one in self.found:
            narrowed = one.cause is cause and before[id(one)] != cause.faults
            if narrowed and len(one.controls) < CONTROLS:
                one.controls[vector.id] = vector
            if one.cause is not cause:
                continue
            # One that a mutant is known by was compared with it.
            if not cause.faults:
                self._compare(one, vector, result)
            elif not one.met and vector.id != one.vector.id:
                one.met[vector.id] = vector
        return cause

    def _compare(self, found: Discovery, vector: Vector, result: Result) -> None:
        """Keep a failure as it was met where it speaks against what the minimal one looks like."""
        if len(found.met) >= MET or found.compared >= COMPARED or vector.id == found.vector.id:
            return
        found.compared += 1
        left = self._causes.left(found.cause, vector, result)
        if not left and found.cause.candidates:
            found.met[vector.id] = vector
        elif left and not found.met:
            found.cause.candidates = left
            found.met[vector.id] = vector
        elif left != found.cause.candidates:
            found.cause.candidates = left
            if len(found.controls) < CONTROLS:
                found.controls[vector.id] = vector

    def _discover(
        self,
        vector: Vector,
        result: Result,
        origin: tuple[Case, Remake] | None,
        cases: int,
        seconds: float,
    ) -> None:
        again = self._calls.one(vector.case, patiently=True)
        if again is None or again[1].status not in FAILED:
            if result.kind != FailureKind.HUNG:  # which was slow once: how slow is known now
                self._unsteady(vector, result, cases, seconds)
            return
        vector, result = again
        cause = self._causes.new(vector, result)
        first, met = vector.case, again
        calls = 1
        if vector.case.reject is None or origin is not None:
            begin, remake = origin or (None, lambda case: case)
            smallest = minimised(
                self._spec,
                (vector, result),
                self._ranks,
                ask=self._ask,
                same=lambda *one: self._causes.same(cause, *one),
                may=lambda some: self._may(cause, some),
                seconds=self._seconds,
                origin=begin,
                remake=remake,
            )
            vector, result, calls = smallest.vector, smallest.result, 1 + smallest.calls
        explained = self._causes.explaining(vector, result)
        cause.faults = (cause.faults & explained) or cause.faults or explained
        cause.candidates = self._causes.explaining(vector, result, Agreement.WITHIN)
        found = Discovery(self._whole.op, cause, vector, result, first, calls, cases, seconds)
        self._compare(found, *met)
        self._add(found)

    def _unsteady(self, vector: Vector, result: Result, cases: int, seconds: float) -> None:
        """A failure that did not repeat; with others like it, it is one finding."""
        result = replace(result, kind=str(FailureKind.UNSTEADY))
        cause, op = self._causes.new(vector, result), self._whole.op
        same = next((one for one in self.found if one.cause.key == cause.key), None)
        if same is None:
            self._add(Discovery(op, cause, vector, result, vector.case, 1, cases, seconds))
        else:
            same.cause.failures += 1

    def _add(self, found: Discovery) -> None:
        found.cause.failures = 1
        found.cause.places.add((found.result.dtype, found.result.rank))
        self._causes.found.append(found.cause)
        self.found.append(found)

    def _ask(self, case: Case) -> tuple[Vector, Result] | None:
        return self._calls.one(case)

    def _may(self, cause: FailureCause, cases: list[Case]) -> list[Case]:
        """Those of some cases on which the mutants of a cause may show."""
        if not cause.faults or not cases:
            return cases
        may = self._guidance.bank.restricted_to(cause.faults).may_differ(cases)
        return [case for case, row in zip(cases, may, strict=True) if row.any()]

    def _hold_against(self, passed: Iterable[Vector]) -> None:
        """Leave out mutants with which a vector would not have passed where the cause shows.

        One that speaks against all that is left is kept, too: a diagnosis has to know it.
        """
        passed = [vector for vector in passed if vector.case.reject is None]
        for one in self.found:
            cause = one.cause
            there = [
                vector
                for vector in passed
                if (vector.case.types[self._whole.data.type], vector.inputs[0].ndim) in cause.places
            ]
            if not (cause.faults or cause.candidates) or one.looked_at >= LOOKED_AT or not there:
                continue
            one.looked_at += len(there)
            bank = self._guidance.bank.restricted_to(cause.faults or cause.candidates)
            may = bank.may_differ([vector.case for vector in there])
            for vector, row in zip(there, may, strict=True):
                before = cause.faults or cause.candidates
                left = before.difference(self._guidance.kills(bank, vector, row))
                if left == before:
                    continue
                if len(one.controls) < CONTROLS:
                    one.controls[vector.id] = vector
                if not left:
                    one.looked_at = LOOKED_AT
                    break
                if cause.faults:
                    cause.faults = left
                else:
                    cause.candidates = left


def _alike(one: Discovery, other: Discovery) -> bool:
    shared = one.cause.faults & other.cause.faults
    return one.vector.id == other.vector.id or bool(shared)
