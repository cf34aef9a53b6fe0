"""PyTorch's own operators: their attributes are its arguments, called at once or compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worked import plane

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of, environment_of

Attributes = dict[str, Any]

pytestmark = pytest.mark.needs("torch")


@pytest.fixture(scope="module")
def eager() -> Backend:
    return load_backend("torch")


@pytest.fixture(scope="module")
def compiled() -> Backend:
    from conformance.backends.torch_compile import TorchCompile

    class Traced(TorchCompile):
        """Graphs are made and guarded as ever, and run without a C++ compiler."""

        kernels = "aot_eager"

    return Traced()


@pytest.fixture(params=["eager", "compiled"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.getfixturevalue(request.param)


AVERAGES: list[tuple[int, Attributes, list[float]]] = [
    # size of 1..n, attributes, expected
    (7, {"kernel_size": [3], "stride": [2]}, [2, 4, 6]),
    (8, {"kernel_size": [3], "stride": [2], "padding": [1]}, [1, 3, 5, 7]),
    (5, {"kernel_size": [2], "stride": [2], "ceil_mode": True}, [1.5, 3.5, 5]),
    (8, {"kernel_size": [2], "stride": [3], "padding": [1], "ceil_mode": True}, [0.5, 3.5, 6.5]),
    (3, {"kernel_size": [2], "stride": [1], "padding": [1]}, [0.5, 1.5, 2.5, 1.5]),
    (
        3,
        {"kernel_size": [2], "stride": [1], "padding": [1], "count_include_pad": False},
        [1, 1.5, 2.5, 3],
    ),
    (4, {"kernel_size": [2]}, [1.5, 3.5]),
]
"""torch.avg_pool-2 of one axis with the values 1 to n."""


@pytest.mark.parametrize(("size", "attributes", "expected"), AVERAGES)
def test_one_axis_is_averaged(
    eager: Backend, size: int, attributes: Attributes, expected: list[float]
) -> None:
    (result,) = eager.run("torch.avg_pool-2", [plane(range(1, size + 1))], attributes)
    np.testing.assert_array_equal(result[0, 0], expected)


def test_a_divisor_that_is_given_divides_the_sums(backend: Backend) -> None:
    attributes = {"kernel_size": [2, 2], "stride": [2, 2], "divisor_override": 2}
    (result,) = backend.run("torch.avg_pool-2", [plane(np.ones((2, 4)))], attributes)
    np.testing.assert_array_equal(result[0, 0], [[2, 2]])


def test_the_largest_elements_have_indices(backend: Backend) -> None:
    attributes = {"kernel_size": [2, 1], "stride": [1, 2], "dilation": [2, 1]}
    data = plane([[5, 0, 1], [0, 0, 0], [5, 0, 2]])
    values, indices = backend.run("torch.max_pool-2", [data], attributes)
    np.testing.assert_array_equal(values[0, 0], [[5, 2]])
    np.testing.assert_array_equal(indices[0, 0], [[0, 8]])
    assert indices.dtype == np.int64


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_norm_of_a_window(backend: Backend, axes: int) -> None:
    attributes = {"norm_type": 2, "kernel_size": [2] * axes, "stride": [1] * axes}
    (norm,) = backend.run("torch.lp_pool-2", [plane(np.full((2,) * axes, 3))], attributes)
    assert norm.ravel().tolist() == pytest.approx([3 * 2 ** (axes / 2)])


def test_adaptive_windows_divide_the_axes(backend: Backend) -> None:
    data, size = plane(np.arange(12).reshape(3, 4)), np.array([2, 3])
    (means,) = backend.run("torch.adaptive_avg_pool-2", [data, size], {})
    np.testing.assert_array_equal(means[0, 0], [[2.5, 3.5, 4.5], [6.5, 7.5, 8.5]])
    values, indices = backend.run("torch.adaptive_max_pool-2", [data, size], {})
    np.testing.assert_array_equal(values[0, 0], [[5, 6, 7], [9, 10, 11]])
    np.testing.assert_array_equal(indices[0, 0], [[5, 6, 7], [9, 10, 11]])
    assert indices.dtype == np.int64


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((4,), {"kernel_size": [2], "stride": [1], "padding": [2]}),
        ((4,), {"kernel_size": [2], "stride": [0]}),
        ((4,), {"kernel_size": [2], "stride": [1], "divisor_override": 3}),
        ((4,), {"kernel_size": [2], "stride": [1], "ceil_mode": "round"}),
        ((4, 4, 4), {"kernel_size": [2, 2], "stride": [1, 1, 1]}),
    ],
)
def test_pytorch_itself_refuses_what_is_invalid(
    backend: Backend, shape: tuple[int, ...], attributes: Attributes
) -> None:
    with pytest.raises((RuntimeError, TypeError)):
        backend.run("torch.avg_pool-2", [plane(np.ones(shape))], attributes)


def test_more_calls_than_a_graph_may_be_compiled_for_are_all_compiled(compiled: Backend) -> None:
    import torch

    for size in range(1, torch._dynamo.config.recompile_limit + 3):
        attributes = {"kernel_size": [size], "stride": [1]}
        (result,) = compiled.run("torch.avg_pool-2", [plane(range(size))], attributes)
        assert result.tolist() == [[[(size - 1) / 2]]]


def test_the_compiler_claims_what_the_functions_do(eager: Backend, compiled: Backend) -> None:
    assert capabilities_of(compiled) == capabilities_of(eager)
    assert environment_of(compiled).items() >= environment_of(eager).items()
    assert environment_of(compiled)["compiler"] == "aot_eager"
    assert (compiled.name, eager.name) == ("torch-compile", "torch")


def test_the_call_is_told_as_a_script(eager: Backend) -> None:
    attributes = {"kernel_size": [2], "stride": [1], "padding": [1], "ceil_mode": True}
    names: dict[str, Any] = {"np": np, "inputs": [plane([1, 2, 3])]}
    exec(eager.reproduce("torch.max_pool-2", names["inputs"], attributes), names)  # type: ignore[attr-defined]
    values, indices = names["outputs"]
    np.testing.assert_array_equal(values[0, 0], [1, 2, 3, 3])
    np.testing.assert_array_equal(indices[0, 0], [0, 1, 2, 2])
