"""Recorded negative tests of pools break one condition each, and none is missing."""

from __future__ import annotations

from functools import cache

import pytest

from conformance import specification
from conformance.core.loader import load_operator, shipped_names
from conformance.core.negative import broken_conditions, negative_tests
from conformance.generate.cases import draw_cases
from conformance.suite.recorded_cases import (
    RecordedCase,
    read_recorded_cases,
    recorded_cases_file,
)

POOLS = sorted(name for name in shipped_names() if "pool" in name.lower())
SAMPLE = 10
"""Negative tests of an operator that are looked at, spread over all."""

STATED = {
    "kernel.required",
    "kernel_shape.required",
    "kernel_size.required",
    "norm_type.required",
    "storage_order.max",
    "storage_order.min",
    "strides.required",
}
"""Conditions that documents state, and that not every operator's recorded cases break."""


@cache
def rejecting(op: str) -> tuple[RecordedCase, ...]:
    recorded = read_recorded_cases(recorded_cases_file(op)).recorded
    return tuple(entry for entry in recorded if entry.case.reject is not None)


@pytest.mark.parametrize("op", POOLS)
def test_a_recorded_negative_test_breaks_one_condition(op: str) -> None:
    operator, entries = load_operator(op), rejecting(op)
    for entry in entries[:: max(1, len(entries) // SAMPLE)]:
        case = entry.case
        assert specification.build(operator, case, entry.level).id == case.id
        assert specification.definition_problem(operator, case) == ""
        broken = specification.broken_conditions(operator, case)
        assert broken == {v.condition for v in specification.violations(operator, case)}
        assert len(broken) == 1, (case.id, broken)
        assert specification.level_of(operator, case) == entry.level, (case.id, broken)


@pytest.mark.parametrize("op", POOLS)
def test_each_condition_that_drawn_cases_break_is_recorded(op: str) -> None:
    operator = load_operator(op)
    tests = negative_tests(operator, draw_cases(operator, 60, seed=2))
    known = {name for e in rejecting(op) for name in broken_conditions(operator, e.case)}
    assert {str(test.case.reject) for test in tests} <= known | STATED
