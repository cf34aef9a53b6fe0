"""Statements that docs/probe.md makes of real backends, checked with loops of our own on data that
no probe designed: the loop gives their bits, and a loop that is contradicted does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from known_kernels import (
    BF16,
    F16,
    F32,
    F64,
    Array,
    Kernel,
    in_lanes,
    lanes,
    loop,
    mean,
    multiplied,
    whole,
)

from conformance.backends.discovery import load_backend
from conformance.probe.cascade import cascade

pytestmark = pytest.mark.exhaustive  # kernels of known make are asked in each run
AVERAGE, GLOBAL = "onnx.AveragePool-22", "onnx.GlobalAveragePool-22"


def rows(n: int, kind: Any, seed: int = 0) -> Array:
    """Windows (160, n) of random numbers of either sign, some large ones among small."""
    made = np.random.default_rng(seed)
    if np.dtype(kind).kind in "iu":
        return made.integers(np.iinfo(kind).min, np.iinfo(kind).max, (160, n), kind)
    scale = np.where(made.random((160, n)) < 0.2, 64.0, 1.0)
    return (made.standard_normal((160, n)) * scale).astype(kind)


def results(backend: str, op: str, data: Array, *, square: bool = False, **given: Any) -> Array:
    """What the backend gives for windows, each being a channel. Of ``adaptive`` ones there are two
    beside each other, as probe asks them: one alone is computed by other code."""
    side = round(data.shape[1] ** 0.5)
    shape = (side, side) if square else (data.shape[1],)
    attributes = {name: list(shape) for name in given.get("spans", ())} | given.get("more", {})
    inputs = [data.reshape(1, len(data), *shape)]
    if given.get("adaptive"):
        inputs = [np.concatenate([inputs[0]] * 2, axis=-1), np.array([1, 2])]
    found = np.asarray(load_backend(backend).run(op, inputs, attributes)[0])
    return np.ascontiguousarray(found[..., 0]).reshape(-1)


def same(found: Array, right: Array) -> bool:
    return found.dtype == right.dtype and found.tobytes() == right.tobytes()


ONNX = {"spans": ("kernel_shape",)}
TORCH = {"spans": ("kernel_size",)}
ADAPTIVE = {"adaptive": True}
OPENVINO = {
    "spans": ("kernel", "strides"),
    "more": {"pads_begin": [0], "pads_end": [0], "dilations": [1], "exclude-pad": True},
}


def divided_twice(x: Array) -> Array:
    side = x.dtype.type(round(x.shape[1] ** 0.5))
    return loop(x, x.dtype) / side / side


def in_eight(x: Array) -> Array:
    """Eight partial sums, added by neighbours: numpy's order for up to 128 numbers."""
    kind = F32 if x.dtype == F16 else x.dtype
    parts = [x[:, lane].astype(kind) for lane in range(8)]
    full = x.shape[1] // 8 * 8
    for i in range(8, full):
        parts[i % 8] = parts[i % 8] + x[:, i].astype(kind)
    a, b, c, d, e, f, g, h = parts
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(full, x.shape[1]):
        total = total + x[:, i].astype(kind)
    return (total / kind.type(x.shape[1])).astype(x.dtype)


CASES: list[Any] = []


def case(needs: str, *words: Any) -> None:
    name = f"{words[0]}-{words[1]}-{words[2].name}-{words[3]}"
    CASES.append(pytest.param(*words, id=name, marks=pytest.mark.needs(needs)))


for kind, right, wrong in ((F32, mean(), lanes(4)), (F16, mean(), mean(F16))):
    case("onnxruntime", "onnxruntime", AVERAGE, kind, 25, False, ONNX, right, wrong)
    case("onnxruntime", "onnxruntime", AVERAGE, kind, 64, True, ONNX, right, wrong)
case("onnxruntime", "onnxruntime", GLOBAL, F32, 25, False, {}, lanes(4), mean())
case("onnxruntime", "onnxruntime", GLOBAL, F16, 64, False, {}, lanes(4), mean(F16))
case("onnxruntime", "onnxruntime", GLOBAL, F32, 64, True, {}, mean(), lanes(4))
for kind in (F32, F64):
    reciprocal = lambda x: multiplied(loop(x, x.dtype), x.shape[1], x.dtype)  # noqa: E731
    case("torch", "torch", "torch.avg_pool-2", kind, 25, False, TORCH, mean(kind), reciprocal)
    case(
        "torch",
        "torch",
        "torch.adaptive_avg_pool-2",
        kind,
        25,
        True,
        ADAPTIVE,
        divided_twice,
        mean(kind),
    )
for kind in (F16, BF16):
    case("torch", "torch", "torch.avg_pool-2", kind, 64, True, TORCH, mean(), mean(kind))
