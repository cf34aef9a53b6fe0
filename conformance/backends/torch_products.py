"""Convolutions and products of matrices as calls of PyTorch's functions.

Attributes become arguments one to one, filters are brought to PyTorch's shape. Where one list of
pads cannot say what is asked, images are padded with zeros first. Windows and sizes are left to
PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from conformance.backends.torch_calls import translate_word
from conformance.dtypes import Array
from conformance.errors import Unsupported

Inputs = Sequence[Array | None]


@dataclass(frozen=True)
class TensorArgument:
    """An input as an argument of a function: reshaped, and its last two axes exchanged."""

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
    return _family(op) in TABLE


def call(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    """Return the call that computes ``op``.

    Raises:
        Unsupported: no call does.
    """
    return TABLE[_family(op)](inputs, attributes)


def _family(op: str) -> str:
    return op.rpartition("-")[0]


# The names of attributes in other dialects, and those of PyTorch's arguments.
ARGUMENTS = {
    "strides": "stride",
    "dilations": "dilation",
    "group": "groups",
    "output_padding": "output_padding",
}
PADDING = {
    "explicit": None,
    "NOTSET": None,
    "valid": "valid",
    "VALID": "valid",
    "same_upper": "same",
    "SAME_UPPER": "same",
}
"""The words for padding; None where numbers say it."""


def _as_spelled(function: str) -> Callable[[Inputs, Mapping[str, Any]], ProductCall]:
    """An operator of PyTorch's, whose attributes are the arguments of its function."""

    def build(inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
        name = function.format(axes=_axes(inputs) if "{axes}" in function else 0)
        return ProductCall(name, _all(inputs), dict(attributes))

    return build


def _convolution(inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    axes = _axes(inputs)
    keywords = _keywords(inputs, attributes)
    word = translate_word(PADDING, attributes.get("auto_pad", "explicit"))
    if word == "same" and set(attributes.get("strides", ())) - {1}:
        raise Unsupported("PyTorch pads by 'same' at stride 1 alone")
    if word is not None:
        return ProductCall(f"conv{axes}d", _all(inputs), {**keywords, "padding": word})
    begin, end = _pads(axes, attributes)
    if begin == end:
        return ProductCall(f"conv{axes}d", _all(inputs), {**keywords, "padding": begin})
    if min(begin + end) < 0:
        raise Unsupported("negative padding of the data would crop it")
    # PyTorch takes the pads in pairs, the last axis first.
    pairs = zip(reversed(begin), reversed(end), strict=True)
    pads = list(chain.from_iterable(pairs))
    return ProductCall(f"conv{axes}d", _all(inputs), keywords, pads)


def _transposed_convolution(inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    axes = _axes(inputs)
    keywords = _keywords(inputs, attributes)
    if attributes.get("output_shape") or (len(inputs) > 2 and _is_list(inputs[2])):
        raise Unsupported("PyTorch's functions take no size of the result")
    word = attributes.get("auto_pad", "explicit")
    if word in ("SAME_UPPER", "SAME_LOWER"):
        raise Unsupported("PyTorch's transposed convolutions know no automatic padding")
    begin, end = [0] * axes, [0] * axes
    if word in ("explicit", "NOTSET"):
        begin, end = _pads(axes, attributes)
    if begin != end:
        raise Unsupported("PyTorch takes the same from both ends of an axis")
    steps = zip(keywords.get("stride", []), keywords.get("dilation", []), strict=False)
    limits = [max(step) for step in steps] or [1] * axes
    extra = keywords.get("output_padding", [])
    if any(e >= limit for e, limit in zip(extra, limits, strict=False)):
        raise Unsupported("PyTorch has output_padding below the stride or the dilation")
    tensors = _all(inputs[:3])
    return ProductCall(f"conv_transpose{axes}d", tensors, {**keywords, "padding": begin})


def _grouped(
    build: Callable[[Inputs, Mapping[str, Any]], ProductCall],
) -> Callable[[Inputs, Mapping[str, Any]], ProductCall]:
    """An operator whose filters have groups as their first dimension."""

    def build_grouped(inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
        image, filters, *others = inputs
        assert filters is not None
        groups, channels, *rest = filters.shape
        flat = filters.reshape(groups * channels, *rest)
        product = build([image, flat, *others], {**attributes, "group": groups})
        first, _, *last = product.tensors
        tensors = (first, TensorArgument(1, flat.shape), *last)
        return ProductCall(product.function, tensors, product.keywords, product.pads)

    return build_grouped


def _matrix_product(inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    """A product of which either factor may be transposed; vectors stay as they are."""
    names = ("transpose_a", "transpose_b")
    tensors = tuple(
        TensorArgument(k, transposed=bool(attributes.get(name)) and _rank(inputs[k]) > 1)
        for k, name in enumerate(names)
    )
    return ProductCall("matmul", tensors)


def _affine_product(inputs: Inputs, attributes: Mapping[str, Any]) -> ProductCall:
    """A product of matrices with factors, of which one is for a matrix that is added."""
    left, right = (
        TensorArgument(k, transposed=attributes.get(name, 0) == 1)
        for k, name in enumerate(("transA", "transB"))
    )
    factors = {name: _number(attributes.get(name, 1)) for name in ("alpha", "beta")}
    if len(inputs) > 2 and inputs[2] is not None:
        return ProductCall("addmm", (TensorArgument(2), left, right), factors)
    if factors["alpha"] != 1:
        raise Unsupported("PyTorch has a factor only beside a matrix to add")
    return ProductCall("mm", (left, right))


TABLE: dict[str, Callable[[Inputs, Mapping[str, Any]], ProductCall]] = {
    "torch.conv": _as_spelled("conv{axes}d"),
    "torch.conv_transpose": _as_spelled("conv_transpose{axes}d"),
    "torch.linear": _as_spelled("linear"),
    "torch.matmul": _as_spelled("matmul"),
    "Convolution": _convolution,
    "GroupConvolution": _grouped(_convolution),
    "ConvolutionBackpropData": _transposed_convolution,
    "GroupConvolutionBackpropData": _grouped(_transposed_convolution),
    "MatMul": _matrix_product,
    "onnx.Conv": _convolution,
    "onnx.ConvTranspose": _transposed_convolution,
    "onnx.MatMul": _matrix_product,
    "onnx.Gemm": _affine_product,
}
"""What builds the call of each operator, by its name without a version."""


def _axes(inputs: Inputs) -> int:
    """The number of spatial axes, which the filters tell."""
    axes = _rank(inputs[1]) - 2
    if axes not in (1, 2, 3):
        raise Unsupported(f"PyTorch has no filters of rank {axes + 2}")
    return axes


def _rank(array: Array | None) -> int:
    return 0 if array is None else array.ndim


def _is_list(array: Array | None) -> bool:
    """Whether an input is a list of sizes, not a bias, which is of the type of the data."""
    return array is not None and array.dtype.kind == "i"


def _all(inputs: Inputs) -> tuple[TensorArgument | None, ...]:
    return tuple(
        None if array is None or (_is_list(array) and k == 2) else TensorArgument(k)
        for k, array in enumerate(inputs)
    )


def _keywords(inputs: Inputs, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that have other names elsewhere."""
    assert inputs[1] is not None
    kernel = list(attributes.get("kernel_shape", ()))
    if kernel and kernel != list(inputs[1].shape[2:]):
        raise Unsupported("PyTorch takes the shape of filters from them")
    return {ARGUMENTS[name]: attributes[name] for name in ARGUMENTS if name in attributes}


def _pads(axes: int, attributes: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The pads at the beginning and at the end of each axis."""
    if "pads_begin" in attributes:
        pads = [*attributes["pads_begin"], *attributes["pads_end"]]
    else:
        pads = list(attributes.get("pads", ())) or [0] * 2 * axes
    if len(pads) != 2 * axes:
        raise Unsupported("PyTorch has no argument for pads of other axes")
    return pads[:axes], pads[axes:]


def _number(value: float) -> float | int:
    """A number as PyTorch takes it beside whole numbers, too."""
    return int(value) if value == int(value) else value
