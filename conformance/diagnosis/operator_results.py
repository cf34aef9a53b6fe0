"""Failed and passed vectors of one operator, as the search for mutants reads them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from conformance.diagnosis.agreement import ObservedVector
from conformance.diagnosis.code_path import CodePath, code_path_of
from conformance.grade.returned import unpack_outputs
from conformance.model import FAILED, Case, Result, Status, Vector
from conformance.specification import Specification

MAX_COMPARED_FAILURES = 1_000
"""Failures of an operator that are looked at, the smallest first."""

MAX_COMPARED_PASSES = 2_000
"""Passed vectors at a place that are held against mutants, the first of the suite."""

CACHED_VECTORS = 512
"""Passed vectors that are kept in memory while mutants are held against them."""


class OperatorResults:
    """The value vectors of one operator that failed with outputs, and those that passed.

    ``failed`` are the failures by id, the smallest first. ``read`` returns a vector by its id;
    ``noticed`` the mutants that each vector kills (empty if the suite does not record it).
    ``level`` and ``precision``, by element type, are those of the run. ``only`` restricts
    everything to the outputs with these numbers.
    """

    def __init__(
        self,
        spec: Specification,
        results: Iterable[Result],
        *,
        read: Callable[[str], Vector],
        noticed: Mapping[str, Sequence[str]],
        precision: Mapping[str, str],
        level: str,
        only: Sequence[int] | None = None,
    ) -> None:
        self.spec = spec
        self._noticed, self._precision = noticed, precision
        self._known = frozenset(chain(*noticed.values()))
        self._passed: dict[CodePath, list[str]] = {}
        followed: dict[str, str] = {}
        failures = []
        for result in results:
            if result.op != spec.op or result.reject is not None:
                continue
            if result.status is Status.PASS and result.asked is not None:
                code_path = code_path_of(spec, case_from_request(spec.op, result.asked))
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
                    spec, vector, outputs, precision, level, only=only
                )
                self._code_paths[result.id] = code_path_of(spec, vector.case)
        self._read = lru_cache(CACHED_VECTORS)(
            lambda id: ObservedVector(
                spec, read(id), None, precision, level, followed.get(id), only
            )
        )

    def code_path(self, id: str) -> CodePath:
        """Return the code path of a failure."""
        return self._code_paths[id]

    def passed(self, code_path: CodePath, mutants: Sequence[str]) -> Iterator[ObservedVector]:
        """Yield passed vectors of a code path; only those that kill a mutant, if recorded.

        The suite does not know newer mutants. It records kills at precision standard, which hold at
        native too, which accepts more, but not at exact.
        """
        kills_decide = self._precision.get(code_path.dtype) != "exact" and self._known.issuperset(
            mutants
        )
        those = (
            vector
            for vector in self._passed.get(code_path, ())
            if not kills_decide or not set(mutants).isdisjoint(self._noticed[vector])
        )
        yield from map(self._read, islice(those, MAX_COMPARED_PASSES))

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
