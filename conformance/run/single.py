"""One vector asked of one backend: the step that a run repeats, for whoever needs it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from conformance.grade.judge import applies, judge, result, skipped, unsupported
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Status, Vector
from conformance.run.executor import Executor
from conformance.run.readings import with_observations
from conformance.spec import loader


@dataclass(frozen=True)
class Examiner:
    """Judges what a backend does, by what it declared before.

    ``executor`` calls the backend, within its own context; ``precision`` maps a dtype to what is
    asked of it.
    """

    executor: Executor
    level: str
    precision: Mapping[str, str]

    def ask(self, vector: Vector) -> tuple[Result, Outcome | None]:
        """The verdict, and what was observed; None where the backend was not called.

        Raises:
            BackendError: a declaration that makes no sense for the vector's operator.
        """
        verdict = self.unasked(vector)
        if verdict is not None:
            return verdict, None
        self.executor.submit(vector)
        outcome = self.executor.take()
        return self.judged(vector, outcome), outcome

    def unasked(self, vector: Vector) -> Result | None:
        """The result of a vector that the level or the backend's declaration leaves out."""
        if not applies(vector, self.level):
            return skipped(vector)
        identity = self.executor.identity
        if identity.capabilities is None:
            return None
        reason = identity.capabilities.reason_against(
            loader.find(vector.case.op), vector.case, backend=identity.name
        )
        return None if reason is None else unsupported(vector, reason)

    def judged(self, vector: Vector, outcome: Outcome) -> Result:
        """The verdict of a call; unsupported outside of what the backend declared is an error."""
        declared = self.executor.identity.capabilities is not None
        if outcome.ending is Ending.UNSUPPORTED and declared and not outcome.unsteady:
            message = f"{outcome.message} (not among what the backend declared before the run)"
            kind = "undeclared-unsupported"
            return result(vector, Status.ERROR, kind, message, seconds=outcome.seconds)
        verdict = judge(vector, outcome, level=self.level, precision=self.precision)
        return _sharing(with_observations(verdict, vector, outcome))


def _sharing(result: Result) -> Result:
    """The result with what many of them have alike in memory once: they are kept for a run."""
    return replace(
        result, shows=_shown(tuple(result.shows.items())), within=_counted(result.within)
    )


@lru_cache(maxsize=4096)
def _shown(items: tuple[tuple[str, tuple[str, ...]], ...]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(dict(items))


@lru_cache(maxsize=4096)
def _counted(within: tuple[int, ...] | None) -> tuple[int, ...] | None:
    return within
