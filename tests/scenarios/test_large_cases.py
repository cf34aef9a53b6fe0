"""Bugs that show beyond small sizes only, which core called conformant without large cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import conformance
from conformance.backends.capabilities import Capabilities
from conformance.backends.reference import Reference
from conformance.choices import SuiteName
from conformance.model import Result, Status
from conformance.specification import shipped_operators
from conformance.suite.store import Suite, open_suite

Array = np.ndarray[Any, Any]
Wrong = Callable[[list[Array], list[Array], dict[str, Any]], None]


class Faulty:
    """The oracle, claimed in f32 of one rank, with a fault in its outputs."""

    name, version = "faulty", "1"

    def __init__(self, rank: int, wrong: Wrong) -> None:
        self.capabilities = Capabilities(dtypes=("f32",), ranks=(rank,))
        self._wrong, self._right = wrong, Reference()

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        outputs = [np.array(one) for one in self._right.run(op, inputs, attributes)]
        self._wrong(outputs, inputs, attributes)
        return outputs


def rows_beyond(limit: int) -> Wrong:
    def lose(outputs: list[Array], _inputs: list[Array], _attributes: dict[str, Any]) -> None:
        for one in outputs:
            one[..., limit:] = 0

    return lose


def channels_beyond(limit: int) -> Wrong:
    def lose(outputs: list[Array], _inputs: list[Array], _attributes: dict[str, Any]) -> None:
        for one in outputs:
            one[:, limit:] = 0

    return lose


def images_after_the_last_8(
    outputs: list[Array], _inputs: list[Array], _attributes: dict[str, Any]
) -> None:
    for one in outputs:
        if one.shape[0] > 8:
            one[one.shape[0] // 8 * 8 :] = 0


def large_planes(outputs: list[Array], inputs: list[Array], _attributes: dict[str, Any]) -> None:
    if inputs[0].shape[-1] * inputs[0].shape[-2] > 65_536:
        for one in outputs:
            one[..., -1] = 0


def numbers_beyond_i32(
    _outputs: list[Array], _inputs: list[Array], attributes: dict[str, Any]
) -> None:
    for value in attributes.values():
        if np.any(np.array(value if isinstance(value, list) else [0]) >= 2**31):
            raise OverflowError("does not fit int32")


def large(op: str) -> Suite:
    return open_suite(SuiteName.LARGE).only((op,))


def failed(op: str, rank: int, wrong: Wrong) -> Iterator[Result]:
    run = conformance.check(large(op), Faulty(rank, wrong))
    return (one for one in run.results if one.status in (Status.FAIL, Status.ERROR))


@pytest.mark.parametrize(
    ("op", "rank", "wrong"),
    [
        ("torch.max_pool-2", 3, rows_beyond(64)),
        ("torch.max_pool-2", 3, rows_beyond(1024)),
        ("MaxPool-14", 3, rows_beyond(1024)),
        ("onnx.MaxPool-22", 4, images_after_the_last_8),
        ("AvgPool-1", 4, channels_beyond(33)),
        ("onnx.AveragePool-22", 4, channels_beyond(256)),
        ("onnx.GlobalMaxPool-22", 4, large_planes),
        ("torch.avg_pool-2", 4, numbers_beyond_i32),
    ],
)
def test_a_bug_of_large_sizes_is_refused(op: str, rank: int, wrong: Wrong) -> None:
    assert list(failed(op, rank, wrong))


@pytest.mark.parametrize("op", ["torch.max_pool-2", "AvgPool-1"])
def test_the_right_backend_passes(op: str) -> None:
    assert not list(failed(op, 4, lambda *_: None))


def test_every_operator_has_them_in_core() -> None:
    manifest = open_suite().manifest
    for op in manifest.ops:
        large = [entry for entry in manifest.of((op,)) if entry.is_large]
        assert large, op
        assert all("core" in entry.suites for entry in large)


def test_those_of_pooling_have_long_rows_and_large_planes() -> None:
    for op in (op for op in shipped_operators() if "pool" in op.lower()):
        entries = open_suite().manifest.of((op,))
        own = [entry for entry in entries if entry.is_large]
        shapes = [[*map(int, entry.id.split("-")[1].split("x"))] for entry in own]
        assert max(shape[0] for shape in shapes) >= 33, op
        assert max(shape[1] for shape in shapes) >= 319, op
        assert max(shape[-1] for shape in shapes if len(shape) == 3) >= 5000, op
        assert max(shape[-1] * shape[-2] for shape in shapes if len(shape) == 4) > 65_536, op


def test_a_row_after_64_has_its_right_value() -> None:
    """The smallest case of torch/cunn issue 108, with a gate of 64."""
    data = np.arange(1, 66, dtype=np.float32).reshape(1, 1, 65)
    values, indices = conformance.reference(
        "torch.max_pool-2", [data], {"kernel_size": [1], "stride": [1]}
    )
    assert (values[0, 0, 64], indices[0, 0, 64]) == (65, 64)


def test_a_stride_beyond_i32_leaves_one_window() -> None:
    """The smallest case of PyTorch issue 147613."""
    data = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
    (result,) = conformance.reference(
        "torch.avg_pool-2", [data], {"kernel_size": [3, 3], "stride": [2**31, 2**31]}
    )
    assert result.tolist() == [[[[5.0]]]]
