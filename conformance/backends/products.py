"""Convolutions and products of matrices of three dialects, in one form.

Names of attributes are translated, and nothing is computed: what a framework has no argument for,
its adapter refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.backends.capabilities import Exclusion
from conformance.dtypes import Array
from conformance.errors import Unsupported

Inputs = Sequence[Array | None]

CONVOLUTIONS = ("Convolution", "GroupConvolution", "onnx.Conv", "torch.conv")
TRANSPOSED = (
    "ConvolutionBackpropData",
    "GroupConvolutionBackpropData",
    "onnx.ConvTranspose",
    "torch.conv_transpose",
)
MATRIX_PRODUCTS = ("MatMul", "onnx.MatMul", "onnx.Gemm", "torch.matmul", "torch.linear")
"""Operators by their names without a version."""

GROUPED = ("GroupConvolution", "GroupConvolutionBackpropData")
"""Operators whose filters have the groups as their first dimension."""

AUTOMATIC = ("Convolution", "GroupConvolution", "onnx.Conv")
"""Convolutions with the attribute ``auto_pad``."""

BACKPROP = ("ConvolutionBackpropData", "GroupConvolutionBackpropData")
"""Transposed convolutions whose third input is the size of the result."""

EXPLICIT, VALID, SAME_UPPER, SAME_LOWER = "explicit", "valid", "same_upper", "same_lower"
WORDS = {"NOTSET": EXPLICIT, "same": SAME_UPPER}
"""What other dialects say for a word of padding; most differ in case alone."""

ONNX_WORDS = {EXPLICIT: "NOTSET"} | {w: w.upper() for w in (VALID, SAME_UPPER, SAME_LOWER)}


@dataclass(frozen=True)
class Convolution:
    """A convolution, perhaps transposed. ``filters`` is the shape of all filters in one group.

    ``begin`` and ``end`` are the pads of each axis where ``word`` is explicit. ``bias`` is the
    number of an input, ``has_size`` whether the sizes of the result are given.
    """

    filters: tuple[int, ...]
    strides: list[int]
    dilations: list[int]
    groups: int
    word: str
    begin: list[int]
    end: list[int]
    output_padding: list[int]
    bias: int | None
    has_size: bool

    @property
    def axes(self) -> int:
        """The number of spatial axes."""
        return len(self.filters) - 2


@dataclass(frozen=True)
class MatrixProduct:
    """A product of two matrices, of which some are transposed, and perhaps a sum.

    ``addend`` is the number of the input that is added.
    """

    transposed: tuple[bool, bool]
    addend: int | None = None
    alpha: float = 1
    beta: float = 1


def family(op: str) -> str:
    """Return the name of an operator without its version."""
    return op.rpartition("-")[0]


def excluding(families: Iterable[str], when: str, reason: str) -> tuple[Exclusion, ...]:
    """Exclude cases of operators; those of ONNX have its words of padding in the condition."""
    return tuple(Exclusion(reason, _in_words_of(name, when), op=f"{name}-*") for name in families)


def _in_words_of(family: str, when: str) -> str:
    if not family.startswith("onnx."):
        return when
    return re.sub(r"\w+", lambda match: ONNX_WORDS.get(match[0], match[0]), when)


def excluding_sizes(reason: str) -> tuple[Exclusion, ...]:
    """Exclude transposed convolutions to which the size of the result is given."""
    return (
        *excluding(["onnx.ConvTranspose"], "length(output_shape) > 0", reason),
        *excluding(BACKPROP, "has(output_shape)", reason),
    )


def convolution(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> Convolution:
    """Translate the attributes of a convolution.

    Raises:
        Unsupported: the attributes say what no framework takes.
    """
    weights = inputs[1]
    assert weights is not None
    filters = weights.shape
    groups = attributes.get("group", attributes.get("groups", 1))
    if family(op) in GROUPED:
        groups, channels, *rest = filters
        filters = (groups * channels, *rest)
    axes = len(filters) - 2
    if axes not in (1, 2, 3):
        raise Unsupported(f"{op} has filters of rank {len(filters)}")
    if list(attributes.get("kernel_shape", ())) not in ([], list(filters[2:])):
        raise Unsupported("frameworks take the shape of filters from them")
    padding = attributes.get("padding", 0)
    word = padding if isinstance(padding, str) else attributes.get("auto_pad", EXPLICIT)
    has_sizes_input = family(op) in TRANSPOSED and "." not in op
    third = inputs[2] if len(inputs) > 2 else None
    begin, end = _pads(axes, attributes)
    return Convolution(
        filters=tuple(filters),
        strides=_per_axis(axes, attributes, "strides", "stride"),
        dilations=_per_axis(axes, attributes, "dilations", "dilation"),
        groups=groups,
        word=WORDS.get(word, word.lower()),
        begin=begin,
        end=end,
        output_padding=_per_axis(axes, attributes, "output_padding", default=0),
        bias=2 if third is not None and not has_sizes_input else None,
        has_size=bool(attributes.get("output_shape")) or (has_sizes_input and third is not None),
    )


def matrix_product(op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> MatrixProduct:
    """Translate the attributes of a product of matrices; vectors are not transposed."""
    is_linear = family(op) == "torch.linear"
    flags = (
        attributes.get("transpose_a", attributes.get("transA", False)),
        attributes.get("transpose_b", attributes.get("transB", is_linear)),
    )
    left, right = (
        bool(flag) and array is not None and array.ndim > 1
        for flag, array in zip(flags, inputs, strict=False)
    )
    has_addend = len(inputs) > 2 and inputs[2] is not None
    return MatrixProduct(
        transposed=(left, right),
        addend=2 if has_addend else None,
        # ONNX stores them in f32, whatever the matrices are.
        alpha=float(np.float32(attributes.get("alpha", 1))),
        beta=float(np.float32(attributes.get("beta", 1))),
    )


def stretches(op: str, inputs: Inputs, product: MatrixProduct) -> bool:
    """Return whether arrays have shapes that only sums and products of arrays stretch to fit."""
    left, right, addend = (*inputs, None)[:3]
    assert left is not None
    assert right is not None
    if family(op) != "onnx.Gemm":
        return addend is not None and addend.shape != right.shape[:-1]
    if left.ndim != 2 or right.ndim != 2:
        return True
    added = () if addend is None else addend.shape
    total = left.shape[product.transposed[0]], right.shape[not product.transposed[1]]
    return len(added) > 2 or any(
        extent not in (1, full) for extent, full in zip(added[::-1], total[::-1], strict=False)
    )


def _per_axis(axes: int, attributes: Mapping[str, Any], *names: str, default: int = 1) -> list[int]:
    value = next((attributes[name] for name in names if name in attributes), default)
    return list(value) if isinstance(value, list | tuple) else [value] * axes


def _pads(axes: int, attributes: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The pads at the beginning and at the end of each axis."""
    if "padding" in attributes:
        numbers = {} if isinstance(attributes["padding"], str) else attributes
        return (_per_axis(axes, numbers, "padding", default=0),) * 2
    if "pads_begin" in attributes or "pads_end" in attributes:
        pads = [*attributes.get("pads_begin", ()), *attributes.get("pads_end", ())]
    else:
        pads = list(attributes.get("pads", ())) or [0] * 2 * axes
    if len(pads) != 2 * axes:
        raise Unsupported("there is no argument for pads of other axes")
    return pads[:axes], pads[axes:]
