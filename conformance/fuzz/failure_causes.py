"""Groups failures by cause, as far as mutants and exception messages show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from conformance.audit.kills import MutantRunner
from conformance.core.operator import Operator
from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.exception_text import comparison_key
from conformance.grade.returned import unpack_outputs
from conformance.implementations import (
    Implementation,
    implementation_of,
    may_be_together,
)
from conformance.model import FAILED, Result, Vector
from conformance.specification import interpretation_changes

MAX_PAIRED = 6
"""Causes whose mutants are tried in pairs on a failure that none explains alone."""

Key = tuple[str, ...]


@dataclass
class FailureCause:
    """A cause of failures of an operator.

    Attributes:
        mutants: those that each give exactly the outputs of all of its failures; empty if none
            does.
        key: distinguishes causes that no mutant explains: the kind of failure, the exception
            message, and where.
        candidates: the mutants that a diagnosis may name: they agree with the minimal case, perhaps
            only within an interval, and no other vector contradicts them.
        partitions: element types and ranks of its failures.
    """

    kind: str
    key: Key
    mutants: frozenset[str] = frozenset()
    candidates: frozenset[str] = frozenset()
    failures: int = 0
    partitions: set[tuple[str, int]] = field(default_factory=set)


class FailureCauses:
    """The causes of one operator's failures so far."""

    def __init__(
        self, spec: Operator, runner: MutantRunner, level: str, precision: dict[str, str]
    ) -> None:
        self.causes: list[FailureCause] = []
        self._spec, self._runner = spec, runner
        self._interpretations = interpretation_changes(spec)
        self._level, self._precision = level, precision
        self._mutants = {mutant.id: mutant for mutant in runner.mutants}
        self._implementations: dict[tuple[str, ...], Implementation] = {}

    def match(self, vector: Vector, result: Result) -> FailureCause | None:
        """Return the cause that gives such a failure; None if it is a new one."""
        observed = self._observed(vector, result)
        for cause in self.causes:
            if cause.mutants and observed is not None:
                if agreeing := self._agreeing_mutants(observed, cause.mutants):
                    cause.mutants = agreeing
                    return cause
            elif not cause.mutants and cause.key == failure_key(vector, result):
                return cause
        return None if observed is None else self._match_pair(observed)

    def new(self, vector: Vector, result: Result) -> FailureCause:
        """Make the cause of a failure that no other gives."""
        return FailureCause(
            result.kind, failure_key(vector, result), self.explaining(vector, result)
        )

    def explaining(
        self, vector: Vector, result: Result, least: Agreement = Agreement.EQUAL
    ) -> frozenset[str]:
        """Return the mutants of the catalogue that agree with a failure, at ``least`` so well."""
        observed = self._observed(vector, result)
        if observed is None:
            return frozenset()
        may_differ = self._runner.may_differ([vector.case])[0]
        names = [self._runner.mutants[index].id for index in np.flatnonzero(may_differ)]
        cache: dict[tuple[str | bytes, ...], Agreement] = {}
        return frozenset(
            name
            for name in names
            if observed.quick_agreement(self._implementation(name), cache) >= least
        )

    def remaining_candidates(
        self, cause: FailureCause, vector: Vector, result: Result
    ) -> frozenset[str]:
        """Return the candidates of a cause that agree with another failure; all if unknown."""
        observed = self._observed(vector, result) if cause.candidates else None
        if observed is None:
            return cause.candidates
        return self._agreeing_mutants(observed, cause.candidates, Agreement.WITHIN)

    def same(self, cause: FailureCause, vector: Vector, result: Result) -> bool:
        """Return whether a failure has a cause, of which only other cases may be known."""
        if result.status not in FAILED or (result.reject is None) != (vector.case.reject is None):
            return False
        if cause.mutants:
            observed = self._observed(vector, result)
            return observed is not None and bool(self._agreeing_mutants(observed, cause.mutants))
        if result.kind != cause.kind or _message(vector, result) != cause.key[1]:
            return False
        return not any(other.mutants and self.same(other, vector, result) for other in self.causes)

    def _match_pair(self, observed: ObservedVector) -> FailureCause | None:
        """Find a cause that explains a failure together with another cause."""
        explained = [cause for cause in self.causes if cause.mutants][:MAX_PAIRED]
        for first, second in combinations(explained, 2):
            pair = (min(first.mutants), min(second.mutants))
            changes = [self._mutants[name].change for name in pair]
            if not may_be_together(self._spec, *changes):
                continue
            if self._agreement(observed, *pair) >= Agreement.EQUAL:
                return first
        return None

    def _agreeing_mutants(
        self, observed: ObservedVector, mutants: Iterable[str], least: Agreement = Agreement.EQUAL
    ) -> frozenset[str]:
        return frozenset(name for name in mutants if self._agreement(observed, name) >= least)

    def _agreement(self, observed: ObservedVector, *names: str) -> Agreement:
        return observed.agreement(self._implementation(*names), self._interpretations)

    def _observed(self, vector: Vector, result: Result) -> ObservedVector | None:
        """Return a failure whose outputs can be compared with those of mutants, else None."""
        if vector.case.reject is not None or result.returned is None:
            return None
        outputs = unpack_outputs(result.returned)
        if outputs is None or len(outputs) != len(vector.answers):
            return None
        return ObservedVector(self._spec, vector, outputs, self._precision, self._level)

    def _implementation(self, *names: str) -> Implementation:
        if names not in self._implementations:
            changes = [self._mutants[name].change for name in names]
            self._implementations[names] = implementation_of(self._spec, *changes)
        return self._implementations[names]


def failure_key(vector: Vector, result: Result) -> Key:
    """Return what failures of one unexplained cause share.

    An exception message is enough; outputs are not.
    """
    message = _message(vector, result)
    where = () if message else (result.dtype, str(result.rank))
    return (result.kind, message, vector.case.reject or "", *where)


def _message(vector: Vector, result: Result) -> str:
    """Return the backend's normalised exception message; empty if outputs were wrong."""
    return "" if result.returned is not None else comparison_key(result.message, vector.case.op)
