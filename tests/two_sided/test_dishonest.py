"""Every fault is refused by vectors of each averaging operator of the shipped suite."""

from __future__ import annotations

import pytest
from dishonest import FAULTS, Answer, Faulty, on_windows, truncated
from windows import MEANS

import conformance
from conformance.model import Result, Status, Vector
from conformance.suite.store import Suite


def refused(suite: Suite, answer: Answer, dtype: str, precision: str = "standard") -> list[Result]:
    """The vectors of one element type that a backend fails; it must not break down anywhere."""
    run = conformance.check(
        suite, Faulty(answer), ops=MEANS, only=(f"{dtype}-",), level="should", precision=precision
    )
    assert Status.ERROR not in {result.status for result in run.results}
    return [result for result in run.results if result.status is Status.FAIL]


@pytest.mark.parametrize(
    ("fault", "dtype"), [(fault, dtype) for fault, row in FAULTS.items() for dtype in row[0]]
)
def test_a_fault_is_refused(suite: Suite, fault: str, dtype: str) -> None:
    assert {result.op for result in refused(suite, FAULTS[fault][1], dtype)} == set(MEANS)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_every_long_window_shows_a_narrow_accumulator(suite: Suite, dtype: str) -> None:
    long = {
        vector.id
        for vector in suite.vectors(MEANS)
        if vector.case.types["T"] == dtype and _is_one_long_window(vector)
    }
    assert len(long) >= len(MEANS)
    assert long <= {result.id for result in refused(suite, FAULTS[f"sums in {dtype}"][1], dtype)}


def _is_one_long_window(vector: Vector) -> bool:
    outputs = vector.answers
    return bool(outputs) and outputs[0].expected.size == 1 and vector.inputs[0].size >= 3000


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_what_the_faults_start_from_is_honest(suite: Suite, dtype: str) -> None:
    assert not refused(suite, on_windows(lambda windows: windows), dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_truncation_in_the_accumulator_is_honest_but_not_exact(suite: Suite, dtype: str) -> None:
    """One truncation errs by less than a unit in the last place; so does an honest reciprocal."""
    assert not refused(suite, truncated, dtype)
    assert refused(suite, truncated, dtype, "exact")
