"""JAX's reduce_window behind AvgPool-1 and MaxPool-1: arrays and attributes arrive as they are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from worked import INVALID, ONE_AXIS, avg, plane

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.errors import Unsupported
from conformance.model import Case
from conformance.specification import find_spec

pytestmark = pytest.mark.needs("jax")

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
FLOOR = [one for one in ONE_AXIS if one[1]["rounding_type"] == "floor"]


@pytest.fixture(scope="module")
def jax() -> Backend:
    return load_backend("jax")


def maximum(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name != "exclude-pad"}


@pytest.mark.parametrize(("size", "attributes", "expected"), FLOOR)
def test_one_axis_is_averaged(jax: Backend, size: int, attributes: Any, expected: Any) -> None:
    (result,) = jax.run("AvgPool-1", [plane(range(1, size + 1))], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
def test_every_type_keeps_its_values(jax: Backend, dtype: Any) -> None:
    data = plane([1, 1.5, -3, -3, 5], dtype)
    for op, attributes in (("AvgPool-1", avg([1])), ("MaxPool-1", maximum(avg([1])))):
        (result,) = jax.run(op, [data.copy()], attributes)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, data)


@pytest.mark.parametrize(
    ("auto_pad", "expected"), [("same_upper", [3, 5, 5]), ("same_lower", [2, 4, 5])]
)
def test_the_largest_of_same_windows(jax: Backend, auto_pad: str, expected: list[int]) -> None:
    attributes = maximum(avg([2], strides=[2], auto_pad=auto_pad))
    (result,) = jax.run("MaxPool-1", [plane([2, 3, 4, 5, 5])], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


def test_padding_wins_over_nothing(jax: Backend) -> None:
    attributes = maximum(avg([2, 2], pads_begin=[1, 0], pads_end=[0, 1]))
    (result,) = jax.run("MaxPool-1", [plane([[-4, -3], [-2, -1]])], attributes)
    np.testing.assert_array_equal(result[0, 0], [[-3, -3], [-1, -1]])


@pytest.mark.parametrize(
    "attributes", [avg([2], rounding_type="ceil"), avg([2], pads_begin=[-1])], ids=["ceil", "crops"]
)
def test_what_it_does_not_express_is_not_claimed(jax: Backend, attributes: Any) -> None:
    declared = capabilities_of(jax)
    assert declared is not None
    asked = Case("AvgPool-1", {"T": "f32"}, {"data": (1, 1, 8)}, attributes)
    assert declared.reason_against(find_spec("AvgPool-1"), asked)


def test_other_operators_are_not_claimed(jax: Backend) -> None:
    with pytest.raises(Unsupported):
        jax.run("MaxPool-8", [plane([1])], {})


@pytest.mark.parametrize("attributes", [one for one in INVALID if min(one["pads_begin"]) >= 0])
def test_jax_itself_refuses_what_is_invalid(jax: Backend, attributes: Any) -> None:
    try:
        (result,) = jax.run("AvgPool-1", [plane(range(8))], attributes)
    except (TypeError, ValueError):
        return
    except Unsupported:  # there is nothing to write it to
        assert len(attributes["pads_begin"]) != len(attributes["pads_end"])
        return
    assert result.size == 0  # JAX calls it right that a window fits nowhere


@pytest.mark.parametrize("op", ["AvgPool-1", "MaxPool-1"])
@pytest.mark.parametrize("attributes", [avg([3], True, pads_end=[1]), avg([2], auto_pad="valid")])
def test_the_script_says_the_same(jax: Backend, op: str, attributes: Any) -> None:
    data = plane([1, 2, -4, 8, 16])
    asked = attributes if op == "AvgPool-1" else maximum(attributes)
    names = {"np": np, "op": op, "inputs": [data], "attributes": asked, "outputs": None}
    exec(jax.reproduce(op, [data], asked), names)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(names["outputs"], jax.run(op, [data], asked))


def test_what_a_log_should_know_is_told(jax: Backend) -> None:
    assert environment_of(jax)["jaxlib"].count(".") == 2
