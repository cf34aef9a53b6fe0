"""Twenty mistakes of AdaptiveMaxPool-8: each is the honest operator with one method replaced."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
from bank_windows import (
    BF16,
    Bank,
    Span,
    adaptive_case,
    adaptive_inputs,
    adaptive_spans,
    fixed_spans,
    line,
    plane,
    ramp,
    refuse_unless,
    rows_of,
    slices,
    taps,
)

bank = Bank()

Sizes = tuple[int, ...]
Picked = tuple[np.ndarray, np.ndarray]
INDEX_TYPES = {"i64": np.dtype(np.int64), "i32": np.dtype(np.int32)}


def positions(spans: list[Span], sizes: Sizes) -> np.ndarray:
    """The flat input position of every tap of a window, in row-major order."""
    flat = np.zeros((), np.int64)
    for (start, stop), size in zip(spans, sizes, strict=True):
        flat = flat[..., None] * size + np.arange(start, stop)
    return flat.ravel()


def first_largest(rows: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """[N, C] of the tap that holds the largest value, the first of them in the given order."""
    if order is None:
        return rows.argmax(axis=-1)
    return order[rows[..., order].argmax(axis=-1)]


class AdaptiveMaxPool:
    """Adaptive max pooling as the document has it; a mistake replaces one method."""

    def __init__(self) -> None:
        # Only the mistakes that cache keep anything here.
        self.cache: dict[Any, Any] = {}

    def run(
        self, op: str, inputs: list[np.ndarray], attributes: dict[str, Any]
    ) -> list[np.ndarray]:
        """[values, indices]; ValueError where the call is not a valid one."""
        refuse_unless(op == "AdaptiveMaxPool-8", f"unknown operator {op}")
        x, out = adaptive_inputs(inputs)
        name = attributes.get("index_element_type", "i64")
        refuse_unless(name in INDEX_TYPES, f"unknown index_element_type {name}")
        with np.errstate(all="ignore"):
            values, indices = self.pool(x, out)
            return [values, indices.astype(self.index_type(x, out, attributes))]

    def index_type(self, x: np.ndarray, out: Sizes, attributes: dict[str, Any]) -> np.dtype:
        """The dtype of the second output."""
        return INDEX_TYPES[attributes.get("index_element_type", "i64")]

    def spans(self, size: int, out: int) -> list[Span]:
        """The windows of one axis."""
        return adaptive_spans(size, out)

    def seen(self, wide: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The float64 input as the comparisons see it."""
        return wide

    def order(self, shape: Sizes) -> np.ndarray | None:
        """The order in which the taps of a window [shape] win ties; None for row-major."""
        return None

    def tap(self, block: np.ndarray) -> np.ndarray:
        """[N, C] of the tap that wins in a window [N, C, window]."""
        return first_largest(rows_of(block), self.order(block.shape[2:]))

    def window(self, block: np.ndarray, spans: list[Span], sizes: Sizes, dtype: np.dtype) -> Picked:
        """The values and the flat indices [N, C] of one window that has taps."""
        tap = self.tap(block)
        values = np.take_along_axis(rows_of(block), tap[..., None], axis=-1)[..., 0]
        return values, positions(spans, sizes)[tap]

    def finish(self, indices: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The index tensor from flat positions [N, C, out]."""
        return indices

    def pool(self, x: np.ndarray, out: Sizes) -> Picked:
        """The values in the input's dtype and the indices in int64."""
        sizes = x.shape[2:]
        wide = self.seen(x.astype(np.float64), x.dtype)
        tables = [self.spans(*axis) for axis in zip(sizes, out, strict=True)]
        values = np.zeros((*x.shape[:2], *out))
        indices = np.zeros(values.shape, np.int64)
        for where in np.ndindex(*out):
            spans = [table[i] for table, i in zip(tables, where, strict=True)]
            if taps(spans):
                picked = self.window(wide[slices(spans)], spans, sizes, x.dtype)
                values[(..., *where)], indices[(..., *where)] = picked
        return values.astype(x.dtype), self.finish(indices, x)


HONEST = AdaptiveMaxPool().run
case = adaptive_case


# ---------------------------------------------------------------- the start of the search


@bank.mistake(
    "starts-at-smallest-positive",
    "The search starts from the smallest positive normal number, taken for the lowest, so a "
    "window without a positive value gives that number.",
    lambda: case(line(-3, -2, -5, -1), 2),
)
class StartsAtSmallestPositive(AdaptiveMaxPool):
    def window(self, block, spans, sizes, dtype):
        values, indices = super().window(block, spans, sizes, dtype)
        floor = float(ml_dtypes.finfo(dtype).smallest_normal)
        first = positions(spans, sizes)[0]
        return np.maximum(values, floor), np.where(values > floor, indices, first)


@bank.mistake(
    "starts-at-lowest-finite",
    "The search starts from the lowest finite number, so a window of minus infinities gives that.",
    lambda: case(line(-np.inf, -np.inf, 1, 2), 2),
)
class StartsAtLowestFinite(AdaptiveMaxPool):
    def window(self, block, spans, sizes, dtype):
        values, indices = super().window(block, spans, sizes, dtype)
        return np.maximum(values, float(ml_dtypes.finfo(dtype).min)), indices


@bank.mistake(
    "index-starts-at-zero",
    "The search starts from minus infinity at index 0 and moves only to something greater, so a "
    "window of minus infinities has index 0 wherever it lies.",
    lambda: case(line(1, 2, -np.inf, -np.inf), 2),
)
class IndexStartsAtZero(AdaptiveMaxPool):
    def window(self, block, spans, sizes, dtype):
        values, indices = super().window(block, spans, sizes, dtype)
        return values, np.where(np.isneginf(values), 0, indices)


# ---------------------------------------------------------------- ties


@bank.mistake(
    "last-maximum-wins",
    "The comparison is greater or equal, so the last of equal maxima gives the index.",
    lambda: case(line(4, 4, 1, 1), 2),
)
class LastMaximumWins(AdaptiveMaxPool):
    def order(self, shape):
        return np.arange(math.prod(shape))[::-1]


@bank.mistake(
    "separable-passes-break-ties-by-column",
    "The axes are reduced one after the other, outermost first, so of equal maxima the one in "
    "the first column wins and not the one in the first row.",
    lambda: case(plane([1, 5], [5, 1]), 1, 1),
)
class SeparablePassesBreakTiesByColumn(AdaptiveMaxPool):
    def order(self, shape):
        return np.arange(math.prod(shape)).reshape(shape).transpose().ravel()


@bank.mistake(
    "lanes-break-ties",
    "Rows of 4 elements and more run in four lanes, and the lanes are merged by lane number, so "
    "of equal maxima the one in the lowest lane wins.",
    lambda: case(line(0, 0, 0, 7, 7), 1),
)
class LanesBreakTies(AdaptiveMaxPool):
    def order(self, shape):
        if shape[-1] < 4:
            return None
        return np.argsort(np.arange(math.prod(shape)) % shape[-1] % 4, kind="stable")


@bank.mistake(
    "signed-zeros-ordered",
    "Values are compared by the total order of their bits, so +0 beats an earlier -0.",
    lambda: case(line(-0.0, 0.0), 1),
)
class SignedZerosOrdered(AdaptiveMaxPool):
    def tap(self, block):
        rows = rows_of(block)
        plus = (rows == 0) & ~np.signbit(rows)
        zero = (rows.max(axis=-1) == 0) & plus.any(axis=-1)
        return np.where(zero, plus.argmax(axis=-1), super().tap(block))


# ---------------------------------------------------------------- the values compared


@bank.mistake(
    "subnormals-are-zero",
    "float32 subnormals are flushed to zero, so a window of subnormals gives 0 and its first "
    "index.",
    lambda: case(line(1e-40, 2e-40), 1),
)
class SubnormalsAreZero(AdaptiveMaxPool):
    def seen(self, wide, dtype):
        if dtype != np.float32:
            return wide
        return np.where(np.abs(wide) < np.finfo(np.float32).smallest_normal, wide * 0, wide)


@bank.mistake(
    "double-through-single",
    "float64 data is converted to float32 first, so values are rounded and near ones tie.",
    lambda: case(line(1, 1 + 2.0**-30, dtype=np.float64), 1),
)
class DoubleThroughSingle(AdaptiveMaxPool):
    def seen(self, wide, dtype):
        return wide.astype(np.float32).astype(np.float64) if dtype == np.float64 else wide


@bank.mistake(
    "bfloat16-through-float16",
    "bfloat16 data is converted to float16 on the device, so what passes 65504 is infinite and "
    "what is tiny is 0.",
    lambda: case(line(1e5, 2e5, dtype=BF16), 1),
)
class Bfloat16ThroughFloat16(AdaptiveMaxPool):
    def seen(self, wide, dtype):
        return wide.astype(np.float16).astype(np.float64) if dtype == BF16 else wide


@bank.mistake(
    "row-tail-lanes-hold-zero",
    "Window rows of 8 elements and more are loaded in vectors of 8 whose spare lanes hold 0 and "
    "not minus infinity, so negative maxima lose to the lane past the row's end.",
    lambda: case(-1 - np.arange(9, dtype=np.float32).reshape(1, 1, 9), 1),
)
class RowTailLanesHoldZero(AdaptiveMaxPool):
    def window(self, block, spans, sizes, dtype):
        values, indices = super().window(block, spans, sizes, dtype)
        width = block.shape[-1]
        if width < 8 or width % 8 == 0:
            return values, indices
        spare = positions(spans, sizes)[0] + width
        return np.where(values < 0, 0, values), np.where(values < 0, spare, indices)


@bank.mistake(
    "block-reduction-without-loop",
    "One thread takes one element of the window, 256 threads in all, and nobody takes the rest.",
    lambda: case(np.arange(300, dtype=np.float32).reshape(1, 1, 300), 1),
)
class BlockReductionWithoutLoop(AdaptiveMaxPool):
    def tap(self, block):
        return first_largest(rows_of(block)[..., :256])


# ---------------------------------------------------------------- windows


@bank.mistake(
    "ordinary-pooling-instead",
    "The operator becomes an ordinary pooling with stride floor(in / out) and one kernel size, "
    "as exporters do, which is right only where the sizes divide.",
    lambda: case(ramp(1, 1, 11), 4),
)
class OrdinaryPoolingInstead(AdaptiveMaxPool):
    def spans(self, size, out):
        return fixed_spans(size, out)


@bank.mistake(
    "window-starts-in-eight-bits",
    "The table of window starts is made of unsigned bytes, so starts past 255 wrap to the front.",
    lambda: case(np.arange(300, dtype=np.float32).reshape(1, 1, 300), 10),
)
class WindowStartsInEightBits(AdaptiveMaxPool):
    def spans(self, size, out):
        spans = super().spans(size, out)
        return [(start & 0xFF, (start & 0xFF) + stop - start) for start, stop in spans]


# ---------------------------------------------------------------- the index output


@bank.mistake(
    "index-counts-batch-and-channel",
    "Indices are positions in the whole input tensor, as ONNX's MaxPool has them, and not in the "
    "spatial axes of one channel.",
    lambda: case(ramp(1, 2, 4), 2),
)
class IndexCountsBatchAndChannel(AdaptiveMaxPool):
    def finish(self, indices, x):
        planes = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * (x.ndim - 2))
        return indices + planes * math.prod(x.shape[2:])


