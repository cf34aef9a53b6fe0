"""Adapters of convolutions and products of matrices: arguments reach the framework as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.discovery import load_backend
from conformance.backends.products import MATRIX_PRODUCTS
from conformance.backends.protocol import Backend, capabilities_of
from conformance.backends.standalone_call import StandaloneAdapter
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator import Operator
from conformance.core.tree import Node
from conformance.errors import Unsupported

# PyTorch warns of what it does where 'same' is of an odd number.
pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'")

Attributes = dict[str, Any]

IMAGE = [[[1, 2, 3]]]
TWO_CHANNELS = [[[1, 2], [3, 4]]]
ROWS = [[1, 2], [3, 4]]
UNIT = {"strides": [1], "dilations": [1], "pads_begin": [0], "pads_end": [0]}

EXAMPLES: dict[str, tuple[str, list[Any], Attributes, Any]] = {
    # operator, inputs, attributes, expected
    "filter": ("onnx.Conv-22", [IMAGE, [[[10, 1]]], None], {}, [[[12, 23]]]),
    "bias": ("onnx.Conv-22", [IMAGE, [[[10, 1]]], [100]], {}, [[[112, 123]]]),
    "stride": ("onnx.Conv-22", [IMAGE, [[[1]]]], {"strides": [2]}, [[[1, 3]]]),
    "dilation": ("onnx.Conv-22", [IMAGE, [[[10, 1]]]], {"dilations": [2]}, [[[13]]]),
    "pads": ("onnx.Conv-22", [IMAGE, [[[10, 1]]]], {"pads": [1, 1]}, [[[1, 12, 23, 30]]]),
    "unequal pads": ("onnx.Conv-22", [IMAGE, [[[10, 1]]]], {"pads": [2, 0]}, [[[0, 1, 12, 23]]]),
    "odd padding": (
        "onnx.Conv-22", [IMAGE, [[[10, 1]]]], {"auto_pad": "SAME_UPPER"}, [[[12, 23, 30]]],
    ),
    "groups": (
        "onnx.Conv-22", [TWO_CHANNELS, [[[1]], [[10]]]], {"group": 2}, [[[1, 2], [30, 40]]],
    ),
    "its pads": (
        "Convolution-1", [IMAGE, [[[10, 1]]]], {**UNIT, "pads_begin": [1], "pads_end": [1]},
        [[[1, 12, 23, 30]]],
    ),
    "its groups": (
        "GroupConvolution-1", [TWO_CHANNELS, [[[[1]]], [[[10]]]]], UNIT, [[[1, 2], [30, 40]]],
    ),
    "padding in words": (
        "torch.conv-2", [IMAGE, [[[10, 1]]], None], {"padding": "same"}, [[[12, 23, 30]]],
    ),
    "no batch": ("torch.conv-2", [IMAGE[0], [[[10, 1]]], None], {}, [[12, 23]]),
    "transposed": ("onnx.ConvTranspose-22", [IMAGE, [[[10, 1]]]], {}, [[[10, 21, 32, 3]]]),
    "transposed, stride": (
        "onnx.ConvTranspose-22", [IMAGE, [[[10, 1]]]], {"strides": [2]}, [[[10, 1, 20, 2, 30, 3]]],
    ),
    "transposed, pads": (
        "onnx.ConvTranspose-22", [IMAGE, [[[10, 1]]], [100]], {"pads": [1, 1]}, [[[121, 132]]],
    ),
    "transposed, groups": (
        "onnx.ConvTranspose-22", [TWO_CHANNELS, [[[1]], [[10]]]], {"group": 2},
        [[[1, 2], [30, 40]]],
    ),
    "transposed, more at the end": (
        "torch.conv_transpose-2", [IMAGE, [[[10]]], None],
        {"stride": [2], "output_padding": [1]}, [[[10, 0, 20, 0, 30, 0]]],
    ),
    "transposed, its pads": (
        "ConvolutionBackpropData-1", [IMAGE, [[[10, 1]]], None],
        {**UNIT, "pads_begin": [1], "pads_end": [1]}, [[[21, 32]]],
    ),
    "transposed, its groups": (
        "GroupConvolutionBackpropData-1", [TWO_CHANNELS, [[[[1]]], [[[10]]]], None], UNIT,
        [[[1, 2], [30, 40]]],
    ),
    "matrices": ("onnx.MatMul-13", [ROWS, [[1, 0], [0, 10]]], {}, [[1, 20], [3, 40]]),
    "vectors": ("torch.matmul-2", [[1, 2], [10, 1]], {}, 12),
    "matrices turned": (
        "MatMul-1", [ROWS, [[1, 0], [0, 10]]], {"transpose_a": True}, [[1, 30], [2, 40]],
    ),
    "a vector is not turned": ("MatMul-1", [[1, 2], ROWS], {"transpose_a": True}, [7, 10]),
    "weights are turned": ("torch.linear-2", [ROWS, [[10, 1]], [100]], {}, [[112], [134]]),
    "factors": (
        "onnx.Gemm-13", [ROWS, ROWS, [1, 2]], {"transB": 1, "alpha": 2.0, "beta": 10.0},
        [[20, 42], [32, 70]],
    ),
    "nothing is added": ("onnx.Gemm-13", [ROWS, ROWS, None], {"transA": 1}, [[10, 14], [14, 20]]),
}  # fmt: skip

LACKING: dict[str, dict[str, str]] = {
    "torch": {},
    "jax": {
        "transposed, groups": "no groups",
        "transposed, its groups": "no groups",
        "transposed, more at the end": "no output_padding",
    },
    "ncnn": {"factors": "a factor of what is added"},
}
"""For each backend the examples that it cannot be asked for, and a word of the reason."""

PAIRS = [
    pytest.param(name, example, marks=pytest.mark.needs(name), id=f"{name}-{example}")
    for name in LACKING
    for example in EXAMPLES
]


def arrays(inputs: list[Any]) -> list[Any]:
    return [None if array is None else np.array(array, np.float32) for array in inputs]


ONNX = ("onnxruntime", "onnx-reference", "tract")
"""Backends of models of ONNX, which know no operator of other dialects."""

PAIRS += [
    pytest.param("numpy", example, id=f"numpy-{example}")
    for example, (op, *_) in EXAMPLES.items()
    if op.rpartition("-")[0] in MATRIX_PRODUCTS
]
PAIRS += [
    pytest.param(name, example, marks=pytest.mark.needs(name), id=f"{name}-{example}")
    for name in ONNX
    for example, (op, *_) in EXAMPLES.items()
    if op.startswith("onnx.")
]


@pytest.mark.parametrize(("name", "example"), PAIRS)
def test_worked_examples(name: str, example: str) -> None:
    op, inputs, attributes, expected = EXAMPLES[example]
    backend = load_backend(name)
    declared = capabilities_of(backend)
    assert declared is None or declared.names(op)
    lacking = LACKING.get(name, {})
    if example in lacking:
        with pytest.raises(Unsupported, match=lacking[example]):
            backend.run(op, arrays(inputs), attributes)
        return
    (result,) = backend.run(op, arrays(inputs), attributes)
    np.testing.assert_array_equal(result, expected)
    assert (result.dtype, result.shape) == (np.float32, np.shape(expected))
    if not isinstance(backend, StandaloneAdapter):
        return
    names: dict[str, Any] = {"np": np, "inputs": arrays(inputs)}
    exec(backend.reproduce(op, names["inputs"], attributes), names)
    np.testing.assert_array_equal(names["outputs"][0], expected)


def reads_inputs(operator: Operator, factor: Node) -> bool:
    names = {tensor.name for tensor in operator.inputs}
    return any(node.op == "read" and node.value in names for node in factor.walk())


def test_the_examples_are_of_every_operator_of_f32() -> None:
    families = {
        operator.op.rpartition("-")[0]
        for operator in map(load_operator, shipped_names())
        if "f32" in operator.types.get(operator.inputs[0].type, ())
        and sum(tensor.entries is None for tensor in operator.inputs) > 1
        and any(
            d.term is not None
            and d.term.op == "*"
            and all(reads_inputs(operator, factor) for factor in d.term.args)
            for d in operator.define.values()
        )
    }
    assert {example[0].rpartition("-")[0] for example in EXAMPLES.values()} == families


@pytest.fixture(scope="module")
def torch() -> Backend:
    return load_backend("torch")


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("example", "attributes", "reason"),
    [
        ("filter", {"auto_pad": "SAME_LOWER"}, "PyTorch has no 'same_lower'"),
        ("filter", {"auto_pad": "SAME_UPPER", "strides": [2]}, "by 'same' at stride 1 alone"),
        ("filter", {"kernel_shape": [3]}, "take the shape of filters from them"),
        ("filter", {"pads": [1, 1, 1]}, "pads of other axes"),
        ("its pads", {**UNIT, "pads_begin": [-1]}, "negative padding"),
        ("transposed", {"output_shape": [3]}, "take no size of the result"),
        ("transposed", {"auto_pad": "SAME_UPPER"}, "know no automatic padding"),
        ("transposed", {"pads": [1, 0]}, "the same from both ends"),
        ("transposed", {"output_padding": [1]}, "output_padding below the stride"),
        ("nothing is added", {"alpha": 0.5}, "a factor only beside a matrix to add"),
    ],
)
def test_what_pytorch_has_no_argument_for(
    torch: Backend, example: str, attributes: Attributes, reason: str
) -> None:
    op, inputs, *_ = EXAMPLES[example]
    with pytest.raises(Unsupported, match=reason):
        torch.run(op, arrays(inputs), attributes)


@pytest.mark.needs("jax")
@pytest.mark.parametrize(
    ("bias", "attributes", "reason"),
    [
        ([100], {"auto_pad": "SAME"}, "auto_pad same is no padding of JAX's"),
        ([100, 200], {}, "no bias that could be of a wrong shape"),
        ([[100]], {}, "no bias that could be of a wrong shape"),
        (None, {"pads": [-1, 0]}, "negative padding is a way to crop"),
    ],
)
def test_what_jax_cannot_be_given_wrong(bias: Any, attributes: Attributes, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        load_backend("jax").run("onnx.Conv-22", arrays([IMAGE, [[[10, 1]]], bias]), attributes)


@pytest.mark.needs("jax")
@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("onnx.Gemm-13", [[ROWS], ROWS, None]),
        ("onnx.Gemm-13", [[[1, 2]], ROWS, [[1, 1], [2, 2]]]),
        ("torch.linear-2", [ROWS, ROWS, [1]]),
    ],
)
def test_products_of_jax_stretch_what_does_not_fit(op: str, inputs: list[Any]) -> None:
    with pytest.raises(Unsupported, match="arrays of JAX stretch"):
        load_backend("jax").run(op, arrays(inputs), {})


@pytest.mark.needs("torch")
def test_pytorch_takes_no_output_shape_as_an_input(torch: Backend) -> None:
    inputs = [*arrays([IMAGE, [[[10, 1]]]]), np.array([3])]
    with pytest.raises(Unsupported, match="take no size of the result"):
        torch.run("ConvolutionBackpropData-1", inputs, UNIT)


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("op", "shapes", "attributes"),
    [
        ("torch.conv-2", [(1, 2, 3), (1, 1, 2)], {}),
        ("torch.conv-2", [(1, 1, 3), (1, 1, 2)], {"stride": [0]}),
        ("torch.matmul-2", [(2, 3), (2, 3)], {}),
    ],
)
def test_pytorch_itself_refuses_what_is_invalid(
    torch: Backend, op: str, shapes: list[tuple[int, ...]], attributes: Attributes
) -> None:
    with pytest.raises(RuntimeError):
        torch.run(op, [np.zeros(shape, np.float32) for shape in shapes], attributes)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("example", ["unequal pads", "its groups", "factors"])
def test_products_are_compiled(example: str) -> None:
    from conformance.backends.torch_compile import TorchCompile

    class Traced(TorchCompile):
        """Graphs are made and guarded as ever, and run without a C++ compiler."""

        kernels = "aot_eager"

    op, inputs, attributes, expected = EXAMPLES[example]
    (result,) = Traced().run(op, arrays(inputs), attributes)
    np.testing.assert_array_equal(result, expected)
