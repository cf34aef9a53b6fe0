"""Twenty mistakes of AvgPool-1: each is the honest operator with one method replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bank_windows import (
    Bank,
    Case,
    Span,
    data_tensor,
    line,
    mean,
    narrow,
    ramp,
    refuse_unless,
    slices,
    taps,
)

bank = Bank()


@dataclass(frozen=True)
class Geometry:
    """The attributes of one call, the input's spatial sizes and what follows from them."""

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    exclude: bool
    auto_pad: str
    ceil: bool
    out: tuple[int, ...] = ()

    @property
    def same(self) -> bool:
        return self.auto_pad in ("same_upper", "same_lower")


def read(op: str, inputs: list[np.ndarray], attributes: dict[str, Any]) -> Geometry:
    """The call as written, before auto_pad; ValueError where it is malformed."""
    refuse_unless(op == "AvgPool-1", f"unknown operator {op}")
    refuse_unless(len(inputs) == 1, "AvgPool takes one input")
    x = data_tensor(inputs[0])
    refuse_unless(min(x.shape) > 0, "no axis of the input is empty")
    lists = []
    for name in ("kernel", "strides", "pads_begin", "pads_end"):
        refuse_unless(name in attributes, f"{name} is required")
        refuse_unless(isinstance(attributes[name], list | tuple | np.ndarray), f"{name} is a list")
        values = tuple(int(value) for value in attributes[name])
        refuse_unless(len(values) == x.ndim - 2, f"{name} has one entry per spatial axis")
        lists.append(values)
    kernel, strides, begin, end = lists
    refuse_unless(min(kernel) > 0, "kernel is positive")
    refuse_unless(min(strides) > 0, "strides are positive")
    exclude = attributes.get("exclude-pad")
    refuse_unless(isinstance(exclude, bool | np.bool_), "exclude-pad is required, true or false")
    auto_pad = attributes.get("auto_pad", "explicit")
    known = ("explicit", "same_upper", "same_lower", "valid")
    refuse_unless(auto_pad in known, f"unknown auto_pad {auto_pad}")
    rounding = attributes.get("rounding_type", "floor")
    refuse_unless(rounding in ("floor", "ceil"), f"unknown rounding_type {rounding}")
    sizes = x.shape[2:]
    return Geometry(sizes, kernel, strides, begin, end, bool(exclude), auto_pad, rounding == "ceil")


