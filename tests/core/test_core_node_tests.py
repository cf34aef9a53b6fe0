"""ONNX's own node tests of what is no pool agree with the core."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from conformance.core.answers import interpreted
from conformance.core.evaluate import Evaluation, Interval
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator import Operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES

pytestmark = pytest.mark.needs("onnx-reference")
OPS = {name.removeprefix("onnx.").rpartition("-")[0] for name in shipped_names()}
WRITTEN = ("test_gridsample",)
"""Tests whose outputs are decimals of four digits, not what any machine computes."""

POOLS = re.compile("(Global)?(Average|Max|Lp)Pool")


@pytest.fixture(scope="module")
def node_tests() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tests of other operators overflow on purpose
        tests = collect_testcases(None)
    nodes = [(test, test.model.graph.node) for test in tests]
    return [
        test
        for test, (node, *others) in nodes
        if not others
        and node.op_type in OPS
        and not POOLS.match(node.op_type)
        and test.name not in WRITTEN
    ]


def operator_for(op: str, opset: int) -> str | None:
    versions = [int(n.rpartition("-")[2]) for n in shipped_names() if n.startswith(f"onnx.{op}-")]
    version = max((v for v in versions if v <= opset), default=None)
    return None if version is None else f"onnx.{op}-{version}"


def has_type(operator: Operator, given: tuple[str, Any]) -> bool:
    name, array = given
    variable = operator.tensors[name].type
    names = operator.types.get(variable, (variable,))
    return array.dtype in [DTYPES[dtype].numpy for dtype in names]


def has_rank(operator: Operator, given: tuple[str, Any]) -> bool:
    name, array = given
    tensor = operator.tensors[name]
    return any(
        tensor.broadcast or any(item.kind.per for item in shape) or len(shape) == array.ndim
        for shape in tensor.shapes
    )


def compared(test: Any) -> list[str]:
    """Compare the outputs of a test with ours: what differs, or an empty text, of each."""
    from onnx.helper import get_attribute_value

    (node,) = test.model.graph.node
    name = operator_for(node.op_type, test.model.opset_import[0].version)
    if name is None:
        return []  # Split as it was before ours
    operator = load_operator(name)
    values = {a.name: get_attribute_value(a) for a in node.attribute}
    attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}
    newer = attributes.keys() - operator.spelled.keys()
    words = {name: operator.spelled[name].values for name in attributes.keys() - newer}
    others = (values and attributes[name] not in values for name, values in words.items())
    if any(others) or any(attributes.pop(name) for name in newer):
        return []  # what a newer version has, as Pad has from opset 19 on, or ours does not
    results = []
    for inputs, outputs in test.data_sets:
        if node.op_type.startswith("Reduce") and len(inputs) > len(operator.inputs):
            attributes["axes"] = np.asarray(inputs.pop()).tolist()  # an attribute until opset 18
        if len(inputs) > len(operator.inputs) or len(operator.outputs) not in (1, len(outputs)):
            continue  # axes of Pad, and more or fewer tensors than ours have
        tensors = (t for t, name in zip(operator.inputs, node.input, strict=False) if name)
        given = {t.name: np.asarray(array) for t, array in zip(tensors, inputs, strict=False)}
        if not isinstance(inputs[0], np.ndarray):
            continue  # floats of 8 bits and whole numbers of 4, which ours do not have
        if not inputs[0].size or not all(map(has_type, repeat(operator), given.items())):
            continue  # what opset 20 adds, and types that ours do not have
        if not all(map(has_rank, repeat(operator), given.items())):
            continue  # volumes that are sampled, which ours are not
        if node.op_type == "Mod" and inputs[0].dtype.kind == "f" and not attributes.get("fmod"):
            continue  # what opset 28 adds
        # A test may follow a reading of the document.
        readings = [entry.name for entry in operator.interpretations if entry.change]
        differing = [differences(operator, attributes, given, outputs)]
        while any(differing[-1]) and readings:
            read = interpreted(operator, (readings.pop(),))
            differing.append(differences(read, attributes, given, outputs))
        best = min(differing, key=any)
        results += [differs and f"{test.name}: {differs}" for differs in best]
    return results


def differences(
    operator: Operator, attributes: Any, given: Any, outputs: Sequence[Any]
) -> list[str]:
    """Return what is wrong with each output of a test; an empty text where nothing is."""
    evaluation = Evaluation(operator, attributes, given, Machine(DTYPES["f32"]))
    return [
        difference(interval, output)
        for interval, output in zip(evaluation.intervals(), outputs, strict=False)
    ]


def difference(interval: Interval, output: Any) -> str:
    if output.shape != interval.lo.shape:
        return f"{output.shape} and {interval.lo.shape}"
    inside = (interval.lo <= output) & (output <= interval.hi) | interval.unspecified
    return "" if inside.all() else "other values"


def test_node_tests_agree(node_tests: list[Any]) -> None:
    results = [result for test in node_tests for result in compared(test)]
    assert len(results) >= 390
    assert list(filter(None, results)) == []
