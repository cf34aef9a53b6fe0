"""Backends that read ONNX models: what a vector says reaches them as a model of one operator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from worked import plane

from conformance.backends.capabilities import Capabilities
from conformance.backends.discovery import load_backend
from conformance.backends.onnx_model import model
from conformance.backends.onnxruntime import CAPABILITIES
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.dtypes import name_of
from conformance.errors import Unsupported
from conformance.generate import recorded
from conformance.model import Case
from conformance.specification import build, find_spec
from conformance.suite.recorded_cases import committed_operators

pytestmark = pytest.mark.needs("onnx-reference")

READERS = ("onnxruntime", "onnx-reference", "openvino")


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.needs(name)) for name in READERS]
)
def reader(request: pytest.FixtureRequest) -> Backend:
    return load_backend(request.param)


def pool(kernel: list[int], **attributes: Any) -> dict[str, Any]:
    return {"kernel_shape": kernel} | attributes


ONE_AXIS = [
    # version, size of 1..n, attributes, expected
    (7, 5, pool([2], strides=[2]), [1.5, 3.5]),
    (7, 5, pool([2], strides=[2], pads=[1, 0]), [1, 2.5, 4.5]),
    (7, 5, pool([2], strides=[2], pads=[1, 0], count_include_pad=1), [0.5, 2.5, 4.5]),
    (7, 5, pool([2], strides=[2], pads=[0, 1], count_include_pad=1), [1.5, 3.5, 2.5]),
    (7, 5, pool([2], strides=[2], auto_pad="SAME_LOWER"), [1, 2.5, 4.5]),
    (7, 5, pool([2], strides=[2], auto_pad="SAME_UPPER", count_include_pad=1), [1.5, 3.5, 2.5]),
    (7, 5, pool([2], auto_pad="VALID"), [1.5, 2.5, 3.5, 4.5]),
    (10, 5, pool([2], strides=[2], ceil_mode=1), [1.5, 3.5, 5]),
    (19, 5, pool([2], dilations=[3]), [2.5, 3.5]),
    (22, 4, pool([2], strides=[2], ceil_mode=1, pads=[0, 1]), [1.5, 3.5]),
]
"""AveragePool of one axis with the values 1 to n, which every reader gets right."""


@pytest.mark.parametrize("op", [op for op in committed_operators() if op.startswith("onnx.")])
def test_the_package_onnx_accepts_a_model_of_every_operator(op: str) -> None:
    import onnx

    spec = find_spec(op)
    known = recorded.read(op)
    assert known is not None
    valid = (entry.case for entry in known.recorded if entry.case.reject is None)
    case = min(valid, key=lambda case: case.dtype != "f32")
    made = onnx.load_from_string(model(op, build(spec, case).arguments, case.attributes))
    # An output whose rank depends on several inputs is left to the reader to infer.
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(made, strict_mode=True))
    assert f"{made.graph.node[0].op_type}-{made.opset_import[0].version}" == op[5:]


@pytest.mark.parametrize(("version", "size", "attributes", "expected"), ONE_AXIS)
def test_averages_of_one_axis(
    reader: Backend, version: int, size: int, attributes: Any, expected: list[float]
) -> None:
    data = plane(range(1, size + 1))
    (result,) = reader.run(f"onnx.AveragePool-{version}", [data], attributes)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result[0, 0], expected)


def test_axes_and_ends_are_not_swapped(reader: Backend) -> None:
    attributes = pool([1, 3], strides=[2, 1], pads=[0, 2, 0, 1], count_include_pad=1)
    data = plane(np.arange(9).reshape(3, 3) * 3)
    (result,) = reader.run("onnx.AveragePool-22", [data], attributes)
    np.testing.assert_array_equal(result[0, 0], [[0, 1, 3, 3], [6, 13, 21, 15]])


def test_both_outputs_come_back(reader: Backend) -> None:
    data = np.concatenate([plane([[1, 5], [7, 3]]), plane([[4, 2], [0, 1]])], axis=1)
    values, indices = reader.run("onnx.MaxPool-12", [data], pool([1, 2], strides=[1, 2]))
    np.testing.assert_array_equal(values[0, :, :, 0], [[5, 7], [4, 1]])
    assert indices.dtype == np.int64
    np.testing.assert_array_equal(indices[0, :, :, 0], [[1, 2], [4, 7]])


def test_lists_of_tensors_go_in_and_out_in_their_order(reader: Backend) -> None:
    parts = [np.full((1, n), n, np.float32) for n in (2, 1, 3)]
    (whole,) = reader.run("onnx.Concat-13", [*parts, None], {"axis": 1})
    assert whole.tolist() == [[2, 2, 1, 3, 3, 3]]
    outputs = reader.run("onnx.Split-18", [whole, np.array([2, 1, 3])], {"axis": -1})
    assert [part.tolist() for part in outputs] == [part.tolist() for part in parts]


def test_operators_without_attributes(reader: Backend) -> None:
    data = plane([[1, 2], [3, 6]])
    (mean,) = reader.run("onnx.GlobalAveragePool-1", [data], {})
    (largest,) = reader.run("onnx.GlobalMaxPool-1", [data], {})
    assert (mean.tolist(), largest.tolist()) == ([[[[3.0]]]], [[[[6.0]]]])


def test_half_precision_goes_in_and_out(reader: Backend) -> None:
    (result,) = reader.run("onnx.AveragePool-7", [plane([1, 2, 4], np.float16)], pool([2]))
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result[0, 0], [1.5, 3])


@pytest.mark.parametrize(
    "name", ["onnx-reference", pytest.param("openvino", marks=pytest.mark.needs("openvino"))]
)
def test_bf16_goes_in_and_out(name: str) -> None:
    data = plane([1, 2, 4], ml_dtypes.bfloat16)
    (result,) = load_backend(name).run("onnx.AveragePool-22", [data], pool([2]))
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result[0, 0].astype(np.float32), [1.5, 3])


def test_what_is_invalid_is_refused_by_the_backend(reader: Backend) -> None:
    with pytest.raises(Exception, match=r".") as caught:
        reader.run("onnx.AveragePool-7", [plane(range(4))], pool([9]))
    assert not isinstance(caught.value, Unsupported)


@pytest.mark.parametrize("op", ["AvgPool-1", "onnx.Nothing-1", "onnx.AveragePool-8"])
def test_what_is_no_operator_of_onnx_is_unsupported(op: str) -> None:
    with pytest.raises(Unsupported):
        model(op, [plane([1, 2])], pool([2]))


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("onnx.AveragePool-22", pool([2], pads=[1, 0], count_include_pad=1)),
        ("onnx.MaxPool-8", pool([3], strides=[2], auto_pad="SAME_UPPER")),
        ("onnx.GlobalMaxPool-1", {}),
    ],
)
def test_a_script_makes_the_same_call(reader: Backend, op: str, attributes: Any) -> None:
    data = plane([3, 1, 4, 1, 5])
    reproduce = getattr(reader, "reproduce")  # noqa: B009 - an optional member
    names = {"np": np, "op": op, "inputs": [data.copy()], "attributes": attributes}
    exec(reproduce(op, [data], attributes), names)
    expected = reader.run(op, [data], attributes)
    for one, other in zip(names["outputs"], expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_model_is_of_the_oldest_opset_and_ir_that_has_the_operator() -> None:
    import onnx

    made = onnx.load_model_from_string(model("onnx.MaxPool-8", [plane([1, 2])], pool([2])))
    assert (made.opset_import[0].version, made.ir_version) == (8, 3)
    (node,) = made.graph.node
    assert [len(node.input), len(node.output)] == [1, 2]
    assert [attribute.name for attribute in node.attribute] == ["kernel_shape"]
    onnx.checker.check_model(made, full_check=True)


def test_an_attribute_of_another_type_is_for_the_backend_to_refuse() -> None:
    import onnx

    attributes = pool([], ceil_mode="round", strange=[2])
    made = onnx.load_model_from_string(model("onnx.MaxPool-10", [plane([1, 2])], attributes))
    kinds = {one.name: one.type for one in made.graph.node[0].attribute}
    assert kinds == {"kernel_shape": 7, "ceil_mode": 3, "strange": 7}
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(made)


def reason(capabilities: Capabilities | None, op: str, dtype: Any) -> str | None:
    assert capabilities is not None
    case = Case(op, {"T": name_of(np.dtype(dtype))}, {"data": (1, 1, 4)}, pool([2]))
    return capabilities.reason_against(find_spec(op), case)


def test_kernels_that_onnxruntime_does_not_list_are_declared() -> None:
    op = "onnx.AveragePool-22"
    assert reason(CAPABILITIES, op, np.float32) is None
    assert reason(CAPABILITIES, op, np.float16) is None
    assert "AveragePool" in (reason(CAPABILITIES, op, np.float64) or "")
    assert "bf16" in (reason(CAPABILITIES, op, ml_dtypes.bfloat16) or "")
    assert "AvgPool-1" in (CAPABILITIES.reason_against(*_asked("AvgPool-1")) or "")


def _asked(op: str) -> tuple[Any, Case]:
    return find_spec(op), Case(op, {"T": "f32"}, {"data": (1, 1, 4)}, {})


@pytest.mark.needs("onnxruntime")
def test_what_a_log_should_know_is_told() -> None:
    import onnx

    assert environment_of(load_backend("onnxruntime"))["onnx"] == onnx.__version__
    assert load_backend("onnx-reference").version == onnx.__version__
    assert capabilities_of(load_backend("onnx-reference")) == Capabilities(operators=("onnx.*",))
