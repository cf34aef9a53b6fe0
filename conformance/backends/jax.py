"""JAX's lax.reduce_window on the CPU, for the pools of OpenVINO that it expresses.

A mean is the sum of each window over its number of elements, which is a sum over ones: so
libraries for JAX write it (flax.linen.avg_pool). Windows, padding and sums are left to JAX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.framework_call import framework
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


class Jax:
    """JAX's reduce_window on the CPU, compiled by XLA for each shape."""

    name = "jax"
    capabilities = CAPABILITIES
    marked = True

    def __init__(self) -> None:
        import jax

        self.version = require_version("jax", jax.__version__, oldest="0.4.20")
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)  # else f64 becomes f32
        self._jax = jax

    def environment(self) -> dict[str, str]:
        """Return the device, and the compiler's package, which a result may depend on."""
        import jaxlib

        return {"device": "CPU", "jaxlib": str(jaxlib.__version__)}

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; JAX itself refuses what is invalid (TypeError, ValueError)."""
        if op not in OPERATORS:
            raise Unsupported(f"{op} is not written with reduce_window here")
        if attributes.get("rounding_type", "floor") != "floor":
            raise Unsupported("reduce_window has windows that fit, and no more")
        (data,) = inputs
        lax, window = self._jax.lax, _window(attributes)
        if op == "MaxPool-1":
            return [self._pooled(data, lax.max, -np.inf, window)]
        total = self._pooled(data, lax.add, 0, window)
        if not attributes["exclude-pad"]:
            return [total / total.dtype.type(prod(attributes["kernel"]))]
        count = self._pooled(np.ones_like(data), lax.add, 0, window)
        with np.errstate(invalid="ignore"):  # a window without data has no mean
            return [total / count]

    def reproduce(self, op: str, _inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        window = ", ".join(map(repr, _window(attributes)))
        lines = [
            "import jax",
            "jax.config.update('jax_enable_x64', True)",
            "def pooled(data, reduce, start):",
            f"    start = data.dtype.type(start)\n    window = {window}",
            "    return np.asarray(jax.lax.reduce_window(data, start, reduce, *window))",
        ]
        if op == "MaxPool-1":
            return "\n".join([*lines, "outputs = [pooled(inputs[0], jax.lax.max, -np.inf)]"])
        count = "pooled(np.ones_like(inputs[0]), jax.lax.add, 0)"
        if not attributes["exclude-pad"]:
            count = f"inputs[0].dtype.type({prod(attributes['kernel'])})"
        return "\n".join([*lines, f"outputs = [pooled(inputs[0], jax.lax.add, 0) / {count}]"])

    def _pooled(self, data: Array, reduce: Any, start: float, window: Sequence[Any]) -> Array:
        start_value = data.dtype.type(start)
        with framework():
            return np.asarray(self._jax.lax.reduce_window(data, start_value, reduce, *window))


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
