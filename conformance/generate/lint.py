"""Lint of definitions by drawn cases: conditions that none meets, and cases that have no value."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.operator import Operator
from conformance.errors import ConformanceError, Problem
from conformance.generate.cases import draw_cases
from conformance.model import Case
from conformance.specification import describe

DRAWN = 40
"""Cases that are drawn."""

EVALUATED = 12
"""Cases that are evaluated, the smallest of them."""


def lint(operator: Operator) -> tuple[Problem, ...]:
    """Return what drawn cases show of a definition that loads: its first problem, or none."""
    cases = draw_cases(operator, DRAWN, seed=0)
    if not cases:
        message = "no drawn case meets the conditions"
        hint = "correct 'require', or the bounds of attributes"
        return (Problem(operator.file, 1, 1, message, hint=hint),)
    return tuple(_failures(operator, sorted(cases, key=_size)[:EVALUATED]))[:1]


def _size(case: Case) -> tuple[int, str]:
    return sum(map(prod, case.shapes.values())), case.id


def _failures(operator: Operator, cases: list[Case]) -> Iterator[Problem]:
    for case in cases:
        inputs = dict(zip(operator.tensors, inputs_of(operator, case), strict=True))
        try:
            Evaluation(operator, case.attributes, inputs).outputs()
        except ConformanceError as error:
            message = f"a valid case has no value: {error.message} ({describe(operator, case)})"
            hint = "add a condition to 'require', or an 'outside'"
            yield Problem(operator.file, 1, 1, message, hint=hint)
