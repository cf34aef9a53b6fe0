"""Runs an operator by LiteRT. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

FILE_IDENTIFIER = b"TFL3"
VERSION = 3


def operator_model(
    operator: str, options: str, values: dict[str, int], constants: Any, shape: Any
) -> bytes:
    """Serialise the model of one operator on f32 data, in the schema of LiteRT's wheel.

    Nothing is checked here, and no shape of the result is given: LiteRT works it out.

    Args:
        operator: its name in the schema.
        options: the name of its options there, and ``values`` theirs.
        constants: the operands after the data: arrays of f32, or lists of whole numbers.
        shape: that of the data.
    """
    operands = [schema.TensorT(shape=list(shape), name="data")]
    buffers = [schema.BufferT()]  # the first one is empty, and that of tensors without constants
    for number, constant in enumerate(constants, 1):
        array = np.asarray(constant)
        is_float = array.dtype.kind == "f"
        kind = schema.TensorType.FLOAT32 if is_float else schema.TensorType.INT32
        name = f"constant{number}"
        operands.append(
            schema.TensorT(shape=list(array.shape), type=kind, buffer=number, name=name)
        )
        buffers.append(schema.BufferT(data=array.astype("<f4" if is_float else "<i4").tobytes()))
    node = schema.OperatorT(
        inputs=list(range(len(operands))),
        outputs=[len(operands)],
        builtinOptionsType=getattr(schema.BuiltinOptions, options),
        builtinOptions=getattr(schema, f"{options}T")(**values),
    )
    code = getattr(schema.BuiltinOperator, operator)
    model = schema.ModelT(
        version=VERSION,
        operatorCodes=[schema.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code)],
        subgraphs=[
            schema.SubGraphT(
                tensors=[*operands, schema.TensorT(shape=[], name="result")],
                inputs=[0],
                outputs=[len(operands)],
                operators=[node],
            )
        ],
        buffers=buffers,
    )
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), file_identifier=FILE_IDENTIFIER)
    return bytes(builder.Output())


def make_interpreter(model: bytes, resolver: str) -> Any:
    """Return an interpreter with one thread and the kernels of a member of OpResolverType."""
    interpreter = Interpreter(
        model_content=model,
        num_threads=1,
        experimental_op_resolver_type=OpResolverType[resolver],
    )
    interpreter.allocate_tensors()
    return interpreter


def run_model(inputs: Any, model: bytes, resolver: str, mark: Any = nullcontext) -> list[Any]:
    """Return the output of a serialised model."""
    with mark():
        interpreter = make_interpreter(model, resolver)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], inputs[0])
        interpreter.invoke()
        return [interpreter.get_tensor(interpreter.get_output_details()[0]["index"])]


def run_convolution(
    inputs: Any,
    filters: Any,
    values: dict[str, int],
    bias: Any,
    resolver: str,
    mark: Any = nullcontext,
) -> list[Any]:
    """Return a convolution whose filters and bias are constants of the model.

    Images and filters have their channels in second position, as specified, and LiteRT's last.

    Args:
        filters: the shape of the second input, the channels in second position.
        values: the values of the options.
        bias: the number of an input; None if there is none.
    """
    weights = inputs[1].reshape(filters).transpose(0, 2, 3, 1)
    # Its kernels need a bias, so converters write zeros where there is none.
    addend = np.zeros(filters[0], np.float32) if bias is None else inputs[bias]
    images = np.ascontiguousarray(inputs[0].transpose(0, 2, 3, 1))
    model = operator_model("CONV_2D", "Conv2DOptions", values, [weights, addend], images.shape)
    (result,) = run_model([images], model, resolver, mark)
    return [np.ascontiguousarray(result.transpose(0, 3, 1, 2))]
