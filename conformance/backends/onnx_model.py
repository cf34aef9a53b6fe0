"""ONNX models of one operator, which onnxruntime, onnx's reference and OpenVINO read alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from conformance.dtypes import name_of
from conformance.errors import Unsupported

Array = NDArray[Any]

PREFIX = "onnx."
DATA = "X"
ELEMENT_TYPES = {
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f32": "FLOAT",
    "f64": "DOUBLE",
    "i8": "INT8",
    "u8": "UINT8",
    "i32": "INT32",
    "i64": "INT64",
}


def model(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> bytes:
    """The serialised model of ``op``, named as in ``onnx.MaxPool-12``: ``X`` in, all outputs out.

    Opset and IR version are the oldest that have the operator, so that old runtimes read it, too.
    Nothing is checked here: what is invalid is for the backend to refuse. Raises
    :class:`Unsupported` for what is no operator of ONNX.
    """
    from onnx import TensorProto, defs, helper

    name, _, version = op.removeprefix(PREFIX).rpartition("-")
    if not op.startswith(PREFIX) or not defs.has(name, ""):
        raise Unsupported(f"{op} is no operator of ONNX")
    schema = defs.get_schema(name, int(version), "")
    if schema.since_version != int(version):
        raise Unsupported(f"{op} is no version of {name}; the one before is {schema.since_version}")

    (data,) = inputs
    element = getattr(TensorProto, ELEMENT_TYPES[name_of(data.dtype)])
    unknown = [None] * data.ndim
    outputs = [
        helper.make_tensor_value_info(
            output.name, element if output.type_str == "T" else TensorProto.INT64, unknown
        )
        for output in schema.outputs
    ]
    node = helper.make_node(name, [DATA], [output.name for output in schema.outputs])
    for key, value in attributes.items():
        # A list without entries does not say of what it is; all else says its type, right or wrong.
        kind = schema.attributes[key].type.value if value == [] else None
        node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info(DATA, element, data.shape)], outputs
    )
    opset = helper.make_opsetid("", int(version))
    made = helper.make_model(
        graph, opset_imports=[opset], ir_version=helper.find_min_ir_version_for([opset])
    )
    return bytes(made.SerializeToString())


def reproduced(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
    """Python source that makes the same model as ``model``, an ``onnx.ModelProto``."""
    name, _, version = op.removeprefix(PREFIX).rpartition("-")
    (data,) = inputs
    given = "".join(f", {key}={value!r}" for key, value in attributes.items())
    element = f"TensorProto.{ELEMENT_TYPES[name_of(data.dtype)]}"
    return f"""\
from onnx import TensorProto, defs, helper
schema = defs.get_schema({name!r}, {version}, "")
node = helper.make_node({name!r}, [{DATA!r}], [output.name for output in schema.outputs]{given})
unknown = [None] * {data.ndim}
outputs = [
    helper.make_tensor_value_info(
        output.name, {element} if output.type_str == "T" else TensorProto.INT64, unknown
    )
    for output in schema.outputs
]
data = helper.make_tensor_value_info({DATA!r}, {element}, {list(data.shape)})
opset = helper.make_opsetid("", {version})
model = helper.make_model(
    helper.make_graph([node], "one", [data], outputs),
    opset_imports=[opset],
    ir_version=helper.find_min_ir_version_for([opset]),
)"""
