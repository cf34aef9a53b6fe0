"""OpenVINO's plugins: every vector becomes a model of one operator, compiled and run once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.options import Option
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import BackendError

DEVICE = Option("device", "A device as OpenVINO names it: CPU, GPU, GPU.1, NPU.", default="CPU")
# Without the hint the plugin computes f32 in bf16 where the processor can.
PRECISION = Option(
    "precision",
    "In what f32 is computed (INFERENCE_PRECISION_HINT); dynamic: as the plugin likes.",
    default="f32",
    choices=("f32", "f16", "bf16", "dynamic"),
)

# Its own operators have no prefix, unlike those of others.
OWN = "[A-Z]*"

# Before 2024 operators and node factory were elsewhere, and bf16 was not handed out.
OLDEST = "2024.0"
NEWEST_OPSET = 16
"""The newest operation set that there is a specification of."""


def _native_operators() -> tuple[str, ...]:
    """OpenVINO's operators, of the operation sets that the installed release has."""
    packages = ("openvino", "openvino.runtime")  # the second before 2025
    opsets = [
        number
        for number in range(1, NEWEST_OPSET + 1)
        if any(_has_module(f"{package}.opset{number}") for package in packages)
    ]
    if NEWEST_OPSET in opsets:
        return (OWN,)
    return tuple(f"{OWN}-{number}" for number in opsets)


def _capabilities() -> Capabilities:
    """What is claimed: operators of ONNX where the package onnx is there, which makes models."""
    onnx = onnx_model.PREFIX + "*"
    if not find_spec("onnx"):
        reason = "the package onnx, which makes the models, is not installed"
        return Capabilities((*_native_operators(), onnx), excluding=(Exclusion(reason, op=onnx),))
    newest = onnx_model.load_onnx().defs.onnx_opset_version()
    return Capabilities((*_native_operators(), *onnx_model.operators((onnx,), newest)))


def _has_module(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


class OpenVINO(StandaloneAdapter):
    """OpenVINO on the CPU or another device, with inference precision f32 or another."""

    name = "openvino"
    options = (DEVICE, PRECISION)

    def __init__(self, *, device: str = "CPU", precision: str = "f32") -> None:
        import openvino

        self.version = require_version(
            "openvino", str(openvino.__version__).partition("-")[0], oldest=OLDEST
        )
        from conformance.backends import standalone_openvino

        self._calls = standalone_openvino
        self.capabilities = _capabilities()
        self._openvino = openvino
        self._device = device
        self._properties = {"INFERENCE_PRECISION_HINT": precision}
        try:
            self._device_name = str(self._calls.CORE.get_property(device, "FULL_DEVICE_NAME"))
        except RuntimeError as error:
            raise BackendError(
                f"device={device}: OpenVINO {self.version} has no such device here",
                hint=f"it finds: {', '.join(self._calls.CORE.available_devices)}",
            ) from error

    def environment(self) -> dict[str, str]:
        """Return the device and the properties that a result may depend on."""
        plugins = self._calls.CORE.get_versions(self._device).values()
        facts = {
            "device": f"{self._device} ({self._device_name})",
            "plugin": ", ".join(
                f"{plugin.description} {plugin.build_number}" for plugin in plugins
            ),
        }
        with suppress(RuntimeError):  # it is the CPU's alone
            threads = self._calls.CORE.get_property(self._device, "INFERENCE_NUM_THREADS")
            facts["INFERENCE_NUM_THREADS"] = "automatic" if threads == 0 else str(threads)
        return facts | self._properties

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``, named as in ``AvgPool-1``.

        An operator of ONNX (``onnx.MaxPool-12``) becomes an ONNX model, which OpenVINO reads.
        """
        settings = (self._device, self._properties)
        if op.startswith(onnx_model.PREFIX):
            content = onnx_model.model_call(op, inputs, attributes)
            return StandaloneCall(self._calls.run_onnx, (content, *settings))
        return StandaloneCall(self._calls.run_operator, (op, dict(attributes), *settings))

    def ir(
        self, op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
    ) -> dict[str, bytes]:
        """Return the model of ``op`` as OpenVINO's files: ``model.xml`` and ``model.bin``.

        Raises:
            RuntimeError: OpenVINO refuses to make the model.
        """
        model = (
            self._calls.CORE.read_model(onnx_model.model(op, inputs, attributes))
            if op.startswith(onnx_model.PREFIX)
            else self._calls.operator_model(inputs, op, dict(attributes))
        )
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / "model.xml", Path(folder) / "model.bin"]
            self._openvino.serialize(model, *map(str, files))
            return {file.name: file.read_bytes() for file in files}
