"""Kernels of known make: loops over the elements of a window, each a few lines of numpy.

Nothing here is taken from ``conformance.probe``: sums are loops that add one number at a time, for
all windows at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.backends.capabilities import Capabilities

Array = NDArray[Any]
Kernel = Callable[[Array], Array]
"""From windows (windows, elements) to results (windows,), in the same type."""

F16, BF16 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def loop(x: Array, kind: Any, *, backwards: bool = False) -> Array:
    """The elements added one by one in a type."""
    order = range(x.shape[1])
    numbers = iter(reversed(order) if backwards else order)
    total = x[:, next(numbers)].astype(kind)
    for i in numbers:
        total = total + x[:, i].astype(kind)
    return total


def in_lanes(x: Array, kind: Any, count: int) -> Array:
    """``count`` partial sums, folded in halves; what is left over is added at the end."""
    n = x.shape[1]
    full = n - n % count
    if not full:
        return loop(x, kind)
    parts = [x[:, lane].astype(kind) for lane in range(count)]
    for i in range(count, full):
        parts[i % count] = parts[i % count] + x[:, i].astype(kind)
    while len(parts) > 1:
        middle = len(parts) // 2
        parts = [a + b for a, b in zip(parts[:middle], parts[middle:], strict=True)]
    total = parts[0]
    for i in range(full, n):
        total = total + x[:, i].astype(kind)
    return total


def divided(total: Array, n: int, own: Any) -> Array:
    return (total / total.dtype.type(n)).astype(own)


def multiplied(total: Array, n: int, own: Any) -> Array:
    one = total.dtype.type(1) / total.dtype.type(n)
    return (total * one).astype(own)


def mean(kind: Any = F32, *, backwards: bool = False) -> Kernel:
    return lambda x: divided(loop(x, kind, backwards=backwards), x.shape[1], x.dtype)


def cut_off(x: Array) -> Array:
    """Added and divided in f32, and rounded to f16 towards zero."""
    exact = loop(x, F32) / np.float32(x.shape[1])
    near = exact.astype(F16)
    beyond = np.abs(near.astype(F32)) > np.abs(exact)
    return np.where(beyond, np.nextafter(near, F16.type(0)), near)


def reciprocal(kind: Any = F32) -> Kernel:
    return lambda x: multiplied(loop(x, kind), x.shape[1], x.dtype)


def lanes(count: int, kind: Any = F32) -> Kernel:
    return lambda x: divided(in_lanes(x, kind, count), x.shape[1], x.dtype)


def numpys(x: Array) -> Array:
    """numpy's own mean, whatever it does."""
    return np.mean(np.ascontiguousarray(x), axis=1)


def compensated(x: Array) -> Array:
    total, lost = x[:, 0].copy(), np.zeros_like(x[:, 0])
    for i in range(1, x.shape[1]):
        y = x[:, i] - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return divided(total, x.shape[1], x.dtype)


def exactly(x: Array) -> Array:
    """The exact mean, rounded once."""
    found = []
    for row in x.astype(np.float64):
        if not np.isfinite(row).all():
            found.append(float(row.sum()))
            continue
        exact = sum(map(Fraction, row.tolist())) / len(row)
        try:
            near = float(exact)  # correctly rounded to f64
        except OverflowError:
            near = math.copysign(math.inf, exact)
        # Rounding twice would be wrong at a tie: step off it, to the side where the number is.
        if Fraction(near) != exact and np.isfinite(near) and near != 0:
            bits = np.array(near).view(np.int64)
            if bits & 1 == 0:
                near = float(np.nextafter(near, math.inf if exact > Fraction(near) else -math.inf))
        found.append(near)
    return np.array(found).astype(x.dtype)


def by_columns(x: Array) -> Array:
    side = math.isqrt(x.shape[1])
    return mean()(x.reshape(len(x), side, side).swapaxes(1, 2).reshape(len(x), -1))


def without_subnormals(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(x.dtype).smallest_normal, x * x.dtype.type(0), x)


def flushing_inputs(inner: Kernel) -> Kernel:
    return lambda x: inner(without_subnormals(x))


def flushing_results(inner: Kernel) -> Kernel:
    return lambda x: without_subnormals(inner(x))


