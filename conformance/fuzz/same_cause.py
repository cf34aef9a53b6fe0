"""Whether two failures have the same cause, as far as the mutants and the complaints tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from conformance.audit.kills import MutantRunner
from conformance.complaint import alike
from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.grade.returned import unpacked
from conformance.model import FAILED, Result, Vector
from conformance.reference.subject import Altered
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import find_cycle

MOST_PAIRED = 6
"""Causes whose mutants are tried two at a time on a failure that none explains alone, at most."""

Key = tuple[str, ...]


@dataclass
class FailureCause:
    """One reason for failures of an operator.

    ``faults`` are the mutants that each give exactly the outputs of all of its failures; empty
    where none does. ``key`` tells causes apart that no mutant explains: the kind of failure, the
    complaint, and where. ``candidates`` are those that agree with its minimal case, if only within
    an interval, less what others speak against: what a diagnosis may name.
    """

    kind: str
    key: Key
    faults: frozenset[str] = frozenset()
    candidates: frozenset[str] = frozenset()
    failures: int = 0
    places: set[tuple[str, int]] = field(default_factory=set)


class Causes:
    """The causes of one operator's failures, found so far."""

    def __init__(
        self, spec: OpSpec, bank: MutantRunner, level: str, precision: dict[str, str]
    ) -> None:
        self.found: list[FailureCause] = []
        self._spec, self._bank = spec, bank
        self._level, self._precision = level, precision
        self._faults = {fault.id: fault for fault in bank.mutants}
        self._altered: dict[tuple[str, ...], Altered] = {}

    def known(self, vector: Vector, result: Result) -> FailureCause | None:
        """The cause that is known to give such a failure; None where it is a new one."""
        asked = self._asked(vector, result)
        for cause in self.found:
            if cause.faults and asked is not None:
                agreeing = self._agreeing(asked, [(name,) for name in sorted(cause.faults)])
                if agreeing:
                    cause.faults = frozenset(name for (name,) in agreeing)
                    return cause
            elif not cause.faults and cause.key == key_of(vector, result):
                return cause
        return None if asked is None else self._together(asked)

    def new(self, vector: Vector, result: Result) -> FailureCause:
        """The cause of a failure that none of the known ones gives."""
        return FailureCause(result.kind, key_of(vector, result), self.explaining(vector, result))

    def explaining(
        self, vector: Vector, result: Result, least: Agreement = Agreement.EQUAL
    ) -> frozenset[str]:
        """The mutants of the catalogue that agree with a failure, at ``least`` so well."""
        asked = self._asked(vector, result)
        if asked is None:
            return frozenset()
        may = self._bank.may_differ([vector.case])[0]
        names = [(self._bank.mutants[at].id,) for at in np.flatnonzero(may)]
        seen: dict[tuple[str | bytes, ...], Agreement] = {}
        return frozenset(
            name
            for (name,) in names
            if asked.quick_agreement(self._implementation((name,)), seen) >= least
        )

    def left(self, cause: FailureCause, vector: Vector, result: Result) -> frozenset[str]:
        """The candidates of a cause that agree with one more failure; all where none can tell."""
        asked = self._asked(vector, result) if cause.candidates else None
        if asked is None:
            return cause.candidates
        each = [(name,) for name in sorted(cause.candidates)]
        return frozenset(name for (name,) in self._agreeing(asked, each, Agreement.WITHIN))

    def same(self, cause: FailureCause, vector: Vector, result: Result) -> bool:
        """Whether a failure has a cause, which may be known by other cases only."""
        if result.status not in FAILED or (result.reject is None) != (vector.case.reject is None):
            return False
        if cause.faults:
            asked = self._asked(vector, result)
            return asked is not None and bool(
                self._agreeing(asked, [(name,) for name in sorted(cause.faults)])
            )
        if result.kind != cause.kind or _said(vector, result) != cause.key[1]:
            return False
        return not any(one.faults and self.same(one, vector, result) for one in self.found)

    def _together(self, asked: ObservedVector) -> FailureCause | None:
        """A cause that explains a failure with another one, each of which is known by others."""
        explained = [cause for cause in self.found if cause.faults][:MOST_PAIRED]
        for one, other in combinations(explained, 2):
            pair = (min(one.faults), min(other.faults))
            variants = [self._faults[name].change for name in pair]
            rules = [name for variant in variants for name in variant.replace]
            apart = len(set(rules)) == len(rules)
            apart = apart and not any(find_cycle(self._spec, *(v.replace for v in variants)))
            if apart and self._agreeing(asked, [pair]):
                return one
        return None

    def _agreeing(
        self,
        asked: ObservedVector,
        several: Iterable[tuple[str, ...]],
        least: Agreement = Agreement.EQUAL,
    ) -> list[tuple[str, ...]]:
        readings = {one.name: one for one in self._spec.interpretations}
        return [
            names
            for names in several
            if asked.agreement(self._implementation(names), readings) >= least
        ]

    def _asked(self, vector: Vector, result: Result) -> ObservedVector | None:
        """A failure with outputs that can be compared with those of mutants."""
        if vector.case.reject is not None or result.returned is None:
            return None
        outputs = unpacked(result.returned)
        if outputs is None or len(outputs) != len(vector.answers):
            return None
        return ObservedVector(self._spec, vector, outputs, self._precision, self._level)

    def _implementation(self, names: tuple[str, ...]) -> Altered:
        if names not in self._altered:
            faults: Sequence[Mutant] = [self._faults[name] for name in names]
            self._altered[names] = Altered(self._spec, *(fault.change for fault in faults))
        return self._altered[names]


def key_of(vector: Vector, result: Result) -> Key:
    """What failures share of one unexplained cause: a complaint says enough, outputs do not."""
    said = _said(vector, result)
    where = () if said else (result.dtype, str(result.rank))
    return (result.kind, said, vector.case.reject or "", *where)


def _said(vector: Vector, result: Result) -> str:
    """What the backend complained of; a message that is about outputs is our own."""
    return "" if result.returned is not None else alike(result.message, vector.case.op)
