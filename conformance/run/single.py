"""One vector asked of one backend: the step that a run repeats, for whoever needs it alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conformance.backends.protocol import Backend, capabilities_of
from conformance.grade.judge import applies, judge, result, skipped, unsupported
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Status, Vector
from conformance.run import inline
from conformance.run.readings import with_observations
from conformance.spec import loader

Execute = Callable[[Backend, Vector], Outcome]
"""How a backend is called. It raises nothing but KeyboardInterrupt."""


@dataclass(frozen=True)
class Examiner:
    """Asks a backend single vectors, each judged as in a run over many.

    ``precision`` maps a dtype to what is asked of it. ``execute`` calls the backend in this
    process: one that crashes takes the process with it.
    """

    backend: Backend
    level: str
    precision: Mapping[str, str]
    execute: Execute = inline.execute
    _refusal: Callable[[Vector], str | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_refusal", refusals(self.backend))

    def ask(self, vector: Vector) -> tuple[Result, Outcome | None]:
        """The verdict, and what was observed; None where the backend was not called.

        Raises:
            BackendError: a declaration that makes no sense for the vector's operator.
        """
        if not applies(vector, self.level):
            return skipped(vector), None
        reason = self._refusal(vector)
        if reason is not None:
            return unsupported(vector, reason), None
        outcome = self.execute(self.backend, vector)
        return judged(self.backend, vector, outcome, self.level, self.precision), outcome


def refusals(backend: Backend) -> Callable[[Vector], str | None]:
    """Why the backend's declaration leaves a vector out, or None where it does not."""
    if getattr(backend, "capabilities", None) is None:
        return lambda _: None
    capabilities = capabilities_of(backend)

    def reason(vector: Vector) -> str | None:
        return capabilities.reason_against(
            loader.find(vector.case.op), vector.case, backend=backend.name
        )

    return reason


def judged(
    backend: Backend, vector: Vector, outcome: Outcome, level: str, precision: Mapping[str, str]
) -> Result:
    """The verdict of one call; unsupported outside of what the backend declared is an error."""
    declared = getattr(backend, "capabilities", None) is not None
    if outcome.ending is Ending.UNSUPPORTED and declared:
        message = f"{outcome.message} (not among what the backend declared before the run)"
        return result(
            vector, Status.ERROR, "undeclared-unsupported", message, seconds=outcome.seconds
        )
    verdict = judge(vector, outcome, level=level, precision=precision)
    return with_observations(verdict, vector, outcome)
