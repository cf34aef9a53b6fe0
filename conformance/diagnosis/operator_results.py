"""Failed and passed vectors of one operator, as the search for mutants reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from conformance.core.case_conditions import CaseConditions
from conformance.core.case_geometry import Geometry
from conformance.core.operator import Operator
from conformance.diagnosis.agreement import Agreement, ObservedVector, Prepare
from conformance.diagnosis.code_path import CodePath, code_path_of
from conformance.diagnosis.prepared_vectors import CACHED_VECTORS
from conformance.grade.returned import unpack_outputs
from conformance.implementations import implementation_of
from conformance.model import FAILED, Case, Result, Status, Vector
from conformance.spec.catalogue import Change, Mutant

MAX_COMPARED_FAILURES = 1_000
"""Failures of an operator that are looked at, the smallest first."""

MAX_COMPARED_PASSES = 2_000
"""Passed vectors at a place that are held against mutants, the first of the suite."""


class OperatorResults:
    """The value vectors of one operator that failed with outputs, and those that passed.

    ``failed`` are the failures by id, the smallest first. ``read`` returns a vector by its id;
    ``noticed`` the mutants that each vector kills (empty if the suite does not record it).
    ``level`` and ``precision``, by element type, are those of the run. ``only`` restricts
    everything to the outputs with these numbers. ``prepare`` makes the oracle on a vector.
    """

    def __init__(
        self,
        spec: Operator,
        results: Iterable[Result],
        *,
        read: Callable[[str], Vector],
        noticed: Mapping[str, Sequence[str]],
        precision: Mapping[str, str],
        level: str,
        only: Sequence[int] | None = None,
        prepare: Prepare | None = None,
    ) -> None:
        self.spec = spec
        self._noticed = noticed
        self._passed: dict[CodePath, list[str]] = {}
        self._cases: dict[str, Case] = {}
        self._shown: dict[Change, Mapping[str, bool]] = {}
        self._glanced: dict[tuple[str, str], Agreement] = {}
        self._glances: Counter[str] = Counter()
        followed: dict[str, str] = {}
        failures = []
        for result in results:
            if result.op != spec.op or result.reject is not None:
                continue
            if result.status is Status.PASS and result.asked is not None:
                case = case_from_request(spec.op, result.asked)
                code_path = code_path_of(case)
                self._cases[result.id] = case
                self._passed.setdefault(code_path, []).append(result.id)
                if result.reading is not None:
                    followed[result.id] = result.reading
            elif result.status in FAILED and result.returned is not None:
                failures.append(result)
        self.failed: dict[str, ObservedVector] = {}
        self._code_paths: dict[str, CodePath] = {}
        for result in sorted(failures, key=lambda result: (result.size, result.id))[
            :MAX_COMPARED_FAILURES
        ]:
            outputs = unpack_outputs(result.returned or ())
            vector = read(result.id)
            if outputs is not None and len(outputs) == len(vector.answers):
                self.failed[result.id] = ObservedVector(
                    spec, vector, outputs, precision, level, only=only, prepare=prepare
                )
                self._code_paths[result.id] = code_path_of(vector.case)
                self._cases[result.id] = vector.case
        self.read_passed = lru_cache(CACHED_VECTORS)(
            lambda id: ObservedVector(
                spec, read(id), None, precision, level, followed.get(id), only, prepare
            )
        )

    def code_path(self, id: str) -> CodePath:
        """Return the code path of a failure."""
        return self._code_paths[id]

    def passed(self, code_path: CodePath, mutants: Sequence[Mutant]) -> Iterator[ObservedVector]:
        """Yield the passed vectors of a code path on which mutants may show.

        Geometry rules vectors out. A suite does not record all kills; recorded ones come first.
        """
        ids = islice(self.passed_ids(code_path, mutants), MAX_COMPARED_PASSES)
        yield from map(self.read_passed, ids)

    def passed_ids(self, code_path: CodePath, mutants: Sequence[Mutant]) -> Iterator[str]:
        """Yield the ids of the vectors of :meth:`passed`."""
        ids = {mutant.id for mutant in mutants}
        passed = sorted(
            self._passed.get(code_path, ()),
            key=lambda id: ids.isdisjoint(self._noticed.get(id, ())),
        )
        yield from (id for id in passed if any(self.may_show(id, [m]) for m in mutants))

    def glance(
        self,
        failure: str,
        mutant: Mutant,
        similar: dict[tuple[str | bytes, ...], Agreement] | None = None,
    ) -> Agreement:
        """Compare a failure with a mutant at first sight, once.

        ``similar`` keeps results for the same outputs, as for
        :meth:`~conformance.diagnosis.agreement.ObservedVector.quick_agreement`.
        """
        key = failure, mutant.id
        if key not in self._glanced:
            implementation = implementation_of(self.spec, mutant.change)
            agreements = {} if similar is None else similar
            self._glances[failure] += 1
            self._glanced[key] = self.failed[failure].quick_agreement(implementation, agreements)
        return self._glanced[key]

    def glanced(self, mutants: Sequence[object]) -> list[str]:
        """List the failures that have been compared with as many mutants at first sight."""
        return [failure for failure in self.failed if self._glances[failure] >= len(mutants)]

    @property
    def ids(self) -> list[str]:
        """The vectors that passed or failed, in the order of :attr:`conditions`."""
        return list(self._cases)

    @cached_property
    def conditions(self) -> CaseConditions:
        """Conditions on the cases of the operator."""
        return CaseConditions(self.spec, self._geometry.bindings)

    def may_show(self, vector: str, mutants: Iterable[Mutant]) -> bool:
        """Return whether each of some mutants may change the outputs of a vector.

        The geometry of the cases decides. Where one of several mutants changes nothing, the
        others explain as much without it.
        """
        return all(self._shows(mutant.change)[vector] for mutant in mutants)

    def _shows(self, change: Change) -> Mapping[str, bool]:
        """By vector whether a change may show."""
        if change not in self._shown:
            implementation: Any = implementation_of(self.spec, change)
            marks = self._geometry.may_differ(implementation)
            self._shown[change] = dict(zip(self._cases, marks.tolist(), strict=True))
        return self._shown[change]

    @cached_property
    def _geometry(self) -> Geometry:
        return Geometry(self.spec, list(self._cases.values()))

    @property
    def code_paths(self) -> frozenset[CodePath]:
        """Code paths of the vectors that passed or failed."""
        return frozenset(self._passed).union(self._code_paths.values())

    def count(self, places: Container[CodePath]) -> tuple[int, int]:
        """Count the vectors that failed, and those that passed, on some code paths."""
        failed = sum(code_path in places for code_path in self._code_paths.values())
        return failed, sum(
            len(ids) for code_path, ids in self._passed.items() if code_path in places
        )


def case_from_request(op: str, request: Mapping[str, Any]) -> Case:
    """Return the case of a request, the inverse of :attr:`Case.request`."""
    shapes, operands = (
        {name: tuple(value) for name, value in request.get(kind, {}).items()}
        for kind in ("shapes", "operands")
    )
    return Case(op, request.get("types", {}), shapes, request.get("attributes", {}), operands)
