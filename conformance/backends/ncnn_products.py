"""Convolutions and products of matrices as nets of one layer of ncnn's.

Filters and other operands are inputs of the net, so there are no weights to load. Layers have no
axis for the batch: images are computed one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.backends import products
from conformance.backends.products import (
    EXPLICIT,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    Convolution,
    Inputs,
)
from conformance.errors import Unsupported

CONVOLUTIONS = (*products.CONVOLUTIONS, *products.TRANSPOSED)
OF_TORCH = ("torch.conv", "torch.conv_transpose")
OPERATORS = (*CONVOLUTIONS, *products.MATRIX_PRODUCTS)
"""Operators by their names without a version."""

# The numbers that a net's text gives the parameters, the last axis first.
KERNEL, DILATION, STRIDE = (1, 11), (2, 12), (3, 13)
PAD_BEGIN, PAD_END, OUTPUT_PADDING = (4, 14), (15, 16), (18, 19)
OUTPUTS, HAS_BIAS, WEIGHT_COUNT, GROUPS = 0, 5, 6, 7
DYNAMIC, DYNAMIC_TRANSPOSED = 19, 28

AUTOMATIC = {SAME_UPPER: -233, SAME_LOWER: -234}
"""Words for padding, as numbers of pads."""

MAX_AXES = 2
"""The layers of three axes take filters from files only."""

MAX_IMAGES = 4096
"""Images of a batch, so that a vector is done in seconds: each is a call of its own."""

TOO_MANY_IMAGES = f"ncnn takes one image at a time, and no more than {MAX_IMAGES} are tried"

EXCLUDING = (
    *products.excluding(
        CONVOLUTIONS,
        f"length(size) > {MAX_AXES}",
        "ncnn's layers of three axes take filters from files only",
    ),
    *products.excluding(
        [name for name in CONVOLUTIONS if name not in OF_TORCH],
        f"N > {MAX_IMAGES}",
        TOO_MANY_IMAGES,
    ),
    *products.excluding(OF_TORCH, f"prod(batch) > {MAX_IMAGES}", TOO_MANY_IMAGES),
    *products.excluding_sizes("sizes of results are not written for ncnn here"),
    *products.excluding(
        ["onnx.ConvTranspose"],
        "auto_pad in [same_upper, same_lower]",
        "ncnn pads transposed convolutions to a given size alone",
    ),
    *products.excluding(
        ["MatMul", "onnx.MatMul", "torch.matmul"],
        "max(rank_of(A), rank_of(B)) > 4",
        "ncnn has blobs of one to four dimensions",
    ),
    *products.excluding(
        ["torch.linear"], "rank_of(input) > 4", "ncnn has blobs of one to four dimensions"
    ),
    *products.excluding(
        ["torch.linear"],
        "has(bias) and (rank_of(input) != 2 or rank_of(weight) != 2)",
        "ncnn adds to products of two matrices alone",
    ),
    *products.excluding(
        ["onnx.Gemm"],
        "has(C) and rank_of(C) == 0",
        "ncnn has blobs of one to four dimensions",
    ),
    *products.excluding(
        ["onnx.Gemm"],
        "has(C) and alpha != 1",
        "ncnn's alpha is a factor of what is added, too",
    ),
)
"""Cases that no layer computes."""


@dataclass(frozen=True)
class Net:
    """The text of a net, and the inputs of its blobs, with their shapes (None: as they are).

    ``transposed`` are the inputs whose last two axes are exchanged. In a ``batched`` net the first
    input has a dimension for the batch, which layers do not have. A result that ``is_scalar`` has
    a dimension in ncnn.
    """

    text: str
    shapes: tuple[tuple[int, tuple[int, ...] | None], ...]
    transposed: tuple[int, ...] = ()
    batched: bool = False
    is_scalar: bool = False


def net(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> Net:
    """Build the net that computes ``op``.

    Raises:
        Unsupported: no layer does.
    """
    family = products.family(op)
    if family in products.MATRIX_PRODUCTS:
        return _matrix_net(op, inputs, attributes)
    convolution = products.convolution(op, inputs, attributes)
    if convolution.axes > MAX_AXES:
        raise Unsupported("ncnn's layers of three axes take filters from files only")
    _check_arguments(convolution)
    image = inputs[0]
    assert image is not None
    is_batched = image.ndim == len(convolution.filters)
    if is_batched and len(image) > MAX_IMAGES:
        raise Unsupported(TOO_MANY_IMAGES)
    if family in products.TRANSPOSED:
        layer, parameters = "Deconvolution", _transposed_parameters(op, convolution)
        outputs = convolution.filters[1] * convolution.groups
    else:
        layer, parameters = "Convolution", _pads(convolution) | {DYNAMIC: 1}
        outputs = convolution.filters[0]
    parameters |= _shared_parameters(convolution) | {OUTPUTS: outputs}
    layer += "DepthWise" * (convolution.groups > 1) + "1D" * (convolution.axes == 1)
    blobs: list[tuple[int, tuple[int, ...] | None]] = [(0, None), (1, convolution.filters)]
    if convolution.bias is not None:
        blobs.append((convolution.bias, None))
    return Net(_text(layer, len(blobs), parameters), tuple(blobs), (), is_batched)


def _check_arguments(convolution: Convolution) -> None:
    """Raise Unsupported for what parameters of layers cannot say, right or wrong."""
    if convolution.word not in (EXPLICIT, VALID, *AUTOMATIC):
        raise Unsupported(f"auto_pad {convolution.word} is no padding of ncnn's")
    lists = [convolution.strides, convolution.dilations, convolution.output_padding]
    lists += [convolution.begin, convolution.end]
    if any(len(values) != convolution.axes for values in lists):
        raise Unsupported("ncnn has a number for each axis, and no list of others")
    if convolution.groups < 1:
        raise Unsupported("ncnn has a layer without groups and one of them, and none of 0 groups")


def _shared_parameters(convolution: Convolution) -> dict[int, float]:
    count = 1
    for extent in convolution.filters:
        count *= extent
    return {
        **_numbers(KERNEL, list(convolution.filters[2:])),
        **_numbers(DILATION, convolution.dilations),
        **_numbers(STRIDE, convolution.strides),
        HAS_BIAS: int(convolution.bias is not None),
        WEIGHT_COUNT: count,
        GROUPS: convolution.groups,
    }


def _pads(convolution: Convolution) -> dict[int, float]:
    if convolution.word in AUTOMATIC:
        number = [AUTOMATIC[convolution.word]] * convolution.axes
        return {**_numbers(PAD_BEGIN, number), **_numbers(PAD_END, number)}
    if convolution.word == VALID:
        return {}
    if min(convolution.begin + convolution.end) < 0:
        raise Unsupported("negative pads are words to ncnn")
    return {**_numbers(PAD_BEGIN, convolution.begin), **_numbers(PAD_END, convolution.end)}


def _transposed_parameters(op: str, convolution: Convolution) -> dict[int, float]:
    if convolution.has_size:
        raise Unsupported("sizes of results are not written for ncnn here")
    # OpenVINO's words ask for no padding where no size is given, those of ONNX do.
    if convolution.word not in (EXPLICIT, VALID) and op.startswith("onnx."):
        raise Unsupported("ncnn pads transposed convolutions to a given size alone")
    pads = _pads(convolution) if convolution.word == EXPLICIT else {}
    extra = _numbers(OUTPUT_PADDING, convolution.output_padding)
    return pads | extra | {DYNAMIC_TRANSPOSED: 1}


def _matrix_net(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> Net:
    product = products.matrix_product(op, inputs, attributes)
    ranks = [data.ndim for data in inputs if data is not None]
    if max(ranks) > 4 or min(ranks) < 1:
        raise Unsupported("ncnn has blobs of one to four dimensions")
    turned = tuple(k for k, is_transposed in enumerate(product.transposed) if is_transposed)
    factors = ((0, None), (1, None))
    if product.addend is None and product.alpha == 1:
        return Net(_text("MatMul", 2, {}), factors, turned, is_scalar=ranks[:2] == [1, 1])
    if ranks[:2] != [2, 2]:
        raise Unsupported("ncnn adds to products of two matrices alone")
    parameters = {0: product.alpha, 1: product.beta}
    if product.addend is None:
        return Net(_text("Gemm", 2, parameters), factors, turned)
    if product.alpha != 1:
        raise Unsupported("ncnn's alpha is a factor of what is added, too")
    return Net(_text("Gemm", 3, parameters), (*factors, (product.addend, None)), turned)


def _numbers(names: tuple[int, ...], values: list[int]) -> dict[int, float]:
    """Parameters of each axis, the last first."""
    return dict(zip(names, reversed(values), strict=False))


def _text(layer: str, inputs: int, parameters: Mapping[int, float]) -> str:
    """A net of a layer of blobs ``in0``, ``in1`` and so on, which gives the blob ``result``."""
    blobs = [f"in{k}" for k in range(inputs)]
    lines = ["7767517", f"{inputs + 1} {inputs + 1}"]
    lines += [f"Input {blob} 0 1 {blob}" for blob in blobs]
    values = " ".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    lines.append(f"{layer} layer {inputs} 1 {' '.join(blobs)} result {values}")
    return "\n".join(lines) + "\n"
