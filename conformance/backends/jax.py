"""JAX's lax.reduce_window on the CPU, for the pools of OpenVINO that it expresses.

A mean is the sum of each window over its number of elements, which is a sum over ones: so
libraries for JAX write it (flax.linen.avg_pool). Windows, padding and sums are left to JAX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import Unsupported

OPERATORS = ("AvgPool-1", "MaxPool-1")
PADDING = {"valid": "VALID", "same_upper": "SAME", "same_lower": "SAME_LOWER"}

CAPABILITIES = Capabilities(
    operators=OPERATORS,
    dtypes=("f16", "bf16", "f32", "f64"),
    excluding=tuple(
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
)


class Jax(StandaloneAdapter):
    """JAX's reduce_window on the CPU, compiled by XLA for each shape."""

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
        inputs: Sequence[Array],  # noqa: ARG002 - windows do not depend on them
        attributes: Mapping[str, Any],
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        if op not in OPERATORS:
            raise Unsupported(f"{op} is not written with reduce_window here")
        if attributes.get("rounding_type", "floor") != "floor":
            raise Unsupported("reduce_window has windows that fit, and no more")
        window = _window(attributes)
        if op == "MaxPool-1":
            return StandaloneCall(self._calls.max_pool, (window,))
        divisor = None if attributes["exclude-pad"] else prod(attributes["kernel"])
        return StandaloneCall(self._calls.avg_pool, (window, divisor))


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
