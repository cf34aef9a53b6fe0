"""LiteRT's pools: attributes become a model of one operator on data with the channels last."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from worked import avg, exact_avg_pool, plane

from conformance.backends.axis_order import transposed, untransposed
from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.errors import Unsupported
from conformance.model import Case
from conformance.specification import find_spec

Attributes = dict[str, Any]

pytestmark = pytest.mark.needs("litert")


@pytest.fixture(params=["litert", "litert?delegate=none"])
def litert(request: pytest.FixtureRequest) -> Backend:
    return load_backend(request.param)


def answer(litert: Backend, op: str, inputs: list[Any], attributes: Attributes) -> Any:
    """The output for data (N, C, H, W), laid out as the backend declares and back."""
    declared = capabilities_of(litert)
    assert declared is not None
    order = declared.orders(op, "data", is_image=True)[4].axes
    (result,) = litert.run(op, [transposed(inputs[0], order), *inputs[1:]], attributes)
    return untransposed(result, order)


def maximum(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if name != "exclude-pad"}


def of_onnx(attributes: Attributes) -> Attributes:
    """An AvgPool-1 without pads as ONNX spells it."""
    words = {"valid": "VALID", "same_upper": "SAME_UPPER", "explicit": "NOTSET"}
    return {
        "kernel_shape": attributes["kernel"],
        "strides": attributes["strides"],
        "auto_pad": words[attributes["auto_pad"]],
        "count_include_pad": int(not attributes["exclude-pad"]),
    }


def unclaimed(backend: Backend, op: str, attributes: Attributes, **facts: Any) -> str | None:
    shape, dtype = facts.pop("shape", (1, 1, 8, 8)), facts.pop("dtype", "f32")
    declared = capabilities_of(backend)
    assert declared is not None
    return declared.reason_against(
        find_spec(op), Case(op, {"T": dtype}, {"data": shape}, attributes, **facts)
    )


def test_the_default_kernels_are_those_of_xnnpack_and_the_others_are_not() -> None:
    from conformance.backends.litert import SAME, LiteRT, pool, reduction

    delegated, own = load_backend("litert"), load_backend("litert?delegate=none")
    assert isinstance(delegated, LiteRT)
    assert isinstance(own, LiteRT)
    assert environment_of(delegated)["kernels"] == "XNNPACK"
    assert environment_of(own)["kernels"] == "LiteRT's own"
    for call in (
        pool("AVERAGE_POOL_2D", [2, 3], [2, 1], SAME),
        pool("MAX_POOL_2D", [3, 3], [2, 2], SAME),
        reduction("MEAN", [1, 2]),
    ):
        assert delegated.delegates(call, (1, 5, 5, 3))
        assert not own.delegates(call, (1, 5, 5, 3))


@pytest.mark.parametrize("auto_pad", ["same_upper", "valid", "explicit"])
@pytest.mark.parametrize(("kernel", "strides"), [([2, 3], [2, 1]), ([3, 1], [1, 4])])
def test_means_are_those_of_the_definition(
    litert: Backend, auto_pad: str, kernel: list[int], strides: list[int]
) -> None:
    data = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    attributes = avg(kernel, True, strides=strides, auto_pad=auto_pad)
    asked = [("AvgPool-1", attributes), ("AvgPool-16", {**attributes, "dilations": [1, 1]})]
    asked.append(("onnx.AveragePool-22", of_onnx(attributes)))
    expected = exact_avg_pool(data, attributes)
    for op, words in asked:
        assert unclaimed(litert, op, words, shape=data.shape) is None
        result = answer(litert, op, [data], words)
        assert result.dtype == np.float32
        assert result.size == len(expected)
        for index, mean in expected.items():
            assert result[index] == pytest.approx(float(mean), rel=1e-6)


def test_the_largest_of_same_windows(litert: Backend) -> None:
    attributes = maximum(avg([1, 2], strides=[1, 2], auto_pad="same_upper"))
    result = answer(litert, "MaxPool-1", [plane([[-2, -3, -4, -5, -6]])], attributes)
    np.testing.assert_array_equal(result[0, 0], [[-2, -4, -6]])


def test_one_window_is_as_large_as_the_plane(litert: Backend) -> None:
    data = np.arange(2 * 3 * 2 * 5, dtype=np.float32).reshape(2, 3, 2, 5)
    means = answer(litert, "onnx.GlobalAveragePool-22", [data], {})
    np.testing.assert_allclose(means, data.mean((2, 3), keepdims=True), rtol=1e-6)
    largest = answer(litert, "onnx.GlobalMaxPool-22", [data], {})
    np.testing.assert_array_equal(largest, data.max((2, 3), keepdims=True))


def test_attributes_of_onnx_may_be_left_out(litert: Backend) -> None:
    result = answer(litert, "onnx.AveragePool-22", [plane([[2, 4, 8]])], {"kernel_shape": [1, 2]})
    np.testing.assert_array_equal(result[0, 0], [[3, 6]])


@pytest.mark.parametrize(
    "attributes",
    [
        avg([2, 2], True, rounding_type="ceil"),
        avg([2, 2], True, auto_pad="same_lower"),
        avg([2, 2], False, auto_pad="same_upper"),
        avg([2, 2], True, pads_begin=[0, 1]),
        avg([2, 2], True, pads_end=[1, 0]),
    ],
    ids=["ceil", "same_lower", "counted", "begin", "end"],
)
def test_what_pools_have_no_word_for_is_declared(litert: Backend, attributes: Attributes) -> None:
    for op in ("AvgPool-1", "AvgPool-14"):
        assert unclaimed(litert, op, attributes)
        with pytest.raises(Unsupported):
            litert.run(op, [np.zeros((1, 1, 8, 8), np.float32)], attributes)


@pytest.mark.parametrize(
    "attributes",
    [
        {"ceil_mode": 1},
        {"auto_pad": "SAME_LOWER"},
        {"auto_pad": "SAME_UPPER", "count_include_pad": 1},
        {"pads": [0, 0, 1, 0]},
        {"dilations": [1, 2]},
    ],
    ids=lambda attributes: "-".join(attributes),
)
def test_what_onnx_asks_beyond_is_declared_too(litert: Backend, attributes: Attributes) -> None:
    words = {"kernel_shape": [2, 2], **attributes}
    assert unclaimed(litert, "onnx.AveragePool-22", words)
    with pytest.raises(Unsupported):
        litert.run("onnx.AveragePool-22", [np.zeros((1, 1, 8, 8), np.float32)], words)


def test_pads_that_the_document_ignores_are_ignored(litert: Backend) -> None:
    attributes = avg([1, 2], True, auto_pad="valid", pads_begin=[3, 3])
    assert unclaimed(litert, "AvgPool-1", attributes) is None
    result = answer(litert, "AvgPool-1", [plane([[2, 4, 8]])], attributes)
    np.testing.assert_array_equal(result[0, 0], [[3, 6]])


def test_other_types_ranks_and_operators_are_not_claimed(litert: Backend) -> None:
    assert unclaimed(litert, "AvgPool-1", avg([2, 2]), dtype="bf16")
    assert unclaimed(litert, "AvgPool-1", avg([2]), shape=(1, 1, 8))
    for op, data, attributes in (
        ("AvgPool-1", plane([[1, 2]], ml_dtypes.bfloat16), avg([1, 2])),
        ("AvgPool-1", plane([1, 2]), avg([2])),
        ("MaxPool-8", plane([[1, 2]]), maximum(avg([1, 2]))),
    ):
        with pytest.raises(Unsupported):
            litert.run(op, [data], attributes)


@pytest.mark.parametrize("attributes", [{"strides": [1]}, {"pads_end": [0]}, {"kernel": [2, 2, 2]}])
def test_lists_of_other_lengths_cannot_be_written(litert: Backend, attributes: Attributes) -> None:
    words = {**avg([2, 2]), **attributes}
    assert unclaimed(litert, "AvgPool-1", words, reject="length") is None
    with pytest.raises(Unsupported):
        litert.run("AvgPool-1", [np.zeros((1, 1, 8, 8), np.float32)], words)


def test_litert_itself_refuses_what_is_invalid(litert: Backend) -> None:
    with pytest.raises(RuntimeError, match="stride"):
        litert.run("AvgPool-1", [plane([[1, 2]])], avg([1, 2], strides=[1, 0]))


@pytest.mark.parametrize(
    "op", ["AvgPool-1", "MaxPool-1", "onnx.GlobalAveragePool-22", "onnx.GlobalMaxPool-22"]
)
def test_the_script_says_the_same(litert: Backend, op: str) -> None:
    inputs = [np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4) - 12]
    attributes = avg([2, 3], True, strides=[1, 2], auto_pad="same_upper")
    if op == "MaxPool-1":
        attributes = maximum(attributes)
    elif op.startswith("onnx."):
        attributes = {}
    names = {"np": np, "op": op, "inputs": inputs, "attributes": attributes, "outputs": None}
    exec(litert.reproduce(op, inputs, attributes), names)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(names["outputs"], litert.run(op, inputs, attributes))


def test_what_a_log_should_know_is_told(litert: Backend) -> None:
    assert litert.version.count(".") == 2
    assert environment_of(litert)["device"] == "CPU"


FILTER = [[[[10, 1]]]]
SQUARE = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
ZEROS = {name: [0, 0] for name in ("pads_begin", "pads_end")}
STEPS = {"strides": [1, 1], "dilations": [1, 1]}


@pytest.mark.parametrize(
    ("op", "shape", "filters", "bias", "attributes", "expected"),
    [
        ("onnx.Conv-22", (1, 1, 3, 3), FILTER, None, {}, [12, 23, 45, 56, 78, 89]),
        ("onnx.Conv-22", (1, 1, 3, 3), FILTER, [100], {"dilations": [1, 2]}, [113, 146, 179]),
        (
            "Convolution-1", (1, 1, 3, 3), FILTER, None,
            {**STEPS, **ZEROS, "strides": [2, 2], "auto_pad": "same_upper"}, [12, 30, 78, 90],
        ),
        ("torch.conv-2", (1, 1, 3, 3), FILTER, None, {"padding": "valid", "stride": 2}, [12, 78]),
        (
            "GroupConvolution-1", (1, 3, 3, 1), [[[[[1]]]], [[[[10]]]], [[[[100]]]]], None,
            {**STEPS, **ZEROS}, [1, 2, 3, 40, 50, 60, 700, 800, 900],
        ),
    ],
)  # fmt: skip
def test_convolutions(
    litert: Backend,
    op: str,
    shape: tuple[int, ...],
    filters: Any,
    bias: Any,
    attributes: Attributes,
    expected: list[float],
) -> None:
    data = np.array(SQUARE, np.float32).reshape(shape)
    others = [None if array is None else np.array(array, np.float32) for array in (filters, bias)]
    (result,) = litert.run(op, [data, *others], attributes)
    assert result.ravel().tolist() == expected


def test_channels_of_convolutions_are_where_the_specification_has_them(litert: Backend) -> None:
    image = np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)
    filters = np.array([[1, 0], [0, 10], [1, 1]], np.float32).reshape(3, 2, 1, 1)
    (result,) = litert.run("onnx.Conv-22", [image, filters, None], {})
    assert result.shape == (1, 3, 2, 3)
    np.testing.assert_array_equal(result[0, 1], 10 * image[0, 1])
    np.testing.assert_array_equal(result[0, 2], image[0, 0] + image[0, 1])


@pytest.mark.parametrize(
    ("attributes", "rank", "reason"),
    [
        ({"pads": [0, 0, 1, 1]}, 4, "pad by SAME or VALID"),
        ({"auto_pad": "SAME_LOWER"}, 4, "pad by SAME or VALID"),
        ({"dilations": [1]}, 4, "no list of others"),
        ({"group": 2}, 4, "groups of LiteRT follow from channels"),
        ({}, 5, "on data of rank 5"),
    ],
)
def test_what_convolutions_cannot_say(
    litert: Backend, attributes: Attributes, rank: int, reason: str
) -> None:
    arrays = [np.ones((1,) * rank, np.float32)] * 2
    with pytest.raises(Unsupported, match=reason):
        litert.run("onnx.Conv-22", arrays, attributes)
