"""What is drawn of an element: bounded, the parts that are read with what is around them."""

from __future__ import annotations

import numpy as np
import pytest
from core_operators import operator

from conformance.codec import to_json
from conformance.core.data import inputs_of
from conformance.core.element_picture import drawn_positions, element_picture
from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator, shipped_names
from conformance.generate.cases import draw_cases
from conformance.log.detail import ElementPicture, ReadSlice, ReadTensor, parse_detail
from conformance.report.element_picture import element_pictures


def test_a_convolution_in_its_corner() -> None:
    conv = load_operator("onnx.Conv-22")
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) / 4
    inputs = {"X": x, "W": np.ones((1, 1, 2, 2), np.float32)}
    picture = element_picture(
        Evaluation(conv, {"pads": [1, 1, 0, 0]}, inputs), conv.outputs[0], (0, 0, 0, 1)
    )
    assert picture == ElementPicture(
        output="Y",
        index=(0, 0, 0, 1),
        tensors=(
            ReadTensor(
                name="X",
                shape=(1, 1, 3, 4),
                elements=2,
                padding=2,
                of_slices=1,
                slices=(
                    ReadSlice(
                        at=(0, 0),
                        rows=(-1, 0, 1, 2),
                        columns=(0, 1, 2, 3),
                        counts=((1, 1, 0, 0), (1, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)),
                        values=(
                            ("", "", "", ""),
                            ("0", "0.25", "0.5", "0.75"),
                            ("1", "1.25", "1.5", "1.75"),
                            ("2", "2.25", "2.5", "2.75"),
                        ),
                    ),
                ),
            ),
            ReadTensor(
                name="W",
                shape=(1, 1, 2, 2),
                elements=2,
                padding=0,
                of_slices=1,
                slices=(
                    ReadSlice(
                        at=(0, 0),
                        rows=(0, 1),
                        columns=(0, 1),
                        counts=((0, 0), (1, 1)),
                        values=(("1", "1"), ("1", "1")),
                    ),
                ),
            ),
        ),
        of_terms=2,
        terms=(("X[0, 0, 0, 0]", "W[0, 0, 1, 0]"), ("X[0, 0, 0, 1]", "W[0, 0, 1, 1]")),
    )


def test_a_vector_is_a_row() -> None:
    mean = operator("ReduceMean")
    evaluation = Evaluation(mean, {"keepdims": False}, {"X": np.array([1, np.inf], np.float16)})
    (tensor,) = element_picture(evaluation, mean.outputs[0], ()).tensors
    assert tensor.shape == (2,)
    assert tensor.slices[0].rows == (0,)
    assert tensor.slices[0].values == (("1", "inf"),)


def test_a_large_case_has_a_small_picture() -> None:
    conv = load_operator("onnx.Conv-22")
    inputs = {"X": np.ones((1, 64, 40, 40), np.float32), "W": np.ones((1, 64, 31, 31), np.float32)}
    evaluation = Evaluation(conv, {}, inputs)
    picture = element_picture(evaluation, conv.outputs[0], (0, 0, 5, 5))
    assert [len(tensor.slices) for tensor in picture.tensors] == [4, 4]
    assert picture.tensors[0].of_slices == 64
    assert len(str(to_json(picture))) < 20_000
    assert parse_detail({"reads": to_json(picture)}).reads == picture


@pytest.mark.parametrize(
    ("read", "size", "drawn"),
    [
        ([0, 1, 2], 4, (0, 1, 2, 3)),
        ([-1, 0, 1], 3, (-1, 0, 1, 2)),
        ([50, 52], 100, (0, 48, 49, 50, 51, 52, 53, 54, 99)),
        ([0, 40, 80], 81, (0, 40, 80)),
        (range(100), 100, (0, 1, 2, 3, 4, 96, 97, 98, 99)),
        ([-1], 0, (-1,)),
    ],
)
def test_positions_that_are_drawn(read: list[int], size: int, drawn: tuple[int, ...]) -> None:
    assert drawn_positions(read, size) == drawn


@pytest.mark.parametrize("op", shipped_names())
def test_any_case_of_any_operator_is_drawn(op: str) -> None:
    spec = load_operator(op)
    output = spec.outputs[0]
    for case in draw_cases(spec, 8, seed=1):
        inputs = dict(zip(spec.tensors, inputs_of(spec, case), strict=True))
        evaluation = Evaluation(spec, case.attributes, inputs)
        (expected, *_) = evaluation.outputs()
        last = tuple(size - 1 for size in expected.shape)
        picture = element_picture(evaluation, output, last)
        assert parse_detail({"reads": to_json(picture)}).reads == picture
        assert len(element_pictures(picture)) == len(picture.tensors)
        assert sum(tensor.elements for tensor in picture.tensors) > 0 or not picture.of_terms
