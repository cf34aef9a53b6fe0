"""The node tests of ONNX for AveragePool and GlobalAveragePool, as questions to AvgPool-1."""

from __future__ import annotations

import warnings
from typing import Any

from onnx import helper, numpy_helper
from onnx.backend.test.case import node as node_tests
from onnx.backend.test.case.test_case import TestCase
from peer_cases import PeerCase, rounding

OPERATORS = ("AveragePool", "GlobalAveragePool")

ASKS = """
(explicitly and all((out - 1) * strides - pad_begin < size)
 or not explicitly and all(pads_begin == 0) and all(pads_end == 0)
    and all(out == where(same, ceil_div(size, strides), span // strides + 1)))
and not (counts_pads and any((out - 1) * strides - pad_begin + taps > padded_end))
"""
"""Which cases of AvgPool-1 AveragePool can ask, and answers alike. It has no pads beside auto_pad,
rounds VALID down and SAME up, drops windows that start in the end padding, and divides by the taps
on the padded input."""


def tests() -> list[TestCase]:
    """The node tests of the two operators, as the installed wheel generates them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tests of other operators overflow on purpose
        found = node_tests.collect_testcases()
    return [test for test in found if test.model.graph.node[0].op_type in OPERATORS]


def dilated(test: TestCase) -> bool:
    """Whether a test asks for dilations, which AvgPool-1 has not."""
    return any(step != 1 for step in _attributes(test).get("dilations", ()))


def mapped(test: TestCase) -> PeerCase:
    """One test without dilations as a case of AvgPool-1."""
    (inputs, outputs) = test.data_sets[0]
    data, expected = inputs[0], outputs[0]
    size = data.shape[2:]
    given = _attributes(test)
    if test.model.graph.node[0].op_type == "GlobalAveragePool":
        given = {"kernel_shape": size}
    kernel = list(given["kernel_shape"])
    strides = list(given.get("strides", [1] * len(size)))
    pads = list(given.get("pads", [0] * 2 * len(size)))
    begin, end = pads[: len(size)], pads[len(size) :]
    ceil = given.get("ceil_mode", 0) and rounding(
        size,
        expected.shape[2:],
        kernel,
        strides,
        [sum(both) for both in zip(begin, end, strict=True)],
    )
    auto_pad = given.get("auto_pad", b"NOTSET").decode().lower()
    return PeerCase(
        name=test.name,
        op="AvgPool-1",
        inputs=(data,),
        attributes={
            "kernel": kernel,
            "strides": strides,
            "pads_begin": begin,
            "pads_end": end,
            "exclude-pad": not given.get("count_include_pad", 0),
            "rounding_type": ceil or "floor",
            "auto_pad": "explicit" if auto_pad == "notset" else auto_pad,
        },
        expected=(expected,),
        rtol=test.rtol,
        atol=test.atol,
        bytes=_stored(test),
    )


def _attributes(test: TestCase) -> dict[str, Any]:
    node = test.model.graph.node[0]
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def _stored(test: TestCase) -> int:
    """Bytes of model.onnx and of the .pb files beside it, as ONNX writes them."""
    graph = test.model.graph
    pairs = [
        pair
        for inputs, outputs in test.data_sets
        for arrays, infos in ((inputs, graph.input), (outputs, graph.output))
        for pair in zip(arrays, infos, strict=True)
    ]
    tensors = (numpy_helper.from_array(array, info.name).ByteSize() for array, info in pairs)
    return test.model.ByteSize() + sum(tensors)
