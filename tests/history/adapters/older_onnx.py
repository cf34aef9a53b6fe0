"""Runtimes of ONNX of before version 22 of its pools, asked in the newest version that they know.

Version 22 added element types and no rule, so what it asks of other types is written as the version
before.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.backends import onnx_reference, onnxruntime, openvino, tract
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.errors import Unsupported

BEFORE = {
    "onnx.AveragePool-22": "onnx.AveragePool-19",
    "onnx.MaxPool-22": "onnx.MaxPool-12",
    "onnx.LpPool-22": "onnx.LpPool-18",
    "onnx.GlobalAveragePool-22": "onnx.GlobalAveragePool-1",
    "onnx.GlobalMaxPool-22": "onnx.GlobalMaxPool-1",
}


class Older:
    """Mixed into an adapter: declares version 22 of its operators, and asks an older one."""

    capabilities: Capabilities

    def __init__(self) -> None:
        super().__init__()
        known = self.capabilities.dtypes or ("f16", "f32", "f64", "i8", "u8")
        self.capabilities = replace(
            self.capabilities,
            operators=tuple(BEFORE),
            dtypes=tuple(dtype for dtype in known if dtype != "bf16"),
        )

    def call(self, op, inputs, attributes):
        """Return the call in the version before."""
        return super().call(*self._older(op, inputs, attributes))

    def _older(self, op, inputs, attributes):
        return BEFORE[op], inputs, attributes


class OnnxRuntime(Older, onnxruntime.OnnxRuntime):
    """ONNX Runtime, in older versions of the operators."""


class OnnxRuntime11(OnnxRuntime):
    """ONNX Runtime without a kernel for AveragePool-19: version 11 is asked, without dilations."""

    def __init__(self) -> None:
        super().__init__()
        undilated = Exclusion(
            "AveragePool-11 has no dilations", "any(dilations != 1)", op="onnx.AveragePool-22"
        )
        excluding = (*self.capabilities.excluding, undilated)
        self.capabilities = replace(self.capabilities, excluding=excluding)

    def _older(self, op, inputs, attributes):
        if op != "onnx.AveragePool-22":
            return super()._older(op, inputs, attributes)
        words = dict(attributes)
        if set(words.pop("dilations", [1])) != {1}:
            raise Unsupported("AveragePool-11 has no dilations")
        return "onnx.AveragePool-11", inputs, words


class OnnxReference(Older, onnx_reference.OnnxReference):
    """The reference evaluator, in older versions of the operators."""


class OpenVINO(Older, openvino.OpenVINO):
    """OpenVINO's front end, in older versions of the operators."""


class Tract(Older, tract.Tract):
    """tract, in older versions of the operators."""

    def __init__(self) -> None:
        super().__init__()
        kept = [op for op in BEFORE if "LpPool" not in op]
        self.capabilities = replace(self.capabilities, operators=tuple(kept))
