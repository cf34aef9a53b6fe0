"""Conditions that tell cases from others, chosen by their cost and by how many others meet them."""

from __future__ import annotations

import numpy as np

from conformance.core.case_conditions import CaseCondition
from conformance.diagnosis.condition_choice import Bools, likeliest_choice

SHARED = 6
"""Cases in which all conditions hold: the first ones. Those behind are against them."""


def bools(text: str) -> Bools:
    return np.array([letter == "x" for letter in text])


def condition(text: str, cost: int, others: str) -> CaseCondition:
    """Return a condition that holds in the shared cases, and in the others marked by x."""
    return CaseCondition(text, cost, bools("x" * SHARED + others))


def chosen(*conditions: CaseCondition, tolerated: int = 0) -> tuple[str, int] | None:
    """Return the conditions chosen, and how many of the others meet them."""
    count = len(conditions[0].holds) - SHARED
    shared, against = bools("x" * SHARED + "." * count), bools("." * SHARED + "x" * count)
    choice = likeliest_choice(conditions, shared, against, tolerated)
    return None if choice is None else (choice.text, choice.met)


K, M, N = (
    condition("K > 4", 3, "xxx.x..."),
    condition("M > 2", 3, "...x..xx"),
    condition("N == 1", 2, "xx...x.."),
)


def test_the_cheapest_conditions_that_no_other_case_meets() -> None:
    assert chosen(K, M, N) == ("M > 2 and N == 1", 0)
    assert chosen(K, M) == ("K > 4 and M > 2", 0)
    assert chosen(K, N) is None


def test_a_case_that_passes_all_the_same_counts_as_a_condition_of_cost_1() -> None:
    assert chosen(K, N, tolerated=2) == ("K > 4 and N == 1", 2)
    rare = condition("N > 9", 4, ".....x..")
    exact = condition("has(C)", 2, "xxxxx.xx")
    assert chosen(rare, exact, tolerated=1) == ("N > 9", 1)
    assert chosen(rare, exact) == ("N > 9 and has(C)", 0)


def test_what_is_dear_is_not_chosen() -> None:
    assert chosen(condition("K % 16 != 0", 11, "........")) is None


def test_few_cases_of_few_are_chance() -> None:
    def is_chance(count: int, others: int) -> bool:
        holds = bools("x" * count + "." * others)
        choice = likeliest_choice([CaseCondition("K > 4", 3, holds)], holds, ~holds)
        assert choice is not None
        return choice.is_chance

    # One of 10 choose 2, of 15 choose 2: the first is above 1 %.
    assert [is_chance(2, 8), is_chance(2, 13)] == [True, False]
