"""Elements of the same numbers are computed once, with the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core import distinct
from conformance.core.answers import answers, same
from conformance.core.data import inputs_of
from conformance.core.distinct import Distinct
from conformance.core.exact import number
from conformance.core.loader import load_operator
from conformance.model import Case

ROWS = distinct.FEW


@given(st.lists(st.sampled_from([-2, 0, 1, 5]), min_size=ROWS, max_size=2 * ROWS))
def test_every_element_gets_its_numbers_back(entries: list[int]) -> None:
    values, others = number(np.array(entries)), np.arange(len(entries)) % 2
    found = Distinct.of([values, others], values.num.shape)
    assert found is not None
    assert len(found.first) == len({*zip(entries, others.tolist(), strict=True)})
    assert found.of_each(found.one_of_each(values)).num.tolist() == entries


@pytest.mark.parametrize(
    ("entries", "count"), [(np.arange(ROWS), None), (np.zeros(ROWS - 1), None), (np.ones(ROWS), 1)]
)
def test_what_gains_nothing_is_left_alone(entries: Any, count: int | None) -> None:
    found = Distinct.of([number(entries.astype(int))], entries.shape)
    assert (found and len(found.first)) == count


@pytest.mark.parametrize(
    ("op", "shape", "pattern", "attributes"),
    [
        ("onnx.Gelu-20", (150,), "whole", {}),
        ("onnx.Selu-6", (3, 100), "special", {"alpha": 0.5}),
        ("onnx.Softmax-13", (40, 5), "signs", {}),
        ("onnx.ReduceLogSumExp-13", (5, 60), "special", {"axes": [1]}),
    ],
)
def test_answers_are_the_same(
    op: str, shape: tuple[int, ...], pattern: str, attributes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = load_operator(op)
    (tensor,) = operator.inputs
    case = Case(op, {"T": "f32"}, {tensor.name: shape}, attributes, {}, pattern, seed=1)
    inputs = inputs_of(operator, case)
    at_once = answers(operator, case, inputs)
    monkeypatch.setattr(distinct, "FEW", 1 << 40)
    assert same(at_once, answers(operator, case, inputs))
