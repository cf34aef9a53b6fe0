"""Builds an ONNX model of one node. Scripts contain this text, so it imports nothing of ours."""

from typing import Any

from onnx import AttributeProto, TensorProto, defs, helper

RELEASED = 5  # the first operator set after the very first that came with a release


def node_model(
    name: str, version: int, attributes: dict[str, Any], element: str, shape: list[int]
) -> bytes:
    """Serialise the model of an operator on data ``X``, with all its outputs.

    Opset and IR version are the oldest that have the operator, so that old runtimes read it, too.
    """
    schema = defs.get_schema(name, version, "")
    kind = getattr(TensorProto, element)
    unknown_shape = [None] * len(shape)
    outputs = [
        helper.make_tensor_value_info(
            output.name, kind if output.type_str == "T" else TensorProto.INT64, unknown_shape
        )
        for output in schema.outputs
    ]
    node = helper.make_node(name, ["X"], [output.name for output in schema.outputs])
    for key, value in attributes.items():
        # A list without entries does not say of what it is; all else says its type, right or wrong.
        if value == []:
            attribute = AttributeProto(name=key, type=schema.attributes[key].type.value)
        else:
            attribute = helper.make_attribute(key, value)
        node.attribute.append(attribute)
    data = helper.make_tensor_value_info("X", kind, shape)
    # Operator sets 2 to 4 came with no release; what came before and after has one IR version.
    released = helper.make_opsetid("", max(version, RELEASED))
    proto = helper.make_model(
        helper.make_graph([node], "one", [data], outputs),
        opset_imports=[helper.make_opsetid("", version)],
        ir_version=helper.find_min_ir_version_for([released]),
    )
    return bytes(proto.SerializeToString())
