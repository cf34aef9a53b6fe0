"""Tensors that are stretched wrongly have their elements where a kernel's mistake puts them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from conformance.core.case_geometry import may_differ
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.implementation import implementation_of, mutated
from conformance.core.loader import load_operator
from conformance.core.mutant_changes import StretchChange
from conformance.core.stretch_mutants import RULES, stretch_mutants
from conformance.core.subject import Subject
from conformance.generate.cases import draw_cases

WRONG: list[tuple[str, tuple[int, ...], tuple[int, ...], Any]] = [
    ("cycled", (2, 1), (2, 3), [[0, 1, 0], [1, 0, 1]]),
    ("cycled", (2,), (2, 2), None),
    ("clamped", (2,), (3, 2), [[0, 1], [1, 1], [1, 1]]),
    ("clamped", (2, 1), (2, 2, 2), [[[0, 0], [1, 1]], [[1, 1], [1, 1]]]),
    ("clamped", (2, 1), (2, 3), None),
    ("from the left", (2,), (2, 2), [[0, 0], [1, 1]]),
    ("from the left", (2,), (3, 2), None),
    ("squeezed", (2, 1), (2, 2), [[0, 1], [0, 1]]),
    ("squeezed", (2, 1), (2, 3), None),
    ("without outer axes", (2, 1), (2, 2), [[0, 0], [0, 0]]),
    ("without outer axes", (2, 1, 2), (2, 2, 2), [[[0, 1], [0, 1]], [[0, 1], [0, 1]]]),
    ("without outer axes", (2,), (3, 2), None),
]


@pytest.mark.parametrize(("rule", "shape", "full", "expected"), WRONG)
def test_each_rule(rule: str, shape: tuple[int, ...], full: tuple[int, ...], expected: Any) -> None:
    operator = load_operator("onnx.Add-14")
    inputs = {
        "A": np.zeros(full, np.float32),
        "B": np.arange(prod(shape), dtype=np.float32).reshape(shape),
    }
    change = StretchChange("wrong", "B", rule)
    right = Evaluation(operator, {}, inputs)
    evaluation = mutated(right, implementation_of(operator, change), {})
    if expected is None:
        assert evaluation is None
    else:
        assert evaluation is not None
        assert evaluation.outputs()[0].tolist() == expected
        assert right.outputs()[0].tolist() == np.broadcast_to(inputs["B"], full).tolist()


@pytest.mark.parametrize("op", ["onnx.MatMul-13", "onnx.Gemm-13", "onnx.PRelu-16", "onnx.Max-13"])
def test_geometry_says_where_a_rule_matters(op: str) -> None:
    operator = load_operator(op)
    implementations = [
        implementation_of(operator, change) for change, _ in stretch_mutants(operator)
    ]
    assert len(implementations) % len(RULES) == 0
    assert implementations
    cases = [case for case in draw_cases(operator, 60, seed=5) if case.reject is None]
    marks = may_differ(operator, cases, implementations)
    assert marks.any()
    for case, row in zip(cases, marks, strict=True):
        subject = Subject(operator, case, inputs_of(operator, case))
        for implementation, may in zip(implementations, row, strict=True):
            assert may == (subject.computed(implementation) is not subject.outputs)
