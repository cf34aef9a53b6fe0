"""TVM's ONNX front end, compiled for the CPU: every vector becomes a model of one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.framework_call import framework
from conformance.backends.onnx_model import model, reproduced
from conformance.backends.versions import require_version
from conformance.dtypes import Array

TARGET = "llvm"

CAPABILITIES = Capabilities(
    # MaxPool has one output in Relax, and models that ask for the indices too are refused.
    operators=("onnx.AveragePool-*", "onnx.LpPool-*", "onnx.Global*Pool-*"),
    dtypes=("f16", "bf16", "f32", "f64"),
    excluding=tuple(
        Exclusion(
            op=f"onnx.{name}-*",
            when="T == bf16",
            reason="TVM's power, of which it makes norms, is of f16, f32 and f64",
        )
        for name in ("LpPool", "GlobalLpPool")
    ),
)


class Tvm:
    """TVM's Relax on the CPU, compiled by LLVM for each model."""

    name = "tvm"
    marked = True

    def __init__(self) -> None:
        import tvm

        self.version = require_version("tvm", tvm.__version__, oldest="0.25")
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx
        from tvm.target import codegen

        self._onnx = onnx_model.load_onnx()
        opset = self._onnx.defs.onnx_opset_version()
        operators = onnx_model.operators(CAPABILITIES.operators or (), opset)
        self.capabilities = replace(CAPABILITIES, operators=operators)
        self._tvm = tvm
        self._relax = relax
        self._codegen = codegen
        self._from_onnx = from_onnx

    def environment(self) -> dict[str, str]:
        """Return the target, its compiler, and what made the models."""
        return {
            "device": f"CPU ({TARGET})",
            "llvm": str(self._codegen.llvm_version_major()),
            "onnx": str(self._onnx.__version__),
        }

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; TVM itself refuses what is invalid."""
        proto = self._onnx.load_model_from_string(model(op, inputs, attributes))
        with framework():
            executable = self._relax.build(self._from_onnx(proto), target=TARGET)
            virtual_machine = self._relax.VirtualMachine(executable, self._tvm.cpu())
            return [virtual_machine["main"](self._tvm.runtime.tensor(inputs[0])).numpy()]

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        return f"""\
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
{reproduced(op, inputs, attributes)}
machine = relax.VirtualMachine(relax.build(from_onnx(model), target={TARGET!r}), tvm.cpu())
outputs = [machine["main"](tvm.runtime.tensor(inputs[0])).numpy()]"""
