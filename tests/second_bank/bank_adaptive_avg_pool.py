"""Twenty mistakes of AdaptiveAvgPool-8: each is the honest operator with one method replaced."""

from __future__ import annotations

import math
from typing import Any

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
    mean,
    narrow,
    ramp,
    refuse_unless,
    rows_of,
    slices,
    taps,
)

bank = Bank()

Sizes = tuple[int, ...]


class AdaptiveAvgPool:
    """Adaptive average pooling as the document has it; a mistake replaces one method."""

    def __init__(self) -> None:
        # Only the mistakes that cache keep anything here.
        self.cache: dict[Any, Any] = {}

    def run(
        self, op: str, inputs: list[np.ndarray], attributes: dict[str, Any]
    ) -> list[np.ndarray]:
        """[the output]; ValueError where the call is not a valid one."""
        refuse_unless(op == "AdaptiveAvgPool-8", f"unknown operator {op}")
        x, out = adaptive_inputs(inputs)
        with np.errstate(all="ignore"):
            return [self.pool(x, out)]

    def spans(self, size: int, out: int) -> list[Span]:
        """The windows of one axis."""
        return adaptive_spans(size, out)

    def tables(self, sizes: Sizes, out: Sizes) -> list[list[Span]]:
        """The windows of every axis."""
        tables = [self.spans(*axis) for axis in zip(sizes, out, strict=True)]
        return [
            [(min(max(start, 0), size), min(max(stop, 0), size)) for start, stop in table]
            for size, table in zip(sizes, tables, strict=True)
        ]

    def divisor(self, sizes: Sizes, out: Sizes, spans: list[Span]) -> float:
        """What the sum of a window is divided by."""
        return taps(spans)

    def average(self, block: np.ndarray, divisor: float, dtype: np.dtype) -> np.ndarray:
        """[N, C] of one window [N, C, window] in float64."""
        return mean(block, divisor, dtype)

    def pool(self, x: np.ndarray, out: Sizes) -> np.ndarray:
        """The output tensor."""
        sizes = x.shape[2:]
        wide = x.astype(np.float64)
        tables = self.tables(sizes, out)
        result = np.zeros((*x.shape[:2], *out))
        for where in np.ndindex(*out):
            spans = [table[i] for table, i in zip(tables, where, strict=True)]
            divisor = self.divisor(sizes, out, spans)
            result[(..., *where)] = self.average(wide[slices(spans)], divisor, x.dtype)
        return narrow(result, x.dtype)


HONEST = AdaptiveAvgPool().run
case = adaptive_case


# ---------------------------------------------------------------- the window formulae


@bank.mistake(
    "ordinary-pooling-instead",
    "The operator becomes an ordinary pooling with stride floor(in / out) and one kernel size, "
    "as exporters do, which is right only where the sizes divide.",
    lambda: case(ramp(1, 1, 11), 4),
)
class OrdinaryPoolingInstead(AdaptiveAvgPool):
    def spans(self, size, out):
        return fixed_spans(size, out)


