"""Builds ONNX models of one operator, for onnxruntime, onnx's reference, OpenVINO and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends.versions import require_version
from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import Unsupported

PREFIX = "onnx."
NEWEST = 22
"""The newest version of an operator that there is a specification of."""

RELEASED = 5
"""The first operator set after the very first that came with a release."""

OLDEST_ONNX = "1.14"
"""The oldest release of the package onnx that models were made with."""

DATA = "X"


def operators(patterns: Sequence[str], opset: int) -> tuple[str, ...]:
    """Return what a backend declares that has operators up to version ``opset``.

    Args:
        patterns: names that end in a star.

    Returns:
        The patterns themselves, or names of versions if newer ones are to be left out.
    """
    if opset >= NEWEST:
        return tuple(patterns)
    names = [pattern.removesuffix("-*") for pattern in patterns]
    return tuple(f"{name}-{version}" for name in names for version in range(1, opset + 1))


def load_onnx() -> Any:
    """Import the package onnx.

    Raises:
        BackendError: it is too old.
    """
    import onnx

    require_version("onnx", onnx.__version__, oldest=OLDEST_ONNX)
    return onnx


def model(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> bytes:
    """Serialise the model of ``op``, named as in ``onnx.MaxPool-12``.

    ``X`` is its input, and it has all outputs. Opset and IR version are the oldest that have the
    operator, so that old runtimes read it, too. Nothing is checked here: what is invalid is for the
    backend to refuse.

    Raises:
        Unsupported: ``op`` is no operator of ONNX.
    """
    from onnx import AttributeProto, TensorProto, defs, helper

    name, _, version = op.removeprefix(PREFIX).rpartition("-")
    if not op.startswith(PREFIX) or not defs.has(name, ""):
        raise Unsupported(f"{op} is no operator of ONNX")
    if int(version) > defs.onnx_opset_version():
        raise Unsupported(f"{op} is newer than the package onnx")
    schema = defs.get_schema(name, int(version), "")
    if schema.since_version != int(version):
        raise Unsupported(f"{op} is no version of {name}; the one before is {schema.since_version}")

    (data,) = inputs
    element = getattr(TensorProto, DTYPES[name_of(data.dtype)].onnx)
    unknown_shape = [None] * data.ndim
    outputs = [
        helper.make_tensor_value_info(
            output.name, element if output.type_str == "T" else TensorProto.INT64, unknown_shape
        )
        for output in schema.outputs
    ]
    node = helper.make_node(name, [DATA], [output.name for output in schema.outputs])
    for key, value in attributes.items():
        # A list without entries does not say of what it is; all else says its type, right or wrong.
        if value == []:
            attribute = AttributeProto(name=key, type=schema.attributes[key].type.value)
        else:
            attribute = helper.make_attribute(key, value)
        node.attribute.append(attribute)
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info(DATA, element, data.shape)], outputs
    )
    # Operator sets 2 to 4 came with no release; what came before and after has one IR version.
    released = helper.make_opsetid("", max(int(version), RELEASED))
    proto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", int(version))],
        ir_version=helper.find_min_ir_version_for([released]),
    )
    return bytes(proto.SerializeToString())


def identity_model(opset: int) -> bytes:
    """Serialise an identity in an operator set, to test whether a runtime reads it.

    Raises an exception of the package onnx for a set that it does not have.
    """
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in (DATA, "Y")]
    node = helper.make_node("Identity", [DATA], ["Y"])
    graph = helper.make_graph([node], "nothing", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", opset)]
    proto = helper.make_model(
        graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets)
    )
    return bytes(proto.SerializeToString())


def reproduced(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
    """Python source that makes the same model as ``model``, an ``onnx.ModelProto``."""
    name, _, version = op.removeprefix(PREFIX).rpartition("-")
    (data,) = inputs
    given = "".join(f", {key}={value!r}" for key, value in attributes.items())
    element = f"TensorProto.{DTYPES[name_of(data.dtype)].onnx}"
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
released = helper.make_opsetid("", {max(int(version), RELEASED)})
model = helper.make_model(
    helper.make_graph([node], "one", [data], outputs),
    opset_imports=[helper.make_opsetid("", {version})],
    ir_version=helper.find_min_ir_version_for([released]),
)"""
