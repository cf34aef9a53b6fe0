"""JAX on the CPU: pools of OpenVINO, convolutions and products of matrices of all dialects.

Pools are made of lax.reduce_window. A mean is the sum of each window over its number of elements,
which is a sum over ones: so libraries for JAX write it (flax.linen.avg_pool). Windows, padding and
sums are left to JAX.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from math import prod
from typing import Any

from conformance.backends import onnx_model, products
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.products import (
    EXPLICIT,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    Convolution,
    Inputs,
)
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import Unsupported

OPERATORS = ("AvgPool-1", "MaxPool-1")
PRODUCTS = (*products.CONVOLUTIONS, *products.TRANSPOSED, *products.MATRIX_PRODUCTS)
PADDING = {VALID: "VALID", SAME_UPPER: "SAME", SAME_LOWER: "SAME_LOWER"}

NO_GROUPS = "conv_transpose has no groups"
EXCLUDED_PRODUCTS = (
    *products.excluding(["onnx.ConvTranspose"], "group != 1", NO_GROUPS),
    *products.excluding(["torch.conv_transpose"], "groups != 1", NO_GROUPS),
    *products.excluding(["GroupConvolutionBackpropData"], "G != 1", NO_GROUPS),
    *products.excluding(
        products.TRANSPOSED, "any(output_padding != 0)", "conv_transpose has no output_padding"
    ),
    *products.excluding_sizes("conv_transpose takes no size of the result"),
    *products.excluding(
        ["onnx.ConvTranspose"],
        "auto_pad in [same_upper, same_lower]",
        "conv_transpose pads by another rule",
    ),
)

CAPABILITIES = Capabilities(
    operators=(*OPERATORS, *(f"{family}-*" for family in PRODUCTS)),
    dtypes=("f16", "bf16", "f32", "f64"),
    excluding=(
        *(
            exclusion
            for op in OPERATORS
            for exclusion in (
                Exclusion(
                    op=op,
                    when="rounding_type != floor",
                    reason="reduce_window has windows that fit, and no more",
                ),
                Exclusion(
                    op=op,
                    when="any(pad_begin < 0 or pad_end < 0)",
                    reason="to reduce_window negative padding is a way to crop",
                ),
            )
        ),
        *EXCLUDED_PRODUCTS,
    ),
)


class Jax(StandaloneAdapter):
    """JAX on the CPU, compiled by XLA for each shape."""

    name = "jax"
    capabilities = CAPABILITIES

    def __init__(self) -> None:
        import jax

        self.version = require_version("jax", jax.__version__, oldest="0.4.20")
        from conformance.backends import standalone_jax

        self._calls = standalone_jax

    def environment(self) -> dict[str, str]:
        """Return the device, and the compiler's package, which a result may depend on."""
        import jaxlib

        return {"device": "CPU", "jaxlib": str(jaxlib.__version__)}

    def call(
        self,
        op: str,
        inputs: Sequence[Array],
        attributes: Mapping[str, Any],
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        if products.family(op) in PRODUCTS:
            return self._product(op, inputs, attributes)
        if op not in OPERATORS:
            raise Unsupported(f"{op} is not written with JAX's functions here")
        if attributes.get("rounding_type", "floor") != "floor":
            raise Unsupported("reduce_window has windows that fit, and no more")
        window = _window(attributes)
        if op == "MaxPool-1":
            return StandaloneCall(self._calls.max_pool, (window,))
        divisor = None if attributes["exclude-pad"] else prod(attributes["kernel"])
        return StandaloneCall(self._calls.avg_pool, (window, divisor))

    def _product(self, op: str, inputs: Inputs, attributes: Mapping[str, Any]) -> StandaloneCall:
        """The call of a convolution or a product of matrices."""
        family = products.family(op)
        if family in products.MATRIX_PRODUCTS:
            product = products.matrix_product(op, inputs, attributes)
            if products.stretches(op, inputs, product):
                raise Unsupported("arrays of JAX stretch, so nothing of a wrong shape is refused")
            return StandaloneCall(self._calls.multiply, astuple(product))
        convolution = products.convolution(op, inputs, attributes)
        is_transposed = family in products.TRANSPOSED
        _check_bias(inputs, convolution, convolution.filters[is_transposed])
        padding = _transposed_padding(op, convolution) if is_transposed else _padding(convolution)
        arguments: tuple[Any, ...] = (convolution.dilations, convolution.bias)
        if not is_transposed:
            arguments = (convolution.dilations, convolution.groups, convolution.bias)
        shared = (convolution.filters, convolution.strides, padding)
        function = self._calls.convolve_transposed if is_transposed else self._calls.convolve
        return StandaloneCall(function, (*shared, *arguments))


def _check_bias(inputs: Inputs, convolution: Convolution, channels: int) -> None:
    """Refuse a bias of another shape: JAX's convolutions have none, and sums stretch."""
    bias = None if convolution.bias is None else inputs[convolution.bias]
    if bias is not None and bias.shape != (channels,):
        raise Unsupported("convolutions of JAX have no bias that could be of a wrong shape")


def _padding(convolution: Convolution) -> str | list[tuple[int, int]]:
    if convolution.word != EXPLICIT and convolution.word not in PADDING:
        raise Unsupported(f"auto_pad {convolution.word} is no padding of JAX's")
    if convolution.word != EXPLICIT:
        return PADDING[convolution.word]
    if min(convolution.begin + convolution.end) < 0:
        raise Unsupported("to conv_general_dilated negative padding is a way to crop")
    return list(zip(convolution.begin, convolution.end, strict=True))


def _transposed_padding(op: str, convolution: Convolution) -> str | list[tuple[int, int]]:
    """The padding of the convolution that is reversed, where conv_transpose has the rest."""
    from jax.lax import conv_transpose

    if "use_consistent_padding" not in inspect.signature(conv_transpose).parameters:
        raise Unsupported("this conv_transpose takes no pads of what it reverses")
    if convolution.groups != 1:
        raise Unsupported("conv_transpose has no groups")
    no_extra = [0] * convolution.axes
    if convolution.has_size or convolution.output_padding != no_extra:
        raise Unsupported("conv_transpose takes no size of the result and no output_padding")
    if convolution.word == EXPLICIT:
        return _padding(convolution)
    # OpenVINO's words ask for no padding where no size is given, those of ONNX do.
    if convolution.word != VALID and op.startswith(onnx_model.PREFIX):
        raise Unsupported("conv_transpose pads by another rule")
    return [(0, 0)] * convolution.axes


def _window(attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    """Shape, strides and padding of the windows, batch and channel being axes like any other."""
    auto_pad = attributes.get("auto_pad", "explicit")
    padding: Any
    if auto_pad == "explicit":
        pads = list(zip(attributes["pads_begin"], attributes["pads_end"], strict=False))
        if len(pads) < max(len(attributes["pads_begin"]), len(attributes["pads_end"])):
            raise Unsupported("reduce_window takes pads in pairs, of a beginning and an end")
        padding = [(0, 0), (0, 0), *pads]
    elif auto_pad in PADDING:
        padding = PADDING[auto_pad]
    else:
        raise Unsupported(f"auto_pad {auto_pad} is no padding of JAX's")
    return (1, 1, *attributes["kernel"]), (1, 1, *attributes["strides"]), padding
