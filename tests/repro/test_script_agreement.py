"""A script is proof of a failure where it fails as the backend does."""

from __future__ import annotations

import pytest

from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Status
from conformance.repro.agreement import agrees
from conformance.repro.script_run import ScriptRun

RAISED = Outcome(Ending.RAISED, message="ValueError: no stride of 0")
RETURNED = Outcome(Ending.RETURNED)
VALUES = "WRONG (compared as specified):"
OTHER = "WRONG: raised TypeError: no tensor of bfloat16"


@pytest.mark.parametrize(
    ("kind", "outcome", "code", "printed", "right"),
    [
        ("", RETURNED, 0, "right, as specified", True),
        ("", RETURNED, 1, OTHER, False),  # the vector passes
        ("value", RETURNED, 1, VALUES, True),
        ("value", RETURNED, 1, OTHER, False),
        ("value", RETURNED, 0, "right, as specified", False),
        ("input-changed", RETURNED, 1, "WRONG: the call changed its input 0", True),
        ("input-changed", RETURNED, 1, VALUES, False),
        ("raised", RAISED, 1, "WRONG: raised ValueError: another text", True),
        ("raised", RAISED, 1, OTHER, False),
        ("raised", RAISED, 1, VALUES, False),
        ("crashed", Outcome(Ending.CRASHED), -11, "", True),
        ("crashed", Outcome(Ending.CRASHED), 0, "right, as specified", False),
        ("hung", Outcome(Ending.HUNG), None, "", True),
        ("hung", Outcome(Ending.HUNG), 1, VALUES, False),
    ],
)
def test_agrees(kind: str, outcome: Outcome, code: int, printed: str, right: bool) -> None:
    status = Status.FAIL if kind else Status.PASS
    trial = ScriptRun(code, 1.0, (), ("printed before", printed))
    assert agrees(trial, Result("x", "A", status, kind=kind), outcome) is right


def test_a_program_hands_no_type_on() -> None:
    trial = ScriptRun(1, 1.0, (), ("WRONG: raised ValueError: raised: KeyError",))
    failed = Result("x", "A", Status.ERROR, kind="raised")
    raised = Outcome(Ending.RAISED, message="KeyError: x")
    assert agrees(trial, failed, raised, program=True)
    assert not agrees(trial, failed, raised)
