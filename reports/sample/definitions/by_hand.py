"""The smallest cases of what runtimes get wrong on definitions, with results worked out by hand.

    python by_hand.py             # every runtime that is installed
    python by_hand.py tract       # some of them

It needs numpy, the runtimes, onnx for those of ONNX, and ml_dtypes for bf16; nothing of this
package. Each line has what the document says and what the runtime gives. A case may end the
process, so each runs in one of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

INF, NAN = float("inf"), float("nan")
TWO_BY_TWO = [[1, 2], [3, 4]]
U8, I8 = np.uint8, np.int8
NOTHING = {"strides": [1], "dilations": [1], "pads_begin": [0], "pads_end": [0]}


def onnx_model(op: str, dtype: str, inputs: Any, attributes: dict[str, Any]) -> tuple[bytes, Any]:
    import ml_dtypes
    from onnx import TensorProto, helper

    opsets = {"Conv": 22, "ConvTranspose": 22, "ReduceSum": 11, "HardSigmoid": 6, "Relu": 14}
    opsets |= {"ThresholdedRelu": 10, "LpNormalization": 1, "LayerNormalization": 17}
    opsets |= {"Shrink": 9, "Sin": 22, "Cos": 22, "Tan": 22}
    opsets |= {"TopK": 11, "Equal": 19, "BitwiseAnd": 18, "IsInf": 20}
    opsets |= {"QuantizeLinear": 19, "MatMulInteger": 10}
    opset = opsets.get(op, 13)
    kinds = {"f16": ("FLOAT16", np.float16), "f32": ("FLOAT", np.float32)}
    kinds |= {"f64": ("DOUBLE", np.float64), "i64": ("INT64", np.int64)}
    kinds |= {"bf16": ("BFLOAT16", ml_dtypes.bfloat16)}
    name, numpy_type = kinds[dtype]
    kind = result = getattr(TensorProto, name)
    names, tensors, constants, arrays = [], [], [], {}
    for name, data in zip("XWBC", inputs, strict=False):
        names.append("" if data is None else name)
        if isinstance(data, tuple):  # a constant of whole numbers
            array = np.array(data, np.int64)
            constants.append(helper.make_tensor(name, TensorProto.INT64, array.shape, array))
        elif isinstance(data, np.ndarray | np.generic):  # of bytes, beside another type
            arrays[name] = np.asarray(data)
            byte = helper.np_dtype_to_tensor_dtype(data.dtype)
            tensors.append(helper.make_tensor_value_info(name, byte, data.shape))
            result = TensorProto.INT32 if op == "MatMulInteger" else byte
        elif data is not None:
            arrays[name] = np.array(data, numpy_type)
            tensors.append(helper.make_tensor_value_info(name, kind, arrays[name].shape))
    graph = helper.make_graph(
        [helper.make_node(op, names, ["Y"], **attributes)],
        "case",
        tensors,
        [helper.make_tensor_value_info("Y", result, None)],
        constants,
    )
    opsets = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(opsets)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=version)
    return model.SerializeToString(), arrays


def onnxruntime(*case: Any) -> Any:
    import onnxruntime as runtime

    runtime.set_default_logger_severity(4)
    content, arrays = onnx_model(*case)
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(None, arrays)[0]


def onnx_reference(*case: Any) -> Any:
    import onnx
    from onnx.reference import ReferenceEvaluator

    content, arrays = onnx_model(*case)
    evaluator = ReferenceEvaluator(onnx.load_from_string(content))
    return evaluator.run(None, arrays)[0]


def tract(*case: Any) -> Any:
    import tempfile
    from pathlib import Path

    import tract as library

    content, arrays = onnx_model(*case)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        file.write_bytes(content)
        model = library.onnx().load(str(file)).into_model()
    return model.into_runnable().run([*arrays.values()])[0].to_numpy()


def _openvino_type(array: Any) -> Any:
    import openvino as ov

    return ov.Type.bf16 if array.dtype.name == "bfloat16" else ov.Type(array.dtype)


def _openvino_tensor(array: Any) -> Any:
    import openvino as ov

    kind = _openvino_type(array)
    data = array.view(np.uint16) if kind == ov.Type.bf16 else array
    return ov.Tensor(data, ov.Shape(array.shape), kind)


def _infer(model: Any, arrays: Any) -> Any:
    import openvino as ov

    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    request = ov.Core().compile_model(model, "CPU", settings).create_infer_request()
    request.infer(dict(enumerate(map(_openvino_tensor, arrays))))
    tensor = request.output_tensors[0]
    result = np.array(tensor.data)
    if tensor.element_type.to_string() == "bf16":
        import ml_dtypes

        return result.view(ml_dtypes.bfloat16)
    return result


def openvino_onnx(*case: Any) -> Any:
    import openvino as ov

    content, arrays = onnx_model(*case)
    return _infer(ov.Core().read_model(content), arrays.values())


def openvino(op: str, dtype: str, inputs: Any, attributes: dict[str, Any]) -> Any:
    import ml_dtypes
    import openvino as ov
    from openvino import op as nodes
    from openvino.utils.node_factory import NodeFactory

    numpy_types: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
    numpy_types |= {"bf16": ml_dtypes.bfloat16, "i64": np.int64}
    data, *others = (np.array(array, numpy_types[dtype]) for array in inputs)
    parameter = nodes.Parameter(_openvino_type(data), ov.Shape(data.shape))
    arguments = [parameter, *(nodes.Constant(_openvino_tensor(array)) for array in others)]
    ports = [argument.output(0) for argument in arguments]
    node = NodeFactory("opset1").create(op, ports, attributes)
    return _infer(ov.Model(node.outputs(), [parameter], op), [data])


def torch(function: str, dtype: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    import torch as library

    types = {"f16": library.float16, "bf16": library.bfloat16, "f32": library.float32}
    tensors = [library.tensor(data, dtype=types[dtype]) for data in inputs]
    return getattr(library.nn.functional, function)(*tensors, **keywords).double().numpy()


def jax(function: str, dtype: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    import jax as library

    library.config.update("jax_platforms", "cpu")
    library.config.update("jax_enable_x64", True)
    arrays = [np.array(data, {"f32": np.float32, "f64": np.float64}[dtype]) for data in inputs]
    return getattr(library.lax, function)(*arrays, **keywords)


def ncnn(layer: str, _dtype: str, inputs: Any, parameters: dict[int, int]) -> Any:
    """A layer whose filters are an input (parameter 19), on one image."""
    import ncnn as library

    values = " ".join(f"{number}={value}" for number, value in parameters.items())
    lines = ["7767517", "3 3", "Input in0 0 1 in0", "Input in1 0 1 in1"]
    lines.append(f"{layer} layer 2 1 in0 in1 result {values}")
    net = library.Net()
    net.load_param_mem("\n".join(lines) + "\n")
    net.load_model_mem("")
    extractor = net.create_extractor()
    for number, data in enumerate(inputs):
        extractor.input(f"in{number}", library.Mat(np.array(data, np.float32)).clone())
    status, result = extractor.extract("result")
    return np.array(result) if status == 0 else f"status {status}"


def litert(padding: str, _dtype: str, inputs: Any, _attributes: dict[str, Any]) -> Any:
    """A convolution of one image of one channel with one filter."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter

    image, filters = (np.array(data, np.float32) for data in inputs)
    bias = np.zeros(1, np.float32)
    options = {"padding": getattr(schema.Padding, padding), "strideH": 1, "strideW": 1}
    options |= {"dilationHFactor": 1, "dilationWFactor": 1}
    tensors = [
        schema.TensorT(shape=[1, *image.shape, 1], name="X"),
        schema.TensorT(shape=[1, *filters.shape, 1], buffer=1, name="W"),
        schema.TensorT(shape=[1], buffer=2, name="B"),
        schema.TensorT(shape=[], name="Y"),
    ]
    buffers = [schema.BufferT(), *(schema.BufferT(data=a.tobytes()) for a in (filters, bias))]
    code = schema.BuiltinOperator.CONV_2D
    node = schema.OperatorT(
        inputs=[0, 1, 2],
        outputs=[3],
        builtinOptionsType=schema.BuiltinOptions.Conv2DOptions,
        builtinOptions=schema.Conv2DOptionsT(**options),
    )
    graph = schema.SubGraphT(tensors=tensors, inputs=[0], outputs=[3], operators=[node])
    model = schema.ModelT(
        version=3,
        operatorCodes=[schema.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code)],
        subgraphs=[graph],
        buffers=buffers,
    )
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    interpreter = Interpreter(model_content=bytes(builder.Output()), num_threads=1)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, image.reshape(1, *image.shape, 1))
    interpreter.invoke()
    return interpreter.get_tensor(3)


