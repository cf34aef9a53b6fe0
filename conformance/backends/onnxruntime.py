"""ONNX Runtime's CPU provider: every vector becomes a model of one operator, and runs once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.onnx_model import DATA, model, reproduced

Array = NDArray[Any]

PROVIDER = "CPUExecutionProvider"
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
    """ONNX Runtime's CPU provider, with its default optimisations."""

    name = "onnxruntime"
    capabilities = CAPABILITIES

    def __init__(self) -> None:
        import onnx
        import onnxruntime

        self.version = str(onnxruntime.__version__)
        self._onnx = str(onnx.__version__)
        self._onnxruntime = onnxruntime

    def environment(self) -> dict[str, str]:
        """The provider, and what made the models."""
        return {"device": f"CPU ({PROVIDER})", "onnx": self._onnx}

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Outputs of ``op``; what is invalid is refused by ONNX Runtime itself."""
        options = self._onnxruntime.SessionOptions()
        options.log_severity_level = SILENT
        session = self._onnxruntime.InferenceSession(
            model(op, inputs, attributes), options, providers=[PROVIDER]
        )
        outputs: list[Array] = session.run(None, {DATA: inputs[0]})
        return outputs

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """The same call as Python source, which sets ``outputs`` from ``inputs``."""
        return f"""\
import onnxruntime
{reproduced(op, inputs, attributes)}
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=[{PROVIDER!r}])
outputs = session.run(None, {{{DATA!r}: inputs[0]}})"""