def ignoring_nan(inner: Kernel) -> Kernel:
    return lambda x: inner(np.where(np.isnan(x), x.dtype.type(0), x))


def losing_minus_zero(inner: Kernel) -> Kernel:
    return lambda x: inner(x) + x.dtype.type(0)


def below(size: int, small: Kernel, large: Kernel) -> Kernel:
    """One kernel below so many elements, another from there on."""
    return lambda x: small(x) if x.shape[1] < size else large(x)


def whole(rounding: str) -> Kernel:
    """The mean of whole numbers, summed in i64."""

    def kernel(x: Array) -> Array:
        total, n = x.astype(np.int64).sum(axis=1), x.shape[1]
        down, rest = total // n, total % n
        if rounding == "floor":
            return down.astype(x.dtype)
        if rounding == "truncated":
            return (down + ((total < 0) & (rest > 0))).astype(x.dtype)
        if rounding == "half away":
            up = (2 * rest > n) | ((2 * rest == n) & (total > 0))
        else:
            up = (2 * rest > n) | ((2 * rest == n) & (down % 2 != 0))
        return (down + up).astype(x.dtype)

    return kernel


def in_floats(x: Array) -> Array:
    return np.rint(loop(x, F32) / np.float32(x.shape[1])).astype(x.dtype)


def largest(nan: str, zero: str = "first") -> Kernel:
    """A maximum: ``nan`` propagates or is ignored; of zeros the first is kept, or +0."""

    def kernel(x: Array) -> Array:
        best = x[:, 0].copy()
        for i in range(1, x.shape[1]):
            new = x[:, i]
            take = new > best
            if zero == "+0":
                take |= (new == best) & ~np.signbit(new)
            take |= np.isnan(new) if nan == "propagates" else np.isnan(best)
            best = np.where(take & ~(np.isnan(best) & (nan == "propagates")), new, best)
        return best

    return kernel


Known = Mapping[str, str | Callable[[int], str]]


@dataclass(frozen=True)
class Make:
    """A kernel, the operator and type it is asked for, and what is true of it: by property the
    value, or a function from the size to it."""

    name: str
    kernel: Kernel
    dtype: str
    known: Known
    op: str = "onnx.GlobalAveragePool-22"
    changes: bool = False
    windows: tuple[str, ...] = ("row", "square", "whole")
    decided: frozenset[tuple[str, str]] = frozenset()
    """What must be decided at some sizes of the quick tier."""

    def truth(self, name: str, size: int) -> str:
        """What is true of a property for windows of a size."""
        known = self.known[name]
        return known if isinstance(known, str) else known(size)


SUMS = ("accumulator", "order", "lanes", "division", "results")


def change(size: int, small: str, large: str) -> Callable[[int], str]:
    return lambda n: small if n < size else large


def sums(accumulator: Any = "f32", order: Any = "sequential", division: Any = "divided") -> Known:
    return {"accumulator": accumulator, "order": order, "division": division}


SPECIAL: Known = {
    "NaN": "propagates",
    "mean of -0": "-0",
    "cancelled sum": "+0",
    "subnormal inputs": "kept",
    "subnormal results": "kept",
}
WHOLE = "AvgPool-14"
MAX = "onnx.GlobalMaxPool-22"

