"""Bugs in special paths that nobody has tuned the suite to: each shows on its path alone."""

from __future__ import annotations

from collections import Counter

import bank
import bank_paths_one
import bank_paths_three
import bank_paths_two
import numpy as np
import pytest
from bank import Array
from bank_paths_two import Bug, Case

RIGHT = {**bank.RIGHT, **bank_paths_two.RIGHT}
BUGS = bank_paths_three.BUGS


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


def test_each_operator_has_two_bugs_of_new_names() -> None:
    assert Counter(bug.operator for bug in BUGS.values()) == dict.fromkeys(RIGHT, 2)
    for other in (bank.BUGS, bank_paths_one.BUGS, bank_paths_two.BUGS):
        assert not BUGS.keys() & other.keys()
