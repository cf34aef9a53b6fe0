"""A sample of the experiment on names (``experiment.py``): few mutants of one operator."""

from __future__ import annotations

import pytest
from experiment import Tally, arguments, measured, table

OP = "onnx.GlobalMaxPool-22"


@pytest.fixture(scope="module")
def found(exhaustive: bool) -> dict[str, Tally]:
    few = [] if exhaustive else ["--suite", "smoke", "--singles", "12"]
    asked = ["--op", OP, "-j", "1", "--pairs", "4", "--held-out", "4", *few]
    return measured(arguments(asked))


def test_names_of_single_mutants_and_of_pairs_are_right(found: dict[str, Tally]) -> None:
    for kind in ("singles", "pairs"):
        assert found[kind].outcomes["right"]
        assert not found[kind].outcomes["wrong"], found[kind].wrong
        assert max(found[kind].names) <= 3


def test_a_mutant_that_is_held_out_gets_no_false_name(found: dict[str, Tally]) -> None:
    assert found["held-out"].runs == 4
    assert not found["held-out"].outcomes["false"], found["held-out"].wrong


def test_the_table_tells_it(found: dict[str, Tally]) -> None:
    lines = list(table(found))
    assert lines[2].startswith(f"| single mutants | {found['singles'].runs} ")
    assert "100.0 %" in lines[2]
    assert lines[-1].startswith("| held-out mutants | 4 ")