LINE, TAPS = [[[1, 2, 3]]], [[[1, 10, 100, 1000]]]
STEP = 2**-10
"""The distance of 1 and the next f16: (1 + STEP) ** 2 is 1 + 2 * STEP in f16, and 2**-20 more."""
BIASED = ("Conv", "f16", [[[[1 + STEP]]], [[[1 + STEP]]], [-1 - 2 * STEP]], {})
PLUS_C = [[[1 + STEP]], [[1 + STEP]], [[-1 - 2 * STEP]]]
OVERLAP = ("f16", [[[[1 + STEP, 1]]], [[[-1 - 2 * STEP, 1 + STEP]]]], {})
OVERLAPPED = [-1 - 3 * STEP, 2**-20, 1 + STEP]
BEYOND = [[[2**24 + 1]], [[1]]]
"""Factors of matrices: f32 has not the first."""
FLAT = (
    [[[[[1]]]]],
    [[[[[9 * i + 3 * j + k + 1 for k in range(3)] for j in range(3)] for i in range(3)]]],
)
"""A volume of depth 1, and taps of which the middle is 14."""
REFUSED = "an exception"
CHANNELS = [[[[1]], [[2]], [[3]]]]
PAST_LARGE = [[[[1e4]], [[0]], [[0]], [[1]], [[1]]]]
"""A large channel, and two small ones that no window has with it."""

