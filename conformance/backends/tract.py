"""tract's ONNX front end and CPU kernels: every vector becomes a model of one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities
from conformance.backends.onnx_model import model_call
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array

# tract's list of ONNX operators has no LpPool, and its arrays for Python no bf16.
CAPABILITIES = Capabilities(
    operators=(
        *("onnx.AveragePool-*", "onnx.MaxPool-*", "onnx.Global*"),
        *("onnx.Conv-*", "onnx.ConvTranspose-*", "onnx.MatMul-*", "onnx.Gemm-*"),
    ),
    dtypes=("f16", "f32", "f64"),
)

# Before, arrays of any type were handed out as f32.
OLDEST = "0.23"


class Tract(StandaloneAdapter):
    """tract on the CPU, with its default optimisations."""

    name = "tract"

    def __init__(self) -> None:
        import tract

        self.version = require_version("tract", tract.version(), oldest=OLDEST)
        onnx = onnx_model.load_onnx()
        opset = onnx.defs.onnx_opset_version()
        operators = onnx_model.operators(CAPABILITIES.operators or (), opset)
        self.capabilities = replace(CAPABILITIES, operators=operators)
        self._onnx = str(onnx.__version__)
        from conformance.backends import standalone_tract

        self._calls = standalone_tract

    def environment(self) -> dict[str, str]:
        """Return the device, and what made the models."""
        return {"device": "CPU", "onnx": self._onnx}

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        return StandaloneCall(self._calls.run_model, (model_call(op, inputs, attributes),))
