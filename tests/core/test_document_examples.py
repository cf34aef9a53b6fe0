"""Sizes of results that the documents of operators give as examples."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.binding import Binding
from conformance.core.loader import load_operator

TRANSPOSED = "ConvolutionBackpropData-1"


def pads(begin: int, end: int) -> dict[str, list[int]]:
    return {"pads_begin": [begin] * 2, "pads_end": [end] * 2, "dilations": [1, 1]}


@pytest.mark.parametrize(
    ("op", "attributes", "x", "w", "output_shape", "out"),
    [
        # OpenVINO, ConvolutionBackpropData-1, examples 1 to 3.
        (TRANSPOSED, {"strides": [2, 2], **pads(1, 1)}, 224, (20, 10, 3, 3), None, 447),
        (
            TRANSPOSED,
            {"strides": [3, 3], "output_padding": [2, 2], **pads(0, 0)},
            2,
            (20, 10, 3, 3),
            None,
            8,
        ),
        (
            TRANSPOSED,
            {"strides": [1, 1], "auto_pad": "valid", **pads(1, 1)},
            224,
            (20, 10, 3, 3),
            (450, 450),
            450,
        ),
        # OpenVINO, GroupConvolutionBackpropData-1, the example.
        (
            "GroupConvolutionBackpropData-1",
            {"strides": [2, 2], **pads(1, 1)},
            224,
            (4, 5, 2, 3, 3),
            None,
            447,
        ),
        # PyTorch, ConvTranspose2d, the example of output_size by output_padding.
        (
            "torch.conv_transpose-2",
            {"stride": 2, "padding": 1, "output_padding": 1},
            6,
            (20, 16, 3, 3),
            None,
            12,
        ),
    ],
)
def test_sizes_of_the_documents(
    op: str,
    attributes: dict[str, Any],
    x: int,
    w: tuple[int, ...],
    output_shape: tuple[int, ...] | None,
    out: int,
) -> None:
    operator = load_operator(op)
    image, filters, *_ = operator.tensors
    operands = {} if output_shape is None else {"output_shape": output_shape}
    binding = Binding(operator, attributes, {image: (1, 20, x, x), filters: w}, operands)
    assert binding.violations() == ()
    assert binding.value("out") == (out, out)