MAKES = (
    Make("naive", mean(), "f32", {**sums(), **SPECIAL}),
    Make("f16 in f32", mean(), "f16", {**sums(), **SPECIAL, "results": "to nearest"}),
    Make("f16 cut off", cut_off, "f16", {**sums(), "results": "towards zero"}),
    Make("f16 in f16", mean(F16), "f16", {**sums("f16"), **SPECIAL}),
    Make("bf16 in bf16", mean(BF16), "bf16", sums("bf16")),
    Make("numpy", numpys, "f32", sums(order="pairwise")),
    Make("reversed", mean(backwards=True), "f32", sums(order="reversed")),
    Make("reciprocal", reciprocal(), "f32", sums(division="reciprocal")),
    Make("8 lanes", lanes(8), "f32", {**sums(order="lanes"), "lanes": "8"}),
    Make("compensated", compensated, "f32", sums(order="compensated")),
    Make("exact", exactly, "f32", {"accumulator": "exact"}),
    Make(
        "flushes inputs",
        flushing_inputs(mean()),
        "f32",
        {**sums(), **SPECIAL, "subnormal inputs": "replaced by zero"},
    ),
    Make(
        "flushes results",
        flushing_results(mean()),
        "f32",
        {**sums(), **SPECIAL, "subnormal results": "replaced by zero"},
    ),
    Make(
        "drops NaN and -0",
        losing_minus_zero(ignoring_nan(mean())),
        "f32",
        {**sums(), **SPECIAL, "NaN": "ignored", "mean of -0": "+0"},
    ),
    Make("half away", whole("half away"), "i8", {"rounding": "half away"}, op=WHOLE),
    Make(
        "whole numbers in f32",
        in_floats,
        "i32",
        {"rounding": "half to even", "accumulator": "f32"},
        op=WHOLE,
    ),
    Make(
        "maximum",
        largest("propagates"),
        "f32",
        {"NaN": "propagates", "zeros of both signs": "the first"},
        op=MAX,
    ),
    # From here on: what they do changes with the size.
    Make(
        "8 lanes from 64",
        below(64, mean(), lanes(8)),
        "f32",
        {**sums(order=change(64, "sequential", "lanes")), "lanes": change(64, "1", "8")},
        changes=True,
    ),
    Make(
        "f16 from 64",
        below(64, mean(), mean(F16)),
        "f16",
        sums(change(64, "f32", "f16")),
        changes=True,
    ),
    Make(
        "pairwise from 9",
        below(9, mean(backwards=True), numpys),
        "f32",
        sums(order=change(9, "reversed", "pairwise")),
        changes=True,
    ),
    Make(
        "reciprocal from 9",
        below(9, mean(), reciprocal()),
        "f32",
        sums(division=change(9, "divided", "reciprocal")),
        changes=True,
    ),
    Make(
        "f64 from 9",
        below(9, mean(), mean(F64)),
        "f32",
        {"accumulator": change(9, "f32", "f64")},
        changes=True,
    ),
    Make(
        "flushes from 9",
        below(9, mean(), flushing_results(flushing_inputs(mean()))),
        "f32",
        {
            **sums(),
            "subnormal inputs": change(9, "kept", "replaced by zero"),
            "subnormal results": change(9, "kept", "replaced by zero"),
        },
        changes=True,
    ),
    Make(
        "NaN dropped from 9",
        below(9, mean(), ignoring_nan(mean())),
        "f32",
        {**sums(), "NaN": change(9, "propagates", "ignored")},
        changes=True,
    ),
    Make(
        "truncates from 9",
        below(9, whole("half to even"), whole("truncated")),
        "i8",
        {"rounding": change(9, "half to even", "truncated")},
        op=WHOLE,
        changes=True,
    ),
    Make(
        "maximum ignores NaN from 9",
        below(9, largest("propagates"), largest("ignored", "+0")),
        "f32",
        {
            "NaN": change(9, "propagates", "ignored"),
            "zeros of both signs": change(9, "the first", "+0"),
        },
        op=MAX,
        changes=True,
    ),
    Make(
        "columns from 64",
        below(64, mean(), by_columns),
        "f32",
        sums(order=change(64, "sequential", "columns")),
        changes=True,
        windows=("square",),
    ),
    Make(
        "4 lanes, 16 from 64",
        below(64, lanes(4), lanes(16)),
        "f32",
        {**sums(order="lanes"), "lanes": change(64, "4", "16")},
        changes=True,
    ),
)


class Backend:
    """A kernel as a backend of the operator that it is asked for."""

    version = "1"

    def __init__(self, make: Make) -> None:
        self.name, self._kernel = make.name, make.kernel
        self.capabilities = Capabilities(operators=(make.op,), dtypes=(make.dtype,))

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        data = inputs[0]
        spans = attributes.get("kernel", data.shape[2:])
        across = data.shape[-1] // spans[-1]
        windows = np.stack(np.split(data, across, axis=-1), axis=2)  # (1, C, across, *spans)
        flat = windows.reshape(data.shape[1] * across, -1)
        with np.errstate(all="ignore"):
            result = self._kernel(flat)
        ones = (1,) * (data.ndim - 3)
        return [result.reshape(1, data.shape[1], *ones, across)]
