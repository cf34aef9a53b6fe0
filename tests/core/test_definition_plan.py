"""Suites that an operator's text gives: a pool, and what is selected of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tiers

from conformance.core.binding import Binding
from conformance.core.data import inputs_of
from conformance.core.loader import load_operator
from conformance.core.strata import strata_of, strata_with
from conformance.generate import plan as planning
from conformance.generate.cover import Goal, greedy
from conformance.generate.plan import (
    MAX_CASES,
    MAX_FAR,
    MAX_LARGE,
    PlannedCase,
    plan,
    telling,
)
from conformance.generate.pool import drawn_large, drawn_pool
from conformance.model import Case

OPERATORS = ("onnx.MatMul-13", "onnx.Gemm-13", "onnx.ConvTranspose-22", "GroupConvolution-1")


@cache
def planned(op: str) -> tuple[PlannedCase, ...]:
    return plan(load_operator(op), 1, pool=400)


def numbers(*rows: list[int]) -> list[np.ndarray]:
    return [np.array(row, np.intp) for row in rows]


def test_a_cover_takes_what_adds_most_first() -> None:
    covered = numbers([0], [0, 1, 2], [3], [1, 2])
    goal = Goal(numbers([0], [0], [0], [0]), covered)
    assert greedy([goal], 9) == [1, 2]


def test_a_cover_goes_on_from_cases_that_are_taken() -> None:
    covered = numbers([0, 1], [0, 1, 2], [3])
    goal = Goal(numbers([0], [0], [0]), covered)
    assert greedy([goal], 9, taken=[0]) == [1, 2]
    assert greedy([Goal(numbers([0], [0], [0]), covered)], 1) == [1]


def test_only_members_take_part_in_a_goal() -> None:
    covered = numbers([0], [0, 1])
    assert greedy([Goal(covered, covered, members=[0])], 9) == [0]


def test_pairs_within_a_small_goal_count_as_much_as_within_a_large_one() -> None:
    everything = Goal(numbers(*[[k] for k in range(9)], [9]), numbers(*[[0]] * 10), range(9))
    rare = Goal(numbers(*[[0]] * 10), numbers(*[[0]] * 10), [9])
    assert greedy([everything, rare], 1) == [9]


@pytest.mark.parametrize("op", tiers.first(OPERATORS))
class TestOfAnOperator:
    def test_cases_are_valid_and_of_a_suite(self, op: str) -> None:
        operator = load_operator(op)
        cases = planned(op)
        for case in cases:
            binding = Binding(operator, case.case.attributes, case.case.shapes)
            assert not binding.violations()
        assert len({case.case.id for case in cases}) == len(cases)
        assert sum("core" in case.suites for case in cases) <= MAX_CASES
        assert sum("large" in case.suites for case in cases) <= MAX_LARGE + MAX_FAR

    def test_smoke_covers_every_target_that_the_core_covers(self, op: str) -> None:
        cases = [case for case in planned(op) if "core" in case.suites]
        smoke = [case for case in cases if "smoke" in case.suites]
        everything = set().union(*(case.targets for case in cases))
        assert set().union(*(case.targets for case in smoke)) == everything
        assert len(smoke) < len(cases) / 2

    def test_every_element_type_and_stratum_occurs(self, op: str) -> None:
        operator = load_operator(op)
        cases = [case.case for case in planned(op)]
        assert {case.types["T"] for case in cases} == set(operator.types["T"])
        strata = strata_of(operator)
        bindings = [Binding(operator, case.attributes, case.shapes) for case in cases]
        met = {stratum.name for b in bindings for stratum in strata_with(strata, b)}
        assert len(met) >= 0.9 * len(strata)


def test_the_same_seed_gives_the_same_cases() -> None:
    operator = load_operator("onnx.Gemm-13")
    first, again = (plan(operator, 7, pool=150) for _ in range(2))
    assert [case.case.id for case in first] == [case.case.id for case in again]
    other = plan(operator, 8, pool=150)
    assert [case.case.id for case in first] != [case.case.id for case in other]


def test_of_smoke_alone_only_its_cases_are_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = load_operator("onnx.Gemm-13")
    smoke = [case for case in plan(operator, 3, pool=150) if "smoke" in case.suites]
    # Large cases take long to draw, and no smoke suite has any.
    monkeypatch.setattr(planning, "drawn_large", None)
    assert plan(operator, 3, pool=150, suite="smoke") == tuple(smoke)


def test_a_selected_case_has_data_that_tell_elements_apart() -> None:
    operator = load_operator("onnx.Gemm-13")
    case = Case(
        operator.op, {"T": "f32"}, {"A": (1, 2), "B": (2, 1)}, {}, {}, "whole+whole+whole", 0
    )
    seeded = telling(operator, case)
    assert all(np.all(array != 0) for array in inputs_of(operator, seeded) if array is not None)


def test_huge_and_large_cases_are_drawn() -> None:
    operator = load_operator("onnx.Conv-22")
    assert max(n for c in drawn_pool(operator, 0, 300) for s in c.shapes.values() for n in s) > 254
    large = list(drawn_large(operator, 0, 4))
    assert large
    assert all(max(np.prod(s) for s in case.shapes.values()) > 100 for case in large)
