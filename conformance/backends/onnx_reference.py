"""The reference evaluator of the onnx package: every vector becomes a model of one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities
from conformance.backends.onnx_model import model_call
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.dtypes import Array


class OnnxReference(StandaloneAdapter):
    """The reference evaluator of the onnx package."""

    name = "onnx-reference"

    def __init__(self) -> None:
        onnx = onnx_model.load_onnx()
        from conformance.backends import standalone_onnx_reference

        opset = onnx.defs.onnx_opset_version()
        self.capabilities = Capabilities(operators=onnx_model.operators(("onnx.*",), opset))
        self.version = str(onnx.__version__)
        self._calls = standalone_onnx_reference

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        return StandaloneCall(self._calls.evaluate_model, (model_call(op, inputs, attributes),))
