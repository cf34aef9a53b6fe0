"""The adapters of real frameworks: arrays and attributes reach the framework as they are.

What the frameworks compute is for a check to judge. Here stand examples that they answer rightly,
and one for each thing that an adapter translates.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from worked import CLIPPED, FULL_KERNEL, INVALID, ONE_AXIS, OVERRUN, avg, plane

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.dtypes import name_of
from conformance.errors import Unsupported
from conformance.model import Case
from conformance.specification import find_spec

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@pytest.fixture(scope="module")
def openvino() -> Backend:
    return load_backend("openvino")


@pytest.fixture(scope="module")
def torch() -> Backend:
    return load_backend("torch")


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.needs(name)) for name in ("openvino", "torch")]
)
def framework(request: pytest.FixtureRequest) -> Backend:
    return request.getfixturevalue(request.param)


def unclaimed(backend: Backend, data: Any, attributes: dict[str, Any], **case: Any) -> str | None:
    asked = Case("AvgPool-1", {"T": name_of(data.dtype)}, {"data": data.shape}, attributes, **case)
    declared = capabilities_of(backend)
    return None if declared is None else declared.reason_against(find_spec("AvgPool-1"), asked)


@pytest.mark.needs("openvino")
@pytest.mark.parametrize(("size", "attributes", "expected"), ONE_AXIS)
def test_openvino_pools_one_axis(
    openvino: Backend, size: int, attributes: Any, expected: list[float]
) -> None:
    (result,) = openvino.run("AvgPool-1", [plane(range(1, size + 1))], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("size", "attributes", "expected"),
    [
        (8, avg([3], strides=[2], rounding_type="ceil"), [2, 4, 6, 7.5]),
        (8, avg([3], strides=[2], rounding_type="ceil", pads_end=[1]), [2, 4, 6, 5]),
        # The specification's 3 is 4.5 with a divisor that is clipped at the padded input.
        (5, avg([3], strides=[2], rounding_type="ceil", pads_begin=[1]), [1, 3, 4.5]),
        (5, avg([3], True, pads_begin=[1], pads_end=[1]), [1.5, 2, 3, 4, 4.5]),
        (5, avg([3], pads_begin=[1], pads_end=[1]), [1, 2, 3, 4, 3]),
        (5, avg([2], strides=[2], auto_pad="valid", pads_begin=[1]), [1.5, 3.5]),
        (1, avg([2], pads_begin=[2], pads_end=[2]), [0, 0.5, 0.5, 0]),
        (2, avg([2], pads_begin=[3], pads_end=[1]), [0, 0, 0.5, 1.5, 1]),
    ],
)
def test_torch_pools_one_axis(
    torch: Backend, size: int, attributes: Any, expected: list[float]
) -> None:
    data = plane(range(1, size + 1))
    assert unclaimed(torch, data, attributes) is None
    (result,) = torch.run("AvgPool-1", [data], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


@pytest.mark.needs("openvino")
def test_openvino_divides_an_overrunning_window_by_the_full_kernel(openvino: Backend) -> None:
    (result,) = openvino.run("AvgPool-1", [plane(np.arange(1, 17).reshape(4, 4))], OVERRUN)
    np.testing.assert_allclose(result[0, 0], FULL_KERNEL, rtol=1e-6)


@pytest.mark.needs("torch")
def test_torch_clips_the_divisor_at_the_padded_input(torch: Backend) -> None:
    (result,) = torch.run("AvgPool-1", [plane(np.arange(1, 17).reshape(4, 4))], OVERRUN)
    np.testing.assert_allclose(result[0, 0], CLIPPED, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_type_keeps_its_values(framework: Backend, dtype: Any, index: Any) -> None:
    data = plane([1, 1.5, 3, -3, 5], dtype)
    output_size = np.array([5], index)
    for op, attributes in (
        ("AdaptiveAvgPool-8", {}),
        ("AdaptiveMaxPool-8", {"index_element_type": "i32"}),
    ):
        outputs = framework.run(op, [data.copy(), output_size], attributes)
        assert outputs[0].dtype == dtype
        np.testing.assert_array_equal(outputs[0], data)
    assert outputs[1].dtype == np.int32
    np.testing.assert_array_equal(outputs[1][0, 0], range(5))


def test_axes_and_ends_are_not_swapped(framework: Backend) -> None:
    attributes = avg([1, 3], strides=[2, 1], pads_begin=[0, 2], pads_end=[1, 0])
    (result,) = framework.run("AvgPool-1", [plane(np.arange(9).reshape(3, 3) * 3)], attributes)
    np.testing.assert_array_equal(result[0, 0], [[0, 1, 3], [6, 13, 21]])


def test_adaptive_windows_and_indices(framework: Backend) -> None:
    data = plane(np.arange(12).reshape(3, 4))
    size = np.array([2, 3])
    (means,) = framework.run("AdaptiveAvgPool-8", [data, size], {})
    np.testing.assert_array_equal(means[0, 0], [[2.5, 3.5, 4.5], [6.5, 7.5, 8.5]])
    values, indices = framework.run(
        "AdaptiveMaxPool-8", [data, size], {"index_element_type": "i32"}
    )
    np.testing.assert_array_equal(values[0, 0], [[5, 6, 7], [9, 10, 11]])
    np.testing.assert_array_equal(indices[0, 0], [[5, 6, 7], [9, 10, 11]])


@pytest.mark.parametrize("attributes", INVALID)
def test_the_framework_itself_refuses_what_is_invalid(framework: Backend, attributes: Any) -> None:
    data = plane(range(8))
    assert unclaimed(framework, data, attributes, reject="invalid") is None
    with pytest.raises(RuntimeError):
        framework.run("AvgPool-1", [data], attributes)


@pytest.mark.needs("openvino", "torch")
def test_what_a_log_should_know_is_told(openvino: Backend, torch: Backend) -> None:
    assert environment_of(openvino)["INFERENCE_PRECISION_HINT"] == "f32"
    assert environment_of(torch)["threads"].isdigit()
    assert openvino.version.count(".") == torch.version.partition("+")[0].count(".") == 2


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("shape", "dtype", "attributes"),
    [
        ((1, 1, 4), "f4", avg([2], auto_pad="same_upper")),
        ((1, 1, 4), "f4", avg([2], rounding_type="ceil_torch")),
        ((1, 1, 4), "f4", avg([2], True, pads_begin=[1])),
        ((1, 1, 4), "f4", avg([3], pads_begin=[-1])),
        ((1, 1, 4), "f4", avg([3], True, pads_begin=[2], pads_end=[2])),
    ],
)
def test_torch_declares_what_its_adapter_cannot_say(
    torch: Backend, shape: tuple[int, ...], dtype: str, attributes: Any
) -> None:
    data = np.zeros(shape, dtype)
    assert unclaimed(torch, data, attributes, reject="perhaps") is not None
    with pytest.raises(Unsupported):
        torch.run("AvgPool-1", [data], attributes)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["kernel", "strides", "pads_begin", "exclude-pad"])
def test_torch_makes_no_call_without_what_a_case_leaves_out(torch: Backend, name: str) -> None:
    attributes = avg([3])
    del attributes[name]
    with pytest.raises(Unsupported, match=f"the case leaves out '{name}'"):
        torch.run("AvgPool-1", [np.zeros((1, 1, 4), np.float32)], attributes)


@pytest.mark.needs("torch")
def test_torch_pools_no_data_without_batch_and_channel(torch: Backend) -> None:
    with pytest.raises(Unsupported, match="AvgPool-1 on data of rank 2"):
        torch.run("AvgPool-1", [np.zeros((4, 4), np.float32)], avg([]))


@pytest.mark.needs("torch")
def test_torch_declares_windows_that_its_ceil_mode_drops(torch: Backend) -> None:
    dropped = avg([1], strides=[2], rounding_type="ceil")
    data = plane(range(4))
    assert unclaimed(torch, data, dropped) is not None
    assert torch.run("AvgPool-1", [data], dropped)[0].shape == (1, 1, 2)
    kept = avg([2], strides=[2], rounding_type="ceil")
    assert unclaimed(torch, plane(range(5)), kept) is None
    assert torch.run("AvgPool-1", [plane(range(5))], kept)[0].shape == (1, 1, 3)


@pytest.mark.needs("torch")
def test_torch_declares_types_without_a_kernel(torch: Backend) -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16):
        data = np.ones((1, 1, 2, 2, 2), dtype)
        assert unclaimed(torch, data, avg([2, 2, 2])) is not None
        with pytest.raises(NotImplementedError):
            torch.run("AvgPool-1", [data], avg([2, 2, 2]))
    assert unclaimed(torch, np.ones((1, 1, 2, 2, 2), np.float32), avg([2, 2, 2])) is None


@pytest.mark.needs("torch")
def test_torch_narrows_indices_to_the_type_asked_for(torch: Backend) -> None:
    for name, dtype in (("i32", np.int32), ("i64", np.int64)):
        attributes = {"index_element_type": name}
        inputs = [plane([1, 3, 2]), np.array([1])]
        assert torch.run("AdaptiveMaxPool-8", inputs, attributes)[1].dtype == dtype
    with pytest.raises(Unsupported):
        torch.run("AdaptiveMaxPool-8", [plane([1]), np.array([1])], {"index_element_type": "u8"})


@pytest.mark.needs("openvino")
@pytest.mark.parametrize(
    "there", [pytest.param(True, marks=pytest.mark.needs("onnx-reference")), False]
)
def test_openvino_claims_operators_of_onnx_only_where_models_can_be_made(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    missing = () if there else ("onnx",)
    monkeypatch.setattr(
        "conformance.backends.openvino.find_spec",
        lambda name: None if name in missing else found(name),
    )
    declared = capabilities_of(load_backend("openvino"))
    assert declared is not None
    asked = Case("onnx.MaxPool-22", {"T": "f32"}, {"data": (1, 1, 8)}, {"kernel_shape": [2]})
    reason = declared.reason_against(find_spec(asked.op), asked)
    assert reason is None if there else "the package onnx" in str(reason)


def test_inputs_are_left_as_they_were(framework: Backend) -> None:
    data = plane([1, 2, 3, 4])
    framework.run("AvgPool-1", [data], avg([2], pads_begin=[1]))
    framework.run("AdaptiveMaxPool-8", [data, np.array([4])], {"index_element_type": "i32"})
    np.testing.assert_array_equal(data[0, 0], [1, 2, 3, 4])
