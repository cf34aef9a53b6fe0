"""Runs a model by OpenVINO. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import openvino

CORE = openvino.Core()


def run_operator(
    inputs: Any,
    op: str,
    attributes: dict[str, Any],
    device: str,
    properties: dict[str, str],
    mark: Any = nullcontext,
) -> list[Any]:
    """Return the outputs of an operator of OpenVINO's."""
    with mark():
        request = infer(operator_model(inputs, op, attributes), inputs[:1], device, properties)
        tensors = request.output_tensors
    return [from_tensor(tensor) for tensor in tensors]


def run_onnx(
    inputs: Any, content: bytes, device: str, properties: dict[str, str], mark: Any = nullcontext
) -> list[Any]:
    """Return the outputs of a serialised ONNX model."""
    with mark():
        model = CORE.read_model(content)
        names = {name for port in model.inputs for name in port.names}  # constants are none
        given = [data for k, data in enumerate(inputs) if f"X{k or ''}" in names]
        tensors = infer(model, given, device, properties).output_tensors
    return [from_tensor(tensor) for tensor in tensors]


def infer(model: Any, inputs: Any, device: str, properties: dict[str, str]) -> Any:
    """Compile a model and return its request after inference."""
    request = CORE.compile_model(model, device, properties).create_infer_request()
    request.infer({k: to_tensor(data) for k, data in enumerate(inputs)})
    return request


def operator_model(inputs: Any, op: str, attributes: dict[str, Any]) -> Any:
    """Make the model of one operator, named as in ``AvgPool-1``.

    The first input is a parameter of static shape, the others are constants, as they are in
    models. Attributes go to the generic node factory as they are spelled.
    """
    operators, node_factory = find_factories()
    operator, _, opset = op.rpartition("-")
    data, *operands = (array for array in inputs if array is not None)
    parameter = operators.Parameter(element_type(data), openvino.Shape(data.shape))
    arguments = [parameter, *(operators.Constant(to_tensor(operand)) for operand in operands)]
    ports = [argument.output(0) for argument in arguments]
    node = node_factory(f"opset{opset}").create(operator, ports, attributes)
    return openvino.Model(node.outputs(), [parameter], op)


def find_factories() -> Any:
    """Return the module of node classes, and the node factory."""
    try:
        from openvino import op
        from openvino.utils.node_factory import NodeFactory
    except ImportError:  # before 2025 they were elsewhere
        from openvino.runtime import op
        from openvino.runtime.utils.node_factory import NodeFactory
    return op, NodeFactory


def to_tensor(array: Any) -> Any:
    """Return a tensor with the elements of an array; bf16 goes in as codes."""
    codes = array.view(np.uint16) if array.dtype.name == "bfloat16" else array
    return openvino.Tensor(codes, openvino.Shape(array.shape), element_type(array))


def element_type(array: Any) -> Any:
    """Return the type of an array's elements; openvino.Type reads those of numpy alone."""
    is_bf16 = array.dtype.name == "bfloat16"
    return openvino.Type.bf16 if is_bf16 else openvino.Type(array.dtype)


def from_tensor(tensor: Any) -> Any:
    """Copy a tensor's elements; bf16 comes out as codes in float16 arrays."""
    array = np.array(tensor.data)
    if tensor.element_type.to_string() != "bf16":
        return array
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)