class AvgPool:
    """Average pooling as the document has it; a mistake replaces one method."""

    def __init__(self) -> None:
        # Only the mistakes that cache keep anything here.
        self.cache: dict[Any, Any] = {}

    def run(
        self, op: str, inputs: list[np.ndarray], attributes: dict[str, Any]
    ) -> list[np.ndarray]:
        """[the output]; ValueError where the call is not a valid one."""
        g = read(op, inputs, attributes)
        AvgPool.check(resolved(AvgPool(), g))
        with np.errstate(all="ignore"):
            return [self.pool(inputs[0], resolved(self, g))]

    @staticmethod
    def check(g: Geometry) -> None:
        """Refuse the pads and kernels that leave no meaning."""
        if g.auto_pad == "explicit":
            refuse_unless(min(g.begin + g.end) >= 0, "pads are not negative")
        for size, kernel, begin, end in zip(g.sizes, g.kernel, g.begin, g.end, strict=True):
            refuse_unless(kernel <= size + begin + end, "the kernel fits the padded input")
            if g.exclude:
                refuse_unless(max(begin, end) < kernel, "every window that pads touch has data")

    def axes(self, g: Geometry) -> Geometry:
        """The attributes per axis of the tensor."""
        return g

    def same_total(self, size: int, kernel: int, stride: int) -> int:
        """All the padding of one axis that makes ceil(size / stride) windows."""
        return max((-(-size // stride) - 1) * stride + kernel - size, 0)

    def pads(self, g: Geometry) -> Geometry:
        """The pads after auto_pad."""
        if g.auto_pad == "valid":
            none = (0,) * len(g.sizes)
            return replace(g, begin=none, end=none)
        if not g.same:
            return g
        axes = zip(g.sizes, g.kernel, g.strides, strict=True)
        totals = [self.same_total(*axis) for axis in axes]
        small = tuple(int(total / 2) for total in totals)
        large = tuple(total - half for total, half in zip(totals, small, strict=True))
        upper = g.auto_pad == "same_upper"
        return replace(g, begin=small if upper else large, end=large if upper else small)

    def rounds_up(self, g: Geometry) -> bool:
        """Whether a last partial window counts."""
        return g.ceil

    def out(self, g: Geometry) -> tuple[int, ...]:
        """The output sizes; the formula also holds for the pads that auto_pad same_* finds."""
        out = []
        for axis, size in enumerate(g.sizes):
            room = size + g.begin[axis] + g.end[axis] - g.kernel[axis]
            stride = g.strides[axis]
            out.append((-(-room // stride) if self.rounds_up(g) else room // stride) + 1)
        return tuple(max(count, 0) for count in out)

    def span(self, g: Geometry, axis: int, i: int) -> Span:
        """The input positions of window i on one axis, without the padding."""
        start = i * g.strides[axis] - g.begin[axis]
        size = g.sizes[axis]
        return min(max(start, 0), size), max(min(start + g.kernel[axis], size), 0)

    def any_pad(self, g: Geometry) -> bool:
        return any(g.begin + g.end)

    def divisor(self, g: Geometry, where: tuple[int, ...], spans: list[Span]) -> int:
        """What the sum of a window is divided by."""
        full = not g.exclude and self.any_pad(g)
        return math.prod(g.kernel) if full else taps(spans)

    def average(
        self, wide: np.ndarray, g: Geometry, where: tuple[int, ...], dtype: np.dtype
    ) -> np.ndarray:
        """[N, C] of one window of the float64 input."""
        spans = [self.span(g, axis, i) for axis, i in enumerate(where)]
        return mean(wide[slices(spans)], self.divisor(g, where, spans), dtype)

    def pool(self, x: np.ndarray, g: Geometry) -> np.ndarray:
        """The output tensor."""
        wide = self.prepare(x.astype(np.float64))
        result = np.zeros((*x.shape[:2], *g.out))
        for where in np.ndindex(*g.out):
            result[(..., *where)] = self.average(wide, g, where, x.dtype)
        return narrow(result, x.dtype)

    def prepare(self, wide: np.ndarray) -> np.ndarray:
        """The float64 input as the windows read it."""
        return wide


def resolved(operator: AvgPool, g: Geometry) -> Geometry:
    """The geometry with the pads and the output sizes that the operator derives."""
    g = operator.pads(operator.axes(g))
    return replace(g, out=operator.out(g))


HONEST = AvgPool().run


def case(
    x: np.ndarray,
    kernel: list[int],
    strides: list[int],
    begin: list[int] | None = None,
    end: list[int] | None = None,
    *,
    exclude: bool = False,
    **more: Any,
) -> Case:
    """One call, pads 0 unless given."""
    none = [0] * len(kernel)
    lists = {"kernel": kernel, "strides": strides}
    pads = {"pads_begin": begin or none, "pads_end": end or none}
    return Case([x], {**lists, **pads, "exclude-pad": exclude, **more})


# ---------------------------------------------------------------- misread documents


@bank.mistake(
    "zero-data-excluded",
    "exclude-pad=true leaves every zero out of the average, also the zeros that are data.",
    lambda: case(line(0, 4, 2, 0), [2], [2], exclude=True),
)
class ZeroDataExcluded(AvgPool):
    def average(self, wide, g, where, dtype):
        if not g.exclude:
            return super().average(wide, g, where, dtype)
        spans = [self.span(g, axis, i) for axis, i in enumerate(where)]
        block = wide[slices(spans)]
        axes = tuple(range(2, block.ndim))
        return mean(block, 1, dtype) / np.maximum(np.count_nonzero(block, axis=axes), 1)


@bank.mistake(
    "same-always-excludes",
    "With auto_pad same_upper or same_lower the padding never counts, as in TensorFlow's SAME, "
    "whatever exclude-pad says.",
    lambda: case(line(1, 2, 3, 4), [3], [1], auto_pad="same_upper"),
)
class SameAlwaysExcludes(AvgPool):
    def divisor(self, g, where, spans):
        return taps(spans) if g.same else super().divisor(g, where, spans)


@bank.mistake(
    "volume-axes-rotated",
    "On a 5-D input the attribute lists are taken as height, width, depth, the order of the "
    "document's output formula, though the tensor is N, C, D, H, W.",
    lambda: case(ramp(1, 1, 4, 4, 4), [1, 2, 3], [1, 1, 1]),
)
class VolumeAxesRotated(AvgPool):
    def axes(self, g):
        if len(g.sizes) < 3:
            return g
        names = ("kernel", "strides", "begin", "end")
        lists = {name: getattr(g, name) for name in names}
        return replace(g, **{name: (v[2], v[0], v[1]) for name, v in lists.items()})


# ---------------------------------------------------------------- geometry and borders


@bank.mistake(
    "same-pads-ignore-stride",
    "auto_pad same_* pads kernel - 1 in all, which is right for stride 1 only.",
    lambda: case(line(1, 2, 3, 4, 5, 6), [3], [2], auto_pad="same_upper", exclude=True),
)
class SamePadsIgnoreStride(AvgPool):
    def same_total(self, size, kernel, stride):
        return kernel - 1


@bank.mistake(
    "same-pads-go-negative",
    "The padding of auto_pad same_* is not kept from going below 0 where the stride exceeds the "
    "kernel, so the windows start inside the input.",
    lambda: case(ramp(1, 1, 10), [1], [5], auto_pad="same_upper"),
)
class SamePadsGoNegative(AvgPool):
    def same_total(self, size, kernel, stride):
        return (-(-size // stride) - 1) * stride + kernel - size


@bank.mistake(
    "valid-keeps-explicit-pads",
    "auto_pad valid is taken as explicit, so pads_begin and pads_end still pad.",
    lambda: case(line(1, 2, 3, 4), [2], [2], [1], [1], auto_pad="valid"),
)
class ValidKeepsExplicitPads(AvgPool):
    def pads(self, g):
        return g if g.auto_pad == "valid" else super().pads(g)


@bank.mistake(
    "valid-always-floors",
    "auto_pad valid always rounds the output size down, as though rounding_type went with explicit "
    "pads only.",
    lambda: case(line(1, 2, 3, 4, 5), [2], [2], auto_pad="valid", rounding_type="ceil"),
)
class ValidAlwaysFloors(AvgPool):
    def rounds_up(self, g):
        return g.ceil and g.auto_pad != "valid"


@bank.mistake(
    "ceil-drops-window-in-padding",
    "With ceil, a last window that would start in the padding at the end is dropped, as other "
    "frameworks do, so the output is one shorter.",
    lambda: case(line(1, 2, 3, 4, 5), [3], [3], [1], [1], rounding_type="ceil"),
)
class CeilDropsWindowInPadding(AvgPool):
    def out(self, g):
        out = list(super().out(g))
        for axis, size in enumerate(g.sizes):
            late = (out[axis] - 1) * g.strides[axis] >= size + g.begin[axis]
            if g.ceil and late:
                out[axis] -= 1
        return tuple(out)


@bank.mistake(
    "overhang-counts-as-padding",
    "With exclude-pad=false the divisor is always the whole kernel, also for a ceil window that "
    "overhangs an input that has no padding at all.",
    lambda: case(line(1, 2, 3, 4, 5), [2], [2], rounding_type="ceil"),
)
class OverhangCountsAsPadding(AvgPool):
    def any_pad(self, g):
        return True


@bank.mistake(
    "padding-seen-at-begin-only",
    "Whether the call pads at all is asked of pads_begin alone, so padding at the end only is "
    "left out of the divisor.",
    lambda: case(line(1, 2, 3, 4), [3], [2], [0], [1]),
)
class PaddingSeenAtBeginOnly(AvgPool):
    def any_pad(self, g):
        return any(g.begin)


@bank.mistake(
    "depth-clip-not-counted",
    "In 3-D the exclude-pad divisor is the 2-D one times the kernel's depth, as though padding "
    "never clipped a window in depth.",
    lambda: case(ramp(1, 1, 3, 3, 3), [2] * 3, [1] * 3, [1, 0, 0], exclude=True),
)
class DepthClipNotCounted(AvgPool):
    def divisor(self, g, where, spans):
        if g.exclude and len(spans) == 3:
            return g.kernel[0] * taps(spans[1:])
        return super().divisor(g, where, spans)


@bank.mistake(
    "clamped-loads-masked-by-product",
    "Taps in the padding load the nearest edge element and multiply it by 0, so an infinity on "
    "the border becomes NaN.",
    lambda: case(line(np.inf, 2, 3, 4), [3], [1], [1], [1]),
)
class ClampedLoadsMaskedByProduct(AvgPool):
    def average(self, wide, g, where, dtype):
        honest = super().average(wide, g, where, dtype)
        block, mask = wide, np.ones(())
        for axis, i in enumerate(where):
            start = i * g.strides[axis] - g.begin[axis]
            position = np.arange(start, start + g.kernel[axis])
            block = block.take(position.clip(0, g.sizes[axis] - 1), axis=axis + 2)
            inside = (position >= 0) & (position < g.sizes[axis])
            mask = mask[..., None] * inside
        products = np.where(mask == 0, block * 0, 0)
        return honest + products.sum(axis=tuple(range(2, block.ndim)))


# ---------------------------------------------------------------- rewrites and fast paths


@bank.mistake(
    "running-sum-along-width",
    "Window sums are differences of a running sum along the last axis, so one NaN, infinity or "
    "huge value spoils every later window of its row.",
    lambda: case(line(1, np.inf, 2, 3, 4, 5), [2], [2]),
)
class RunningSumAlongWidth(AvgPool):
    def prepare(self, wide):
        zero = np.zeros((*wide.shape[:-1], 1))
        return np.cumsum(np.concatenate([zero, wide], axis=-1), axis=-1)

    def average(self, wide, g, where, dtype):
        spans = [self.span(g, axis, i) for axis, i in enumerate(where)]
        rows = wide[slices([*spans[:-1], (0, g.sizes[-1] + 1)])]
        start, stop = spans[-1]
        block = rows[..., [stop]] - rows[..., [start]] if stop > start else rows[..., :0]
        return mean(block, self.divisor(g, where, spans), dtype)


@bank.mistake(
    "dense-convolution",
    "Pooling is rewritten as a full convolution whose weights between different channels are 0, "
    "so an infinity or NaN in one channel makes the others NaN.",
    lambda: case(np.array([[[1, np.inf, 2, 3], [4, 5, 6, 7]]], np.float32), [2], [2]),
)
class DenseConvolution(AvgPool):
    def average(self, wide, g, where, dtype):
        spans = [self.span(g, axis, i) for axis, i in enumerate(where)]
        bad = (~np.isfinite(wide[slices(spans)])).any(axis=tuple(range(2, wide.ndim)))
        others = bad.sum(axis=1, keepdims=True) - bad
        return np.where(others > 0, np.nan, super().average(wide, g, where, dtype))


@bank.mistake(
    "two-by-two-reads-past-row",
    "The 2x2, stride 2 kernel adds four elements at fixed distances, so the partial window of "
    "ceil on an odd width or height takes in elements of the next row or plane.",
    lambda: case(ramp(1, 2, 3, 5), [2, 2], [2, 2], rounding_type="ceil"),
)
class TwoByTwoReadsPastRow(AvgPool):
    def average(self, wide, g, where, dtype):
        if g.kernel != (2, 2) or g.strides != (2, 2) or any(g.begin + g.end):
            return super().average(wide, g, where, dtype)
        height, width = g.sizes
        memory = np.concatenate([wide.ravel(), np.zeros(width + 2)])
        planes = np.arange(math.prod(wide.shape[:2])).reshape(wide.shape[:2]) * (height * width)
        base = planes + where[0] * 2 * width + where[1] * 2
        block = memory[base[..., None] + np.array([0, 1, width, width + 1])]
        return mean(block, 4, dtype)


@bank.mistake(
    "global-path-ignores-pads",
    "Where the kernel is the whole input and the output one element, the global average is taken, "
    "though pads may put part of the window outside.",
    lambda: case(line(1, 2, 6), [3], [2], [1], [0]),
)
class GlobalPathIgnoresPads(AvgPool):
    def average(self, wide, g, where, dtype):
        if g.kernel == g.sizes and math.prod(g.out) == 1:
            return mean(wide, math.prod(g.sizes), dtype)
        return super().average(wide, g, where, dtype)


@bank.mistake(
    "tiling-path-asks-first-axis",
    "The path for windows that do not overlap is taken where kernel equals stride on the first "
    "axis, and then steps by the kernel on all of them.",
    lambda: case(ramp(1, 1, 4, 5), [2, 3], [2, 1]),
)
class TilingPathAsksFirstAxis(AvgPool):
    def span(self, g, axis, i):
        if g.kernel[0] == g.strides[0] and not any(g.begin + g.end):
            g = replace(g, strides=g.kernel)
        return super().span(g, axis, i)


# ---------------------------------------------------------------- integers, caches, memory


@bank.mistake(
    "divisors-cached-without-exclude-pad",
    "The table of divisors is cached by the geometry but not by exclude-pad, so the first call "
    "decides for later ones of the same geometry.",
    lambda: case(ramp(1, 1, 7), [3], [2], [1], [1], exclude=True),
    lambda: case(ramp(1, 1, 7), [3], [2], [1], [1], exclude=False),
)
class DivisorsCachedWithoutExcludePad(AvgPool):
    def divisor(self, g, where, spans):
        key = (replace(g, exclude=False), where)
        return self.cache.setdefault(key, super().divisor(g, where, spans))


@bank.mistake(
    "divisor-in-eight-bits",
    "The divisor is an unsigned 8-bit counter, so 256 taps count as 0 and 260 as 4.",
    lambda: case(ramp(1, 1, 13, 20), [13, 20], [1, 1]),
)
class DivisorInEightBits(AvgPool):
    def divisor(self, g, where, spans):
        return super().divisor(g, where, spans) & 0xFF


@bank.mistake(
    "channel-tail-stored-aligned",
    "Channels go in blocks of 16; the last partial block is loaded so that it ends at the last "
    "channel but stored from the block's aligned start.",
    lambda: case(ramp(1, 19, 4), [2], [2]),
)
class ChannelTailStoredAligned(AvgPool):
    def pool(self, x, g):
        result = super().pool(x, g)
        channels = x.shape[1]
        tail = channels % 16
        if channels > 16 and tail:
            loaded = result[:, channels - 16 :].copy()
            result[:, channels - tail :] = loaded[:, :tail]
        return result


MISTAKES = tuple(bank.mistakes)
