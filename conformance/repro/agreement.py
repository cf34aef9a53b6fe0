"""Tells whether a script fails as the backend does, in a process of its own, on the same vector."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.backends.program import is_program
from conformance.errors import EXIT_USAGE
from conformance.grade.outcome import Ending, Outcome
from conformance.model import FAILED, Result, Status, Vector
from conformance.repro.trial import Trial
from conformance.run.check_vector import VectorChecker
from conformance.run.executor_options import Isolation
from conformance.safe_text import one_line, shortened
from conformance.spec.model import OpSpec

LONGEST = 200
"""Characters of a message that are told."""

_RAISED = frozenset({Ending.RAISED, Ending.UNSUPPORTED, Ending.ADAPTER, Ending.ABORTED})
_PRINTED = {"accepted": "WRONG: accepted", "input-changed": "WRONG: the call changed its input"}
"""What a script prints of a kind of failure, where that is not of outputs."""


def disagreement(
    trial: Trial,
    vector: Vector,
    backend: str,
    specs: Mapping[str, OpSpec],
    level: str,
    precision: Mapping[str, str],
    seconds: float,
    env: str | None = None,
) -> str:
    """What the backend does where the script does something else; empty where they agree, and
    where nothing can be compared: the script tested nothing, or a check does not ask the vector.

    Raises BackendError for a backend that cannot be loaded.
    """
    if trial.code == EXIT_USAGE:
        return ""
    asked = Isolation("process", 1, seconds, env=env)
    with asked.executor_for(backend) as executor:
        result, outcome = VectorChecker(executor, specs, level, precision).check(vector)
    if outcome is None or agrees(trial, result, outcome, program=is_program(backend)):
        return ""
    if result.status is Status.PASS:
        return "in a check the backend passes this vector"
    return f"in a check the backend fails otherwise: {shortened(one_line(result.message), LONGEST)}"


def agrees(trial: Trial, result: Result, outcome: Outcome, *, program: bool = False) -> bool:
    """Whether a script ended as a call that came to ``result`` does.

    An exception is told by its type, which a ``program`` cannot hand on; outputs by being wrong.
    """
    if result.status not in FAILED:
        return trial.code == 0
    if outcome.ending is Ending.HUNG:
        return trial.code is None
    if outcome.ending in (Ending.CRASHED, Ending.MEMORY):
        return trial.code != 0
    if outcome.ending in _RAISED:
        name = outcome.message.partition(":")[0].strip()
        named = f"WRONG: raised {name}" if outcome.ending is Ending.RAISED and not program else ""
        return _printed(trial, named or "WRONG: raised")
    return _printed(trial, _PRINTED.get(result.kind, "WRONG (compared"))


def _printed(trial: Trial, beginning: str) -> bool:
    """Whether a script came to that, though its process may not have ended by itself after it."""
    return trial.code in (1, None) and any(line.startswith(beginning) for line in trial.last)
