"""Compares a script with a check of the backend on the same vector."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.backends.program import is_program
from conformance.core.operator import Operator
from conformance.errors import EXIT_USAGE
from conformance.grade.outcome import Ending, Outcome
from conformance.model import FAILED, Result, Status, Vector
from conformance.repro.script_run import ScriptRun
from conformance.run.check_vector import VectorChecker
from conformance.run.executor_options import Isolation
from conformance.safe_text import one_line, shortened

MAX_MESSAGE = 200
"""Characters of a message that are shown."""

_RAISED = frozenset({Ending.RAISED, Ending.UNSUPPORTED, Ending.ADAPTER, Ending.ABORTED})
_PRINTED = {"accepted": "WRONG: accepted", "input-changed": "WRONG: the call changed its input"}
"""What a script prints of a kind of failure, where that is not of outputs."""


def disagreement(
    run: ScriptRun,
    vector: Vector,
    backend: str,
    specs: Mapping[str, Operator],
    level: str,
    precision: Mapping[str, str],
    seconds: float,
    env: str | None = None,
) -> str:
    """Describe how a check of the backend differs from a script.

    Returns:
        Empty if they agree, or if nothing can be compared: the script tested nothing, or a check
        does not test the vector.

    Raises:
        BackendError: the backend cannot be loaded.
    """
    if run.code == EXIT_USAGE:
        return ""
    isolation = Isolation("process", 1, seconds, env=env)
    with isolation.executor_for(backend) as executor:
        result, outcome = VectorChecker(executor, specs, level, precision).check(vector)
    if outcome is None and result.status is Status.UNSUPPORTED and run.code != 0:
        return f"in a check the backend does not support this vector: {one_line(result.message)}"
    if outcome is None or agrees(run, result, outcome, program=is_program(backend)):
        return ""
    if result.status is Status.PASS:
        return "in a check the backend passes this vector"
    message = shortened(one_line(result.message), MAX_MESSAGE)
    return f"in a check the backend fails otherwise: {message}"


def agrees(run: ScriptRun, result: Result, outcome: Outcome, *, program: bool = False) -> bool:
    """Return whether a script ended as a call with this result does.

    Exceptions are compared by type, which a ``program`` cannot pass on; outputs by being wrong.
    """
    if result.status not in FAILED:
        return run.code == 0
    if outcome.ending is Ending.HUNG:
        return run.code is None
    if outcome.ending in (Ending.CRASHED, Ending.MEMORY):
        return run.code != 0
    if outcome.ending in _RAISED:
        name = outcome.message.partition(":")[0].strip()
        line = f"WRONG: raised {name}" if outcome.ending is Ending.RAISED and not program else ""
        return _printed(run, line or "WRONG: raised")
    return _printed(run, _PRINTED.get(result.kind, "WRONG (compared"))


def _printed(run: ScriptRun, beginning: str) -> bool:
    """Return whether a script printed a line before it ended or was ended."""
    return run.code in (1, None) and any(line.startswith(beginning) for line in run.last)
