"""What backends made of mutants return, worked out once for each vector, and diagnosed."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any
from unittest.mock import patch

from conformance.audit.kills import MutantRunner
from conformance.diagnosis import operator_results
from conformance.diagnosis.agreement import ObservedVector
from conformance.diagnosis.code_path import CodePath, code_path_of
from conformance.diagnosis.explain_failures import explain_failures
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.wording import candidates, is_named
from conformance.dtypes import Array
from conformance.grade.compare import accepts
from conformance.grade.precision import DEFAULT_PRECISION
from conformance.grade.returned import MAX_ELEMENTS, pack_outputs
from conformance.implementations import (
    EvaluatedCase,
    implementation_of,
    may_be_together,
    subject_of,
)
from conformance.model import Case, Result, Status, Vector
from conformance.spec.catalogue import Mutant
from conformance.specification import find_spec, mutants_of
from conformance.suite.store import Suite

KEPT = 400
"""Vectors whose references are kept."""

TRIES = 20
"""Draws of a pair that fits, for each that is asked for."""


class Kept(frozenset[tuple[int, ...]]):
    """All shapes of outputs that a log may keep: a backend returns no zeros in place of them."""

    def __contains__(self, shape: object) -> bool:
        return isinstance(shape, tuple) and prod(shape) <= MAX_ELEMENTS


@dataclass(frozen=True)
class Run:
    """A diagnosed run: what explains its failures, as far as it is told by name."""

    explained: tuple[Explanation, ...]

    @property
    def named(self) -> Iterator[list[tuple[str, ...]]]:
        """For each finding with names the candidates, by id."""
        for one in self.explained:
            yield [tuple(fault.id for fault in some) for some in candidates(one)]


class Operator:
    """One operator with its vectors of level must, and what each mutant gives on them."""

    def __init__(self, op: str, suite: Suite) -> None:
        self.op, self.spec = op, find_spec(op)
        self.bank: dict[str, Mutant] = {one.id: one for one in mutants_of(self.spec)}
        self._vectors = {
            entry.id: suite.read(entry)
            for entry in suite.manifest.vectors
            if entry.op == op and entry.reject is None and entry.level == "must"
        }
        self._subjects: OrderedDict[str, EvaluatedCase[Any]] = OrderedDict()
        self._places: dict[str, CodePath] = {}

    def _place_of(self, case: Case) -> CodePath:
        if case.id not in self._places:
            self._places[case.id] = code_path_of(case)
        return self._places[case.id]

    def subject(self, vector: Vector) -> EvaluatedCase[Any]:
        """The reference on a vector; those of the last vectors are kept."""
        found = self._subjects.pop(vector.id, None)
        if found is None:
            found = subject_of(self.spec, vector.case, vector.inputs, Kept())
        self._subjects[vector.id] = found
        while len(self._subjects) > KEPT:
            self._subjects.popitem(last=False)
        return found

    @cached_property
    def _kills(self) -> dict[str, dict[str, tuple[bytes, bool]]]:
        """By mutant, on which vectors it gives wrong outputs, which, and whether at level must."""
        found: dict[str, dict[str, tuple[bytes, bool]]] = {one: {} for one in self.bank}
        vectors = list(self._vectors.values())
        for vector, kills in zip(
            vectors,
            MutantRunner(self.spec, list(self.bank.values())).all_kills(vectors),
            strict=True,
        ):
            for kill in kills:
                found[kill.mutant][vector.id] = kill.fingerprint, kill.at_must
        return found

    @cached_property
    def _noticed(self) -> dict[str, list[str]]:
        noticed: dict[str, list[str]] = {one: [] for one in self._vectors}
        for fault, kills in self._kills.items():
            for vector in kills:
                noticed[vector].append(fault)
        return noticed

    @cached_property
    def _groups(self) -> dict[frozenset[tuple[str, bytes]], frozenset[str]]:
        groups: dict[frozenset[tuple[str, bytes]], set[str]] = {}
        for fault in self._kills:
            groups.setdefault(self._outputs(fault), set()).add(fault)
        return {outputs: frozenset(some) for outputs, some in groups.items()}

    def _outputs(self, fault: str) -> frozenset[tuple[str, bytes]]:
        return frozenset((vector, seen) for vector, (seen, _) in self._kills[fault].items())

    def alike(self, fault: str) -> frozenset[str]:
        """The mutants whose outputs are equal on all vectors."""
        return self._groups[self._outputs(fault)]

    @property
    def shown(self) -> list[str]:
        """The mutants that fail at level must."""
        return [
            one for one, kills in self._kills.items() if any(must for _, must in kills.values())
        ]

    def faults(self, ids: Sequence[str]) -> tuple[Mutant, ...]:
        return tuple(self.bank[one] for one in ids)

    def pairs(self, chance: random.Random, count: int) -> Iterator[tuple[str, str]]:
        """Random pairs of mutants of different parts that do not give the same."""
        shown = self.shown
        for _ in range(count):
            for _ in range(TRIES):
                one, other = chance.sample(shown, 2)
                changes = (self.bank[name].change for name in (one, other))
                if other not in self.alike(one) and may_be_together(self.spec, *changes):
                    yield one, other
                    break

    def run(self, ids: Sequence[str], without: Collection[str] = ()) -> Run:
        """A backend that has some mutants together, diagnosed by a catalogue without others."""
        bank = [fault for fault in self.bank.values() if fault.id not in without]
        # The product works out places and references for each run; here all runs ask the same ones.
        with (
            patch.object(operator_results, "code_path_of", self._place_of),
            patch.object(
                ObservedVector, "full_evaluator", lambda observed: self.subject(observed.vector)
            ),
        ):
            found = explain_failures(
                self.spec,
                list(self._results(ids)),
                bank,
                read=self._vectors.__getitem__,
                noticed=self._noticed,
                precision={},
                level="must",
            )
        return Run(tuple(one for one in found if is_named(one)))

    def _results(self, ids: Sequence[str]) -> Iterator[Result]:
        altered = implementation_of(self.spec, *(self.bank[one].change for one in ids))
        for vector in self._vectors.values():
            given: list[Array] | None = None
            if any(vector.id in self._kills[one] for one in ids):
                given = self.subject(vector).under(altered)
                sets = (vector.answers, *vector.readings.values())
                if any(accepts(answers, given, DEFAULT_PRECISION) for answers in sets):
                    given = None
            yield Result(
                vector.id,
                self.op,
                Status.PASS if given is None else Status.FAIL,
                kind="" if given is None else "value",
                dtype=next(iter(vector.case.types.values())),
                rank=vector.inputs[0].ndim,
                asked=vector.case.request,
                size=sum(one.size for one in vector.inputs)
                + sum(one.expected.size for one in vector.answers),
                returned=None if given is None else pack_outputs(given),
            )