TIES = [[0, 1, 2, 3, 0, 3, 0, 1, 2, 2, 3, 3, 3, 3, 0, 3]]
"""The largest of sixteen is first in place 3."""

CASES: dict[str, tuple[Callable[..., Any], list[tuple[str, tuple[Any, ...], Any]]]] = {
    "onnxruntime": (
        onnxruntime,
        [
            ("eight sines in f64", ("Sin", "f64", [[3.14] * 8], {}), [0.0015926529164868282] * 8),
            ("eight cosines in f64", ("Cos", "f64", [[11] * 8], {}), [0.004425697988050785] * 8),
            (
                "f64 is computed in f32",
                ("Shrink", "f64", [[1 + 2**-40]], {"lambd": 0.5}),
                [1 + 2**-40],
            ),
            (
                "squares of a window that a large one has left",
                ("LRN", "f32", [PAST_LARGE], {"size": 3, "alpha": 3.0, "beta": 1.0}),
                [9.999999747378752e-05, 0, 0, 0.3333333432674408, 0.3333333432674408],
            ),
            (
                "an even number of channels",
                ("LRN", "f32", [CHANNELS], {"size": 2, "alpha": 2.0, "beta": 1.0}),
                [0.1666666716337204, 0.1428571492433548, 0.30000001192092896],
            ),
            (
                "squares of i64 by way of f64",
                ("ReduceSumSquare", "i64", [[94906267, 1]], {}),
                [94906267**2 + 1],
            ),
            (
                "dilations beside SAME",
                ("Conv", "f32", [LINE, [[[1, 10]]]], {"auto_pad": "SAME_UPPER", "dilations": [2]}),
                [20, 31, 2],
            ),
            (
                "sums of two products of u8 and i8",
                ("MatMulInteger", "f32", [U8([[255, 255]]), I8([[127], [127]])], {}),
                [64770],
            ),
            (
                "SAME_UPPER of a stride beyond filter and image",
                (
                    "Conv",
                    "f32",
                    [[[[1, 2, 3, 4]]], [[[1]]]],
                    {"auto_pad": "SAME_UPPER", "strides": [4]},
                ),
                [1],
            ),
        ],
    ),
    "openvino": (
        openvino,
        [
            (
                "f64 is computed in f32",
                ("Convolution", "f64", [[[[1 + 2**-30]]], [[[1]]]], NOTHING),
                [1 + 2**-30],
            ),
            (
                "f64 is computed in f32",
                ("MatMul", "f64", [[[1 + 2**-30]], [[1]]], {}),
                [1 + 2**-30],
            ),
            (
                "wide padding in bf16",
                (
                    "Convolution",
                    "bf16",
                    [[[[1]]], [[[1]]]],
                    {**NOTHING, "pads_begin": [2], "pads_end": [3]},
                ),
                [0, 0, 1, 0, 0, 0],
            ),
            (
                "a volume of depth 1 in bf16",
                (
                    "Convolution",
                    "bf16",
                    FLAT,
                    {
                        "strides": [1] * 3,
                        "dilations": [1] * 3,
                        "pads_begin": [1] * 3,
                        "pads_end": [1] * 3,
                    },
                ),
                [14],
            ),
            ("i64 is computed in f32", ("MatMul", "i64", BEYOND, {}), [2**24 + 1]),
            (
                "one group, two results",
                ("GroupConvolutionBackpropData", "f32", [[[[1]]], [[[[1], [2]]]]], NOTHING),
                [1, 2],
            ),
            (
                "padding of -1",
                (
                    "Convolution",
                    "f32",
                    [LINE, [[[1]]]],
                    {**NOTHING, "pads_begin": [1], "pads_end": [-1]},
                ),
                REFUSED,
            ),
            (
                "output_padding of -1",
                (
                    "ConvolutionBackpropData",
                    "f32",
                    [LINE, [[[1, 10]]]],
                    {**NOTHING, "output_padding": [-1]},
                ),
                REFUSED,
            ),
        ],
    ),
    "openvino, ONNX": (
        openvino_onnx,
        [
            ("an infinity", ("Shrink", "f32", [[INF]], {"lambd": 0.5}), [INF]),
            ("an infinity of f64", ("Ceil", "f64", [[INF]], {}), [INF]),
            ("f64 is computed in f32", ("Tan", "f64", [[1]], {}), [1.5574077246549023]),
            ("the largest by the lower 32 bits", ("TopK", "i64", [[2**32, 1], (1,)], {}), [2**32]),
            ("equal by the lower 32 bits", ("Equal", "i64", [[2**32], [0]], {}), [False]),
            (
                "the lower 32 bits alone",
                ("BitwiseAnd", "i64", [[2**32 + 1], [2**32 + 3]], {}),
                [2**32 + 1],
            ),
            (
                "a zero point is added after rounding",
                ("QuantizeLinear", "f32", [[0.25], 0.5, U8(3)], {}),
                [3],
            ),
            ("a negative infinity of f64", ("IsInf", "f64", [[-INF]], {}), [True]),
            (
                "the first of the largest of 16",
                ("Hardmax", "f32", [TIES], {}),
                [0] * 3 + [1] + [0] * 12,
            ),
            (
                "an even number of channels",
                ("LRN", "f32", [CHANNELS], {"size": 2, "alpha": 2.0, "beta": 1.0}),
                [0.1666666716337204, 0.1428571492433548, 0.30000001192092896],
            ),
            ("NaN beside a number", ("LogSoftmax", "f32", [[NAN, 0]], {}), [NAN, NAN]),
            ("a magnitude over itself", ("LpNormalization", "f32", [[-1]], {"p": 1}), [-1]),
            (
                "a scale for each row",
                ("LayerNormalization", "f32", [[[1, 3], [2, 6]], [[1], [2]]], {"epsilon": 0.0}),
                [-1, 1, -2, 2],
            ),
            (
                "axes that are given",
                ("ReduceL1", "f32", [[[1, -2], [3, 4]]], {"axes": [0]}),
                [4, 6],
            ),
            (
                "axes that are given",
                ("ReduceLogSum", "f32", [[[0.5, 0.25], [0.5, 0.75]]], {"axes": [0]}),
                [0, 0],
            ),
            (
                "axes that are given",
                ("ReduceLogSumExp", "f32", [[[0, -INF], [-INF, 0]]], {"axes": [0]}),
                [0, 0],
            ),
            ("NaN is lost", ("Relu", "f32", [[NAN, 1]], {}), [NAN, 1]),
            ("a value to pad with", ("Pad", "f32", [[5], (1, 1), 7], {}), [7, 5, 7]),
            ("NaN without ends", ("Clip", "f32", [[NAN]], {}), [NAN]),
            (
                "what is below a threshold",
                ("ThresholdedRelu", "f32", [[-INF, 2]], {"alpha": 1.0}),
                [0, 2],
            ),
            ("an infinity of f64", ("Transpose", "f64", [[INF]], {}), [INF]),
            ("places of fewer rows", ("GatherElements", "f32", [TWO_BY_TWO, ((1,),)], {}), [3]),
            ("NaN is lost", ("Exp", "f32", [[NAN, 0]], {}), [NAN, 1]),
            ("NaN is lost", ("Softmax", "f32", [[NAN, 1]], {}), [NAN, NAN]),
            (
                "the exponential is infinite early",
                ("Exp", "f32", [[88.5]], {}),
                [2.723087918012828e38],
            ),
            (
                "a slope of 0",
                ("HardSigmoid", "f32", [[-2, 1]], {"alpha": 0.0}),
                [0.5, 0.5],
            ),
            (
                "an offset of 0",
                ("HardSigmoid", "f32", [[-2, 1]], {"alpha": 0.5, "beta": 0.0}),
                [0, 0.5],
            ),
            (
                "f64 is computed in f32",
                ("Sqrt", "f64", [[0.25 + 2**-40]], {}),
                [(0.25 + 2**-40) ** 0.5],
            ),
            ("f64 is computed in f32", ("Reciprocal", "f64", [[3]], {}), [1 / 3]),
            ("i64 is computed in f32", ("ReduceSum", "i64", [[2**24 + 1]], {}), [2**24 + 1]),
            ("i64 is computed in f32", ("ReduceMax", "i64", [[2**24 + 1]], {}), [2**24 + 1]),
            ("f64 is computed in f32", ("ReduceMean", "f64", [[1 + 2**-30]], {}), [1 + 2**-30]),
            ("f64 is computed in f32", ("ReduceProd", "f64", [[1 + 2**-30]], {}), [1 + 2**-30]),
            ("f64 is computed in f32", ("ReduceMin", "f64", [[1 + 2**-30]], {}), [1 + 2**-30]),
            ("an infinity of f64", ("ReduceMax", "f64", [[INF]], {}), [INF]),
            (
                "bf16 is rounded before the bias",
                ("Conv", "bf16", [[[[1.078125, 1.296875]]], [[[1.4765625]]], [-1.421875]], {}),
                [0.169921875, 0.4921875],
            ),
            (
                "bf16 is rounded before the factor",
                ("Gemm", "bf16", [[[1]], [[1]]], {"alpha": 0.1}),
                [0.10009765625],
            ),
            ("i64 with a factor of -1.25", ("Gemm", "i64", [[[4]], [[1]]], {"alpha": -1.25}), [-5]),
            (
                "output_shape forgets SAME_UPPER",
                (
                    "ConvTranspose",
                    "f32",
                    [LINE, TAPS],
                    {"output_shape": [3], "auto_pad": "SAME_UPPER"},
                ),
                [12, 123, 1230],
            ),
            ("a volume of depth 1 in bf16", ("Conv", "bf16", FLAT, {"pads": [1] * 6}), [14]),
            ("i64 is computed in f32", ("MatMul", "i64", BEYOND, {}), [2**24 + 1]),
            ("a matrix of three dimensions", ("Gemm", "f32", [[[[1]]], [[1]]], {}), REFUSED),
            ("a C of more rows", ("Gemm", "f32", [[[1]], [[1]], [[1], [2]]], {}), REFUSED),
            ("a bias of one element", ("Conv", "f32", [LINE, [[[1]], [[1]]], [1]], {}), REFUSED),
            ("0 groups", ("Conv", "f32", [LINE, [[[1]]]], {"group": 0}), REFUSED),
            (
                "a kernel_shape that W does not have",
                ("Conv", "f32", [LINE, [[[1]]]], {"kernel_shape": [2]}),
                REFUSED,
            ),
            ("padding of -1", ("Conv", "f32", [LINE, [[[1]]]], {"pads": [1, -1]}), REFUSED),
            ("a single pad", ("Conv", "f32", [LINE, [[[1]]]], {"pads": [1]}), REFUSED),
            (
                "output_padding of the stride",
                ("ConvTranspose", "f32", [LINE, [[[1]]]], {"output_padding": [1]}),
                REFUSED,
            ),
        ],
    ),
    "onnx-reference": (
        onnx_reference,
        [
            ("a quotient beyond i32", ("QuantizeLinear", "f32", [[1e10], 1, U8(0)], {}), [255]),
            (
                "a zero point for each row",
                (
                    "MatMulInteger",
                    "f32",
                    [U8([[3, 5], [3, 5]]), U8([[1], [1]]), U8([1, 2])],
                    {},
                ),
                [6, 4],
            ),
            (
                "as many channels as images",
                ("LRN", "f32", [CHANNELS], {"size": 3, "alpha": 3.0, "beta": 1.0}),
                [0.1666666716337204, 0.13333334028720856, 0.2142857164144516],
            ),
            ("magnitudes", ("LpNormalization", "f32", [[-1, 3]], {"p": 1}), [-0.25, 0.75]),
            ("a logarithm of 0", ("LogSoftmax", "f32", [[0, -200]], {}), [0, -200]),
            ("padding of -1", ("Pad", "f32", [[1, 2], (-1, 0)], {}), [2]),
            ("places of fewer rows", ("GatherElements", "f32", [TWO_BY_TWO, ((1,),)], {}), [3]),
            ("sums are kept in f16", ("ReduceL1", "f16", [[2048, 1, 1]], {}), [2050]),
            ("sums are kept in f16", ("ReduceMean", "f16", [[2048, 1, 1, 2]], {}), [513]),
            ("f16 is rounded before the bias", BIASED, [2**-20]),
            ("f16 is rounded before C", ("Gemm", "f16", PLUS_C, {}), [2**-20]),
            (
                "i64 is computed in f64",
                ("Gemm", "i64", [[[2**53 + 1]], [[1]], [[-1]]], {}),
                [2**53],
            ),
            ("f16 taps are added in f16", ("ConvTranspose", *OVERLAP), OVERLAPPED),
            ("a number for a matrix", ("MatMul", "f32", [[1, 2], 3], {}), REFUSED),
            ("a matrix of three dimensions", ("Gemm", "f32", [[[[1]]], [[1]]], {}), REFUSED),
            (
                "a gap of the filter times infinity",
                ("Conv", "f32", [[[[1, INF, 1]]], [[[1, 1]]]], {"dilations": [2]}),
                [2],
            ),
            (
                "output_shape without auto_pad",
                ("ConvTranspose", "f32", [LINE, TAPS], {"output_shape": [3]}),
                [123, 1230, 2300],
            ),
            (
                "two groups of two results",
                ("ConvTranspose", "f32", [[[[1], [2]]], [[[1], [10]], [[1], [10]]]], {"group": 2}),
                [1, 10, 2, 20],
            ),
            (
                "strides of another length",
                ("Conv", "f32", [LINE, [[[1]]]], {"strides": [1, 1]}),
                REFUSED,
            ),
            (
                "a word that there is not",
                ("Conv", "f32", [LINE, [[[1]]]], {"auto_pad": "SAME"}),
                REFUSED,
            ),
            ("a bias of one element", ("Conv", "f32", [LINE, [[[1]], [[1]]], [1]], {}), REFUSED),
        ],
    ),
    "torch": (
        torch,
        [
            (
                "bf16 with an infinity",
                ("conv1d", "bf16", [[[[1, 1, INF]]], [[[1, 1]]]], {}),
                [2, INF],
            ),
            ("f16 taps are added in f16", ("conv_transpose1d", *OVERLAP), OVERLAPPED),
            ("a row of weights and a bias", ("linear", "f32", [[[1, 2]], [1, 10], 100], {}), [121]),
            (
                "a stride of one entry",
                ("conv2d", "f32", [[[[[1, 2], [3, 4]]]], [[[[1]]]]], {"stride": [1]}),
                REFUSED,
            ),
        ],
    ),
    "tract": (
        tract,
        [
            (
                "f16 is added in f16",
                ("Conv", "f16", [[[[1 + STEP, 1]]], [[[1 + STEP, -1 - 2 * STEP]]]], {}),
                [2**-20],
            ),
            ("two vectors", ("MatMul", "f32", [[1, 2], [10, 1]], {}), [12]),
            ("a number for a matrix", ("MatMul", "f32", [[1, 2], 3], {}), REFUSED),
            ("f16 with a factor", ("Gemm", "f16", [[[1]], [[1]]], {"alpha": 0.5}), [0.5]),
            (
                "f64 with a factor of C",
                ("Gemm", "f64", [[[1]], [[1]], [[1]]], {"beta": 0.5}),
                [1.5],
            ),
            (
                "output_shape pads nothing",
                ("ConvTranspose", "f32", [LINE, TAPS], {"output_shape": [3]}),
                [123, 1230, 2300],
            ),
            (
                "output_shape and SAME_UPPER",
                (
                    "ConvTranspose",
                    "f32",
                    [LINE, TAPS],
                    {"output_shape": [3], "auto_pad": "SAME_UPPER"},
                ),
                [12, 123, 1230],
            ),
            (
                "SAME with output_padding",
                (
                    "ConvTranspose",
                    "f32",
                    [[[[1, 2]]], [[[1, 10, 100]]]],
                    {"auto_pad": "SAME_UPPER", "strides": [2], "output_padding": [1]},
                ),
                [10, 102, 20, 200],
            ),
            ("a dilation of 0", ("Conv", "f32", [LINE, [[[1]]]], {"dilations": [0]}), REFUSED),
            ("a stride of 0", ("Conv", "f32", [LINE, [[[1]]]], {"strides": [0]}), REFUSED),
        ],
    ),
    "jax": (
        jax,
        [
            (
                "an infinity in another group, in f64",
                (
                    "conv_general_dilated",
                    "f64",
                    [[[[INF], [1]]], [[[1]], [[1]]]],
                    {"window_strides": [1], "padding": "VALID", "feature_group_count": 2},
                ),
                [INF, 1],
            ),
        ],
    ),
    "ncnn": (
        ncnn,
        [
            (
                "SAME_UPPER of a stride beyond the filter on one axis",
                (
                    "Convolution",
                    "f32",
                    [[[[1, 2, 3]]], [[[[1], [1], [1]]]]],
                    {0: 1, 1: 1, 11: 3, 3: 3, 13: 1, 6: 3, 19: 1}
                    | dict.fromkeys((4, 14, 15, 16), -233),
                ),
                [1],
            ),
            (
                "the same, with a filter that is far wider than the image",
                (
                    "Convolution",
                    "f32",
                    [[[[1], [2]]], [[[[1] * 40]]]],
                    {0: 1, 1: 40, 11: 1, 3: 2, 13: 2, 6: 40, 19: 1}
                    | dict.fromkeys((4, 14, 15, 16), -233),
                ),
                [1],
            ),
        ],
    ),
    "litert": (
        litert,
        [
            ("an infinity", ("VALID", "f32", [[[INF, 1]], [[1, 1]]], {}), [INF]),
        ],
    ),
}
"""By runtime what calls it, and its cases: what is wrong, the call, and the right result."""


def show(runtime: str, number: int) -> None:
    """Run a case, and print its result beside the right one."""
    call, cases = CASES[runtime]
    case = cases[number][1]
    try:
        got: Any = np.asarray(call(*case)).ravel().tolist()
    except Exception as error:
        got = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    print(lines(runtime, number, got), flush=True)


def lines(runtime: str, number: int, got: Any) -> str:
    """Return a case, its right result, and what came out."""
    what, case, expected = CASES[runtime][1][number]
    words = " ".join(map(str, case))
    return f"{runtime}: {what}: {words}\n    right {expected}\n    got   {got}"


def main(runtimes: list[str]) -> None:
    """Run the cases of some runtimes, each in a process."""
    for runtime in runtimes or CASES:
        for number in range(len(CASES[runtime][1])):
            command = [sys.executable, __file__, runtime, str(number)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            lost = lines(runtime, number, f"exit code {done.returncode}")
            print(done.stdout.rstrip() or lost, flush=True)


if __name__ == "__main__":
    if sys.argv[-1].isdecimal():
        show(sys.argv[1], int(sys.argv[2]))
    else:
        main(sys.argv[1:])
