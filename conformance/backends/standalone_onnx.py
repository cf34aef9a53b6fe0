"""Builds an ONNX model of one node. Scripts contain this text, so it imports nothing of ours."""

from typing import Any

from onnx import AttributeProto, TensorProto, defs, helper, shape_inference

RELEASED = 5  # the first operator set after the very first that came with a release


def node_model(
    name: str, version: int, attributes: dict[str, Any], tensors: list[Any], ranks: list[Any]
) -> bytes:
    """Serialise the model of an operator, with a result for each of ``ranks``.

    Of each input, ``tensors`` has the element type and the shape, None for one that is not given,
    and the numbers of one that decides shapes: in models those are constants. A result has the type
    of its variable, or the one that ONNX infers where no input has it.
    Inputs are called ``X``, ``X1``, ``X2`` and so on. A result has as many dimensions as ONNX
    infers, or else as its rank says, which may be None.
    Opset and IR version are the oldest that have the operator, so that old runtimes read it, too.
    """

    schema = defs.get_schema(name, version, "")
    names, inputs, constants, kinds = [], [], [], {}
    formals = [schema.inputs[min(k, len(schema.inputs) - 1)] for k in range(len(tensors))]
    for number, (tensor, formal) in enumerate(zip(tensors, formals)):  # noqa: B905 - 3.9
        names.append("" if tensor is None else f"X{number or ''}")
        if tensor is not None:
            element, shape, *numbers = tensor
            kind = kinds[formal.type_str] = getattr(TensorProto, element)
            if numbers:
                constants.append(helper.make_tensor(names[-1], kind, shape, *numbers))
            else:
                inputs.append(helper.make_tensor_value_info(names[-1], kind, shape))
    outputs = []
    for number in range(len(ranks)):
        output = schema.outputs[min(number, len(schema.outputs) - 1)]
        own_name = output.name + (str(number) if number >= len(schema.outputs) else "")
        kind = kinds.get(output.type_str, TensorProto.UNDEFINED)
        if len(output.types) == 1:  # tensor(int64)
            kind = getattr(TensorProto, min(output.types)[7:-1].upper())
        outputs.append(helper.make_tensor_value_info(own_name, kind, None))
    node = helper.make_node(name, names, [output.name for output in outputs])
    for key, value in attributes.items():
        # A list without entries does not say of what it is; all else says its type, right or wrong.
        if value == []:
            attribute = AttributeProto(name=key, type=schema.attributes[key].type.value)
        else:
            attribute = helper.make_attribute(key, value)
        node.attribute.append(attribute)
    # Operator sets 2 to 4 came with no release; what came before and after has one IR version.
    released = helper.make_opsetid("", max(version, RELEASED))
    proto = helper.make_model(
        helper.make_graph([node], "one", inputs, outputs, constants),
        opset_imports=[helper.make_opsetid("", version)],
        ir_version=helper.find_min_ir_version_for([released]),
    )
    # Some readers want the number of dimensions; how many elements come out is theirs to say.
    inferred = shape_inference.infer_shapes(proto).graph.output
    for output, known, rank in zip(proto.graph.output, inferred, ranks):  # noqa: B905 - 3.9
        if not output.type.tensor_type.elem_type:
            output.type.tensor_type.elem_type = known.type.tensor_type.elem_type
        if known.type.tensor_type.HasField("shape"):
            rank = len(known.type.tensor_type.shape.dim)
        if rank is not None:
            shape = output.type.tensor_type.shape
            shape.SetInParent()
            for _ in range(rank):
                shape.dim.add()
    return bytes(proto.SerializeToString())
