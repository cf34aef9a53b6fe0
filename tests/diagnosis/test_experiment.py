"""A sample of the experiment on names (``experiment.py``): few mutants of one operator."""

from __future__ import annotations

import pytest
import tiers
from experiment import Tally, arguments, measured, table
from prediction import Fresh
from stored import Operator

from conformance.diagnosis.code_path import CodePath
from conformance.diagnosis.explanation import Explanation

OP = "AdaptiveMaxPool-8"
HELD_OUT = 2


@pytest.fixture(scope="module")
def found(exhaustive: bool) -> dict[str, Tally]:
    """The outcomes on core, or of few mutants on smoke, whose two dozen vectors show less."""
    few = [] if exhaustive else ["--suite", "smoke", "--singles", "10"]
    asked = ["--op", OP, "-j", "1", "--pairs", "4", "--held-out", str(HELD_OUT), *few]
    return measured(arguments(asked))


def test_names_of_single_mutants_are_right(found: dict[str, Tally], exhaustive: bool) -> None:
    singles = found["singles"]
    # Of some mutants smoke has a single vector that shows them, which names nothing.
    assert singles.outcomes["right"] >= (0.8 if exhaustive else 0.6) * singles.runs
    assert not singles.outcomes["wrong"], singles.wrong
    assert max(singles.names) <= 3


def test_names_of_pairs_are_right_but_for_a_few(found: dict[str, Tally]) -> None:
    pairs = found["pairs"]
    assert pairs.outcomes["right"] >= pairs.runs / 2
    assert pairs.outcomes["wrong"] <= 1, pairs.wrong


def test_mutants_that_are_held_out_are_judged_by_fresh_cases(
    found: dict[str, Tally], exhaustive: bool
) -> None:
    held = found["held-out"]
    assert held.runs == HELD_OUT
    # Of channels that are not written few vectors of a global pool tell which; smoke tells less.
    assert held.outcomes["false"] <= (2 if exhaustive else HELD_OUT - 1), held.wrong


def test_a_name_is_judged_where_it_is_told_alone() -> None:
    """A bug of rows is told as one of all ranks, only there: that is right."""
    operator = Operator("AdaptiveMaxPool-8", tiers.smoke())
    true = operator.faults(["ends-rounded-down-in-1d"])
    named = operator.faults(["ends-rounded-down"])
    every = {CodePath(t, r) for t in ("f16", "f32", "f64") for r in (3, 4, 5)}
    fresh = Fresh(operator.spec)
    for places, verdict in [({one for one in every if one.rank == 3}, "right"), (every, "false")]:
        told = Explanation(named, {}, frozenset(places), frozenset(every - places), 0, 0)
        assert fresh.judged(true, told, operator) == verdict


def test_the_table_tells_it(found: dict[str, Tally]) -> None:
    lines = list(table(found))
    right = found["singles"].outcomes["right"]
    assert lines[2].startswith(f"| single mutants | {found['singles'].runs} | {right} | 0 | ")
    assert lines[-1].startswith(f"| held-out mutants | {HELD_OUT} | ")
