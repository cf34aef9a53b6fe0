"""Runs and grades one vector on a backend."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from conformance.errors import SuiteError
from conformance.failure_kind import FailureKind
from conformance.grade.judge import applies, judge, result, skipped, unsupported
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Case, Result, Status, Vector
from conformance.run.arranged import arranged
from conformance.run.asking import refusal
from conformance.run.executor import Executor
from conformance.run.interpretations import with_observations
from conformance.run.paired import paired
from conformance.spec.model import OpSpec
from conformance.suite.entries import Entry
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite


@dataclass(frozen=True)
class Examiner:
    """Judges what a backend does, by what it declared before.

    ``executor`` calls the backend, within its own context; ``specs`` are the specifications of the
    suite; ``precision`` maps a dtype to what is asked of it. The executor of an examiner is the one
    that was given, or one around it that converts layouts.
    """

    executor: Executor
    specs: Mapping[str, OpSpec]
    level: str
    precision: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "executor", arranged(self.executor, self.specs))

    def ask(self, vector: Vector) -> tuple[Result, Outcome | None]:
        """The verdict, and what was observed; None where the backend was not called.

        Raises:
            BackendError: a declaration that makes no sense for the vector's operator.
            SuiteError: a declaration, and a suite without the operator's specification.
        """
        verdict = self.unasked(vector)
        if verdict is not None:
            return verdict, None
        self.executor.submit(vector)
        outcome = self.executor.take()
        valid = self.valid_of(vector)
        if valid is not None:
            self.executor.submit(valid)
            outcome = replace(outcome, refuses_valid=refusal(self.executor.take()))
        return self.judged(vector, outcome), outcome

    def valid_of(self, vector: Vector) -> Vector | None:
        """The valid vector that a negative test was made from, where one is found."""
        spec = self.specs.get(vector.case.op)
        return None if spec is None or vector.case.reject is None else paired(spec, vector)

    def vector(self, suite: Suite, entry: Entry) -> Vector:
        """The vector of an entry; without arrays where it is recorded and is not asked."""
        outline = suite.outline(entry)
        if outline is not None and self.unasked(outline) is not None:
            return outline
        return suite.read(entry)

    def evaluate(self, suite: Suite, entries: Iterable[Entry], work: Work) -> None:
        """Evaluate the recorded cases that the backend will be asked and that are not at hand."""
        outlines = ((entry, suite.outline(entry)) for entry in entries)
        suite.ready(
            (e for e, outline in outlines if outline and self.unasked(outline) is None), work
        )

    def unasked(self, vector: Vector) -> Result | None:
        """The result of a vector that the level or the backend's declaration leaves out."""
        if not applies(vector, self.level):
            return self._complete(skipped(vector), vector)
        identity = self.executor.identity
        if identity.capabilities is None:
            return None
        spec = self.specs.get(vector.case.op)
        if spec is None:
            raise SuiteError(
                f"the suite has no specification of {vector.case.op}, so what {identity.name} "
                "declares cannot be compared with its vectors",
                hint="generate it again from its specifications: suites now carry them",
            )
        reason = identity.capabilities.reason_against(spec, vector.case, backend=identity.name)
        return None if reason is None else self._complete(unsupported(vector, reason), vector)

    def judged(self, vector: Vector, outcome: Outcome) -> Result:
        """The verdict of a call; unsupported outside of what the backend declared is an error.

        A negative test may be one that the backend's interface has no way to write; a declaration
        speaks of valid cases.
        """
        undeclared = vector.case.reject is None and outcome.ending is Ending.UNSUPPORTED
        claimed = self.executor.identity.capabilities is not None
        if undeclared and claimed and not outcome.unsteady:
            message = f"{outcome.message} (not among what the backend declared before the run)"
            kind = FailureKind.UNDECLARED
            verdict = result(vector, Status.ERROR, kind, message, seconds=outcome.seconds)
            return self._complete(verdict, vector)
        spec = self.specs.get(vector.case.op)
        verdict = judge(vector, outcome, level=self.level, precision=self.precision, spec=spec)
        return self._complete(with_observations(verdict, spec, vector, outcome), vector)

    def _complete(self, verdict: Result, vector: Vector) -> Result:
        """The verdict with the attributes that the vector leaves out, as its specification tells.

        What many results have alike is in memory once: they are kept for a run.
        """
        spec = self.specs.get(vector.case.op)
        return replace(
            verdict,
            left_out=() if spec is None else _left_out(spec, vector.case),
            shows=_shown(tuple(verdict.shows.items())),
            within=_counted(verdict.within),
        )


def _left_out(spec: OpSpec, case: Case) -> tuple[str, ...]:
    """The attributes with a default that a case leaves out."""
    return tuple(
        sys.intern(one.name)
        for one in spec.attributes
        if one.default is not None and one.name not in case.attributes
    )


@lru_cache(maxsize=4096)
def _shown(items: tuple[tuple[str, tuple[str, ...]], ...]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(dict(items))


@lru_cache(maxsize=4096)
def _counted(within: tuple[int, ...] | None) -> tuple[int, ...] | None:
    return within
