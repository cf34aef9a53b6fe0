"""Convolutions and products of matrices as calls of PyTorch's functions.

Attributes become arguments one to one, filters are brought to PyTorch's shape. Where one list of
pads cannot say what is wanted, images are padded with zeros first. Windows and sizes are left to
PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from conformance.backends import products
from conformance.backends.products import EXPLICIT, SAME_UPPER, VALID, Convolution, Inputs
from conformance.errors import Unsupported


@dataclass(frozen=True)
class TensorArgument:
    """An input as an argument of a function: reshaped, or its last two axes exchanged."""

    index: int
    shape: tuple[int, ...] | None = None
    transposed: bool = False


@dataclass(frozen=True)
class ProductCall:
    """One call of a function of ``torch.nn.functional`` or ``torch`` on several tensors.

    ``pads`` are zeros to add to the first tensor before, in PyTorch's order.
    """

    function: str
    tensors: tuple[TensorArgument | None, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    pads: Sequence[int] = ()


def is_product(op: str) -> bool:
    """Return whether ``op`` is among the operators of :data:`TABLE`."""
    return products.family(op) in TABLE


def call(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    """Return the call that computes ``op``.

    Raises:
        Unsupported: no call does.
    """
    return TABLE[products.family(op)](op, inputs, attributes)


EXCLUDING = (
    *products.excluding(
        products.AUTOMATIC, "auto_pad == same_lower", "PyTorch has no 'same_lower'"
    ),
    *products.excluding(
        products.AUTOMATIC,
        "auto_pad == same_upper and any(strides != 1)",
        "PyTorch pads by 'same' at stride 1 alone",
    ),
    *products.excluding_sizes("PyTorch's functions take no size of the result"),
    *products.excluding(
        ["onnx.ConvTranspose"],
        "auto_pad in [same_upper, same_lower]",
        "PyTorch's transposed convolutions know no automatic padding",
    ),
    *products.excluding(
        ["onnx.ConvTranspose", *products.BACKPROP],
        "auto_pad == explicit and any(given_begin != given_end)",
        "PyTorch takes the same from both ends of an axis",
    ),
    *products.excluding(
        ["onnx.ConvTranspose", *products.BACKPROP],
        "any(output_padding >= max(strides, dilations))",
        "PyTorch has output_padding below the stride or the dilation",
    ),
    *products.excluding(
        ["onnx.Gemm"],
        "not has(C) and alpha != 1",
        "PyTorch has a factor only beside a matrix to add",
    ),
)
"""Cases that no call computes."""

Builder = Callable[[str, Inputs, Mapping[str, Any]], ProductCall]


def _as_spelled(function: str) -> Builder:
    """An operator of PyTorch's, whose attributes are the arguments of its function."""

    def build(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
        is_convolution = "{axes}" in function
        axes = products.convolution(op, inputs, attributes).axes if is_convolution else 0
        tensors = [None if data is None else TensorArgument(k) for k, data in enumerate(inputs)]
        return ProductCall(function.format(axes=axes), tuple(tensors), dict(attributes))

    return build


def _convolution(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    convolution = products.convolution(op, inputs, attributes)
    padding, pads = _padding(convolution)
    return _call(f"conv{convolution.axes}d", convolution, {"padding": padding}, pads)


def _padding(convolution: Convolution) -> tuple[list[int] | str, list[int]]:
    """The argument ``padding`` and the zeros added before, which together pad as wanted."""
    if convolution.word == SAME_UPPER and set(convolution.strides) != {1}:
        raise Unsupported("PyTorch pads by 'same' at stride 1 alone")
    if convolution.word in (SAME_UPPER, VALID):
        return ("same" if convolution.word == SAME_UPPER else "valid"), []
    if convolution.word != EXPLICIT:
        raise Unsupported(f"PyTorch has no '{convolution.word}'")
    if convolution.begin == convolution.end:
        return convolution.begin, []
    if min(convolution.begin + convolution.end) < 0:
        raise Unsupported("negative padding of the data would crop it")
    # PyTorch takes the pads in pairs, the last axis first.
    pairs = zip(reversed(convolution.begin), reversed(convolution.end), strict=True)
    return [0] * convolution.axes, list(chain.from_iterable(pairs))


def _transposed_convolution(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    convolution = products.convolution(op, inputs, attributes)
    if convolution.has_size:
        raise Unsupported("PyTorch's functions take no size of the result")
    # OpenVINO's words ask for no padding where no size is given, those of ONNX do.
    is_automatic = convolution.word not in (EXPLICIT, VALID)
    if is_automatic and op.startswith("onnx."):
        raise Unsupported("PyTorch's transposed convolutions know no automatic padding")
    padding = convolution.begin if convolution.word == EXPLICIT else [0] * convolution.axes
    if convolution.word == EXPLICIT and convolution.begin != convolution.end:
        raise Unsupported("PyTorch takes the same from both ends of an axis")
    steps = zip(
        convolution.output_padding, convolution.strides, convolution.dilations, strict=False
    )
    if any(extra >= max(step) for extra, *step in steps):
        raise Unsupported("PyTorch has output_padding below the stride or the dilation")
    keywords = {"padding": padding, "output_padding": convolution.output_padding}
    return _call(f"conv_transpose{convolution.axes}d", convolution, keywords, [])


def _call(
    function: str, convolution: Convolution, keywords: Mapping[str, Any], pads: list[int]
) -> ProductCall:
    settings = {
        "stride": convolution.strides,
        "dilation": convolution.dilations,
        "groups": convolution.groups,
    }
    bias = None if convolution.bias is None else TensorArgument(convolution.bias)
    tensors = (TensorArgument(0), TensorArgument(1, convolution.filters), bias)
    return ProductCall(function, tensors, {**settings, **keywords}, pads)


def _matrix_product(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    """A product, with factors if something is added."""
    product = products.matrix_product(op, inputs, attributes)
    factors = tuple(TensorArgument(k, None, turned) for k, turned in enumerate(product.transposed))
    if product.addend is not None:
        keywords = {"alpha": _number(product.alpha), "beta": _number(product.beta)}
        return ProductCall("addmm", (TensorArgument(product.addend), *factors), keywords)
    if product.alpha != 1:
        raise Unsupported("PyTorch has a factor only beside a matrix to add")
    return ProductCall("matmul", factors)


TABLE: dict[str, Builder] = {
    "torch.conv": _as_spelled("conv{axes}d"),
    "torch.conv_transpose": _as_spelled("conv_transpose{axes}d"),
    "torch.linear": _as_spelled("linear"),
    "torch.matmul": _as_spelled("matmul"),
    "Convolution": _convolution,
    "GroupConvolution": _convolution,
    "ConvolutionBackpropData": _transposed_convolution,
    "GroupConvolutionBackpropData": _transposed_convolution,
    "MatMul": _matrix_product,
    "onnx.Conv": _convolution,
    "onnx.ConvTranspose": _transposed_convolution,
    "onnx.MatMul": _matrix_product,
    "onnx.Gemm": _matrix_product,
}
"""What builds the call of each operator, by its name without a version."""


def _number(value: float) -> float | int:
    """A number as PyTorch takes it beside whole numbers, too."""
    return int(value) if value == int(value) else value
