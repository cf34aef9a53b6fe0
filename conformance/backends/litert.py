"""LiteRT's pools and convolutions on the CPU, by XNNPACK or by its own kernels.

Each vector becomes a model of one operator. Data of pools have the channels last, as declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from conformance.backends import products
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.options import Option
from conformance.backends.products import CONVOLUTIONS, Inputs
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_features
from conformance.dtypes import Array
from conformance.errors import Unsupported

SAME, VALID = 0, 1
PADDING = {"same_upper": SAME, "SAME_UPPER": SAME, "valid": VALID, "VALID": VALID}

# By operator, those of its attributes that may ask for what LiteRT's pools have no word for.
POOLS: dict[str, tuple[str, ...]] = {
    "AvgPool-1": ("rounding_type", "exclude_pad"),
    "AvgPool-14": ("rounding_type", "exclude_pad"),
    "AvgPool-16": ("rounding_type", "exclude_pad", "dilations"),
    "MaxPool-1": ("rounding_type",),
    "onnx.AveragePool-7": ("count_include_pad",),
    "onnx.AveragePool-10": ("ceil_mode", "count_include_pad"),
    "onnx.AveragePool-11": ("ceil_mode", "count_include_pad"),
    "onnx.AveragePool-19": ("ceil_mode", "count_include_pad", "dilations"),
    "onnx.AveragePool-22": ("ceil_mode", "count_include_pad", "dilations"),
}
REDUCTIONS = {"onnx.GlobalAveragePool": "MEAN", "onnx.GlobalMaxPool": "REDUCE_MAX"}

_NO_PADS = "padding is SAME or VALID, and has no numbers"
_LEFT_OUT, _NEVER_COUNTED = "windows that overrun are left out", "padding is never counted"
_LACKING = {
    "rounding_type": ("rounding_type != floor", _LEFT_OUT),
    "ceil_mode": ("ceil_mode != 0", _LEFT_OUT),
    "exclude_pad": ("not exclude_pad and auto_pad == same_upper", _NEVER_COUNTED),
    "count_include_pad": ("count_include_pad == 1 and upper", _NEVER_COUNTED),
    "dilations": ("any(dilations != 1)", "pools have no dilation"),
}


def _excluding() -> list[Exclusion]:
    exclusions = []
    for op, attributes in POOLS.items():
        if op.startswith("onnx."):
            conditions = [
                ("same and not upper", "padding is SAME or VALID"),
                ("any(given_begin != 0 or given_end != 0)", _NO_PADS),
            ]
        else:
            padded = "auto_pad == explicit and any(pads_begin != 0 or pads_end != 0)"
            conditions = [
                ("auto_pad not in [explicit, valid, same_upper]", "padding is SAME or VALID"),
                (padded, _NO_PADS),
            ]
        conditions += [_LACKING[attribute] for attribute in attributes]
        exclusions += [Exclusion(op=op, when=when, reason=reason) for when, reason in conditions]
    return [*exclusions, *_excluded_convolutions()]


def _excluded_convolutions() -> Iterator[Exclusion]:
    padded = "auto_pad == explicit and any(pad_begin != 0 or pad_end != 0)"
    yield from products.excluding(CONVOLUTIONS, "length(size) != 2", "CONV_2D has two axes")
    yield from products.excluding(["torch.conv"], "length(batch) == 0", "CONV_2D has a batch")
    yield from products.excluding(products.AUTOMATIC, padded, _NO_PADS)
    yield from products.excluding(["torch.conv"], "not same and any(padding != 0)", _NO_PADS)
    lower = "auto_pad == same_lower"
    yield from products.excluding(products.AUTOMATIC, lower, "padding is SAME or VALID")


CAPABILITIES = Capabilities(
    operators=(*POOLS, *(f"{name}-*" for name in (*REDUCTIONS, *CONVOLUTIONS))),
    dtypes=("f32",),
    ranks=(4,),
    excluding=tuple(_excluding()),
    layout=("NHWC",),
)

RESOLVERS = {"xnnpack": "AUTO", "none": "BUILTIN_WITHOUT_DEFAULT_DELEGATES"}
"""By the option ``delegate`` the member of OpResolverType that says which kernels there are."""

DELEGATE = Option(
    "delegate",
    "xnnpack: its kernels, where it has some. none: LiteRT's own kernels.",
    default="xnnpack",
    choices=tuple(RESOLVERS),
)


class LiteRT(StandaloneAdapter):
    """LiteRT on the CPU, with XNNPACK or with its own kernels."""

    name = "litert"
    capabilities = CAPABILITIES
    options = (DELEGATE,)

    def __init__(self, *, delegate: str = "xnnpack") -> None:
        self.version = version("ai-edge-litert")
        require_features(
            "ai-edge-litert",
            self.version,
            ai_edge_litert__schema_py_generated=find_spec("ai_edge_litert.schema_py_generated"),
            flatbuffers=find_spec("flatbuffers"),
        )
        from conformance.backends import standalone_litert

        self._calls = standalone_litert
        self._resolver = RESOLVERS[delegate]

    def environment(self) -> dict[str, str]:
        """Return device, threads, and whose kernels run a pool of 3 x 3."""
        operator = pool("AVERAGE_POOL_2D", [3, 3], [1, 1], SAME)
        kernels = "XNNPACK" if self.delegates(operator, (1, 4, 4, 1)) else "LiteRT's own"
        return {"device": "CPU", "threads": "1", "kernels": kernels}

    def delegates(self, operator: LiteRTOperator, shape: Sequence[int]) -> bool:
        """Return whether a delegate takes an operator on data of that shape."""
        # There is no public way to ask.
        model = self._calls.operator_model(*operator, shape)
        details = self._calls.make_interpreter(model, self._resolver)._get_ops_details()
        return "DELEGATE" in {node["op_name"] for node in details}

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        if products.family(op) in CONVOLUTIONS:
            arguments = _convolution(op, inputs, attributes)
            return StandaloneCall(self._calls.run_convolution, (*arguments, self._resolver))
        model = StandaloneCall(
            self._calls.operator_model, (*_operator(op, inputs, attributes), inputs[0].shape)
        )
        return StandaloneCall(self._calls.run_model, (model, self._resolver))


class LiteRTOperator(NamedTuple):
    """One operator of LiteRT: its names in the schema, and the values of its options.

    ``constants`` are operands after the data, as the axes of reductions.
    """

    operator: str
    options: str
    values: dict[str, int]
    constants: Sequence[Sequence[int]] = ()


def pool(
    operator: str, kernel: Sequence[int], strides: Sequence[int], padding: int
) -> LiteRTOperator:
    """Describe a pool of two axes.

    Raises:
        ValueError: for lists of other lengths, which cannot be written.
    """
    (height, width), (stride_h, stride_w) = kernel, strides
    values = {
        "padding": padding,
        "strideH": stride_h,
        "strideW": stride_w,
        "filterHeight": height,
        "filterWidth": width,
    }
    return LiteRTOperator(operator, "Pool2DOptions", values)


def reduction(operator: str, axes: Sequence[int]) -> LiteRTOperator:
    """Describe a reduction over ``axes``, which the result keeps as axes of one element."""
    return LiteRTOperator(operator, "ReducerOptions", {"keepDims": True}, [axes])


def _operator(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> LiteRTOperator:
    """The operator of LiteRT that does what ``op`` asks; Unsupported where none does."""
    data = inputs[0]
    if data.ndim != 4 or data.dtype != np.float32:
        raise Unsupported(f"{op} on data of rank {data.ndim} and type {data.dtype}")
    name = op.rpartition("-")[0]
    if name in REDUCTIONS:
        return reduction(REDUCTIONS[name], [1, 2])
    if op not in POOLS:
        raise Unsupported(f"{op} is not written with LiteRT's operators here")
    kernel, strides, padding = _window(op, attributes)
    operator = "MAX_POOL_2D" if op == "MaxPool-1" else "AVERAGE_POOL_2D"
    return pool(operator, kernel, strides, padding)


def _convolution(
    op: str, inputs: Inputs, attributes: Mapping[str, Any]
) -> tuple[tuple[int, ...], dict[str, int], int | None]:
    """The shape of filters, the options, and the number of the bias."""
    data = inputs[0]
    assert data is not None
    convolution = products.convolution(op, inputs, attributes)
    if convolution.axes != 2 or data.ndim != 4 or data.dtype != np.float32:
        raise Unsupported(f"{op} on data of rank {data.ndim} and type {data.dtype}")
    padding = VALID if convolution.word == products.EXPLICIT else PADDING.get(convolution.word)
    has_pads = convolution.word == products.EXPLICIT and any(convolution.begin + convolution.end)
    if padding is None or has_pads:
        raise Unsupported("convolutions of LiteRT pad by SAME or VALID")
    if data.shape[1] != convolution.filters[1] * convolution.groups:
        raise Unsupported("groups of LiteRT follow from channels, and are no argument")
    if len(convolution.strides) != 2 or len(convolution.dilations) != 2:
        raise Unsupported("a convolution of LiteRT has a height and a width, and no list of others")
    (stride_h, stride_w), (dilation_h, dilation_w) = convolution.strides, convolution.dilations
    values = {
        "padding": padding,
        "strideH": stride_h,
        "strideW": stride_w,
        "dilationHFactor": dilation_h,
        "dilationWFactor": dilation_w,
    }
    return convolution.filters, values, convolution.bias


def _window(op: str, attributes: Mapping[str, Any]) -> tuple[list[int], list[int], int]:
    """Kernel, strides and padding, where nothing is asked for that a pool has no word for."""
    auto_pad = attributes.get("auto_pad", "explicit")
    if op.startswith("onnx."):
        kernel, strides = attributes["kernel_shape"], attributes.get("strides", [1, 1])
        pads, ignored = attributes.get("pads", [0] * 4), False
        rounds_up = attributes.get("ceil_mode", 0) != 0
        counted = attributes.get("count_include_pad", 0) != 0
    else:
        kernel, strides = attributes["kernel"], attributes["strides"]
        pads, ignored = [*attributes["pads_begin"], *attributes["pads_end"]], auto_pad in PADDING
        rounds_up = attributes.get("rounding_type", "floor") != "floor"
        counted = not attributes.get("exclude-pad", True)
    if len(kernel) != 2 or len(strides) != 2:
        raise Unsupported("a pool of LiteRT has a height and a width, and no list of others")
    padding = VALID if auto_pad in ("explicit", "NOTSET") else PADDING.get(auto_pad)
    if padding is None or rounds_up or (counted and padding == SAME):
        raise Unsupported("pools of LiteRT pad by SAME or VALID, round down and count no padding")
    _check_default(pads, 4, pads if ignored else [0] * 4)
    _check_default(attributes.get("dilations", [1, 1]), 2, [1, 1])
    return kernel, strides, padding


def _check_default(values: Sequence[int], length: int, expected: Sequence[int]) -> None:
    # A list of another length is invalid, and there is nothing in a pool to write it to.
    if len(values) != length or list(values) != list(expected):
        raise Unsupported("pools of LiteRT have neither pads of their own nor dilations")
