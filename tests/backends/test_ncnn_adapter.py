"""ncnn's pooling layers: attributes become parameters, and batches become channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worked import ONE_AXIS, avg, plane

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.errors import Unsupported
from conformance.model import Case
from conformance.specification import find_spec

pytestmark = pytest.mark.needs("ncnn")

# ncnn divides by the whole kernel where a window overruns data that is not padded, and counts the
# padding of same_upper and same_lower whatever is said.
OWN_READING = [
    (5, avg([2], strides=[2], rounding_type="ceil")),
    (8, avg([3], strides=[2], rounding_type="ceil")),
    (5, avg([2], True, strides=[2], auto_pad="same_lower")),
]
AGREED = [one for one in ONE_AXIS if one[:2] not in OWN_READING]


@pytest.fixture(scope="module")
def ncnn() -> Backend:
    return load_backend("ncnn")


def maximum(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name != "exclude-pad"}


def test_what_is_not_agreed_is_among_the_examples() -> None:
    assert len(AGREED) == len(ONE_AXIS) - len(OWN_READING)


@pytest.mark.parametrize(("size", "attributes", "expected"), AGREED)
def test_one_axis_is_averaged(ncnn: Backend, size: int, attributes: Any, expected: Any) -> None:
    (result,) = ncnn.run("AvgPool-1", [plane(range(1, size + 1))], attributes)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result[0, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 8, 3, 5), (2, 3, 2, 3, 5)])
def test_batches_and_channels_stay_apart(ncnn: Backend, shape: tuple[int, ...]) -> None:
    data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    asked = avg([1] * (len(shape) - 2))
    for op, attributes in (("AvgPool-1", asked), ("MaxPool-1", maximum(asked))):
        (result,) = ncnn.run(op, [data.copy()], attributes)
        np.testing.assert_array_equal(result, data)


def test_every_axis_has_its_own_parameters(ncnn: Backend) -> None:
    data = np.arange(2 * 3 * 4, dtype=np.float32).reshape(1, 1, 2, 3, 4)
    attributes = maximum(avg([2, 1, 3], strides=[1, 2, 1], pads_begin=[0, 0, 1]))
    (result,) = ncnn.run("MaxPool-1", [data], attributes)
    np.testing.assert_array_equal(result[0, 0], [[[13, 14, 15], [21, 22, 23]]])


def test_ends_are_not_swapped(ncnn: Backend) -> None:
    attributes = avg([2, 2], pads_begin=[1, 0], pads_end=[0, 1])
    (result,) = ncnn.run("AvgPool-1", [plane([[4, 8], [12, 16]])], attributes)
    np.testing.assert_array_equal(result[0, 0], [[3, 2], [10, 6]])


@pytest.mark.parametrize(
    ("auto_pad", "expected"), [("same_upper", [3, 5, 5]), ("same_lower", [2, 4, 5])]
)
def test_the_largest_of_same_windows(ncnn: Backend, auto_pad: str, expected: list[int]) -> None:
    attributes = maximum(avg([2], strides=[2], auto_pad=auto_pad))
    (result,) = ncnn.run("MaxPool-1", [plane([2, 3, 4, 5, 5])], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


def test_an_axis_is_divided_into_parts(ncnn: Backend) -> None:
    data, sizes = plane([[1, 2, 6], [3, 4, 8]]), np.array([1, 2])
    (result,) = ncnn.run("AdaptiveAvgPool-8", [data, sizes], {})
    np.testing.assert_array_equal(result[0, 0], [[2.5, 5]])


def test_ncnn_itself_refuses_what_is_invalid(ncnn: Backend) -> None:
    # A kernel or stride of 0 it refuses too, but older releases end the process.
    with pytest.raises(ValueError, match="status"):
        ncnn.run("AvgPool-1", [plane(range(8))], avg([9]))


def test_other_operators_are_not_claimed(ncnn: Backend) -> None:
    with pytest.raises(Unsupported):
        ncnn.run("MaxPool-8", [plane([1])], {})
    declared = capabilities_of(ncnn)
    assert declared is not None
    asked = Case("AvgPool-1", {"T": "f16"}, {"data": (1, 1, 8)}, avg([2]))
    assert declared.reason_against(find_spec("AvgPool-1"), asked)


@pytest.mark.parametrize("op", ["AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8"])
def test_the_script_says_the_same(ncnn: Backend, op: str) -> None:
    inputs = [plane([1, 2, -4, 8, 16])]
    attributes = avg([3], True, pads_end=[1], strides=[2], rounding_type="ceil")
    if op == "AdaptiveAvgPool-8":
        inputs, attributes = [*inputs, np.array([2])], {}
    names = {"np": np, "op": op, "inputs": inputs, "attributes": attributes, "outputs": None}
    exec(ncnn.reproduce(op, inputs, attributes), names)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(names["outputs"], ncnn.run(op, inputs, attributes))


def test_what_a_log_should_know_is_told(ncnn: Backend) -> None:
    assert ncnn.version.startswith("1.")
    assert int(environment_of(ncnn)["threads"]) >= 1
