"""Grades what a backend makes of one vector, and says on which vectors it is not called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from conformance.core.operator import Operator
from conformance.failure_kind import FailureKind
from conformance.grade.judge import (
    is_tested,
    judge,
    make_result,
    skipped_result,
    unsupported_result,
)
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Status, Vector
from conformance.run.executor import Executor
from conformance.run.pipeline import Pipeline
from conformance.run.valid_counterpart import paired
from conformance.specification import attributes_left_out
from conformance.suite.entries import Entry
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite


@dataclass(frozen=True)
class VectorChecker:
    """Grades what a backend does, by what it declared before.

    ``executor`` calls the backend, within its own context; ``specs`` are the specifications of the
    suite; ``precision`` maps a dtype to what is required of it.
    """

    executor: Executor
    specs: Mapping[str, Operator]
    level: str
    precision: Mapping[str, str]

    def check(self, vector: Vector) -> tuple[Result, Outcome | None]:
        """Run one vector: its result, and its outcome; None where the backend was not called.

        Raises:
            BackendError: a declaration that makes no sense for the vector's operator.
        """
        ((_, seen),) = self.pipeline().run([vector])
        if isinstance(seen, Result):
            return seen, None
        return self.grade(vector, seen), seen

    def pipeline(
        self, repeat: int = 1, guard: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> Pipeline:
        """Return a pipeline that calls the backend ``repeat`` times for each tested vector."""
        untested, counterpart = self.untested_result, self.valid_counterpart
        return Pipeline(self.executor, self.specs, untested, counterpart, repeat, guard)

    def valid_counterpart(self, vector: Vector) -> Vector | None:
        """Return the valid vector behind a negative test; None if it cannot be reconstructed."""
        spec = self.specs.get(vector.case.op)
        return None if spec is None or vector.case.reject is None else paired(spec, vector)

    def vector(self, suite: Suite, entry: Entry) -> Vector:
        """Read the vector of an entry, without arrays if it is recorded and not tested."""
        outline = suite.outline(entry)
        if outline is not None and self.untested_result(outline) is not None:
            return outline
        return suite.read(entry)

    def evaluate(self, suite: Suite, entries: Iterable[Entry], work: Work) -> None:
        """Evaluate the recorded cases that will be tested and are not at hand."""
        outlines = ((entry, suite.outline(entry)) for entry in entries)
        suite.ready(
            (e for e, outline in outlines if outline and self.untested_result(outline) is None),
            work,
        )

    def untested_result(self, vector: Vector) -> Result | None:
        """Return the result of a vector that level or declaration leaves out; else None."""
        if not is_tested(vector, self.level):
            return self._complete(skipped_result(vector), vector)
        identity = self.executor.identity
        if identity.capabilities is None:
            return None
        spec = self.specs[vector.case.op]
        reason = identity.capabilities.reason_against(spec, vector.case, backend=identity.name)
        return (
            None if reason is None else self._complete(unsupported_result(vector, reason), vector)
        )

    def grade(self, vector: Vector, outcome: Outcome) -> Result:
        """Grade a call; unsupported outside of what the backend declared is an error.

        A negative test may be one that the backend's interface has no way to write; a declaration
        speaks of valid cases.
        """
        undeclared = vector.case.reject is None and outcome.ending is Ending.UNSUPPORTED
        claimed = self.executor.identity.capabilities is not None
        if undeclared and claimed and not outcome.unsteady:
            message = f"{outcome.message} (not among what the backend declared before the run)"
            kind = FailureKind.UNDECLARED
            error = make_result(vector, Status.ERROR, kind, message, seconds=outcome.seconds)
            return self._complete(error, vector)
        spec = self.specs.get(vector.case.op)
        result = judge(vector, outcome, level=self.level, precision=self.precision, spec=spec)
        return self._complete(result, vector)

    def _complete(self, result: Result, vector: Vector) -> Result:
        """The result with the attributes that the vector leaves out, as its specification says.

        What many results have alike is in memory once: they are kept for a run.
        """
        spec = self.specs.get(vector.case.op)
        return replace(
            result,
            left_out=() if spec is None else _shared(attributes_left_out(spec, vector.case)),
            shows=_shared_answers(tuple(result.shows.items())),
            within=_shared_counts(result.within),
        )


@lru_cache(maxsize=4096)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    return names


@lru_cache(maxsize=4096)
def _shared_answers(
    items: tuple[tuple[str, tuple[str, ...]], ...],
) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(dict(items))


@lru_cache(maxsize=4096)
def _shared_counts(within: tuple[int, ...] | None) -> tuple[int, ...] | None:
    return within
