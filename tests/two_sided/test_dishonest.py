"""Every fault is refused by vectors of each averaging operator of the shipped suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tiers
from dishonest import FAULTS, Answer, Faulty, on_windows, truncated
from verdicts import verdicts
from windows import MEANS

from conformance.model import Status, Vector
from conformance.suite.store import Suite


def refused(
    core: Suite, op: str, answer: Answer, dtype: str, precision: str = "standard"
) -> Iterator[str]:
    """The vectors of one element type that a backend fails; it must not break down on the way."""
    options = {"ops": [op], "only": (f"{dtype}-",), "level": "should", "precision": precision}
    for result in verdicts(core, Faulty(answer), **options):
        assert result.status is not Status.ERROR, result.message
        if result.status is Status.FAIL:
            yield result.id


@pytest.mark.parametrize(
    ("op", "fault", "dtype"),
    tiers.sweep(
        [(op, fault, dtype) for fault, row in FAULTS.items() for dtype in row[0] for op in MEANS],
        lambda op, fault, dtype: [(fault, dtype), (op, dtype)],
    ),
)
def test_a_fault_is_refused(core: Suite, op: str, fault: str, dtype: str) -> None:
    assert any(refused(core, op, FAULTS[fault][1], dtype))


@pytest.mark.parametrize("op", MEANS)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_every_long_window_shows_a_narrow_accumulator(core: Suite, op: str, dtype: str) -> None:
    vectors = (v for v in core.vectors([op]) if v.case.types["T"] == dtype)
    long = {vector.id for vector in vectors if _is_a_long_window(vector)}
    assert long
    assert long <= set(refused(core, op, FAULTS[f"sums in {dtype}"][1], dtype))


@pytest.mark.parametrize("op", MEANS)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_what_the_faults_start_from_is_honest(core: Suite, op: str, dtype: str) -> None:
    assert not any(refused(core, op, on_windows(lambda windows: windows), dtype))


@pytest.mark.parametrize("op", MEANS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_truncation_in_the_accumulator_is_honest_but_not_exact(
    core: Suite, op: str, dtype: str
) -> None:
    """One truncation errs by less than a unit in the last place; so does an honest reciprocal."""
    assert not any(refused(core, op, truncated, dtype))
    assert any(refused(core, op, truncated, dtype, "exact"))


def _is_a_long_window(vector: Vector) -> bool:
    outputs = vector.answers
    return bool(outputs) and outputs[0].expected.size <= 2 and vector.inputs[0].size >= 3000
