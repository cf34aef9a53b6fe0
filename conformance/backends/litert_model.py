"""Models of one operator in LiteRT's format, made with the schema that its wheel brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

FILE_IDENTIFIER = b"TFL3"
VERSION = 3


@dataclass(frozen=True)
class LiteRTCall:
    """One operator of LiteRT: its names in the schema, and the values of its options.

    ``axes`` are a constant second operand, which reductions have.
    """

    operator: str
    options: str
    values: Mapping[str, int]
    axes: Sequence[int] = ()


def model(call: LiteRTCall, shape: Sequence[int]) -> bytes:
    """Serialise the model of ``call`` on f32 data of that shape.

    Nothing is checked here, and no shape of the result is given: LiteRT works it out.
    """
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    operands = [schema.TensorT(shape=list(shape), name="data")]
    buffers = [schema.BufferT()]  # the first one is empty, and that of tensors without constants
    if call.axes:
        operands.append(
            schema.TensorT(
                shape=[len(call.axes)], type=schema.TensorType.INT32, buffer=1, name="axes"
            )
        )
        buffers.append(schema.BufferT(data=np.array(call.axes, "<i4").tobytes()))
    operator = schema.OperatorT(
        inputs=list(range(len(operands))),
        outputs=[len(operands)],
        builtinOptionsType=getattr(schema.BuiltinOptions, call.options),
        builtinOptions=getattr(schema, f"{call.options}T")(**call.values),
    )
    code = getattr(schema.BuiltinOperator, call.operator)
    proto = schema.ModelT(
        version=VERSION,
        operatorCodes=[schema.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code)],
        subgraphs=[
            schema.SubGraphT(
                tensors=[*operands, schema.TensorT(shape=[], name="result")],
                inputs=[0],
                outputs=[len(operands)],
                operators=[operator],
            )
        ],
        buffers=buffers,
    )
    builder = flatbuffers.Builder()
    builder.Finish(proto.Pack(builder), file_identifier=FILE_IDENTIFIER)
    return bytes(builder.Output())


def reproduced(call: LiteRTCall, shape: Sequence[int]) -> str:
    """Python source that makes the same model as :func:`model`, as ``builder.Output()``."""
    tensors = [f'schema.TensorT(shape={list(shape)}, name="data")']
    buffers = ["schema.BufferT()"]
    if call.axes:
        tensors.append(
            f"schema.TensorT(shape=[{len(call.axes)}], type=schema.TensorType.INT32, "
            'buffer=1, name="axes")'
        )
        buffers.append(f'schema.BufferT(data=np.array({list(call.axes)}, "<i4").tobytes())')
    words = ", ".join(f"{name}={value}" for name, value in call.values.items())
    return f"""\
import flatbuffers
from ai_edge_litert import schema_py_generated as schema
operator = schema.OperatorT(
    inputs={list(range(len(tensors)))},
    outputs=[{len(tensors)}],
    builtinOptionsType=schema.BuiltinOptions.{call.options},
    builtinOptions=schema.{call.options}T({words}),
)
graph = schema.SubGraphT(
    tensors=[
        {f",{chr(10)}        ".join([*tensors, 'schema.TensorT(shape=[], name="result")'])},
    ],
    inputs=[0],
    outputs=[{len(tensors)}],
    operators=[operator],
)
code = schema.BuiltinOperator.{call.operator}
model = schema.ModelT(
    version={VERSION},
    operatorCodes=[schema.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code)],
    subgraphs=[graph],
    buffers=[{", ".join(buffers)}],
)
builder = flatbuffers.Builder()
builder.Finish(model.Pack(builder), file_identifier={FILE_IDENTIFIER!r})"""


def pool(operator: str, kernel: Sequence[int], strides: Sequence[int], padding: int) -> LiteRTCall:
    """Describe a pool of two axes.

    Raises:
        ValueError: for lists of other lengths, which cannot be written.
    """
    (height, width), (stride_h, stride_w) = kernel, strides
    values = {
        "padding": padding,
        "strideH": stride_h,
        "strideW": stride_w,
        "filterHeight": height,
        "filterWidth": width,
    }
    return LiteRTCall(operator, "Pool2DOptions", values)


def reduction(operator: str, axes: Sequence[int]) -> LiteRTCall:
    """Describe a reduction over ``axes``, which the result keeps as axes of one element."""
    return LiteRTCall(operator, "ReducerOptions", {"keepDims": True}, axes)
