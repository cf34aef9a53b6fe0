"""Conditions on cases, in words of their operator."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.core.binding import Binding
from conformance.core.case_conditions import CaseConditions
from conformance.core.operator_reader import read_operator
from conformance.specification import find_spec

CONV = find_spec("onnx.Conv-22")


def binding(x: tuple[int, ...], w: tuple[int, ...], **attributes: object) -> Binding:
    return Binding(CONV, attributes, {"X": x, "W": w})


CASES = [
    binding((1, 4, 5, 5), (2, 4, 3, 3)),
    binding((1, 4, 5, 5), (2, 2, 3, 3), group=2),
    binding((1, 4, 5, 5), (8, 1, 1, 3), group=4),
    binding((1, 4, 5, 5), (2, 4, 1, 1), strides=[2, 2], auto_pad="SAME_LOWER"),
    binding((1, 9, 5, 5), (2, 9, 1, 1), strides=[1, 2]),
]


def shared(*numbers: int) -> dict[str, list[int]]:
    """Return the conditions that some cases share, each with the cases in which it holds."""
    marks = np.isin(np.arange(len(CASES)), numbers)
    conditions = CaseConditions(CONV, CASES).of(marks)
    return {c.text: np.flatnonzero(c.holds).tolist() for c in conditions}


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([0], "all(kernel == 3 and strides == 1 and dilations == 1) and group == 1"),
        ([0, 1], "all(kernel == 3)"),
        ([1, 2], "group > 1"),
        ([2], "any(kernel != entry(kernel, 0))"),
        ([3], "auto_pad == SAME_LOWER"),
        ([3, 4], "any(strides > 1)"),
        ([4], "C > 8"),
    ],
)
def test_what_cases_share(numbers: list[int], text: str) -> None:
    assert shared(*numbers)[text] == numbers


def test_each_condition_can_be_read_again() -> None:
    """Its text holds in the cases that it says, and not in all."""
    for numbers in ([0, 1], [2], [3, 4]):
        for text, holding in shared(*numbers).items():
            values = [CASES[k].evaluate(CONV.condition(text)) for k in range(len(CASES))]
            holds = [all(v) if isinstance(v, tuple) else bool(v) for v in values]
            assert np.flatnonzero(holds).tolist() == holding, text
            assert set(numbers) <= set(holding) < set(range(len(CASES)))


ONE_NUMBER = read_operator("""
op: own.Pads
types: {T: [f32]}
attributes: {begin: {per: axis, default: 0, min: 0}, end: {per: axis, default: 0}}
dims: {size: {per: axis}}
inputs: [{name: X, type: T, shape: [size]}]
define: {Y: {at: {i: size}, value: "X[i]"}}
outputs: [{name: Y, type: T}]
profiles:
  one-number:
    when: min(begin) == max(begin) and all(begin == end)
    why: Many an interface takes one number.
""")


def test_profiles_are_conditions_with_a_name() -> None:
    pads = [([1, 1], [1, 1]), ([1, 2], [1, 2]), ([2, 2], [2, 3]), ([0, 0], [0, 0])]
    bindings = [Binding(ONE_NUMBER, {"begin": b, "end": e}, {"X": (9, 9)}) for b, e in pads]
    conditions = CaseConditions(ONE_NUMBER, bindings)
    wordings = {
        condition.wording: (condition.text, condition.holds.tolist())
        for marks in ([True, False, False, True], [False, True, True, False])
        for condition in conditions.of(np.array(marks))
        if condition.wording
    }
    when = "min(begin) == max(begin) and all(begin == end)"
    assert wordings == {
        "a case within the profile one-number": (when, [True, False, False, True]),
        "a case outside of the profile one-number": (f"not ({when})", [False, True, True, False]),
    }


def test_cases_that_do_not_fit_have_the_conditions_that_have_values_there() -> None:
    attributes = [{"begin": [-1, 2]}, {"begin": [-1]}, {"end": [1, 1], "begin": [1, 1]}]
    bindings = [Binding(ONE_NUMBER, a, {"X": (9, 9)}, tolerant=True) for a in attributes]
    marks = np.array([True, True, False])
    holding = {c.text: c.holds.tolist() for c in CaseConditions(ONE_NUMBER, bindings).of(marks)}
    assert holding["any(begin <= -1)"] == [True, True, False]
    assert holding["all(end == 0)"] == [True, True, False]
