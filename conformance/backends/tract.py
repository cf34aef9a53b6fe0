"""tract's ONNX front end and CPU kernels: every vector becomes a model of one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities
from conformance.backends.framework_call import framework
from conformance.backends.onnx_model import model, reproduced
from conformance.backends.versions import require_version
from conformance.dtypes import Array

# tract's list of ONNX operators has no LpPool, and its arrays for Python no bf16.
CAPABILITIES = Capabilities(
    operators=("onnx.AveragePool-*", "onnx.MaxPool-*", "onnx.Global*"),
    dtypes=("f16", "f32", "f64"),
)

# Before, arrays of any type were handed out as f32.
OLDEST = "0.23"


class Tract:
    """tract on the CPU, with its default optimisations."""

    name = "tract"
    marked = True

    def __init__(self) -> None:
        import tract

        self.version = require_version("tract", tract.version(), oldest=OLDEST)
        onnx = onnx_model.load_onnx()
        opset = onnx.defs.onnx_opset_version()
        operators = onnx_model.operators(CAPABILITIES.operators or (), opset)
        self.capabilities = replace(CAPABILITIES, operators=operators)
        self._onnx = str(onnx.__version__)
        self._tract = tract

    def environment(self) -> dict[str, str]:
        """Return the device, and what made the models."""
        return {"device": "CPU", "onnx": self._onnx}

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; tract itself refuses what is invalid (TractError)."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model.onnx"  # it reads models from files only
            file.write_bytes(model(op, inputs, attributes))
            with framework():
                loaded_model = self._tract.onnx().load(file)
                outputs = loaded_model.into_model().into_runnable().run([inputs[0]])
        return [output.to_numpy() for output in outputs]

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        return f"""\
import os, tempfile, tract
{reproduced(op, inputs, attributes)}
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "model.onnx")
    with open(file, "wb") as stream:
        stream.write(model.SerializeToString())
    loaded = tract.onnx().load(file)
outputs = [one.to_numpy() for one in loaded.into_model().into_runnable().run([inputs[0]])]"""