for kind in (F32, F64, F16):
    case("onnx-reference", "onnx-reference", GLOBAL, kind, 25, False, {}, in_eight, mean(kind))
case("onnx-reference", "onnx-reference", GLOBAL, BF16, 25, False, {}, mean(BF16), mean())


for kind, right, wrong in ((F32, mean(), lanes(4)), (F16, mean(), mean(F16))):
    case("openvino", "openvino", "AvgPool-16", kind, 25, False, OPENVINO, right, wrong)
for kind in map(np.dtype, (np.int8, np.uint8)):
    case(
        "openvino",
        "openvino",
        "AvgPool-16",
        kind,
        4,
        False,
        OPENVINO,
        whole("half to even"),
        whole("half away"),
    )


@pytest.mark.parametrize(("backend", "op", "kind", "n", "square", "given", "right", "wrong"), CASES)
def test_a_loop_gives_the_bits(
    backend: str, op: str, kind: Any, n: int, square: bool, given: Any, right: Kernel, wrong: Kernel
) -> None:
    data = rows(n, kind)
    found = results(backend, op, data, square=square, **given)
    assert same(found, right(data))
    assert not same(found, wrong(data))


@pytest.mark.needs("onnxruntime")
def test_one_channel_alone_is_added_otherwise() -> None:
    data = rows(64, F32)
    alone = np.concatenate([results("onnxruntime", GLOBAL, x[None], square=True) for x in data])
    assert same(alone, (in_lanes(data, F32, 4) / np.float32(64)).astype(F32))
    assert not same(alone, results("onnxruntime", GLOBAL, data, square=True))


@pytest.mark.needs("openvino")
def test_openvino_rounds_to_bf16_from_odd_numbers_alone() -> None:
    """Or to nearest, on a processor that has an instruction for it."""
    data = rows(25, BF16)
    found = results("openvino", "AvgPool-16", data, **OPENVINO)
    exact = np.ascontiguousarray(loop(data, F32) / np.float32(25))
    bits = exact.view(np.uint32)
    cut = bits >> 16
    odd = cut + ((cut & 1) & (bits & 0xFFFF >= 0x8000))
    assert same(found, exact.astype(BF16)) or same(found, odd.astype(np.uint16).view(BF16))


def with_nan(n: int) -> Array:
    """A window for each place of a NaN among ones."""
    data = np.ones((n, n), F32)
    np.fill_diagonal(data, np.nan)
    return data


@pytest.mark.parametrize(
    ("backend", "op", "n", "given", "places"),
    [
        pytest.param(backend, op, n, given, places, marks=pytest.mark.needs(backend))
        for backend, op, n, given, places in (
            ("onnxruntime", "onnx.MaxPool-22", 9, ONNX, {0}),
            ("onnxruntime", "onnx.GlobalMaxPool-22", 3, {}, set()),
            ("onnxruntime", AVERAGE, 9, ONNX, set(range(9))),
            ("onnx-reference", AVERAGE, 9, ONNX, set()),
            ("onnx-reference", GLOBAL, 9, {}, set(range(9))),
            ("torch", "torch.max_pool-2", 9, TORCH, set(range(9))),
        )
    ],
)
def test_where_nan_is_kept(backend: str, op: str, n: int, given: Any, places: set[int]) -> None:
    found = results(backend, op, with_nan(n), **given)
    assert set(np.flatnonzero(np.isnan(found)).tolist()) == places


@pytest.mark.needs("torch")
def test_torch_loses_minus_zero() -> None:
    zeros = np.full((2, 4), -0.0, F32)
    assert not np.signbit(results("torch", "torch.avg_pool-2", zeros, **TORCH)).any()
    tiny = np.zeros((2, 4), F32)
    tiny[:, 0] = -np.finfo(F32).smallest_subnormal
    assert not np.signbit(results("torch", "torch.avg_pool-2", tiny, **TORCH)).any()
    kept = results("torch", "torch.adaptive_avg_pool-2", tiny, square=True, **ADAPTIVE)
    assert np.signbit(kept).all()


@pytest.mark.needs("torch")
@pytest.mark.parametrize("kind", [F32, F64], ids=str)
@pytest.mark.parametrize("side", [3, 8, 33])
def test_torch_adds_a_whole_plane_in_cascades(kind: Any, side: int) -> None:
    """With as many lanes as the processor's vectors have."""
    import torch

    data = rows(side * side, kind)
    planes = torch.from_numpy(data.reshape(1, len(data), side, side))
    found = torch.nn.functional.adaptive_avg_pool2d(planes, 1).numpy().reshape(-1)
    sums = [cascade(data, lanes) for lanes in (4, 8, 16)]
    assert any(same(found, total / kind.type(side * side)) for total in sums)
    assert not same(found, mean(kind)(data))