@bank.mistake(
    "volume-index-height-first",
    "In 3-D the index flattens height, width, depth in that order, as the document's range "
    "H * W * D suggests, and not the order of the tensor.",
    lambda: case(ramp(1, 1, 2, 3, 4), 1, 1, 2),
)
class VolumeIndexHeightFirst(AdaptiveMaxPool):
    def finish(self, indices, x):
        if x.ndim < 5:
            return indices
        depth, height, width = x.shape[2:]
        d, h, w = indices // (height * width), indices // width % height, indices % width
        return (h * width + w) * depth + d


@bank.mistake(
    "index-type-defaults-to-i32",
    "Without index_element_type the indices are int32.",
    lambda: case(ramp(1, 1, 4), 2),
)
class IndexTypeDefaultsToI32(AdaptiveMaxPool):
    def index_type(self, x, out, attributes):
        return INDEX_TYPES[attributes.get("index_element_type", "i32")]


@bank.mistake(
    "index-held-in-value-type",
    "Value and index travel as a pair of the data's type, so indices past 2048 in float16 or 256 "
    "in bfloat16 are rounded.",
    lambda: case(line(*[0] * 257, 1, 0, dtype=BF16), 1),
)
class IndexHeldInValueType(AdaptiveMaxPool):
    def finish(self, indices, x):
        return indices.astype(np.float64).astype(x.dtype).astype(np.int64)


@bank.mistake(
    "index-pointer-stays-in-first-batch",
    "The pointer to the indices is advanced per channel but not per batch: every batch writes "
    "over the first one's indices and the others stay 0.",
    lambda: case(ramp(2, 1, 6), 2),
)
class IndexPointerStaysInFirstBatch(AdaptiveMaxPool):
    def finish(self, indices, x):
        result = np.zeros_like(indices)
        result[:1] = indices[-1:]
        return result


@bank.mistake(
    "kernels-cached-without-index-type",
    "Compiled kernels are cached by shape, output size and data type but not by "
    "index_element_type, so the first call decides the type of the indices.",
    lambda: case(ramp(1, 1, 9), 3, index_element_type="i64"),
    lambda: case(ramp(1, 1, 9), 3, index_element_type="i32"),
)
class KernelsCachedWithoutIndexType(AdaptiveMaxPool):
    def index_type(self, x, out, attributes):
        honest = super().index_type(x, out, attributes)
        return self.cache.setdefault((x.shape, out, x.dtype), honest)


MISTAKES = tuple(bank.mistakes)
