"""The node tests of the onnx package, put to the reference with their attributes as they stand."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import conformance

pytestmark = pytest.mark.needs("onnx-reference")

POOLS = (
    *("AveragePool", "MaxPool", "LpPool"),
    *("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"),
)


@cache
def node_tests() -> dict[str, Any]:
    """The tests of one pooling operator each, by name."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tests of other operators overflow on purpose
        found = collect_testcases(None)
    nodes = {test.name: test for test in found if test.kind == "node"}
    return {n: t for n, t in nodes.items() if {x.op_type for x in t.model.graph.node} <= {*POOLS}}


def plain(value: Any) -> Any:
    """An attribute's value as a vector has it."""
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, int) else list(value)


def answers_as_expected(test: Any) -> bool:
    from onnx import defs, helper

    (node,) = test.model.graph.node
    version = test.model.opset_import[0].version
    since = defs.get_schema(node.op_type, version, "").since_version
    given = {one.name: plain(helper.get_attribute_value(one)) for one in node.attribute}
    for inputs, outputs in test.data_sets:
        answers = conformance.reference(f"onnx.{node.op_type}-{since}", list(inputs), given)
        # MaxPool's indices are an output that a model may leave out.
        for answer, expected in zip(answers, outputs, strict=len(outputs) > 1):
            np.testing.assert_allclose(answer, expected, rtol=test.rtol, atol=test.atol)
    return bool(test.data_sets)


def test_every_pooling_node_test_can_be_asked_as_it_stands() -> None:
    tests = node_tests()
    assert len(tests) >= 51
    asked = {one.name for test in tests.values() for one in test.model.graph.node[0].attribute}
    assert {"pads", "auto_pad", "dilations", "ceil_mode"} <= asked
    wrong = {}
    for name, test in tests.items():
        try:
            assert answers_as_expected(test)
        except (AssertionError, conformance.ConformanceError) as error:
            wrong[name] = str(error)
    assert wrong == {}
