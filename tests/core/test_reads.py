"""What an element of an output reads: by hand, and by changing one element at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_operators import operator

from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator
from conformance.core.operator import Operator
from conformance.core.operator_reader import read_operator
from conformance.core.reads import Element, ElementReads, TensorReads, reads_of
from conformance.dtypes import Array

GATHER = """
op: own.Gather
types: {T: [f32]}
dims: {N: {}, K: {}}
inputs:
  - {name: data, type: T, shape: [N]}
  - {name: at, type: i64, shape: [K]}
define:
  Y:
    at: {k: K}
    value: data[at[k]]
outputs: [{name: Y, type: T}]
"""


def reads(
    operator: Operator, inputs: dict[str, Array], index: tuple[int, ...], **attributes: Any
) -> ElementReads:
    return reads_of(Evaluation(operator, attributes, inputs), operator.outputs[0], index)


def by_tensor(element: ElementReads) -> dict[str, TensorReads]:
    return {reads.tensor: reads for reads in element.tensors}


def texts(terms: tuple[tuple[Element, ...], ...]) -> list[list[str]]:
    return [[str(element) for element in term] for term in terms]


def counted(reads: TensorReads) -> dict[tuple[int, ...], int]:
    return dict(zip(map(tuple, reads.positions.tolist()), reads.counts.tolist(), strict=True))


def ones(*shape: int) -> Array:
    return np.ones(shape, np.float32)


def test_a_convolution_in_its_corner() -> None:
    inputs = {"X": ones(1, 2, 5, 5), "W": ones(2, 1, 3, 3), "B": ones(2)}
    conv = load_operator("onnx.Conv-22")
    element = reads(conv, inputs, (0, 1, 0, 2), group=2, pads=[1, 1, 1, 1])
    tensors = by_tensor(element)
    assert counted(tensors["X"]) == {(0, 1, i, j): 1 for i in (0, 1) for j in (1, 2, 3)}
    assert tensors["X"].padding.tolist() == [[0, 1, -1, j] for j in (1, 2, 3)]
    # The first row of the filter meets nothing but padding.
    assert counted(tensors["W"]) == {(1, 0, i, j): 1 for i in (1, 2) for j in (0, 1, 2)}
    assert counted(tensors["B"]) == {(1,): 1}
    assert element.term_count == 6
    assert texts(element.terms(2)) == [
        ["X[0, 1, 0, 1]", "W[1, 0, 1, 0]"],
        ["X[0, 1, 0, 2]", "W[1, 0, 1, 1]"],
    ]
    assert texts(element.partners(Element("X", (0, 1, 1, 3)))) == [["W[1, 0, 2, 2]"]]
    assert texts(element.partners(Element("W", (1, 0, 2, 2)))) == [["X[0, 1, 1, 3]"]]
    assert element.partners(Element("X", (0, 0, 0, 0))) == ()


def test_a_transposed_product_of_matrices() -> None:
    inputs = {"A": ones(3, 2), "B": ones(4, 3, 5)}
    element = reads(load_operator("MatMul-1"), inputs, (2, 1, 4), transpose_a=True)
    tensors = by_tensor(element)
    assert counted(tensors["A"]) == {(k, 1): 1 for k in range(3)}
    assert counted(tensors["B"]) == {(2, k, 4): 1 for k in range(3)}
    assert texts(element.partners(Element("A", (2, 1)))) == [["B[2, 2, 4]"]]


def test_a_mean_that_a_definition_reads() -> None:
    element = reads(operator("LayerNormalization"), {"X": ones(2, 3), "Scale": ones(3)}, (1, 2))
    tensors = by_tensor(element)
    # Through itself, the mean beside it, and the spread: each deviation and its mean.
    assert counted(tensors["X"]) == {(1, 0): 5, (1, 1): 5, (1, 2): 6}
    assert counted(tensors["Scale"]) == {(2,): 1}
    assert (element.terms(1), element.term_count) == ((), 0)


def test_indices_in_a_tensor_are_read_too() -> None:
    inputs = {"data": ones(5), "at": np.array([3, 0])}
    tensors = by_tensor(reads(read_operator(GATHER), inputs, (0,)))
    assert (counted(tensors["data"]), counted(tensors["at"])) == ({(3,): 1}, {(0,): 1})


def test_terms_that_do_not_count_read_nothing() -> None:
    inputs = {"X": ones(1, 1, 3), "W": ones(1, 1, 3)}
    element = reads(load_operator("onnx.ConvTranspose-22"), inputs, (0, 0, 3), strides=[2])
    assert [counted(tensor) for tensor in element.tensors] == [{(0, 0, 1): 1}, {(0, 0, 1): 1}]


SUM = """
op: own.Sum
types: {T: [f32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define:
  Y: {at: {}, over: {k: N}, term: "X[k]", combine: sum}
outputs: [{name: Y, type: T}]
"""


def test_tensors_without_dimensions() -> None:
    element = reads(operator("Gemm"), {"A": ones(1, 2), "B": ones(2, 1), "C": ones()}, (0, 0))
    assert counted(element.tensors[2]) == {(): 1}
    element = reads(read_operator(SUM), {"X": ones(3)}, ())
    assert counted(element.tensors[0]) == {(0,): 1, (1,): 1, (2,): 1}


def test_an_element_of_a_large_case() -> None:
    inputs = {"X": ones(8, 64, 128, 128), "W": ones(64, 64, 3, 3)}
    element = reads(load_operator("onnx.Conv-22"), inputs, (7, 63, 125, 125))
    assert [len(tensor.positions) for tensor in element.tensors] == [64 * 9, 64 * 9]
    assert element.tensors[0].positions[-1].tolist() == [7, 63, 127, 127]


@pytest.mark.parametrize("index", [(0,), (0, 0, 0), (2, 0), (0, -1)])
def test_an_index_that_is_none(index: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no element"):
        reads(operator("MatMul"), {"A": ones(2, 3), "B": ones(3, 2)}, index)


FOUR = {"scale": (3,), "B": (3,), "mean": (3,), "var": (3,)}
SMALL = {
    "AveragePool": (
        {"X": (1, 2, 5, 4)},
        {"kernel": 3, "strides": 2, "pads_begin": 1},
        (0, 1, 0, 0),
    ),
    "BatchNormalization": ({"X": (2, 3, 2), **FOUR}, {}, (1, 2, 0)),
    "ConvTranspose": ({"X": (1, 4, 3), "W": (4, 2, 2)}, {"strides": 2, "group": 2}, (0, 3, 2)),
    "Gemm": ({"A": (3, 2), "B": (3, 4), "C": (4,)}, {"transA": True}, (1, 3)),
    "ReduceMean": ({"X": (2, 3, 4)}, {"axes": [1], "keepdims": False}, (1, 3)),
    "Softmax": ({"X": (2, 3)}, {}, (1, 1)),
}
"""Shapes, attributes, and the index of an element."""


@pytest.mark.parametrize("name", SMALL)
def test_nothing_else_changes_the_element(name: str) -> None:
    """NaN in an element shows in the output just where the element is read."""
    shapes, attributes, index = SMALL[name]
    op, rng = operator(name), np.random.default_rng(0)
    inputs = {n: rng.uniform(1, 2, s).astype(np.float32) for n, s in shapes.items()}
    tensors = by_tensor(reads(op, inputs, index, **attributes))
    for tensor, array in inputs.items():
        for at in np.ndindex(array.shape):
            changed = {**inputs, tensor: array.copy()}
            changed[tensor][at] = np.nan
            (output,) = Evaluation(op, attributes, changed).outputs(wide=True)
            assert np.isnan(output[index]) == (at in counted(tensors[tensor])), (tensor, at)
