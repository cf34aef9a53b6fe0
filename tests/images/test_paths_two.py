"""Backends of f32 images alone, each with a bug in one specialised path: core refuses them."""

from __future__ import annotations

import bank
import bank_paths_three
import bank_paths_two
import numpy as np
import pytest
import tiers
from bank import Array
from bank_paths_two import Bug, Case
from test_images import failing, graded

RIGHT = {**bank.RIGHT, **bank_paths_two.RIGHT}
BUGS = {**bank_paths_two.BUGS, **bank_paths_three.BUGS}


def differs(bug: Bug, case: Case) -> bool:
    """Whether the bug's outputs are not those of the right operator."""

    def outputs(run: bank.Run) -> list[Array]:
        return run(bug.operator, case.inputs(), case.attributes)

    both = zip(outputs(bug.run), outputs(RIGHT[bug.operator]), strict=True)
    return not all(np.array_equal(given, right) for given, right in both)


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_shows_on_its_path_alone(name: str) -> None:
    bug = BUGS[name]
    assert differs(bug, bug.on_path)
    assert not differs(bug, bug.beside)


MISSED = {
    "onnx_max_row_of_3_assumes_stride_3": "no row of data has a kernel of 3 and a larger stride",
}
"""What core does not notice, and why."""


@pytest.mark.parametrize("name", tiers.first(sorted(BUGS.keys() - MISSED.keys())))
def test_a_bug_of_a_path_is_refused(name: str) -> None:
    assert any(failing(BUGS[name].operator, BUGS[name].run))


@pytest.mark.parametrize("name", tiers.first(list(MISSED)))
def test_a_bug_that_core_misses_is_still_missed(name: str) -> None:
    """Once it is refused, it belongs to the others."""
    assert not any(failing(BUGS[name].operator, BUGS[name].run))


@pytest.mark.parametrize("op", tiers.first(list(bank_paths_two.RIGHT)))
def test_what_is_right_is_conformant(op: str) -> None:
    run = graded(op, bank_paths_two.RIGHT[op])
    assert [result.message for result in run.results if result.status == "fail"] == []
    assert run.conformant
