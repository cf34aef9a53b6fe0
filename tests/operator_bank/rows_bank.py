"""Hold honest kernels of ONNX operators in several styles, and a bank of realistic bugs in them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
Inputs = list[Array | None]
Attributes = dict[str, Any]
Kernel = Callable[[Inputs, Attributes], list[Array]]
RowFunction = Callable[[Array], Array]

F32 = np.float32
F16 = np.float16
LOG2E = F32(1.4426950408889634)
INFINITY = F32(np.inf)
STYLES = ("plain", "blocked", "sequential", "lanes", "double", "online")
RECIPROCAL = ("blocked", "lanes", "online")  # multiply by 1/n, 1/sum or 1/root, do not divide
BINARY_EXP = ("lanes", "online")  # exp(x) as exp2(x * log2(e))
IDENTITY = {np.add: 0.0, np.multiply: 1.0, np.maximum: -np.inf}


@dataclass(frozen=True)
class Bug:
    """Describe one wrong kernel."""

    name: str
    op: str
    sentence: str
    named: str
    kernel: Kernel


RIGHT: dict[str, dict[str, Kernel]] = {}
BUGS: dict[str, Bug] = {}


def quiet(kernel: Callable[..., list[Array]], **fixed: Any) -> Kernel:
    """Wrap a kernel so that it does not warn and returns arrays in C order."""

    @functools.wraps(kernel)
    def wrapped(inputs: Inputs, attributes: Attributes) -> list[Array]:
        with np.errstate(all="ignore"):
            outputs = kernel(list(inputs), dict(attributes), **fixed)
        return [np.asarray(y, order="C") for y in outputs]

    return wrapped


def right(op: str, styles: Sequence[str] = ("plain",)) -> Callable[..., Any]:
    """Enter a function as the honest kernel of an operator in the given styles."""

    def enter(kernel: Callable[..., list[Array]]) -> Callable[..., list[Array]]:
        if len(styles) == 1:
            RIGHT[op] = {styles[0]: quiet(kernel)}
        else:
            RIGHT[op] = {style: quiet(kernel, style=style) for style in styles}
        return kernel

    return enter


def bug(op: str, sentence: str, named: str) -> Callable[[Kernel], Kernel]:
    """Enter a function as a bug of an operator, under the function's name."""

    def enter(kernel: Kernel) -> Kernel:
        name = kernel.__name__.replace("_", "-")
        if name in BUGS or op not in RIGHT:
            raise ValueError(f"{name} is entered twice, or {op} has no honest kernel")
        BUGS[name] = Bug(name, op, sentence, named, quiet(kernel))
        return kernel

    return enter


# ---------------------------------------------------------------- arithmetic shared by all styles


def fold(rows: Array, style: str = "plain", ufunc: np.ufunc = np.add) -> Array:
    """Combine the last axis with add, multiply or maximum, in the order of the style."""
    length = rows.shape[-1]
    if style == "double":
        wide = rows.astype(np.float64)
        return ufunc.reduce(wide, axis=-1, initial=IDENTITY[ufunc]).astype(rows.dtype)
    if rows.size == 0 or style == "plain":
        return ufunc.reduce(rows, axis=-1, initial=rows.dtype.type(IDENTITY[ufunc]))
    if style == "sequential":
        return ufunc.accumulate(rows, axis=-1)[..., -1]
    if style == "online":
        return ufunc.accumulate(rows[..., ::-1], axis=-1)[..., -1]
    if style == "blocked":
        starts = range(0, length, 64)
        parts = [ufunc.reduce(rows[..., i : i + 64], axis=-1) for i in starts]
        return functools.reduce(ufunc, parts)
    whole = length // 8 * 8  # lanes
    parts = [rows[..., i] for i in range(whole, length)]
    if whole:
        lanes = ufunc.reduce(rows[..., :whole].reshape((*rows.shape[:-1], -1, 8)), axis=-2)
        parts.insert(0, ufunc.reduce(lanes, axis=-1))
    return functools.reduce(ufunc, parts)


def sum_of(x: Array, axis: int = -1, style: str = "plain") -> Array:
    """Sum over one axis, which stays with size 1."""
    return np.expand_dims(fold(np.moveaxis(x, axis, -1), style), axis)


def mean_of(rows: Array, style: str = "plain") -> Array:
    """Average the last axis."""
    count = F32(rows.shape[-1])
    total = fold(rows, style)
    return total * (F32(1) / count) if style in RECIPROCAL else total / count


def exp_of(x: Array, style: str = "plain") -> Array:
    """Raise e to x, through exp2 in some styles."""
    return np.exp2(x * LOG2E) if style in BINARY_EXP else np.exp(x)


def quotient(x: Array, divisor: Array, style: str = "plain") -> Array:
    """Divide, or multiply by the reciprocal in some styles."""
    return x * (F32(1) / divisor) if style in RECIPROCAL else x / divisor


def moments(rows: Array, style: str = "plain") -> tuple[Array, Array]:
    """Return mean and variance of the last axis in two passes, or merged chunk by chunk."""
    if style != "online" or rows.shape[-1] == 0:
        mean = mean_of(rows, style)[..., None]
        return mean, mean_of(np.square(rows - mean), style)[..., None]
    mean = squares = np.zeros(rows.shape[:-1], F32)
    for start in range(0, rows.shape[-1], 16):
        chunk = rows[..., start : start + 16]
        size, seen = F32(chunk.shape[-1]), F32(start)
        own = chunk.sum(axis=-1) / size
        step = own - mean
        squares = squares + np.square(chunk - own[..., None]).sum(axis=-1)
        squares = squares + step * step * (seen * size / (seen + size))
        mean = mean + step * (size / (seen + size))
    return mean[..., None], (squares / F32(rows.shape[-1]))[..., None]


def standard(rows: Array, epsilon: float, style: str = "plain") -> Array:
    """Give the last axis zero mean and unit variance."""
    mean, variance = moments(rows, style)
    return quotient(rows - mean, np.sqrt(variance + F32(epsilon)), style)


def along(x: Array, axis: int, f: RowFunction) -> Array:
    """Apply a function of rows along one axis."""
    if x.ndim == 0:
        return f(x.reshape(1)).reshape(())
    return np.moveaxis(f(np.ascontiguousarray(np.moveaxis(x, axis, -1))), -1, axis)


def merged(x: Array, axis: int) -> Array:
    """Merge the axes from the given one on into a single last axis."""
    axis = axis % x.ndim
    return x.reshape((*x.shape[:axis], math.prod(x.shape[axis:])))


def item(inputs: Inputs, index: int) -> Array | None:
    """Return an input, or None where it is left out."""
    return inputs[index] if index < len(inputs) else None


def epsilon_of(attributes: Attributes) -> float:
    """Return the epsilon of a normalisation."""
    return attributes.get("epsilon", 1e-5)


# ---------------------------------------------------------------------------- reductions, honest


def raw_axes(inputs: Inputs, attributes: Attributes) -> list[int]:
    """Return the axes as given, from the second input or the attribute."""
    given = item(inputs, 1)
    return [int(a) for a in (attributes.get("axes") or () if given is None else given.ravel())]


def reduced_axes(inputs: Inputs, attributes: Attributes) -> list[int]:
    """Return the axes to reduce, from 0 on and sorted."""
    rank = inputs[0].ndim
    axes = raw_axes(inputs, attributes)
    if not axes:
        return [] if attributes.get("noop_with_empty_axes", 0) else list(range(rank))
    return sorted({a % rank for a in axes}) if rank else []


def rows_of(x: Array, axes: Sequence[int]) -> Array:
    """Bring some axes to the end and merge them."""
    rest = [a for a in range(x.ndim) if a not in axes]
    length = math.prod(x.shape[a] for a in axes)
    shape = [x.shape[a] for a in rest] + [length]
    return np.ascontiguousarray(x.transpose(rest + list(axes)).reshape(shape))


def reduced_shape(x: Array, axes: Sequence[int], keep: bool) -> tuple[int, ...]:
    """Return the shape that is left after a reduction."""
    sizes = [1 if a in axes else d for a, d in enumerate(x.shape)]
    return tuple(d for a, d in enumerate(sizes) if keep or a not in axes)


def reduce_with(
    inputs: Inputs,
    attributes: Attributes,
    f: RowFunction,
    axes: Sequence[int] | None = None,
    keep: bool | None = None,
) -> list[Array]:
    """Reduce by a function of rows, with axes and keepdims as given unless overridden."""
    x = inputs[0]
    axes = reduced_axes(inputs, attributes) if axes is None else axes
    keep = bool(attributes.get("keepdims", 1)) if keep is None else keep
    return [np.asarray(f(rows_of(x, axes))).reshape(reduced_shape(x, axes, keep))]


def max_rows(rows: Array, style: str = "plain") -> Array:
    """Return the maximum of each row; NaN wins."""
    return fold(rows, style, np.maximum)


def product_rows(rows: Array, style: str = "plain") -> Array:
    """Return the product of each row."""
    return fold(rows, style, np.multiply)


