"""OpenVINO's plugins: every vector becomes a model of one operator, compiled and run once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities
from conformance.backends.framework_call import framework
from conformance.backends.options import Option
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
BF16 = np.dtype(ml_dtypes.bfloat16)

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


def _onnx_operators() -> tuple[str, ...]:
    """The operators of ONNX, whose models are made with the package onnx: none without it."""
    if not find_spec("onnx"):
        return ()
    return onnx_model.operators(("onnx.*",), onnx_model.load_onnx().defs.onnx_opset_version())


def _has_module(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


class OpenVINO:
    """OpenVINO on the CPU or another device, with inference precision f32 or another."""

    name = "openvino"
    options = (DEVICE, PRECISION)
    marked = True

    def __init__(self, *, device: str = "CPU", precision: str = "f32") -> None:
        import openvino

        self.version = require_version(
            "openvino", str(openvino.__version__).partition("-")[0], oldest=OLDEST
        )

        try:
            from openvino import op
            from openvino.utils.node_factory import NodeFactory
        except ImportError:  # before 2025 they were elsewhere
            from openvino.runtime import op
            from openvino.runtime.utils.node_factory import NodeFactory

        self.capabilities = Capabilities(operators=(*_native_operators(), *_onnx_operators()))
        self._openvino = openvino
        self._op = op
        self._node_factory = NodeFactory
        self._core = openvino.Core()
        self._device = device
        self._properties = {"INFERENCE_PRECISION_HINT": precision}
        try:
            self._named = str(self._core.get_property(device, "FULL_DEVICE_NAME"))
        except RuntimeError as error:
            raise BackendError(
                f"device={device}: OpenVINO {self.version} has no such device here",
                hint=f"it finds: {', '.join(self._core.available_devices)}",
            ) from error

    def environment(self) -> dict[str, str]:
        """Return the device and the properties that a result may depend on."""
        plugins = self._core.get_versions(self._device).values()
        facts = {
            "device": f"{self._device} ({self._named})",
            "plugin": ", ".join(
                f"{plugin.description} {plugin.build_number}" for plugin in plugins
            ),
        }
        with suppress(RuntimeError):  # it is the CPU's alone
            threads = self._core.get_property(self._device, "INFERENCE_NUM_THREADS")
            facts["INFERENCE_NUM_THREADS"] = "automatic" if threads == 0 else str(threads)
        return facts | self._properties

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``, named as in ``AvgPool-1``: an operator and its operation set.

        An operator of ONNX (``onnx.MaxPool-12``) becomes an ONNX model, which OpenVINO reads.
        OpenVINO itself refuses what is invalid (RuntimeError).
        """
        content = _onnx_content(op, inputs, attributes)
        with framework():
            model = self._model(op, inputs, attributes, content)
            compiled = self._core.compile_model(model, self._device, self._properties)
            request = compiled.create_infer_request()
            request.infer({0: self._tensor(inputs[0])})
            tensors = [request.get_output_tensor(i) for i in range(len(model.outputs))]
        return [from_tensor(tensor) for tensor in tensors]

    def _model(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any], content: bytes
    ) -> Any:
        """The model of one operator: read from the ONNX model ``made``, or OpenVINO's own."""
        return self._core.read_model(content) if content else self._native(op, inputs, attributes)

    def _native(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Any:
        """The model of one operator of OpenVINO's own.

        The first input is a parameter of static shape, the others are constants, as they are in
        models. Attributes go to the generic node factory as they are spelled.
        """
        operator, _, opset = op.rpartition("-")
        data, *operands = inputs
        parameter = self._op.Parameter(self._element_type(data), self._openvino.Shape(data.shape))
        arguments = [parameter.output(0), *(self._constant(o).output(0) for o in operands)]
        node = self._node_factory(f"opset{opset}").create(operator, arguments, dict(attributes))
        return self._openvino.Model(node.outputs(), [parameter], op)

    def ir(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> dict[str, bytes]:
        """Return the model of ``op`` as OpenVINO's files: ``model.xml`` and ``model.bin``.

        Raises:
            RuntimeError: OpenVINO refuses to make the model.
        """
        model = self._model(op, inputs, attributes, _onnx_content(op, inputs, attributes))
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / "model.xml", Path(folder) / "model.bin"]
            self._openvino.serialize(model, *map(str, files))
            return {file.name: file.read_bytes() for file in files}

    def reproduce(
        self,
        op: str,
        inputs: Sequence[Array],
        attributes: Mapping[str, Any],
    ) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        data = inputs[0]
        bf16 = data.dtype == BF16
        kind = "openvino.Type.bf16" if bf16 else f"openvino.Type(np.{data.dtype.name})"
        tensor = "openvino.Tensor(inputs[0])"
        read = "np.array(request.get_output_tensor(i).data)"
        lines = ["import openvino"]
        if bf16:
            # In its Python API bf16 goes in as codes, and comes out as codes in float16 arrays.
            tensor = f"openvino.Tensor(inputs[0].view(np.uint16), {list(data.shape)}, {kind})"
            lines.append("import ml_dtypes")
        if op.startswith(onnx_model.PREFIX):
            lines.append(onnx_model.reproduced(op, inputs, attributes))
            lines.append("model = openvino.Core().read_model(model.SerializeToString())")
        else:
            lines += self._native_lines(op, inputs, kind)
        lines += [
            "compiled = openvino.Core().compile_model(",
            f"    model, {self._device!r}, {self._properties!r}",
            ")",
            "request = compiled.create_infer_request()",
            f"request.infer({{0: {tensor}}})",
            f"outputs = [{read} for i in range(len(model.outputs))]",
        ]
        if bf16:
            first = "outputs[0].view(ml_dtypes.bfloat16)"
            lines.append(f"outputs = [{first}, *outputs[1:]]")
        return "\n".join(lines)

    def _native_lines(self, op: str, inputs: Sequence[Array], kind: str) -> list[str]:
        """Source that makes the model of one operator of OpenVINO's own."""
        operator, _, opset = op.rpartition("-")
        data, *operands = inputs
        made = self._op.__name__  # it depends on the release
        lines = [f"import {made}", f"from {self._node_factory.__module__} import NodeFactory"]
        lines.append(f"data = {made}.Parameter({kind}, openvino.Shape({list(data.shape)}))")
        arguments = ["data.output(0)"]
        for number in range(1, 1 + len(operands)):
            name = f"operand_{number}"
            lines.append(f"{name} = {made}.Constant(openvino.Tensor(inputs[{number}]))")
            arguments.append(f"{name}.output(0)")
        return [
            *lines,
            f'node = NodeFactory("opset{opset}").create(',
            f"    {operator!r}, [{', '.join(arguments)}], dict(attributes)",
            ")",
            "model = openvino.Model(node.outputs(), [data], op)",
        ]

    def _element_type(self, array: Array) -> Any:
        # openvino.Type reads numpy types, among which bf16 is not.
        return self._openvino.Type.bf16 if array.dtype == BF16 else self._openvino.Type(array.dtype)

    def _constant(self, operand: Array) -> Any:
        return self._op.Constant(self._tensor(operand))

    def _tensor(self, array: Array) -> Any:
        codes = array.view(np.uint16) if array.dtype == BF16 else array
        return self._openvino.Tensor(
            codes, self._openvino.Shape(array.shape), self._element_type(array)
        )


def _onnx_content(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> bytes:
    """The ONNX model of an operator of ONNX; empty for one of OpenVINO's own."""
    foreign = op.startswith(onnx_model.PREFIX)
    return onnx_model.model(op, inputs, attributes) if foreign else b""


def from_tensor(tensor: Any) -> Array:
    """Copy a tensor's elements in their logical type.

    The Python API hands bf16 out as float16 arrays that hold bf16 codes; they are viewed as what
    they are.
    """
    array: Array = np.array(tensor.data)
    return array.view(BF16) if tensor.element_type.to_string() == "bf16" else array
