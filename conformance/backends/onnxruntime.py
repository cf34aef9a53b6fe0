"""ONNX Runtime's providers: every vector becomes a model of one operator, and runs once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.framework_call import framework
from conformance.backends.onnx_model import DATA, model, reproduced
from conformance.backends.options import Option
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import BackendError

CPU = "CPUExecutionProvider"
PROVIDER = Option(
    "provider",
    "The execution provider that computes; nothing is left to the CPU's instead.",
    default=CPU,
)
NO_FALLBACK = ("session.disable_cpu_ep_fallback", "1")
SILENT = 4  # errors are raised; they need not be logged too

# What its list of kernels (docs/OperatorKernels.md of the project) has for the provider.
# Models in f16 run too: what has no kernel is cast to f32 and back.
CAPABILITIES = Capabilities(
    operators=("onnx.*",),
    dtypes=("f16", "f32", "f64", "i8", "u8"),
    excluding=tuple(
        Exclusion(
            op=f"onnx.{name}-*",
            when="T == f64",
            reason=f"the CPU provider has no kernel of {name} for f64",
        )
        for name in ("AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool", "GlobalLpPool")
    ),
)


class OnnxRuntime:
    """ONNX Runtime's CPU provider, or another, with its default optimisations."""

    name = "onnxruntime"
    options = (PROVIDER,)
    marked = True

    def __init__(self, *, provider: str = CPU) -> None:
        import onnxruntime

        self.version = require_version("onnxruntime", onnxruntime.__version__, oldest="1.15")
        onnx = onnx_model.load_onnx()
        self._onnx = str(onnx.__version__)
        self._onnxruntime = onnxruntime
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

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; ONNX Runtime itself refuses what is invalid."""
        content = model(op, inputs, attributes)
        with framework():
            session = self._session(content, self._provider)
            outputs: list[Array] = session.run(None, {DATA: inputs[0]})
        return outputs

    def _session(self, content: bytes, provider: str) -> Any:
        options = self._onnxruntime.SessionOptions()
        options.log_severity_level = SILENT
        if provider != CPU:
            options.add_session_config_entry(*NO_FALLBACK)
        return self._onnxruntime.InferenceSession(content, options, providers=[provider])

    def _opset(self) -> int:
        """The newest operator set that it reads, as far as there are specifications.

        Its Python API does not tell, so it is tried.
        """
        for opset in range(onnx_model.NEWEST, 1, -1):
            with suppress(Exception):
                self._session(onnx_model.identity_model(opset), CPU)
                return opset
        return 1

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        alone = f"\noptions.add_session_config_entry{NO_FALLBACK!r}"
        return f"""\
import onnxruntime
{reproduced(op, inputs, attributes)}
options = onnxruntime.SessionOptions(){"" if self._provider == CPU else alone}
session = onnxruntime.InferenceSession(
    model.SerializeToString(), options, providers=[{self._provider!r}]
)
outputs = session.run(None, {{{DATA!r}: inputs[0]}})"""