@bank.mistake(
    "end-rounded-down",
    "A window ends where the next begins: the end is rounded down, so windows never overlap.",
    lambda: case(ramp(1, 1, 5), 3),
)
class EndRoundedDown(AdaptiveAvgPool):
    def spans(self, size, out):
        return [(i * size // out, (i + 1) * size // out) for i in range(out)]


@bank.mistake(
    "one-window-length",
    "Every window is ceil(in / out) long from its start, though some are longer and some shorter.",
    lambda: case(ramp(1, 1, 7), 5),
)
class OneWindowLength(AdaptiveAvgPool):
    def spans(self, size, out):
        return [(i * size // out, i * size // out + -(-size // out)) for i in range(out)]


@bank.mistake(
    "ratio-in-single-precision",
    "The ratio in / out is a float32 that is multiplied by the index before floor and ceil, so "
    "some whole-number boundaries move by one element.",
    lambda: case(ramp(1, 1, 26), 22),
)
class RatioInSinglePrecision(AdaptiveAvgPool):
    def spans(self, size, out):
        ratio = np.float32(size) / np.float32(max(out, 1))
        index = np.arange(out + 1, dtype=np.float32) * ratio
        ends = np.ceil(index[1:]).astype(int)
        return list(zip(np.floor(index[:-1]).astype(int).tolist(), ends.tolist(), strict=True))


@bank.mistake(
    "index-product-in-sixteen-bits",
    "index * in is a signed 16-bit product, so it wraps where in * out passes 32767.",
    lambda: case(ramp(1, 1, 190), 190),
)
class IndexProductInSixteenBits(AdaptiveAvgPool):
    def spans(self, size, out):
        def wrap(value):
            return (value + 0x8000) % 0x10000 - 0x8000

        starts = [wrap(i * size) // out for i in range(out)]
        return [(starts[i], wrap((i + 1) * size + out - 1) // out) for i in range(out)]


@bank.mistake(
    "height-end-clamped-to-width",
    "A clamp copied from the width line limits the height end to W, so windows are cut short "
    "where the height exceeds the width.",
    lambda: case(ramp(1, 1, 6, 4), 2, 2),
)
class HeightEndClampedToWidth(AdaptiveAvgPool):
    def tables(self, sizes, out):
        tables = super().tables(sizes, out)
        if len(sizes) > 1:
            tables[-2] = [(start, min(stop, sizes[-1])) for start, stop in tables[-2]]
        return tables


@bank.mistake(
    "tile-restarts-the-formula",
    "The last axis is done in tiles of 16 outputs, and the formula runs on the index within the "
    "tile from the tile's rounded start, which loses the fraction.",
    lambda: case(ramp(1, 1, 49), 20),
)
class TileRestartsTheFormula(AdaptiveAvgPool):
    def tables(self, sizes, out):
        tables = super().tables(sizes, out)
        size, count = sizes[-1], out[-1]
        for i in range(16, count):
            base, local = i // 16 * 16 * size // count, i % 16
            stop = base - ((local + 1) * size // -count)
            tables[-1][i] = (base + local * size // count, min(stop, size))
        return tables


@bank.mistake(
    "nominal-area-divides",
    "The sum is divided by the nominal window area, the product of in / out, and not by the "
    "number of elements in the window.",
    lambda: case(ramp(1, 1, 5), 3),
)
class NominalAreaDivides(AdaptiveAvgPool):
    def divisor(self, sizes, out, spans):
        return math.prod(sizes) / math.prod(out)


# ---------------------------------------------------------------- fast paths


@bank.mistake(
    "divisible-path-asks-the-product",
    "The path for sizes that divide is taken where the number of inputs divides by the number of "
    "outputs, though single axes need not divide.",
    lambda: case(ramp(1, 1, 6, 6), 4, 3),
)
class DivisiblePathAsksTheProduct(AdaptiveAvgPool):
    def tables(self, sizes, out):
        pairs = list(zip(sizes, out, strict=True))
        shrinks = all(0 < count <= size for size, count in pairs)
        if not shrinks or math.prod(sizes) % math.prod(out):
            return super().tables(sizes, out)
        return [
            [(i * (size // count), (i + 1) * (size // count)) for i in range(count)]
            for size, count in pairs
        ]


@bank.mistake(
    "global-path-skips-middle-axis",
    "The global average is taken where the first and last output sizes are 1; in 3-D nobody asks "
    "the height, and its outputs all get the global value.",
    lambda: case(ramp(1, 1, 2, 4, 2), 1, 2, 1),
)
class GlobalPathSkipsMiddleAxis(AdaptiveAvgPool):
    def tables(self, sizes, out):
        if out[0] != 1 or out[-1] != 1:
            return super().tables(sizes, out)
        return [[(0, size)] * count for size, count in zip(sizes, out, strict=True)]


@bank.mistake(
    "identity-path-asks-element-count",
    "The input is passed through where the output has as many elements, also where the shapes "
    "differ.",
    lambda: case(ramp(1, 1, 4, 6), 6, 4),
)
class IdentityPathAsksElementCount(AdaptiveAvgPool):
    def pool(self, x, out):
        if math.prod(out) == math.prod(x.shape[2:]):
            return x.reshape(*x.shape[:2], *out)
        return super().pool(x, out)


@bank.mistake(
    "upsampling-takes-nearest",
    "Where no axis shrinks the nearest element is copied, though a window may straddle two "
    "elements where the sizes do not divide.",
    lambda: case(ramp(1, 1, 4), 6),
)
class UpsamplingTakesNearest(AdaptiveAvgPool):
    def tables(self, sizes, out):
        tables = super().tables(sizes, out)
        if any(count < size for size, count in zip(sizes, out, strict=True)):
            return tables
        return [[(start, min(start + 1, stop)) for start, stop in table] for table in tables]


# ---------------------------------------------------------------- arithmetic


@bank.mistake(
    "sum-in-storage-type",
    "float16 and bfloat16 windows are summed element by element in the storage type, so long "
    "sums stall, lose bits or overflow.",
    lambda: case(np.full((1, 1, 600), 1.0).astype(BF16), 1),
)
class SumInStorageType(AdaptiveAvgPool):
    def average(self, block, divisor, dtype):
        if dtype not in (np.float16, BF16) or not block.size:
            return super().average(block, divisor, dtype)
        narrow_rows = rows_of(block).astype(dtype)
        total = narrow_rows[..., 0]
        for i in range(1, narrow_rows.shape[-1]):
            total = total + narrow_rows[..., i]
        return total.astype(np.float64) / divisor


@bank.mistake(
    "double-through-single",
    "float64 data is converted to float32 on the way in.",
    lambda: case(np.full((1, 1, 4), 1 + 2.0**-30), 2),
)
class DoubleThroughSingle(AdaptiveAvgPool):
    def average(self, block, divisor, dtype):
        return super().average(block.astype(np.float32).astype(np.float64), divisor, dtype)


@bank.mistake(
    "summed-area-table-in-single",
    "Window sums come from a float32 summed-area table, so a large value anywhere before a "
    "window drowns it and an infinity or NaN spoils it.",
    lambda: case(line(1e8, 1e8, 1, 2, 3, 4), 3),
)
class SummedAreaTableInSingle(AdaptiveAvgPool):
    def pool(self, x, out):
        if x.dtype == np.float64 or not x.size:
            return super().pool(x, out)
        table = x.astype(np.float32)
        tables = self.tables(x.shape[2:], out)
        for axis in range(2, x.ndim):
            table = np.cumsum(np.insert(table, 0, 0, axis=axis), axis=axis, dtype=np.float32)
        for axis, spans in enumerate(tables, start=2):
            ends = table.take([stop for _, stop in spans], axis=axis)
            table = ends - table.take([start for start, _ in spans], axis=axis)
            shape = [1] * x.ndim
            shape[axis] = len(spans)
            table = table / np.float32([b - a for a, b in spans]).reshape(shape)
        return narrow(table.astype(np.float64), x.dtype)


@bank.mistake(
    "running-mean",
    "The mean is kept as m += (x - m) / n against overflow, so an infinity followed by anything "
    "becomes NaN.",
    lambda: case(line(1, np.inf, 2, 3), 1),
)
class RunningMean(AdaptiveAvgPool):
    def average(self, block, divisor, dtype):
        if np.isfinite(block).all():
            return super().average(block, divisor, dtype)
        rows = rows_of(block)
        running = rows[..., 0]
        for i in range(1, rows.shape[-1]):
            running = running + (rows[..., i] - running) / (i + 1)
        return running


@bank.mistake(
    "averaging-matrices",
    "Every axis is multiplied by a dense averaging matrix, so an infinity times the matrix's "
    "zeros makes windows NaN that do not hold it.",
    lambda: case(line(np.inf, 1, 2, 3), 2),
)
class AveragingMatrices(AdaptiveAvgPool):
    def pool(self, x, out):
        if np.isfinite(x.astype(np.float64)).all():
            return super().pool(x, out)
        result = x.astype(np.float64)
        for axis, table in enumerate(self.tables(x.shape[2:], out), start=2):
            matrix = np.zeros((len(table), x.shape[axis]))
            for i, (start, stop) in enumerate(table):
                matrix[i, start:stop] = 1 / max(stop - start, 1)
            lines = np.moveaxis(result, axis, -1)[..., None, :]
            result = np.moveaxis((matrix * lines).sum(axis=-1), -1, axis)
        return narrow(result, x.dtype)


# ---------------------------------------------------------------- memory


@bank.mistake(
    "windows-cached-by-output-size",
    "The windows are cached by output_size alone, so an input of another size is read through "
    "the windows of the first.",
    lambda: case(ramp(1, 1, 11), 4),
    lambda: case(ramp(1, 1, 8), 4),
)
class WindowsCachedByOutputSize(AdaptiveAvgPool):
    def tables(self, sizes, out):
        cached = self.cache.setdefault(out, super().tables(sizes, out))
        return [
            [(min(start, size), min(stop, size)) for start, stop in table]
            for size, table in zip(sizes, cached, strict=True)
        ]


@bank.mistake(
    "thread-remainder-unwritten",
    "The N * C planes are shared out to four threads in equal parts, and the planes left over "
    "are never written.",
    lambda: case(ramp(1, 5, 4) + 9, 2),
)
class ThreadRemainderUnwritten(AdaptiveAvgPool):
    def pool(self, x, out):
        result = super().pool(x, out)
        planes = math.prod(x.shape[:2])
        if planes > 4:
            result.reshape(planes, math.prod(out))[planes // 4 * 4 :] = 0
        return result


@bank.mistake(
    "wide-row-tail-not-added",
    "Window rows of 8 elements and more are added four at a time, and the last one to three "
    "elements of such a row are left out of the sum.",
    lambda: case(ramp(1, 1, 10), 1),
)
class WideRowTailNotAdded(AdaptiveAvgPool):
    def average(self, block, divisor, dtype):
        width = block.shape[-1]
        kept = width - width % 4 if width >= 8 else width
        return super().average(block[..., :kept], divisor, dtype)


MISTAKES = tuple(bank.mistakes)
