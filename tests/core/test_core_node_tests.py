"""ONNX's own node tests of convolutions and matrix products agree with the core."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator, shipped_names
from conformance.core.real import Machine
from conformance.dtypes import DTYPES

pytestmark = pytest.mark.needs("onnx-reference")
OPS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


@pytest.fixture(scope="module")
def node_tests() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tests of other operators overflow on purpose
        tests = collect_testcases(None)
    nodes = [(test, test.model.graph.node) for test in tests]
    return [test for test, graph in nodes if len(graph) == 1 and graph[0].op_type in OPS]


def operator_for(op: str, opset: int) -> str:
    versions = [int(n.rpartition("-")[2]) for n in shipped_names() if n.startswith(f"onnx.{op}-")]
    return f"onnx.{op}-{max(v for v in versions if v <= opset)}"


def disagreements(test: Any) -> list[str]:
    from onnx.helper import get_attribute_value

    (node,) = test.model.graph.node
    operator = load_operator(operator_for(node.op_type, test.model.opset_import[0].version))
    values = {a.name: get_attribute_value(a) for a in node.attribute}
    attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}
    problems = []
    for inputs, (output,) in test.data_sets:
        given = dict(zip(operator.tensors, map(np.asarray, inputs), strict=False))
        evaluation = Evaluation(operator, attributes, given, Machine(DTYPES["f32"]))
        (interval,) = evaluation.intervals()
        if output.shape != interval.lo.shape:
            problems.append(f"{test.name}: {output.shape} and {interval.lo.shape}")
        elif not ((interval.lo <= output) & (output <= interval.hi)).all():
            problems.append(f"{test.name}: other values")
    return problems


def test_node_tests_agree(node_tests: list[Any]) -> None:
    assert len(node_tests) >= 35
    assert [problem for test in node_tests for problem in disagreements(test)] == []
