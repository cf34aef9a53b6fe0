"""ncnn's layers of pools, convolutions and products on the CPU: a net of one layer a vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import Any

from conformance.backends import ncnn_products, products
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import Unsupported

LAYERS = {1: "Pooling1D", 2: "Pooling", 3: "Pooling3D"}
METHODS = {"MaxPool-1": 0, "AvgPool-1": 1, "AdaptiveAvgPool-8": 1}
FULL, VALID, SAME_UPPER, SAME_LOWER = range(4)
"""Values of pad_mode; with FULL the last window may overrun, with VALID it may not."""

ROUNDING = {"floor": VALID, "ceil": FULL}
SAME = {"same_upper": SAME_UPPER, "same_lower": SAME_LOWER}

# The numbers that a net's text gives the parameters, the last axis first.
KERNEL, STRIDE, OUT = (1, 11, 21), (2, 12, 22), (8, 18, 28)
PAD_BEGIN, PAD_END = (3, 13, 23), (14, 15, 16)
METHOD, PAD_MODE, COUNT_INCLUDE_PAD, ADAPTIVE = 0, 5, 6, 7

CAPABILITIES = Capabilities(
    operators=(*METHODS, *(f"{family}-*" for family in ncnn_products.OPERATORS)),
    dtypes=("f32",),
    excluding=(
        *(
            Exclusion(op=op, when=when, reason=reason)
            for op in ("AvgPool-1", "MaxPool-1")
            for when, reason in (
                ("rounding_type not in [floor, ceil]", "pad_mode rounds down or up"),
                (
                    "auto_pad not in [explicit, valid, same_upper, same_lower]",
                    "pad_mode has no other automatic padding",
                ),
            )
        ),
        *ncnn_products.EXCLUDING,
    ),
)


class Ncnn(StandaloneAdapter):
    """ncnn's layers on the CPU."""

    name = "ncnn"
    capabilities = CAPABILITIES

    def __init__(self) -> None:
        import ncnn

        self.version = require_version("ncnn", ncnn.__version__, oldest="1.0.20240102")
        from conformance.backends import standalone_ncnn

        self._ncnn = ncnn
        self._calls = standalone_ncnn

    def environment(self) -> dict[str, str]:
        """Return the device, and the number of threads."""
        return {"device": "CPU", "threads": str(self._ncnn.Net().opt.num_threads)}

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        if products.family(op) in ncnn_products.OPERATORS:
            net = ncnn_products.net(op, inputs, attributes)
            return StandaloneCall(self._calls.run_layer, astuple(net))
        return StandaloneCall(self._calls.run_net, (_net_text(op, inputs, attributes),))


def _net_text(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
    """The net that asks ``op``: a number for the format, the sizes of the net, and its layers."""
    if op not in METHODS:
        raise Unsupported(f"{op} is not written as a net of ncnn here")
    axes = inputs[0].ndim - 2
    if axes not in LAYERS:
        raise Unsupported(f"{op} on data of rank {inputs[0].ndim}")
    parameters = {METHOD: METHODS[op]}
    if op == "AdaptiveAvgPool-8":
        parameters |= {ADAPTIVE: 1} | _by_axis(OUT, axes, inputs[1].tolist())
    else:
        parameters |= _by_axis(KERNEL, axes, attributes["kernel"])
        parameters |= _by_axis(STRIDE, axes, attributes["strides"])
        parameters |= _padding(axes, attributes)
    if op == "AvgPool-1":
        parameters[COUNT_INCLUDE_PAD] = int(not attributes["exclude-pad"])
    words = " ".join(f"{number}={value}" for number, value in parameters.items())
    layers = ["Input data 0 1 data", f"{LAYERS[axes]} pool 1 1 data result {words}"]
    return "\n".join(["7767517", "2 2", *layers, ""])


def _padding(axes: int, attributes: Mapping[str, Any]) -> dict[int, int]:
    auto_pad = attributes.get("auto_pad", "explicit")
    if auto_pad in SAME:
        return {PAD_MODE: SAME[auto_pad]}
    rounding = attributes.get("rounding_type", "floor")
    if auto_pad not in ("explicit", "valid") or rounding not in ROUNDING:
        raise Unsupported(f"pad_mode cannot say {auto_pad} and {rounding}")
    mode = ROUNDING[rounding]
    if auto_pad == "valid":
        return {PAD_MODE: mode}
    begin = _by_axis(PAD_BEGIN, axes, attributes["pads_begin"])
    return {PAD_MODE: mode} | begin | _by_axis(PAD_END, axes, attributes["pads_end"])


def _by_axis(numbers: Sequence[int], axes: int, values: Iterable[int]) -> dict[int, int]:
    reversed_values = list(reversed(list(values)))
    if len(reversed_values) != axes:
        raise Unsupported("a parameter is one number of one axis, so no other list can be written")
    return dict(zip(numbers, reversed_values, strict=False))
