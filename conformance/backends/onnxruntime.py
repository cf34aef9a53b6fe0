"""ONNX Runtime's providers: every vector becomes a model of one operator, and runs once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.onnx_model import model_call
from conformance.backends.options import Option
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import BackendError

CPU = "CPUExecutionProvider"
PROVIDER = Option(
    "provider",
    "The execution provider that computes; nothing is left to the CPU's instead.",
    default=CPU,
)

WITHOUT_F64 = (
    *("AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool", "GlobalLpPool"),
    *("Conv", "ConvTranspose", "Mean"),
    *("Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"),
)

# What its list of kernels (docs/OperatorKernels.md of the project) has for the provider.
# Models in f16 run too: what has no kernel is cast to f32 and back.
CAPABILITIES = Capabilities(
    operators=("onnx.*",),
    dtypes=("f16", "f32", "f64", "i8", "i32", "i64", "u8", "bool"),
    excluding=(
        *(
            Exclusion(
                op=f"onnx.{name}-*",
                when="T == f64",
                reason=f"the CPU provider has no kernel of {name} for f64",
            )
            for name in WITHOUT_F64
        ),
        *(
            Exclusion(
                op=f"onnx.Gemm-{version}",
                when="T in [i32, i64]",
                reason="the CPU provider has no kernel of Gemm for integers",
            )
            for version in (9, 11, 13)  # those before have none of these types
        ),
        Exclusion(
            op="onnx.Where-*",
            when="T == bool",
            reason="the CPU provider has no kernel of Where for bool",
        ),
        Exclusion(
            op="onnx.ScatterND-*",
            when="T == f16 and reduction in [mul, max, min]",
            reason="the CPU provider reduces no f16 but by adding",
        ),
        Exclusion(
            op="onnx.DequantizeLinear-*",
            when="T2 == bf16",
            reason="the CPU provider has no kernel of DequantizeLinear for bf16",
        ),
        Exclusion(
            op="onnx.ConvTranspose-*",
            when="any(output_padding >= strides)",
            reason="output_padding is below the stride here, not below stride or dilation",
        ),
    ),
)


class OnnxRuntime(StandaloneAdapter):
    """ONNX Runtime's CPU provider, or another, with its default optimisations."""

    name = "onnxruntime"
    options = (PROVIDER,)

    def __init__(self, *, provider: str = CPU) -> None:
        import onnxruntime

        self.version = require_version("onnxruntime", onnxruntime.__version__, oldest="1.15")
        onnx = onnx_model.load_onnx()
        self._onnx = str(onnx.__version__)
        from conformance.backends import standalone_onnxruntime

        self._calls = standalone_onnxruntime
        self._provider = provider
        providers = onnxruntime.get_available_providers()
        if provider not in providers:
            raise BackendError(
                f"provider={provider}: this ONNX Runtime {self.version} has no such provider",
                hint=f"it has: {', '.join(providers)}",
            )
        opset = min(onnx.defs.onnx_opset_version(), self._opset())
        operators = onnx_model.operators(("onnx.*",), opset)
        self.capabilities = replace(CAPABILITIES, operators=operators)

    def environment(self) -> dict[str, str]:
        """Return the provider, and what made the models."""
        device = f"CPU ({CPU})" if self._provider == CPU else self._provider
        return {"device": device, "onnx": self._onnx}

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        model = model_call(op, inputs, attributes)
        return StandaloneCall(self._calls.run_model, (model, self._provider))

    def _opset(self) -> int:
        """The newest operator set that it reads, as far as there are specifications.

        Its Python API does not tell, so it is tried.
        """
        for opset in range(onnx_model.NEWEST, 1, -1):
            with suppress(Exception):
                self._calls.make_session(onnx_model.identity_model(opset), CPU)
                return opset
        return 1