def l2_rows(rows: Array, style: str = "plain") -> Array:
    """Return the root of the sum of squares of each row."""
    return np.sqrt(fold(np.square(rows), style))


def lse_rows(rows: Array, style: str = "plain") -> Array:
    """Return the logarithm of the sum of exponentials of each row."""
    top = max_rows(rows, style)
    top = np.where(np.isfinite(top), top, F32(0))
    return np.log(fold(exp_of(rows - top[..., None], style), style)) + top


@right("ReduceSum-13", STYLES)
def reduce_sum(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute ReduceSum."""
    return reduce_with(inputs, attributes, lambda rows: fold(rows, style))


@right("ReduceMean-13", STYLES)
def reduce_mean(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute ReduceMean."""
    return reduce_with(inputs, attributes, lambda rows: mean_of(rows, style))


@right("ReduceMax-13", STYLES)
def reduce_max(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute ReduceMax."""
    return reduce_with(inputs, attributes, lambda rows: max_rows(rows, style))


@right("ReduceL2-13", STYLES)
def reduce_l2(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute ReduceL2."""
    return reduce_with(inputs, attributes, lambda rows: l2_rows(rows, style))


@right("ReduceProd-13", STYLES)
def reduce_prod(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute ReduceProd."""
    return reduce_with(inputs, attributes, lambda rows: product_rows(rows, style))


@right("ReduceLogSumExp-13", STYLES)
def reduce_lse(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute ReduceLogSumExp."""
    return reduce_with(inputs, attributes, lambda rows: lse_rows(rows, style))


# ------------------------------------------------------------------------------- reductions, bugs


def trailing(inputs: Inputs, attributes: Attributes) -> bool:
    """Say whether the reduced axes are the last ones, so that rows lie contiguous."""
    axes = reduced_axes(inputs, attributes)
    rank = inputs[0].ndim
    return bool(axes) and axes == list(range(rank - len(axes), rank))


def short_inner(x: Array, axis: int, count: int) -> Array:
    """View x as outer, axis, inner, with inner from only the last `count` sizes after the axis."""
    inner = math.prod(x.shape[axis + 1 :][-count:])
    return x.reshape(x.size // (x.shape[axis] * inner), x.shape[axis], inner)


def half_sum(rows: Array) -> Array:
    """Sum each row one by one in half precision."""
    return fold(rows.astype(F16), "sequential").astype(F32)


@bug(
    "ReduceSum-13",
    "Negative axes are counted from 4, whatever the rank; axes that then lie "
    "outside of the rank are dropped.",
    "negative axes normalised with a fixed rank of 4",
)
def sum_axis_from_rank_four(inputs: Inputs, attributes: Attributes) -> list[Array]:
    raw = raw_axes(inputs, attributes)
    moved = [a if a >= 0 else a + 4 for a in raw]
    axes = sorted({a for a in moved if 0 <= a < inputs[0].ndim}) if raw else None
    return reduce_with(inputs, attributes, fold, axes)


@bug(
    "ReduceSum-13",
    "Of several axes only the first one given is reduced.",
    "more than one axis: the others are not reduced",
)
def sum_first_axis_only(inputs: Inputs, attributes: Attributes) -> list[Array]:
    axes = [a % inputs[0].ndim for a in raw_axes(inputs, attributes)[:1]]
    return reduce_with(inputs, attributes, fold, axes or None)


@bug(
    "ReduceSum-13",
    "noop_with_empty_axes is not read: without axes everything is summed.",
    "noop_with_empty_axes=1 with missing or empty axes",
)
def sum_noop_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_sum(inputs, {**attributes, "noop_with_empty_axes": 0})


@bug(
    "ReduceSum-13",
    "When the innermost axes are summed, the elements after the last whole "
    "vector of 8 are left out.",
    "tail of rows whose length is no multiple of 8",
)
def sum_tail_lost(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        length = rows.shape[-1]
        return fold(rows[..., : length // 8 * 8] if length > 8 else rows)

    return reduce_with(inputs, attributes, f if trailing(inputs, attributes) else fold)


@bug(
    "ReduceSum-13",
    "Rows are summed in blocks of 1,024 and the second stage that adds the "
    "blocks is missing: only the first block counts.",
    "more than 1,024 elements to a sum",
)
def sum_second_stage_missing(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(inputs, attributes, lambda rows: fold(rows[..., :1024]))


@bug(
    "ReduceSum-13",
    "Axes that are not neighbours, such as 0 and 2, are summed as if they were "
    "one contiguous block.",
    "non-adjacent axes with a kept axis between them",
)
def sum_gap_in_axes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    axes = reduced_axes(inputs, attributes)
    if not axes or axes[-1] - axes[0] + 1 == len(axes):
        return reduce_sum(inputs, attributes)
    outer = math.prod(x.shape[: axes[0]])
    inner = math.prod(d for a, d in enumerate(x.shape) if a > axes[0] and a not in axes)
    block = x.reshape(outer, math.prod(x.shape[a] for a in axes), inner)
    return [sum_of(block, 1).reshape(reduced_shape(x, axes, attributes.get("keepdims", 1)))]


@bug(
    "ReduceMean-13",
    "With several axes the sum is divided by the size of the last axis only.",
    "divisor when more than one axis is averaged",
)
def mean_divides_by_one_axis(inputs: Inputs, attributes: Attributes) -> list[Array]:
    sizes = [inputs[0].shape[a] for a in reduced_axes(inputs, attributes)] or [1]
    return reduce_with(inputs, attributes, lambda rows: fold(rows) / F32(sizes[-1]))


@bug(
    "ReduceMean-13",
    "The sum is accumulated in half precision.",
    "accumulator precision (f16): error grows with the length, overflow past 65,504",
)
def mean_half_accumulator(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(inputs, attributes, lambda rows: half_sum(rows) / F32(rows.shape[-1]))


@bug(
    "ReduceMean-13",
    "Rank 4 with two axes is always taken for global average pooling over the "
    "last two, even if other axes are named.",
    "two axes at rank 4 other than 2 and 3",
)
def mean_taken_for_global_pool(inputs: Inputs, attributes: Attributes) -> list[Array]:
    pooled = inputs[0].ndim == 4 and len(reduced_axes(inputs, attributes)) == 2
    return reduce_with(inputs, attributes, mean_of, (2, 3) if pooled else None)


@bug(
    "ReduceMean-13",
    "The number of elements is held in 16 bits, so that 65,536 or more of them "
    "give a wrong divisor.",
    "count of averaged elements of 65,536 and above",
)
def mean_count_in_sixteen_bits(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(inputs, attributes, lambda rows: fold(rows) / F32(rows.shape[-1] & 0xFFFF))


@bug(
    "ReduceMean-13",
    "Without axes only the last axis is averaged rather than all of them.",
    "axes left out: all axes must be reduced",
)
def mean_without_axes_takes_last(inputs: Inputs, attributes: Attributes) -> list[Array]:
    last = not raw_axes(inputs, attributes) and inputs[0].ndim > 0
    return reduce_with(inputs, attributes, mean_of, (inputs[0].ndim - 1,) if last else None)


@bug(
    "ReduceMean-13",
    "When all axes are reduced the result is a scalar, even with keepdims=1.",
    "keepdims=1 when every axis is reduced",
)
def mean_of_all_drops_axes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    everything = len(reduced_axes(inputs, attributes)) == inputs[0].ndim
    return reduce_with(inputs, attributes, mean_of, keep=False if everything else None)


@bug(
    "ReduceMax-13",
    "The running maximum starts at 0, so that rows of only negative values give 0.",
    "start value of the maximum; all values negative",
)
def max_starts_at_zero(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [np.maximum(reduce_max(inputs, attributes)[0], F32(0))]


@bug(
    "ReduceMax-13",
    "keepdims=0 is not read: reduced axes stay with size 1.",
    "keepdims=0; shape of the output",
)
def max_keepdims_stuck(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(inputs, attributes, max_rows, keep=True)


@bug(
    "ReduceMax-13",
    "The running maximum starts at the lowest finite number, so that rows of "
    "only -inf give -3.4e38.",
    "start value of the maximum; all values -inf",
)
def max_starts_at_lowest(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [np.maximum(reduce_max(inputs, attributes)[0], np.finfo(F32).min)]


@bug(
    "ReduceMax-13",
    "For a single axis before the last two, the stride of the axis is taken to "
    "be the size of the last axis alone.",
    "stride of an axis with two or more axes after it",
)
def max_stride_of_last_axis(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, axes = inputs[0], reduced_axes(inputs, attributes)
    if len(axes) != 1 or axes[0] == x.ndim - 1 or not x.size:
        return reduce_max(inputs, attributes)
    flat = short_inner(x, axes[0], 1).max(axis=1)
    return [flat.reshape(reduced_shape(x, axes, attributes.get("keepdims", 1)))]


@bug(
    "ReduceMax-13",
    "Rows are read in whole vectors of 4 without a mask, so that a row whose "
    "length is no multiple of 4 takes in the start of the next row (or 0 past the end).",
    "tail of contiguous rows: reads into the neighbouring row",
)
def max_reads_next_row(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        length = rows.shape[-1]
        flat = np.concatenate([rows.ravel(), np.zeros(4, F32)])
        starts = np.arange(rows.size // length)[:, None] * length
        return flat[starts + np.arange(-(-length // 4) * 4)].max(axis=-1)

    whole = inputs[0].size and trailing(inputs, attributes)
    return reduce_with(inputs, attributes, f if whole else max_rows)


@bug(
    "ReduceL2-13",
    "Over several axes the norm is taken along the first and the norms are then "
    "simply added along the others.",
    "several axes: norms are summed without squares",
)
def l2_adds_norms(inputs: Inputs, attributes: Attributes) -> list[Array]:
    axes = reduced_axes(inputs, attributes)
    first = reduce_with(inputs, attributes, l2_rows, axes[:1], True)
    keep = bool(attributes.get("keepdims", 1))
    y = reduce_with(first, attributes, fold, axes[1:], True)[0]
    return [y.reshape(reduced_shape(inputs[0], axes, keep))]


@bug(
    "ReduceL2-13",
    "Squares and their sum are kept in half precision.",
    "precision (f16) of the squares: coarse results, inf for values past 255",
)
def l2_half_squares(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(
        inputs, attributes, lambda rows: np.sqrt(half_sum(np.square(rows.astype(F16))))
    )


@bug(
    "ReduceL2-13",
    "The launch grid is cut at 65,535 rows; the results of later rows stay 0.",
    "more than 65,535 results",
)
def l2_grid_limit(inputs: Inputs, attributes: Attributes) -> list[Array]:
    y = reduce_l2(inputs, attributes)[0].copy()
    y.reshape(-1)[65535:] = 0
    return [y]


@bug(
    "ReduceL2-13",
    "keepdims=0 removes only the first of several reduced axes.",
    "keepdims=0 with more than one axis; shape of the output",
)
def l2_squeezes_one_axis(inputs: Inputs, attributes: Attributes) -> list[Array]:
    y = reduce_with(inputs, attributes, l2_rows, keep=True)[0]
    axes = reduced_axes(inputs, attributes)
    return [y.squeeze(axes[0]) if axes and not attributes.get("keepdims", 1) else y]


@bug(
    "ReduceProd-13",
    "The product is computed as exp of the sum of logarithms, which gives NaN "
    "for negative factors.",
    "negative factors; product through logarithms",
)
def product_by_logarithms(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(inputs, attributes, lambda rows: np.exp(fold(np.log(rows))))


@bug(
    "ReduceProd-13",
    "Rows are filled up with 0 to a multiple of 4, which makes the product 0.",
    "tail of contiguous rows filled with 0 rather than 1",
)
def product_tail_of_zeros(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        return product_rows(rows) * F32(0 if rows.shape[-1] % 4 else 1)

    return reduce_with(inputs, attributes, f if trailing(inputs, attributes) else product_rows)


@bug(
    "ReduceProd-13",
    "A full reduction with keepdims=0 gives shape [1] rather than a scalar.",
    "all axes reduced with keepdims=0; rank 0 of the output",
)
def product_scalar_as_vector(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [np.atleast_1d(reduce_prod(inputs, attributes)[0])]


@bug(
    "ReduceLogSumExp-13",
    "The maximum is not subtracted before exp, which overflows past 88.",
    "overflow: maximum of the row not subtracted",
)
def lse_without_maximum(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reduce_with(inputs, attributes, lambda rows: np.log(fold(np.exp(rows))))


@bug(
    "ReduceLogSumExp-13",
    "The subtracted maximum is at least 0, so that rows far below 0 underflow to -inf.",
    "start value 0 of the maximum; rows of very negative values",
)
def lse_maximum_from_zero(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        top = np.maximum(max_rows(rows), F32(0))
        top = np.where(np.isfinite(top), top, F32(0))
        return np.log(fold(np.exp(rows - top[..., None]))) + top

    return reduce_with(inputs, attributes, f)


@bug(
    "ReduceLogSumExp-13",
    "A row of only -inf gives NaN because -inf is subtracted from -inf.",
    "rows of only -inf: must give -inf",
)
def lse_of_masked_row(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        masked = (max_rows(rows) == -INFINITY) & (rows.shape[-1] > 0)
        return np.where(masked, F32(np.nan), lse_rows(rows))

    return reduce_with(inputs, attributes, f)


@bug(
    "ReduceLogSumExp-13",
    "The final logarithm is to base 2 and is not scaled back.",
    "base of the logarithm (log2 in place of ln)",
)
def lse_base_two(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        top = max_rows(rows)
        top = np.where(np.isfinite(top), top, F32(0))
        return np.log2(fold(np.exp(rows - top[..., None]))) + top

    return reduce_with(inputs, attributes, f)


# ---------------------------------------------------------------------------- ArgMax and Hardmax


def first_index(rows: Array, style: str = "plain") -> Array:
    """Return the index of the first maximum of each row; NaN is the maximum."""
    if style == "plain" or rows.shape[-1] <= 8:
        return np.argmax(rows, axis=-1)
    best = index = None
    for start in range(0, rows.shape[-1], 8):
        chunk = rows[..., start : start + 8]
        own = start + np.argmax(chunk, axis=-1)
        top = chunk.max(axis=-1)
        better = True if best is None else (top > best) | (np.isnan(top) & ~np.isnan(best))
        index = own if best is None else np.where(better, own, index)
        best = top if best is None else np.where(better, top, best)
    return index


@right("ArgMax-13", ("plain", "blocked"))
def arg_max(
    inputs: Inputs,
    attributes: Attributes,
    style: str = "plain",
    f: Callable[[Array], Array] | None = None,
) -> list[Array]:
    """Compute ArgMax by a function that finds the first maximum of each row."""
    f = f or (lambda rows: first_index(rows, style))
    x = inputs[0]
    axes = (attributes.get("axis", 0) % x.ndim,) if x.ndim else ()
    rows = rows_of(x, axes)
    if attributes.get("select_last_index", 0):
        y = rows.shape[-1] - 1 - f(np.ascontiguousarray(rows[..., ::-1]))
    else:
        y = f(rows)
    shape = reduced_shape(x, axes, attributes.get("keepdims", 1))
    return [np.asarray(y, np.int64).reshape(shape)]


@bug(
    "ArgMax-13",
    "select_last_index is not read: ties always give the first index.",
    "select_last_index=1 with equal maxima",
)
def argmax_last_index_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return arg_max(inputs, {**attributes, "select_last_index": 0})


@bug(
    "ArgMax-13",
    "Each of 8 lanes keeps its first maximum and ties between lanes go to the "
    "lowest lane, not to the lowest index.",
    "ties in rows longer than 8, across vector lanes",
)
def argmax_tie_across_lanes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        index = np.arange(rows.shape[-1])
        hit = (rows == rows.max(axis=-1, keepdims=True)) | np.isnan(rows)
        return np.where(hit, index % 8 * rows.shape[-1] + index, rows.shape[-1] * 9).argmin(-1)

    return arg_max(inputs, attributes, f=f)


@bug(
    "ArgMax-13",
    "The best value starts at 0 with index 0, so that rows without a positive value give index 0.",
    "start value of the maximum; rows of negative values",
)
def argmax_starts_at_zero(inputs: Inputs, attributes: Attributes) -> list[Array]:
    best = reduce_with(inputs, attributes, max_rows, [attributes.get("axis", 0) % inputs[0].ndim])
    return [np.where(best[0] <= 0, np.int64(0), arg_max(inputs, attributes)[0])]


@bug(
    "ArgMax-13",
    "If the attribute is left out, the last axis is searched in place of axis 0.",
    "default of axis (0)",
)
def argmax_default_axis_last(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return arg_max(inputs, {"axis": -1, **attributes} if inputs[0].size else attributes)


@bug(
    "ArgMax-13",
    "For any axis but the last the memory offset is returned in place of the index.",
    "axis other than the last: index not divided by the stride",
)
def argmax_returns_offset(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    stride = math.prod(x.shape[attributes.get("axis", 0) % x.ndim + 1 :])
    return [arg_max(inputs, attributes)[0] * stride]


@bug(
    "ArgMax-13",
    "Indices are carried in 8-bit lanes, so that an index of 256 or more wraps.",
    "axis longer than 256: index modulo 256",
)
def argmax_index_in_a_byte(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [arg_max(inputs, attributes)[0] & 255]


def hard_rows(rows: Array) -> Array:
    """Return 1 at the first maximum of each row and 0 elsewhere."""
    hit = np.arange(rows.shape[-1]) == np.expand_dims(np.argmax(rows, axis=-1), -1)
    return hit.astype(F32)


@right("Hardmax-13")
def hardmax(inputs: Inputs, attributes: Attributes, f: RowFunction = hard_rows) -> list[Array]:
    """Compute Hardmax."""
    x = inputs[0]
    return [along(x, attributes.get("axis", -1), f) if x.size else x]


@bug(
    "Hardmax-13",
    "All elements equal to the maximum become 1, not the first one only.",
    "ties of the maximum",
)
def hardmax_marks_all_ties(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        return ((rows == rows.max(axis=-1, keepdims=True)) | np.isnan(rows)).astype(F32)

    return hardmax(inputs, attributes, f)


@bug("Hardmax-13", "axis is not read: the last axis is always used.", "axis other than the last")
def hardmax_axis_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return hardmax(inputs, {})


# ------------------------------------------------------------------------ Softmax and LogSoftmax


def running(rows: Array, style: str = "plain") -> tuple[Array, Array]:
    """Return maximum and sum of exponentials of each row in one pass (online softmax)."""
    top = np.full((*rows.shape[:-1], 1), -INFINITY)
    total = np.zeros_like(top)
    for start in range(0, rows.shape[-1], 16):
        chunk = rows[..., start : start + 16]
        new = np.maximum(top, chunk.max(axis=-1, keepdims=True))
        base = np.where(new == -INFINITY, F32(0), new)
        total = total * exp_of(top - base, style)
        total = total + exp_of(chunk - base, style).sum(axis=-1, keepdims=True)
        top = new
    return top, total


def top_and_sum(rows: Array, style: str = "plain") -> tuple[Array, Array]:
    """Return maximum and sum of exponentials below the maximum of each row."""
    if style == "online":
        return running(rows, style)
    top = max_rows(rows, style)[..., None]
    return top, fold(exp_of(rows - top, style), style)[..., None]


def softmax_rows(rows: Array, style: str = "plain") -> Array:
    """Return the softmax of each row."""
    top, total = top_and_sum(rows, style)
    return quotient(exp_of(rows - top, style), total, style)


def log_softmax_rows(rows: Array, style: str = "plain") -> Array:
    """Return the logarithm of the softmax of each row."""
    top, total = top_and_sum(rows, style)
    return rows - top - np.log(total)


@right("Softmax-13", STYLES)
def softmax(
    inputs: Inputs, attributes: Attributes, style: str = "plain", f: RowFunction | None = None
) -> list[Array]:
    """Compute Softmax."""
    return [along(inputs[0], attributes.get("axis", -1), f or (lambda r: softmax_rows(r, style)))]


@right("LogSoftmax-13", STYLES)
def log_softmax(
    inputs: Inputs, attributes: Attributes, style: str = "plain", f: RowFunction | None = None
) -> list[Array]:
    """Compute LogSoftmax."""
    f = f or (lambda rows: log_softmax_rows(rows, style))
    return [along(inputs[0], attributes.get("axis", -1), f)]


@bug(
    "Softmax-13",
    "The maximum is not subtracted before exp: inf/inf past 88, 0/0 below -104.",
    "overflow: maximum of the row not subtracted",
)
def softmax_without_maximum(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        powers = np.exp(rows)
        return powers / sum_of(powers)

    return softmax(inputs, attributes, f=f)


@bug(
    "Softmax-13",
    "All axes from the given one on are flattened into one row, as before opset 13.",
    "axis other than the last: later axes are normalised too (old semantics)",
)
def softmax_flattens(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    rows = merged(x, attributes.get("axis", -1)) if x.ndim else x.reshape(1)
    return [softmax_rows(rows).reshape(x.shape)]


@bug(
    "Softmax-13",
    "If the attribute is left out, axis 1 is used in place of the last.",
    "default of axis (-1), at a rank other than 2",
)
def softmax_default_axis_one(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return softmax(inputs, {"axis": 1, **attributes} if inputs[0].ndim > 1 else attributes)


@bug(
    "Softmax-13",
    "Rows along the last axis are filled with 0 to a multiple of 8, and the zeros "
    "count in maximum and sum.",
    "tail: padding with 0 rather than -inf",
)
def softmax_tail_of_zeros(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        length = rows.shape[-1]
        tail = np.zeros((*rows.shape[:-1], -length % 8), F32)
        return softmax_rows(np.concatenate([rows, tail], axis=-1))[..., :length]

    last = attributes.get("axis", -1) in (-1, inputs[0].ndim - 1)
    return softmax(inputs, attributes, f=f if last else None)


@bug(
    "Softmax-13",
    "The sum takes in only the 1,024 elements of the first thread block.",
    "rows longer than 1,024: sum of exponentials",
)
def softmax_sum_of_one_block(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        powers = np.exp(rows - max_rows(rows)[..., None])
        return powers / sum_of(powers[..., :1024])

    return softmax(inputs, attributes, f=f)


@bug(
    "Softmax-13",
    "The maximum of the whole tensor is subtracted rather than that of the row, so "
    "that rows far below it give 0/0.",
    "maximum taken over the tensor, not the row: underflow",
)
def softmax_maximum_of_tensor(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        powers = np.exp(rows - max_rows(rows.reshape(-1)))
        return powers / sum_of(powers)

    return softmax(inputs, attributes, f=f)


@bug(
    "Softmax-13",
    "Exponentials and their sum are kept in half precision.",
    "precision (f16) of exp and of the sum",
)
def softmax_half_precision(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        powers = np.exp((rows - max_rows(rows)[..., None]).astype(F16))
        return powers.astype(F32) / half_sum(powers)[..., None]

    return softmax(inputs, attributes, f=f)


@bug(
    "Softmax-13",
    "The running maximum of the online form starts at -inf: a row whose first "
    "element is -inf computes -inf - -inf and becomes NaN.",
    "rows that begin with -inf (masked)",
)
def softmax_row_begins_masked(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        return np.where(rows[..., :1] == -INFINITY, F32(np.nan), softmax_rows(rows))

    return softmax(inputs, attributes, f=f if inputs[0].size else None)


@bug(
    "LogSoftmax-13",
    "The logarithm of the finished softmax is taken, which is -inf where the softmax underflows.",
    "elements more than about 100 below the maximum give -inf",
)
def log_of_softmax(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [np.log(softmax(inputs, attributes)[0])]


@bug("LogSoftmax-13", "Every negative axis is taken for the last one.", "negative axis below -1")
def logsoftmax_negative_axis_last(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return log_softmax(inputs, {"axis": max(attributes.get("axis", -1), -1)})


@bug(
    "LogSoftmax-13",
    "The maximum is subtracted inside of the exponentials but not from the result.",
    "maximum of the row missing in the result: rows are off by a constant",
)
def logsoftmax_maximum_lost(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        return rows - np.log(top_and_sum(rows)[1])

    return log_softmax(inputs, attributes, f=f)


@bug(
    "LogSoftmax-13",
    "The stride of the axis is the product of only the last two sizes, which is "
    "wrong with three or more axes behind it.",
    "axis with more than two axes after it (rank 5)",
)
def logsoftmax_stride_of_two_axes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    axis = attributes.get("axis", -1) % max(x.ndim, 1)
    if x.ndim - axis <= 3 or not x.size:
        return log_softmax(inputs, attributes)
    return [log_softmax([short_inner(x, axis, 2)], {"axis": 1})[0].reshape(x.shape)]


# --------------------------------------------------------------------------------- normalisations

Standard = Callable[[Array, float, str], Array]


@right("LayerNormalization-17", STYLES)
def layer_norm(
    inputs: Inputs, attributes: Attributes, style: str = "plain", f: Standard = standard
) -> list[Array]:
    """Compute Y of LayerNormalization."""
    x, bias = inputs[0], item(inputs, 2)
    rows = merged(x, attributes.get("axis", -1))
    y = f(rows, epsilon_of(attributes), style).reshape(x.shape) * inputs[1]
    return [y if bias is None else y + bias]


@bug(
    "LayerNormalization-17",
    "The variance is E[x^2] - E[x]^2 in one pass and cancels when the mean is large.",
    "variance in one pass: mean large against the deviation",
)
def layer_one_pass_variance(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array, epsilon: float, style: str) -> Array:
        mean = mean_of(rows)[..., None]
        variance = np.maximum(mean_of(rows * rows)[..., None] - mean * mean, F32(0))
        return (rows - mean) / np.sqrt(variance + F32(epsilon))

    return layer_norm(inputs, attributes, f=f)


@bug(
    "LayerNormalization-17",
    "The variance is divided by n - 1 in place of n.",
    "divisor of the variance (n - 1, sample variance)",
)
def layer_sample_variance(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array, epsilon: float, style: str) -> Array:
        count = F32(rows.shape[-1])
        mean, variance = moments(rows)
        return (rows - mean) / np.sqrt(variance * (count / (count - 1)) + F32(epsilon))

    return layer_norm(inputs, attributes, f=f)


@bug(
    "LayerNormalization-17",
    "epsilon is added to the deviation, outside of the root.",
    "place of epsilon: seen with small variance or large epsilon",
)
def layer_epsilon_outside_root(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array, epsilon: float, style: str) -> Array:
        mean, variance = moments(rows)
        return (rows - mean) / (np.sqrt(variance) + F32(epsilon))

    return layer_norm(inputs, attributes, f=f)


@bug(
    "LayerNormalization-17",
    "Only the last axis is normalised, even if axis names an earlier one.",
    "axis other than the last: statistics over the last axis only",
)
def layer_last_axis_only(inputs: Inputs, attributes: Attributes) -> list[Array]:
    y = standard(inputs[0], epsilon_of(attributes)) * inputs[1]
    return [y if item(inputs, 2) is None else y + inputs[2]]


@bug(
    "LayerNormalization-17",
    "Scale and bias are indexed with the position in the last axis only, "
    "so that their first row serves for all.",
    "Scale and B of rank above 1 (axis before -1)",
)
def layer_first_row_of_scale(inputs: Inputs, attributes: Attributes) -> list[Array]:
    size = inputs[0].shape[-1]
    row = [np.resize(a, size) if a is not None and a.ndim > 1 else a for a in inputs[1:]]
    return layer_norm([inputs[0], *row], attributes)


@bug(
    "LayerNormalization-17",
    "Mean and variance are plain averages over the blocks of 1,024, "
    "though the last block may be shorter.",
    "rows longer than 1,024 and no multiple of it: short block gets full weight",
)
def layer_mean_of_block_means(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def blocks(rows: Array) -> Array:
        starts = range(0, rows.shape[-1], 1024)
        parts = [mean_of(rows[..., i : i + 1024]) for i in starts]
        return mean_of(np.stack(parts, axis=-1))[..., None] if parts else rows

    def f(rows: Array, epsilon: float, style: str) -> Array:
        mean = blocks(rows)
        return (rows - mean) / np.sqrt(blocks(np.square(rows - mean)) + F32(epsilon))

    return layer_norm(inputs, attributes, f=f)


@bug(
    "LayerNormalization-17",
    "Scale and bias are applied in whole vectors of 8 only; the tail of "
    "each row is just normalised.",
    "tail of rows longer than 8: Scale and B not applied",
)
def layer_tail_not_scaled(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    axis = attributes.get("axis", -1)
    bare = standard(merged(x, axis), epsilon_of(attributes))
    length = bare.shape[-1]
    whole = length // 8 * 8 if length > 8 else length
    done = merged(layer_norm(inputs, attributes)[0], axis)
    return [np.concatenate([done[..., :whole], bare[..., whole:]], axis=-1).reshape(x.shape)]


@bug(
    "LayerNormalization-17",
    "The attribute epsilon is not read; 1e-5 is always used.",
    "epsilon other than 1e-5",
)
def layer_epsilon_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return layer_norm(inputs, {**attributes, "epsilon": 1e-5})


def channels(parameter: Array, rank: int) -> Array:
    """Shape a vector so that it broadcasts along axis 1."""
    return parameter.reshape((-1,) + (1,) * (rank - 2))


def grouped(x: Array, groups: int, epsilon: float, style: str = "plain") -> Array:
    """Normalise each group of neighbouring channels of each instance."""
    length = math.prod(x.shape[1:]) // groups
    return standard(x.reshape(x.shape[0], groups, length), epsilon, style).reshape(x.shape)


@right("InstanceNormalization-6", STYLES)
def instance_norm(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute InstanceNormalization."""
    x, scale, bias = inputs
    y = grouped(x, x.shape[1], epsilon_of(attributes), style)
    return [y * channels(scale, x.ndim) + channels(bias, x.ndim)]


@bug(
    "InstanceNormalization-6",
    "Scale and B are indexed with the number of the instance in the "
    "batch rather than with the channel.",
    "index of scale and B: batch in place of channel",
)
def instance_scale_by_batch(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    index = (np.arange(x.shape[0]) % x.shape[1]).reshape((-1,) + (1,) * (x.ndim - 1))
    y = grouped(x, x.shape[1], epsilon_of(attributes))
    return [y * scale[index] + bias[index]]


@bug(
    "InstanceNormalization-6",
    "Statistics of a channel are taken over the whole batch, as in batch normalisation.",
    "batch larger than 1: statistics mix the instances",
)
def instance_statistics_of_batch(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    swapped = x.swapaxes(0, 1)
    rows = swapped.reshape(x.shape[1], x.size // x.shape[1])
    y = standard(rows, epsilon_of(attributes)).reshape(swapped.shape).swapaxes(0, 1)
    return [y * channels(scale, x.ndim) + channels(bias, x.ndim)]


@bug(
    "InstanceNormalization-6",
    "Statistics are taken over the last two axes only, so that "
    "volumes (rank 5) are normalised slice by slice.",
    "rank 5: depth axis not in the statistics",
)
def instance_last_two_axes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    if x.ndim < 5:
        return instance_norm(inputs, attributes)
    y = standard(merged(x, -2), epsilon_of(attributes)).reshape(x.shape)
    return [y * channels(scale, x.ndim) + channels(bias, x.ndim)]


@bug(
    "InstanceNormalization-6",
    "B is added before scale is multiplied.",
    "order of scale and B: (normalised + B) * scale",
)
def instance_bias_before_scale(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    return instance_norm([x, scale, bias * scale], attributes)


@right("GroupNormalization-21", STYLES)
def group_norm(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute GroupNormalization."""
    x, scale, bias = inputs
    y = grouped(x, attributes["num_groups"], epsilon_of(attributes), style)
    return [y * channels(scale, x.ndim) + channels(bias, x.ndim)]


@bug(
    "GroupNormalization-21",
    "Scale and bias are indexed with the group rather than with the channel, as in opset 18.",
    "index of scale and bias: group in place of channel",
)
def group_scale_by_group(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    index = np.arange(x.shape[1]) // (x.shape[1] // attributes["num_groups"])
    return group_norm([x, scale[index], bias[index]], attributes)


@bug(
    "GroupNormalization-21",
    "Groups are made of every num_groups-th channel rather than of neighbouring channels.",
    "assignment of channels to groups (interleaved)",
)
def group_interleaved(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    groups = attributes["num_groups"]
    order = np.arange(x.shape[1]).reshape(-1, groups).T.ravel()
    y = grouped(x[:, order], groups, epsilon_of(attributes))[:, np.argsort(order)]
    return [y * channels(scale, x.ndim) + channels(bias, x.ndim)]


@bug(
    "GroupNormalization-21",
    "num_groups is taken for the number of channels in a group.",
    "meaning of num_groups: groups against channels per group",
)
def group_count_as_size(inputs: Inputs, attributes: Attributes) -> list[Array]:
    count = inputs[0].shape[1] // attributes["num_groups"]
    return group_norm(inputs, {**attributes, "num_groups": count})


@bug(
    "GroupNormalization-21",
    "If the last axis is as long as the channels, the layout is guessed "
    "to be channels-last and scale and bias run along the last axis.",
    "width equal to the number of channels: scale and bias along the wrong axis",
)
def group_layout_guessed(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias = inputs
    if x.ndim < 3 or x.shape[-1] != x.shape[1]:
        return group_norm(inputs, attributes)
    return [grouped(x, attributes["num_groups"], epsilon_of(attributes)) * scale + bias]


def rms(rows: Array, epsilon: float, style: str = "plain") -> Array:
    """Divide each row by the root of the mean of its squares."""
    squares = mean_of(np.square(rows), style)[..., None]
    return quotient(rows, np.sqrt(squares + F32(epsilon)), style)


@right("RMSNormalization-23", STYLES)
def rms_norm(
    inputs: Inputs, attributes: Attributes, style: str = "plain", f: Standard = rms
) -> list[Array]:
    """Compute RMSNormalization."""
    return layer_norm(inputs[:2], attributes, style, f)


@bug(
    "RMSNormalization-23",
    "The mean is subtracted first, as in layer normalisation.",
    "mean must not be subtracted",
)
def rms_subtracts_mean(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return rms_norm(inputs, attributes, f=standard)


@bug(
    "RMSNormalization-23",
    "epsilon is added to the sum of squares before the division by n.",
    "place of epsilon: seen with small values or large epsilon",
)
def rms_epsilon_divided(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array, epsilon: float, style: str) -> Array:
        return rms(rows, epsilon / max(rows.shape[-1], 1), style)

    return rms_norm(inputs, attributes, f=f)


@bug(
    "RMSNormalization-23",
    "Only the last axis is normalised, even if axis names an earlier one.",
    "axis other than the last: mean of squares over the last axis only",
)
def rms_last_axis_only(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [rms(inputs[0], epsilon_of(attributes)) * inputs[1]]


BATCH_STYLES = ("plain", "folded", "reciprocal", "scaled", "double", "scale_first")


@right("BatchNormalization-15", BATCH_STYLES)
def batch_norm(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute Y of BatchNormalization at inference."""
    x, *parameters = inputs
    rank = max(x.ndim, 2)
    scale, bias, mean, variance = (channels(p, rank) for p in parameters)
    root = np.sqrt(variance + F32(epsilon_of(attributes)))
    if style == "folded":
        return [x * (scale / root) + (bias - mean * (scale / root))]
    if style == "reciprocal":
        return [(x - mean) * (F32(1) / root) * scale + bias]
    if style == "scaled":
        return [(x - mean) * (scale * (F32(1) / root)) + bias]
    if style == "double":
        wide = (x.astype(np.float64) - mean) / np.sqrt(variance + epsilon_of(attributes))
        return [(wide * scale + bias).astype(F32)]
    if style == "scale_first":
        return [scale * (x - mean) / root + bias]
    return [(x - mean) / root * scale + bias]


@bug(
    "BatchNormalization-15",
    "Channels are taken to be the last axis: parameters run along it.",
    "channel axis (must be axis 1) at rank 3 and above",
)
def batch_channels_last(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, *parameters = inputs
    if x.ndim < 3:
        return batch_norm(inputs, attributes)
    flat = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    index = np.arange(x.shape[-1]) % x.shape[1]
    return [batch_norm([flat, *(p[index] for p in parameters)], attributes)[0].reshape(x.shape)]


@bug(
    "BatchNormalization-15",
    "When folded into one scale and shift, the mean is subtracted without being scaled.",
    "shift must be B - mean * scale / root; mean not scaled",
)
def batch_mean_not_scaled(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, scale, bias, mean, variance = inputs
    zero = np.zeros_like(mean)
    return batch_norm([x, scale, bias - mean, zero, variance], attributes)


@bug(
    "BatchNormalization-15",
    "Parameters are loaded for 64 channels once: channel c takes those of channel c modulo 64.",
    "more than 64 channels",
)
def batch_tile_of_channels(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, *parameters = inputs
    return batch_norm([x, *(np.resize(p[:64], p.shape) for p in parameters)], attributes)


@bug(
    "BatchNormalization-15",
    "If epsilon is left out, 1e-3 is used in place of 1e-5.",
    "default of epsilon",
)
def batch_default_epsilon(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return batch_norm(inputs, {"epsilon": 1e-3, **attributes})


def windows(x: Array, before: int, after: int) -> Array:
    """Stack for each channel the channels around it, 0 outside, along a new last axis."""
    border = np.zeros((x.ndim, 2), int)
    border[1] = before, after
    wide, size = np.pad(x, border), x.shape[1]
    return np.stack([wide[:, i : i + size] for i in range(before + after + 1)], axis=-1)


@right("LRN-13", STYLES)
def lrn(
    inputs: Inputs,
    attributes: Attributes,
    style: str = "plain",
    mirrored: bool = False,
    counted: bool = False,
) -> list[Array]:
    """Compute LRN; the two flags serve bugs."""
    x, size = inputs[0], attributes["size"]
    before, after = (size - 1) // 2, size // 2
    around = (after, before) if mirrored else (before, after)
    squares = fold(windows(np.square(x), *around), style)
    inside = windows(np.ones_like(x), *around).sum(axis=-1) if counted else F32(size)
    beta, alpha = F32(attributes.get("beta", 0.75)), F32(attributes.get("alpha", 1e-4))
    base = F32(attributes.get("bias", 1.0)) + alpha / inside * squares
    if style in BINARY_EXP:
        return [x * np.exp2(-beta * np.log2(base))]
    return [quotient(x, np.power(base, beta), style)]


@bug("LRN-13", "alpha is not divided by size.", "alpha / size: division missing")
def lrn_alpha_not_divided(inputs: Inputs, attributes: Attributes) -> list[Array]:
    alpha = attributes.get("alpha", 1e-4) * attributes["size"]
    return lrn(inputs, {**attributes, "alpha": alpha})


@bug("LRN-13", "The attribute bias is not read; 1 is always used.", "bias other than 1")
def lrn_bias_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return lrn(inputs, {**attributes, "bias": 1.0})


@bug(
    "LRN-13",
    "For an even size the longer half of the window lies before the channel rather than after it.",
    "even size: window off by one channel",
)
def lrn_even_window_mirrored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return lrn(inputs, attributes, mirrored=True)


@bug(
    "LRN-13",
    "At the first and last channels alpha is divided by the number of channels inside "
    "the window rather than by size.",
    "first and last channels: divisor must stay size",
)
def lrn_divides_by_inside(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return lrn(inputs, attributes, counted=True)


@right("LpNormalization-1", STYLES)
def lp_norm(inputs: Inputs, attributes: Attributes, style: str = "plain") -> list[Array]:
    """Compute LpNormalization; rows of zeros stay zero."""

    def f(rows: Array) -> Array:
        absolute = attributes.get("p", 2) == 1
        size = (fold(np.abs(rows), style) if absolute else l2_rows(rows, style))[..., None]
        return np.where(size == 0, F32(0), quotient(rows, size, style))

    return [along(inputs[0], attributes.get("axis", -1), f)]


@bug(
    "LpNormalization-1",
    "With p=1 the values are summed with their signs.",
    "p=1: absolute values missing in the norm",
)
def lp_one_keeps_signs(inputs: Inputs, attributes: Attributes) -> list[Array]:
    if attributes.get("p", 2) != 1:
        return lp_norm(inputs, attributes)
    return [along(inputs[0], attributes.get("axis", -1), lambda rows: rows / sum_of(rows))]


@bug(
    "LpNormalization-1",
    "A row of zeros is divided by its norm of 0 and becomes NaN.",
    "rows of zeros: must stay 0",
)
def lp_zero_row_is_nan(inputs: Inputs, attributes: Attributes) -> list[Array]:
    def f(rows: Array) -> Array:
        return np.where((rows == 0).all(axis=-1, keepdims=True), F32(np.nan), F32(0))

    y = lp_norm(inputs, attributes)[0]
    return [y + along(inputs[0], attributes.get("axis", -1), f)]


# ---------------------------------------------------------------------------------- data movement


def permutation(inputs: Inputs, attributes: Attributes) -> list[int]:
    """Return perm, reversed axes by default."""
    return list(attributes.get("perm") or range(inputs[0].ndim)[::-1])


@right("Transpose-13")
def transpose(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Compute Transpose."""
    return [inputs[0].transpose(permutation(inputs, attributes))]


@bug(
    "Transpose-13",
    "The inverse of perm is applied, which differs for cycles of three or more.",
    "perm applied in the wrong direction (inverse)",
)
def transpose_inverse(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return [inputs[0].transpose(np.argsort(permutation(inputs, attributes)))]


@bug(
    "Transpose-13",
    "The fast path for perm 0,2,1,3 swaps the sizes of the two middle axes when "
    "it computes offsets, which is right only if they are equal.",
    "fast path of perm 0,2,1,3 with unequal middle axes",
)
def transpose_heads_swapped(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    if permutation(inputs, attributes) != [0, 2, 1, 3]:
        return transpose(inputs, attributes)
    shape = (x.shape[0], x.shape[2], x.shape[1], x.shape[3])
    return [x.reshape(shape).transpose(0, 2, 1, 3).reshape(shape)]


@bug(
    "Transpose-13",
    "Axes of size 1 are dropped first, and perm loses the entries at their "
    "positions rather than the entries that name them.",
    "size-1 axes in the input",
)
def transpose_unit_axes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, perm = inputs[0], permutation(inputs, attributes)
    left = [p for place, p in enumerate(perm) if x.shape[place] != 1]
    order = np.argsort(np.argsort(left)) if left else ()
    return [x.squeeze().transpose(order).reshape([x.shape[p] for p in perm])]


@bug(
    "Transpose-13",
    "When the last two axes are swapped in tiles of 32 by 32, the incomplete "
    "tiles at the border are not written and stay 0.",
    "last two axes swapped, sizes above 32 and no multiple of 32",
)
def transpose_border_tiles(inputs: Inputs, attributes: Attributes) -> list[Array]:
    y = transpose(inputs, attributes)[0].copy()
    rank = y.ndim
    if rank > 1 and permutation(inputs, attributes)[-2:] == [rank - 1, rank - 2]:
        rows, columns = (n // 32 * 32 if n > 32 else n for n in y.shape[-2:])
        y[..., rows:, :] = 0
        y[..., columns:] = 0
    return [y]


NUMPY_MODE = {"constant": "constant", "reflect": "reflect", "edge": "edge"}


@right("Pad-13")
def pad(inputs: Inputs, attributes: Attributes, modes: dict[str, str] = NUMPY_MODE) -> list[Array]:
    """Compute Pad: crop by negative pads, then fill."""
    x, pads = inputs[0], inputs[1].reshape(2, -1).T
    if not x.ndim:
        return [x]
    x = x[
        tuple(
            slice(max(-b, 0), max(n + min(e, 0), 0))
            for n, (b, e) in zip(x.shape, pads, strict=False)
        )
    ]
    mode = modes[attributes.get("mode", "constant")]
    value = item(inputs, 2)
    if mode != "constant" and x.size:
        return [np.pad(x, np.maximum(pads, 0), mode=mode)]
    fill = F32(0) if value is None else value.reshape(-1)[0]
    return [np.pad(x, np.maximum(pads, 0), constant_values=fill)]


@bug(
    "Pad-13",
    "The pads at the end of each axis are taken to be those at its beginning.",
    "unequal pads at begin and end of an axis",
)
def pad_symmetric_only(inputs: Inputs, attributes: Attributes) -> list[Array]:
    begin = inputs[1][: inputs[0].ndim]
    return pad([inputs[0], np.concatenate([begin, begin]), *inputs[2:]], attributes)


@bug(
    "Pad-13",
    "reflect repeats the border element (mirrors between, not on, elements).",
    "mode reflect: border element must not be repeated",
)
def pad_reflect_repeats_border(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return pad(inputs, attributes, {**NUMPY_MODE, "reflect": "symmetric"})


@bug("Pad-13", "Negative pads are taken for 0, so that nothing is cropped.", "negative pads")
def pad_negative_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return pad([inputs[0], np.maximum(inputs[1], 0), *inputs[2:]], attributes)


@bug(
    "Pad-13",
    "pads is read as begin and end of axis 0, then of axis 1, and so on.",
    "order of pads: all begins first, then all ends",
)
def pad_pairs_by_axis(inputs: Inputs, attributes: Attributes) -> list[Array]:
    pairs = inputs[1].reshape(-1, 2).T.reshape(-1)
    return pad([inputs[0], pairs, *inputs[2:]], attributes)


@bug("Pad-13", "constant_value is not read; the border is always 0.", "constant_value not 0")
def pad_value_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return pad(inputs[:2], attributes)


@bug(
    "Pad-13",
    "Only the last two axes are padded; pads of earlier axes are dropped.",
    "pads on axes before the last two (batch, channels)",
)
def pad_last_two_axes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    pads = inputs[1].reshape(2, -1).copy()
    pads[:, : max(inputs[0].ndim - 2, 0)] = 0
    return pad([inputs[0], pads.reshape(-1), *inputs[2:]], attributes)


@bug(
    "Pad-13",
    "In the modes reflect and edge each axis is filled from the input alone, so that "
    "the corners where two axes are padded stay 0.",
    "reflect or edge with pads on two axes: corners",
)
def pad_corners_empty(inputs: Inputs, attributes: Attributes) -> list[Array]:
    y = pad(inputs, attributes)[0]
    if attributes.get("mode", "constant") == "constant":
        return [y]
    outside = np.zeros(y.shape, int)
    for axis, (begin, end) in enumerate(np.maximum(inputs[1].reshape(2, -1).T, 0)):
        place = np.arange(y.shape[axis])
        beyond = (place < begin) | (place >= y.shape[axis] - end)
        outside += beyond.reshape((-1,) + (1,) * (y.ndim - axis - 1))
    return [np.where(outside > 1, F32(0), y)]


Arguments = tuple[list[int], list[int], list[int], list[int]]


def slice_arguments(inputs: Inputs) -> Arguments:
    """Return starts, ends, axes and steps of Slice, with defaults."""
    starts, ends = ([int(v) for v in inputs[i]] for i in (1, 2))
    axes, steps = item(inputs, 3), item(inputs, 4)
    return (
        starts,
        ends,
        list(range(len(starts))) if axes is None else [int(v) for v in axes],
        [1] * len(starts) if steps is None else [int(v) for v in steps],
    )


def bounds(start: int, end: int, step: int, size: int) -> tuple[int, int]:
    """Count negative positions from the end and clamp both to the axis."""
    start, end = (v + size if v < 0 else v for v in (start, end))
    if step > 0:
        return min(max(start, 0), size), min(max(end, 0), size)
    return min(max(start, 0), size - 1), min(max(end, -1), size - 1)


def slice_with(x: Array, arguments: Arguments) -> list[Array]:
    """Slice by integer arguments."""
    for start, end, axis, step in zip(*arguments, strict=False):
        index = np.arange(*bounds(start, end, step, x.shape[axis]), step)
        x = x.take(index, axis=axis)
    return [x]


@right("Slice-13")
def slice_op(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Compute Slice."""
    return slice_with(inputs[0], slice_arguments(inputs))


@bug(
    "Slice-13",
    "With a negative step an end before the first element is clamped to 0, so that "
    "element 0 is never reached.",
    "negative step down to the first element: end clamped to 0",
)
def slice_backward_misses_first(inputs: Inputs, attributes: Attributes) -> list[Array]:
    starts, ends, axes, steps = slice_arguments(inputs)
    sizes = [inputs[0].shape[a] for a in axes]
    ends = [0 if s < 0 and e < -n else e for e, s, n in zip(ends, steps, sizes, strict=False)]
    return slice_with(inputs[0], (starts, ends, axes, steps))


@bug("Slice-13", "steps is not read; every step is taken for 1.", "steps other than 1")
def slice_steps_ignored(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return slice_op(inputs[:4], attributes)


@bug("Slice-13", "axes is sorted without its starts, ends and steps.", "axes in descending order")
def slice_axes_sorted_alone(inputs: Inputs, attributes: Attributes) -> list[Array]:
    starts, ends, axes, steps = slice_arguments(inputs)
    axes = sorted(a % inputs[0].ndim for a in axes)
    return slice_with(inputs[0], (starts, ends, axes, steps))


@bug(
    "Slice-13",
    "Ends are cut to 32 bits, so that INT64_MAX becomes -1 and the last element is lost.",
    "ends of INT64_MAX (to the end)",
)
def slice_end_in_32_bits(inputs: Inputs, attributes: Attributes) -> list[Array]:
    starts, _, axes, steps = slice_arguments(inputs)
    ends = [int(v) for v in inputs[2].astype(np.int64).astype(np.int32)]
    return slice_with(inputs[0], (starts, ends, axes, steps))


@bug(
    "Slice-13",
    "A start before the first element (below -size) wraps around modulo the size "
    "rather than being clamped to 0.",
    "negative start beyond the size of the axis",
)
def slice_start_wraps(inputs: Inputs, attributes: Attributes) -> list[Array]:
    starts, ends, axes, steps = slice_arguments(inputs)
    sizes = [max(inputs[0].shape[a], 1) for a in axes]
    starts = [s % n if s < -n else s for s, n in zip(starts, sizes, strict=False)]
    return slice_with(inputs[0], (starts, ends, axes, steps))


@bug(
    "Slice-13",
    "The output length is (end - start) / step rounded down, which loses the last "
    "element when it does not divide.",
    "step above 1 that does not divide the range: rounding",
)
def slice_length_rounded_down(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    for start, end, axis, step in zip(*slice_arguments(inputs), strict=False):
        first, last = bounds(start, end, step, x.shape[axis])
        count = max((last - first) // step if step > 0 else (first - last) // -step, 0)
        x = x.take(first + step * np.arange(count), axis=axis)
    return [x]


@right("Gather-13")
def gather(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Compute Gather."""
    return [np.take(inputs[0], inputs[1], axis=attributes.get("axis", 0))]


@bug(
    "Gather-13",
    "Negative indices are clamped to 0 rather than counted from the end.",
    "negative indices",
)
def gather_negative_is_first(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return gather([inputs[0], np.maximum(inputs[1], 0)], attributes)


@bug(
    "Gather-13",
    "For axis above 0 the output is written with the indices as the outermost loop, "
    "though its shape has them at the axis.",
    "axis above 0: order of the output",
)
def gather_indices_outermost(inputs: Inputs, attributes: Attributes) -> list[Array]:
    y = gather(inputs, attributes)[0]
    axis, count = attributes.get("axis", 0) % inputs[0].ndim, inputs[1].ndim
    moved = np.moveaxis(y, range(axis, axis + count), range(count))
    return [moved.reshape(y.shape)]


@bug(
    "Gather-13",
    "A scalar index leaves an axis of size 1 in the output.",
    "indices of rank 0; rank of the output",
)
def gather_scalar_keeps_axis(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return gather([inputs[0], np.atleast_1d(inputs[1])], attributes)


@bug(
    "Gather-13",
    "Indices are held in 16 bits, so that 65,536 and above wrap.",
    "indices of 65,536 and above (large tables)",
)
def gather_index_in_sixteen_bits(inputs: Inputs, attributes: Attributes) -> list[Array]:
    index = inputs[1]
    return gather([inputs[0], np.where(index > 65535, index & 0xFFFF, index)], attributes)


SCATTER = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def places_of(inputs: Inputs, attributes: Attributes, shape: Sequence[int]) -> list[Array]:
    """Return where each update goes, with the other axes counted through the given shape."""
    x, indices = inputs[0], inputs[1]
    axis = attributes.get("axis", 0) % x.ndim
    flat = np.arange(indices.size) % max(math.prod(shape), 1)
    places = list(np.unravel_index(flat, tuple(shape))) if indices.size else [flat] * x.ndim
    places[axis] = indices.ravel() % x.shape[axis] if indices.size else flat
    return places


def scatter_at(x: Array, places: list[Array], updates: Array, reduction: str) -> list[Array]:
    """Put updates to places of a copy of x, one after the other."""
    y = x.copy()
    if reduction == "none":
        y[tuple(places)] = updates.ravel()
    else:
        SCATTER[reduction].at(y, tuple(places), updates.ravel())
    return [y]


@right("ScatterElements-18")
def scatter(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Compute ScatterElements."""
    places = places_of(inputs, attributes, inputs[1].shape)
    return scatter_at(inputs[0], places, inputs[2], attributes.get("reduction", "none"))


@bug("ScatterElements-18", "Every negative axis is taken for axis 0.", "negative axis")
def scatter_negative_axis_first(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, indices = inputs[0], inputs[1]
    axis = max(attributes.get("axis", 0), 0)
    room = tuple(slice(0, d) if a != axis else slice(None) for a, d in enumerate(x.shape))
    return scatter([x, indices[room], inputs[2][room]], {**attributes, "axis": axis})


@bug(
    "ScatterElements-18",
    "Updates with a negative index are dropped as out of range.",
    "negative indices",
)
def scatter_negative_dropped(inputs: Inputs, attributes: Attributes) -> list[Array]:
    places = places_of(inputs, attributes, inputs[1].shape)
    kept = inputs[1].ravel() >= 0
    updates = inputs[2].ravel()[kept]
    reduction = attributes.get("reduction", "none")
    return scatter_at(inputs[0], [p[kept] for p in places], updates, reduction)


@bug(
    "ScatterElements-18",
    "All targets are read before any is written, so that of several "
    "updates to one element only the last one counts.",
    "reduction with duplicate indices",
)
def scatter_duplicates_lost(inputs: Inputs, attributes: Attributes) -> list[Array]:
    reduction = attributes.get("reduction", "none")
    if reduction == "none":
        return scatter(inputs, attributes)
    places = tuple(places_of(inputs, attributes, inputs[1].shape))
    y = inputs[0].copy()
    y[places] = SCATTER[reduction](y[places], inputs[2].ravel())
    return [y]


@bug(
    "ScatterElements-18",
    "The position of an update is decoded with the shape of data rather than of indices.",
    "indices smaller than data in an inner axis",
)
def scatter_decoded_by_data_shape(inputs: Inputs, attributes: Attributes) -> list[Array]:
    places = places_of(inputs, attributes, inputs[0].shape)
    return scatter_at(inputs[0], places, inputs[2], attributes.get("reduction", "none"))


@bug(
    "ScatterElements-18",
    "With reduction max or min the value in data is left out of the comparison.",
    "reduction max and min: the original value must take part",
)
def scatter_extremes_without_data(inputs: Inputs, attributes: Attributes) -> list[Array]:
    start = {"max": -INFINITY, "min": INFINITY}.get(attributes.get("reduction", "none"))
    if start is None:
        return scatter(inputs, attributes)
    y = inputs[0].copy()
    y[tuple(places_of(inputs, attributes, inputs[1].shape))] = start
    return scatter([y, *inputs[1:]], attributes)


@right("DepthToSpace-13")
def depth_to_space(inputs: Inputs, attributes: Attributes, turned: bool = False) -> list[Array]:
    """Compute DepthToSpace; the flag serves a bug."""
    x, block = inputs[0], attributes["blocksize"]
    batch, depth, height, width = x.shape
    rest = depth // block**2
    if attributes.get("mode", "DCR") == "DCR":
        y = x.reshape(batch, block, block, rest, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(batch, rest, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    y = y.swapaxes(3, 5) if turned else y
    return [y.reshape(batch, rest, height * block, width * block)]


@bug("DepthToSpace-13", "mode is not read; CRD is computed as DCR.", "mode CRD")
def depth_crd_as_dcr(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return depth_to_space(inputs, {**attributes, "mode": "DCR"})


@bug("DepthToSpace-13", "DCR (also the default) is computed as CRD.", "mode DCR and the default")
def depth_dcr_as_crd(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return depth_to_space(inputs, {**attributes, "mode": "CRD"})


@bug(
    "DepthToSpace-13",
    "Row and column inside of a block are swapped.",
    "order of the two block axes: each block is transposed",
)
def depth_block_transposed(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return depth_to_space(inputs, attributes, turned=True)


@right("Tile-13")
def tile(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Compute Tile."""
    return [np.tile(inputs[0], [int(v) for v in inputs[1]])]


@bug(
    "Tile-13",
    "Along the last axis each element is repeated in place rather than the whole row.",
    "repeats on the last axis: a b a b against a a b b",
)
def tile_repeats_elements(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x, repeats = inputs[0], inputs[1].copy()
    if not x.ndim:
        return tile(inputs, attributes)
    x = np.repeat(x, int(repeats[-1]), axis=-1)
    repeats[-1] = 1
    return tile([x, repeats], attributes)


@bug(
    "Tile-13",
    "Only the first axis with a repeat above 1 is tiled.",
    "repeats above 1 on two or more axes",
)
def tile_one_axis_only(inputs: Inputs, attributes: Attributes) -> list[Array]:
    repeats = inputs[1].copy()
    repeats[np.flatnonzero(repeats > 1)[1:]] = 1
    return tile([inputs[0], repeats], attributes)


def diagonal(inputs: Inputs) -> int:
    """Return k of Trilu, 0 by default."""
    k = item(inputs, 1)
    return 0 if k is None else int(k.reshape(-1)[0])


@right("Trilu-14")
def trilu(inputs: Inputs, attributes: Attributes, k: int | None = None) -> list[Array]:
    """Compute Trilu, with another k if given."""
    k = diagonal(inputs) if k is None else k
    return [(np.triu if attributes.get("upper", 1) else np.tril)(inputs[0], k)]


@bug("Trilu-14", "The sign of k is reversed.", "sign of k, for k other than 0")
def trilu_sign_of_k(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return trilu(inputs, attributes, -diagonal(inputs))


@bug(
    "Trilu-14",
    "k is clamped to the diagonals of the matrix, so that a corner element stays "
    "where nothing should.",
    "k beyond the matrix: all must be 0",
)
def trilu_k_clamped(inputs: Inputs, attributes: Attributes) -> list[Array]:
    rows, columns = inputs[0].shape[-2:]
    return trilu(inputs, attributes, max(min(diagonal(inputs), columns - 1), 1 - rows))


@bug(
    "Trilu-14",
    "Only as many matrices as the first axis is long are masked; at rank 4 and above "
    "the rest are copied.",
    "more than one batch axis",
)
def trilu_first_batch_axis(inputs: Inputs, attributes: Attributes) -> list[Array]:
    x = inputs[0]
    if x.ndim < 4:
        return trilu(inputs, attributes)
    y = trilu(inputs, attributes)[0].reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
    y[x.shape[0] :] = x.reshape(y.shape)[x.shape[0] :]
    return [y.reshape(x.shape)]


@right("OneHot-11")
def one_hot(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Compute OneHot."""
    indices, depth = inputs[0].astype(np.int64), int(inputs[1].reshape(-1)[0])
    off, on = inputs[2]
    indices = np.where(indices < 0, indices + depth, indices)
    y = np.where(indices[..., None] == np.arange(depth), on, off)
    return [np.moveaxis(y, -1, attributes.get("axis", -1))]


@bug(
    "OneHot-11",
    "Negative indices are taken for out of range and give only off values.",
    "negative indices",
)
def onehot_negative_is_off(inputs: Inputs, attributes: Attributes) -> list[Array]:
    indices, depth = inputs[0], int(inputs[1].reshape(-1)[0])
    outside = np.where(indices < 0, depth, indices)
    return one_hot([outside, *inputs[1:]], attributes)


@bug("OneHot-11", "Any axis but 0 is taken for the last one.", "axis in the middle")
def onehot_middle_axis_last(inputs: Inputs, attributes: Attributes) -> list[Array]:
    first = attributes.get("axis", -1) in (0, -1 - inputs[0].ndim)
    return one_hot(inputs, {"axis": 0 if first else -1})


@right("ReverseSequence-10")
def reverse_sequence(inputs: Inputs, attributes: Attributes, whole: bool = False) -> list[Array]:
    """Compute ReverseSequence; the flag serves a bug."""
    batch, time = attributes.get("batch_axis", 1), attributes.get("time_axis", 0)
    y = np.moveaxis(inputs[0], (batch, time), (0, 1)).copy()
    for row, length in zip(y, inputs[1], strict=False):
        end = len(row) if whole and length > 0 else int(length)
        row[:end] = row[:end][::-1].copy()
    return [np.moveaxis(y, (0, 1), (batch, time))]


@bug(
    "ReverseSequence-10",
    "If the attributes are left out, axis 0 is the batch and axis 1 the time.",
    "defaults of batch_axis (1) and time_axis (0)",
)
def reverse_default_axes_swapped(inputs: Inputs, attributes: Attributes) -> list[Array]:
    if "batch_axis" in attributes or "time_axis" in attributes:
        return reverse_sequence(inputs, attributes)
    lengths = np.minimum(np.resize(inputs[1], inputs[0].shape[0]), inputs[0].shape[1])
    return reverse_sequence([inputs[0], lengths], {"batch_axis": 0, "time_axis": 1})


@bug(
    "ReverseSequence-10",
    "The whole time axis is reversed, padding included.",
    "sequence_lens shorter than the time axis: the rest must stay in place",
)
def reverse_ignores_lengths(inputs: Inputs, attributes: Attributes) -> list[Array]:
    return reverse_sequence(inputs, attributes, whole=True)
