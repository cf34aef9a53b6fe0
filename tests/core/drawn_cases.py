"""Small cases of sums and means, drawn with a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from independent import Element, evaluate

from conformance.core.evaluate import Evaluation
from conformance.core.operator_reader import read_operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES

Array = Any
FOLDER = Path(__file__).parent / "operators"
FLOATS = ("f32", "f16", "bf16", "f64")
KINDS = ("integers", "normal", "wide", "cancelling", "subnormal")


@dataclass(frozen=True)
class Case:
    """An operator with its attributes, inputs, element type and accumulator."""

    operator: str
    attributes: dict[str, Any]
    inputs: dict[str, Array | None]
    dtype: str = "f32"
    accumulator: str = "f32"

    @property
    def is_mean(self) -> bool:
        """True if the operator divides by a number of elements."""
        return self.operator in ("ReduceMean", "AveragePool")

    def __str__(self) -> str:
        shapes = {k: None if a is None else a.shape for k, a in self.inputs.items()}
        return f"{self.operator} {self.attributes} {shapes} {self.dtype} in {self.accumulator}"

    def core(self) -> Evaluation:
        """Evaluate the case by the code under test."""
        machine = Machine(DTYPES[self.accumulator])
        return Evaluation(_operator(self.operator), self.attributes, self.inputs, machine)

    def elements(self) -> list[Element]:
        """Evaluate a case, in which nothing is a mean of nothing, by the second implementation."""
        elements = evaluate(self.operator, self.attributes, self.inputs).elements
        specified = [element for element in elements if element is not None]
        assert len(specified) == len(elements), str(self)
        return specified


@cache
def _operator(name: str) -> Any:
    return read_operator((FOLDER / f"{name}.yaml").read_text())


def cases(
    operator: str,
    count: int,
    *,
    seed: int = 0,
    dtypes: tuple[str, ...] = FLOATS,
) -> Iterator[Case]:
    """Yield as many cases of an operator, with each element type and kind of data in turn."""
    rng = np.random.default_rng([seed, *operator.encode()])
    for i in range(count):
        dtype, kind = dtypes[i % len(dtypes)], KINDS[i // len(dtypes) % len(KINDS)]
        attributes, shapes = SHAPES[operator](rng)
        inputs = {k: None if s is None else data(rng, s, dtype, kind) for k, s in shapes.items()}
        accumulator = "f64" if dtype == "f64" or (dtype == "f32" and i % 3 == 0) else "f32"
        yield Case(operator, attributes, inputs, dtype, accumulator)


def data(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, kind: str) -> Array:
    """Draw an array of an element type with a kind of data."""
    form = DTYPES[dtype]
    if kind == "integers":
        values = rng.integers(-8, 9, shape).astype("f8")
    elif kind == "wide":
        values = rng.choice([-1.0, 1.0], shape) * 2.0 ** rng.uniform(-12, 12, shape)
    elif kind == "cancelling":
        # Neighbours differ in sign and, a little, in magnitude.
        values = 1 + rng.integers(-2, 3, shape) * 2.0**-7
        values.reshape(-1)[::2] *= -1
    elif kind == "subnormal":
        # Products of two such numbers underflow; of such a number and one near 1, they do not.
        tiny = rng.integers(-40, 41, shape) * 2.0**form.quantum
        values = np.where(rng.random(shape) < 0.6, tiny, rng.normal(size=shape))
    else:
        values = rng.normal(size=shape)
    return np.asarray(values).astype(form.numpy)


Shape = tuple[int, ...]
Drawn = tuple[dict[str, Any], dict[str, Shape | None]]


def _integers(rng: np.random.Generator, low: int, high: int, count: int = 1) -> list[int]:
    """Draw integers from low to high, both included."""
    return rng.integers(low, high + 1, count).tolist()


def _chance(rng: np.random.Generator, share: float = 0.5) -> bool:
    return bool(rng.random() < share)


def _matmul(rng: np.random.Generator) -> Drawn:
    rows, depth, columns = (*_integers(rng, 1, 4), *_integers(rng, 1, 12), *_integers(rng, 1, 4))
    batch = _integers(rng, 1, 3, *_integers(rng, 0, 2))
    a, b = (_batch(rng, batch) for _ in range(2))
    a_shape = (depth,) if _chance(rng, 0.2) else (*a, rows, depth)
    b_shape = (depth,) if _chance(rng, 0.2) else (*b, depth, columns)
    return {}, {"A": a_shape, "B": b_shape}


def _batch(rng: np.random.Generator, batch: list[int]) -> list[int]:
    """Draw a shape that broadcasts to the batch: dimensions are 1, or lack at the front."""
    repeated = [1 if _chance(rng, 0.3) else n for n in batch]
    return repeated[int(_chance(rng, 0.3)) :]


def _gemm(rng: np.random.Generator) -> Drawn:
    m, n, k = (*_integers(rng, 1, 4, 2), *_integers(rng, 1, 12))
    flip_a, flip_b = _chance(rng), _chance(rng)
    factors = [1.0, 0.1, -0.7, 2.0, 3.25]
    alpha, beta = rng.choice(factors, 2, p=[0.4, 0.2, 0.2, 0.1, 0.1]).tolist()
    attributes = {"transA": flip_a, "transB": flip_b, "alpha": alpha, "beta": beta}
    c = [None, (m, n), (n,), (1, n), (m, 1), (1,), ()][rng.integers(7)]
    return attributes, {
        "A": (k, m) if flip_a else (m, k),
        "B": (n, k) if flip_b else (k, n),
        "C": c,
    }


def _window(rng: np.random.Generator) -> tuple[list[int], dict[str, list[int]], list[int]]:
    """Draw a kernel, attributes of its windows with padding below their span, and those spans."""
    rank = int(rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))
    kernel = _integers(rng, 1, {1: 5, 2: 3, 3: 2}[rank], rank)
    dilations = _integers(rng, 1, 3 if rank == 1 else 2, rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    begin, end = ([int(rng.integers(0, min(s, 4))) for s in spans] for _ in range(2))
    attributes = {"strides": _integers(rng, 1, 3, rank), "dilations": dilations}
    return kernel, {**attributes, "pads_begin": begin, "pads_end": end}, spans


def _sized(rng: np.random.Generator, spans: list[int], pads: list[int]) -> list[int]:
    """Draw sizes of an input that a window fits in."""
    return [max(s - p, 1) + int(rng.integers(0, 4)) for s, p in zip(spans, pads, strict=True)]


def _padded(rng: np.random.Generator) -> tuple[list[int], list[int], dict[str, Any]]:
    """Draw a kernel, sizes that it fits in, and attributes, sometimes with automatic padding."""
    kernel, attributes, spans = _window(rng)
    pads = [a + b for a, b in zip(attributes["pads_begin"], attributes["pads_end"], strict=True)]
    if _chance(rng, 0.3):
        auto_pad = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        unpadded = {k: v for k, v in attributes.items() if not k.startswith("pads")}
        return kernel, _sized(rng, spans, [0] * len(spans)), {**unpadded, "auto_pad": auto_pad}
    return kernel, _sized(rng, spans, pads), attributes


def _conv(rng: np.random.Generator) -> Drawn:
    kernel, sizes, attributes = _padded(rng)
    group, channels, maps, batch = (*_integers(rng, 1, 2, 3), *_integers(rng, 1, 2))
    x = (batch, group * channels, *sizes)
    w = (group * maps, channels, *kernel)
    bias = (group * maps,) if _chance(rng) else None
    return {**attributes, "group": group}, {"X": x, "W": w, "B": bias}


def _conv_transpose(rng: np.random.Generator) -> Drawn:
    kernel, attributes, spans = _window(rng)
    group, channels, maps, batch = (*_integers(rng, 1, 2, 3), *_integers(rng, 1, 2))
    steps = zip(attributes["strides"], attributes["dilations"], strict=True)
    extra = [int(rng.integers(0, max(step))) for step in steps]
    begin, end = attributes["pads_begin"], attributes["pads_end"]
    # Large enough for an output, whatever the padding takes away.
    least = [max(a + b + 2 - s, 1) for a, b, s in zip(begin, end, spans, strict=True)]
    sizes = [n + int(rng.integers(0, 3)) for n in least]
    return {**attributes, "group": group, "output_padding": extra}, {
        "X": (batch, group * channels, *sizes),
        "W": (group * channels, maps, *kernel),
        "B": (group * maps,) if _chance(rng) else None,
    }


def _reduce(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 4))
    axes = rng.permutation(rank)[: rng.integers(0, rank + 1)]
    signed = [int(a) - rank * int(_chance(rng)) for a in axes]
    shape = tuple(_integers(rng, 1, {1: 30, 2: 8, 3: 5}[rank], rank))
    return {"axes": signed, "keepdims": _chance(rng)}, {"X": shape}


def _average_pool(rng: np.random.Generator) -> Drawn:
    kernel, sizes, attributes = _padded(rng)
    # With VALID padding the core disagrees: see test_valid_padding_rounds_down.
    ceil_mode = _chance(rng) and attributes.get("auto_pad") != "VALID"
    flags = {"ceil_mode": ceil_mode, "count_include_pad": _chance(rng)}
    shape = (1, *_integers(rng, 1, 2), *sizes)
    return {**attributes, **flags, "kernel": kernel}, {"X": shape}


SHAPES = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "ReduceMean": _reduce,
    "ReduceSum": _reduce,
    "AveragePool": _average_pool,
}
