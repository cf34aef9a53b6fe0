"""PyTorch's pools in oneDNN's layout: what has a kernel there is claimed, and the rest is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worked import avg, exact_avg_pool, plane

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.errors import Unsupported
from conformance.model import Case
from conformance.specification import find_spec

Attributes = dict[str, Any]

pytestmark = pytest.mark.needs("torch")


@pytest.fixture(scope="module")
def mkldnn() -> Backend:
    return load_backend("torch-mkldnn")


@pytest.fixture(scope="module", params=["torch", "torch-mkldnn"])
def torch(request: pytest.FixtureRequest) -> Backend:
    return load_backend(request.param)


def maximum(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if name != "exclude-pad"}


def unclaimed(
    backend: Backend,
    op: str,
    attributes: Attributes,
    shape: tuple[int, ...] = (1, 1, 8, 8),
    output_size: tuple[int, ...] | None = None,
    dtype: str = "f32",
) -> str | None:
    declared = capabilities_of(backend)
    assert declared is not None
    spec = find_spec(op)
    types = {"T": dtype} if output_size is None else {"T": dtype, "T_SHAPE": "i64"}
    inputs = {} if output_size is None else {"output_size": output_size}
    case = Case(op, types, {"data": shape}, attributes, inputs)
    return declared.reason_against(spec, case)


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 17, 2, 3, 4)])
@pytest.mark.parametrize("exclude", [True, False])
def test_means_are_those_of_the_definition(
    mkldnn: Backend, shape: tuple[int, ...], exclude: bool
) -> None:
    axes = len(shape) - 2
    data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    attributes = avg([2] * axes, exclude, strides=[2] * axes, pads_begin=[1] * axes)
    attributes["pads_end"] = [int(exclude)] * axes  # zeros are added where ends differ
    assert unclaimed(mkldnn, "AvgPool-1", attributes, shape) is None
    (result,) = mkldnn.run("AvgPool-1", [data.copy()], attributes)
    assert result.dtype == np.float32
    for index, mean in exact_avg_pool(data, attributes).items():
        assert result[index] == pytest.approx(float(mean), rel=1e-6)


def test_the_largest_elements(torch: Backend) -> None:
    attributes = maximum(avg([1, 3], strides=[1, 2], pads_begin=[0, 1], pads_end=[0, 1]))
    attributes["rounding_type"] = "ceil"
    (result,) = torch.run("MaxPool-1", [plane([[-2, -3, -4, -1, -6, -7]])], attributes)
    np.testing.assert_array_equal(result[0, 0], [[-2, -1, -1, -7]])


@pytest.mark.parametrize(
    "attributes",
    [
        avg([2, 2], auto_pad="same_upper"),
        avg([2, 2], pads_begin=[0, 1]),
        avg([2, 2], pads_begin=[2, 2], pads_end=[2, 2]),
    ],
    ids=["same", "asymmetric", "large"],
)
def test_padding_that_a_maximum_has_no_word_for_is_declared(
    torch: Backend, attributes: Attributes
) -> None:
    words = maximum(attributes)
    assert unclaimed(torch, "MaxPool-1", words)
    with pytest.raises(Unsupported):
        torch.run("MaxPool-1", [np.zeros((1, 1, 8, 8), np.float32)], words)


def test_windows_that_ceil_mode_drops_are_declared(torch: Backend) -> None:
    words = maximum(avg([1, 1], strides=[2, 2], rounding_type="ceil"))
    assert unclaimed(torch, "MaxPool-1", words)
    assert unclaimed(torch, "MaxPool-1", words, (1, 1, 7, 7)) is None


def test_adaptive_windows_of_one_size(mkldnn: Backend) -> None:
    data, size = plane(np.arange(12).reshape(3, 4)), np.array([1, 2])
    for op in ("torch.adaptive_avg_pool-2", "AdaptiveAvgPool-8"):
        (means,) = mkldnn.run(op, [data, size], {})
        np.testing.assert_array_equal(means[0, 0], [[4.5, 6.5]])


@pytest.mark.parametrize("op", ["torch.adaptive_avg_pool-2", "AdaptiveAvgPool-8"])
def test_adaptive_windows_of_other_sizes_are_declared(mkldnn: Backend, op: str) -> None:
    assert unclaimed(mkldnn, op, {}, (1, 1, 3, 4), (1, 2)) is None
    for shape, output_size in (((1, 1, 3, 4), (1, 3)), ((1, 1, 2, 3, 4), (1, 1, 1))):
        assert unclaimed(mkldnn, op, {}, shape, output_size)
        with pytest.raises(RuntimeError):
            mkldnn.run(op, [np.zeros(shape, np.float32), np.array(output_size)], {})


def test_a_divisor_that_is_given_is_declared(mkldnn: Backend) -> None:
    attributes = {"kernel_size": [2, 2], "divisor_override": 3}
    assert unclaimed(mkldnn, "torch.avg_pool-2", attributes)
    with pytest.raises(RuntimeError, match="divisor"):
        mkldnn.run("torch.avg_pool-2", [plane(np.ones((2, 2)))], attributes)
    assert unclaimed(mkldnn, "torch.avg_pool-2", {"kernel_size": [2, 2]}) is None


def test_other_types_ranks_and_operators_are_not_claimed(mkldnn: Backend) -> None:
    assert unclaimed(mkldnn, "AvgPool-1", avg([2, 2]), dtype="f64")
    assert unclaimed(mkldnn, "AvgPool-1", avg([2]), (1, 1, 8))
    with pytest.raises(Unsupported):
        mkldnn.run("torch.max_pool-2", [plane(np.ones((2, 2)))], {"kernel_size": [2, 2]})


@pytest.mark.parametrize("op", ["AvgPool-1", "MaxPool-1"])
def test_the_script_says_the_same(torch: Backend, op: str) -> None:
    inputs = [np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4) - 12]
    attributes = avg([2, 3], True, strides=[1, 2], pads_begin=[1, 1], pads_end=[1, 1])
    words = maximum(attributes) if op == "MaxPool-1" else attributes
    names: Attributes = {"np": np, "inputs": inputs}
    script = torch.reproduce(op, inputs, words)  # type: ignore[attr-defined]
    assert ("    'onednn'," in script) == (torch.name == "torch-mkldnn")
    exec(script, names)
    np.testing.assert_array_equal(names["outputs"], torch.run(op, inputs, words))


def test_what_a_log_should_know_is_told(mkldnn: Backend) -> None:
    assert environment_of(mkldnn)["mkldnn"] == "available"
