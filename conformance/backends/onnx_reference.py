"""The reference evaluator of the onnx package: every vector becomes a model of one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities
from conformance.backends.framework_call import framework
from conformance.backends.onnx_model import DATA, model, reproduced
from conformance.dtypes import Array


class OnnxReference:
    """The reference evaluator of the onnx package."""

    name = "onnx-reference"
    marked = True

    def __init__(self) -> None:
        onnx = onnx_model.load_onnx()
        from onnx.reference import ReferenceEvaluator

        opset = onnx.defs.onnx_opset_version()
        self.capabilities = Capabilities(operators=onnx_model.operators(("onnx.*",), opset))
        self.version = str(onnx.__version__)
        self._evaluator = ReferenceEvaluator

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; the evaluator itself refuses what is invalid."""
        content = model(op, inputs, attributes)
        with framework():
            outputs: list[Array] = self._evaluator(content).run(None, {DATA: inputs[0]})
        return outputs

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        return f"""\
from onnx.reference import ReferenceEvaluator
{reproduced(op, inputs, attributes)}
outputs = ReferenceEvaluator(model).run(None, {{{DATA!r}: inputs[0]}})"""
