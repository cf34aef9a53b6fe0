"""Conditions on cases, in words of their operator."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.core.binding import Binding
from conformance.core.case_conditions import CaseConditions
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
