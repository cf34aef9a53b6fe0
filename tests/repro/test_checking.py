"""What a script finds wrong is what a check does, over the shipped smoke suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiers

from conformance.dtypes import DTYPES
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.grade.precision import parse_precision
from conformance.model import Answer, Status, Vector
from conformance.repro.checker import check, differences
from conformance.repro.script import request_lines
from conformance.repro.unpacking import unpacked


def told(vector: Vector, level: str, precision: str) -> dict[str, Any]:
    """The names that the data of a script defines."""
    names: dict[str, Any] = {"np": np, "ml_dtypes": ml_dtypes, "unpacked": unpacked}
    exec("\n".join(request_lines(vector, level, parse_precision(precision))), names)
    return names


def moved(answer: Answer, got: Any, steps: int, to: Any) -> Any:
    """The output with one element moved by some representable values, or put elsewhere."""
    got = got.copy()
    flat = got.reshape(-1)
    if answer.rounded is None:
        flat[-1:] += np.array(steps).astype(flat.dtype)  # unsigned ones wrap around
    elif to is not None:
        flat[-1] = to
    else:
        row = DTYPES[answer.dtype]
        flat[-1:] = row.from_ordinals(row.ordinals(flat[-1:]) + steps)
    return got


def outputs(vector: Vector) -> Iterator[list[Any]]:
    """Outputs that are right, right by a reading, a little wrong, very wrong, and misshapen."""
    for answers in (vector.answers, *vector.readings.values()):
        right = [
            answer.expected if answer.rounded is None else answer.rounded for answer in answers
        ]
        yield right
        if not right[0].size:
            continue
        for number, answer in enumerate(answers):
            for steps, to in ((1, None), (-1, None), (40, None), (9, np.nan), (-9, np.inf)):
                spoiled = list(right)
                spoiled[number] = moved(answer, right[number], steps, to)
                yield spoiled
    yield right[:-1]
    yield [array[..., :-1] for array in right]
    yield [array.astype(np.float32 if array.dtype != np.float32 else "f8") for array in right]


@pytest.mark.parametrize(
    ("level", "precision"),
    tiers.first([("must", "standard"), ("should", "exact"), ("must", "native")]),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_it_agrees_with_the_verdicts(level: str, precision: str, exhaustive: bool) -> None:
    seen = {True: 0, False: 0}
    for vector in (tiers.smoke() if exhaustive else tiers.part(tiers.smoke())).vectors():
        if vector.case.reject is not None or vector.answers[0].expected.size > 3000:
            continue
        names = told(vector, level, precision)
        for array, original in zip(names["inputs"], vector.inputs, strict=True):
            assert array.dtype == original.dtype
            assert array.tobytes() == original.tobytes()
        for made in outputs(vector):
            outcome = Outcome(Ending.RETURNED, made)
            result = judge(vector, outcome, level=level, precision=parse_precision(precision))
            right = any(
                differences(made, answers)[0] == 0 for answers in names["readings"].values()
            )
            assert right == (result.status is Status.PASS), (vector.id, result.message)
            seen[right] += 1
    assert min(seen.values()) > 50


ONE = [np.ones((1, 2), np.float32)]
ANSWER = {"as specified": [{"name": "result", "lo": ONE[0]}]}


def raising(error: BaseException) -> Any:
    def call(inputs: Any) -> Any:
        raise error

    return call


def changing(inputs: Any) -> Any:
    inputs[0][:] = 0
    return ONE


@pytest.mark.parametrize(
    ("call", "readings", "must_reject", "code", "line"),
    [
        (lambda inputs: inputs, ANSWER, "", 0, "right, as specified"),
        (lambda inputs: inputs[0], ANSWER, "", 0, "right, as specified"),
        (lambda inputs: [inputs[0] + 1], ANSWER, "", 1, "WRONG (compared as specified):"),
        (lambda inputs: None, ANSWER, "", 1, "1 outputs are expected, got None"),
        (lambda inputs: [[1, 1]], ANSWER, "", 1, "result: list  instead of float32 (1, 2)"),
        (changing, ANSWER, "", 1, "WRONG: the call changed its input 0"),
        (raising(ValueError("no")), ANSWER, "", 1, "WRONG: raised ValueError: no"),
        (raising(SystemExit(0)), ANSWER, "", 1, "WRONG: raised SystemExit: 0"),
        (raising(ValueError("no")), {}, "zero", 0, "right: refused with ValueError: no"),
        (raising(SystemExit(0)), {}, "zero", 1, "WRONG: raised SystemExit: 0"),
        (lambda inputs: inputs, {}, "zero", 1, "WRONG: accepted, should raise an exception: zero"),
    ],
)
def test_what_it_prints_and_returns(
    capsys: pytest.CaptureFixture[str],
    call: Any,
    readings: Any,
    must_reject: str,
    code: int,
    line: str,
) -> None:
    assert check(call, ONE, readings, must_reject) == code
    assert line in capsys.readouterr().out.splitlines()


def test_elements_are_told_one_by_one() -> None:
    answer = {"name": "result", "lo": np.zeros(20, np.float32), "hi": np.ones(20, np.float32)}
    got = np.array([0.1] + [7] * 19, np.float32)
    count, lines = differences([got], [answer])
    assert count == 19
    assert lines[0] == "result: 19 of 20 elements are wrong"
    assert lines[1] == "  [1]: got 7.0, accepted 0.0 to 1.0"
    assert lines[-1] == "  ... and 9 more"
    chosen = {"name": "at", "equal": np.array([3]), "choices": np.array([[3, 5, -1]])}
    assert differences([np.array([5])], [chosen]) == (0, [])
    for wrong in (-1, 4):
        found = differences([np.array([wrong])], [chosen])
        assert found[1][1] == f"  [0]: got {wrong}, accepted any of 3, 5"
