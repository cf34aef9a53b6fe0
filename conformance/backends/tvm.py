"""TVM's ONNX front end, compiled for the CPU: every vector becomes a model of one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.onnx_model import model_call
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array

TARGET = "llvm"

CAPABILITIES = Capabilities(
    # MaxPool has one output in Relax, and models that ask for the indices too are refused.
    operators=("onnx.AveragePool-*", "onnx.LpPool-*", "onnx.Global*Pool-*"),
    dtypes=("f16", "bf16", "f32", "f64"),
    excluding=(
        Exclusion(
            op="onnx.LpPool-22",
            when="T == bf16",
            reason="TVM's power, of which it makes norms, is of f16, f32 and f64",
        ),
    ),
)


class Tvm(StandaloneAdapter):
    """TVM's Relax on the CPU, compiled by LLVM for each model."""

    name = "tvm"

    def __init__(self) -> None:
        import tvm

        self.version = require_version("tvm", tvm.__version__, oldest="0.25")
        from tvm.target import codegen

        from conformance.backends import standalone_tvm

        self._onnx = onnx_model.load_onnx()
        opset = self._onnx.defs.onnx_opset_version()
        operators = onnx_model.operators(CAPABILITIES.operators or (), opset)
        self.capabilities = replace(CAPABILITIES, operators=operators)
        self._codegen = codegen
        self._calls = standalone_tvm

    def environment(self) -> dict[str, str]:
        """Return the target, its compiler, and what made the models."""
        return {
            "device": f"CPU ({TARGET})",
            "llvm": str(self._codegen.llvm_version_major()),
            "onnx": str(self._onnx.__version__),
        }

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        model = model_call(op, inputs, attributes)
        return StandaloneCall(self._calls.run_model, (model, TARGET))
