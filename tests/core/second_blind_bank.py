"""Forty more bugs of convolutions and products, written without sight of catalogue and mutants.

What a suite missed of the first bank has shaped it since; these are none of those. Each is again a
right kernel of which a method goes wrong under the conditions of a fast path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np
from blind_bank import Bug, conv, gemm, matmul, transposed
from blind_bank import bug as bug_of_first_bank
from blind_kernels import (
    AffineCall,
    Array,
    Attributes,
    Conv,
    ConvTranspose,
    Gemm,
    Kernel,
    MatMul,
    ProductCall,
    WindowCall,
    f32,
)
from numpy.typing import NDArray

from conformance.model import Case

BUGS: dict[str, Bug] = {}
f16 = np.float16


def bug(
    name: str, sentence: str, right_if_named: str, *cases: Case
) -> Callable[[type[Kernel]], type[Kernel]]:
    """Enter a kernel into the table of this bank."""
    return bug_of_first_bank(name, sentence, right_if_named, *cases, table=BUGS)


def tf32(array: Array) -> Array:
    """Return f32 numbers with 10 bits behind the leading bit, as tensor cores take them."""
    bits = array.astype(f32).view(np.uint32)
    rounded = ((bits + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(f32)
    return np.where(np.isfinite(array), rounded, array)


# ----------------------------------------------------------------------------------------- Conv


@bug(
    "conv-depthwise-odd-rows",
    "The depthwise 3x3 stride 1 kernel computes two rows at once. Of an odd number of rows the "
    "last is computed with the pointers of the row above, and repeats it.",
    "the last row, or an odd number of rows, depthwise 3x3 at stride 1",
    conv((1, 3, 5, 4), (3, 1, 3, 3), group=3),
)
class DepthwiseOddRows(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        is_path = call.is_depthwise and call.kernel == (3, 3) and call.strides == (1, 1)
        if is_path and call.out[0] > 1 and call.out[0] % 2:
            y[..., -1, :] = y[..., -2, :]
        return y


@bug(
    "conv-3x3-row-dilation-unseen",
    "The 3x3 stride 1 kernel is chosen by the dilation of columns alone: rows are not dilated.",
    "the dilation of rows ignored, in 3x3 at stride 1",
    conv((1, 1, 7, 5), (2, 1, 3, 3), dilations=[2, 1]),
)
class RowDilationUnseen(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        is_path = call.kernel == (3, 3) and call.strides == (1, 1)
        if is_path and call.dilations[1] == 1:
            call = replace(call, dilations=(1, 1))
        return super().reads(call, axis)


@bug(
    "conv-pointwise-image-offset",
    "The 1x1 path moves from one image to the next by the filters' number of planes, not the "
    "channels': images behind the first are read at the wrong channels where these differ.",
    "images behind the first, in 1x1 kernels, where filters and channels differ in number",
    conv((2, 3, 2, 2), (2, 3, 1, 1)),
)
class PointwiseImageOffset(Conv):
    def sum(self, call: WindowCall) -> Array:
        if call.kernel == (1, 1) and call.groups == 1 and len(call.x) > 1:
            planes = call.x.reshape(-1, *call.size)
            first = np.arange(len(call.x))[:, None] * call.filters
            read = (first + np.arange(call.channels)) % len(planes)
            call = replace(call, x=planes[read][:, None])
        return super().sum(call)


@bug(
    "conv-group-filters-packed",
    "Filters of a group are packed in blocks of 4 with zeros behind them, but groups are found as "
    "if there were none: all groups behind the first take filters of groups before them.",
    "which filters a group takes, where a group's filters are not a multiple of 4",
    conv((1, 4, 3, 3), (4, 2, 2, 2), group=2),
)
class GroupFiltersPacked(Conv):
    def sum(self, call: WindowCall) -> Array:
        rest = -call.filters % 4
        if call.groups > 1 and call.filters > 1 and rest:
            packed = np.pad(call.w, [(0, 0), (0, rest), (0, 0), (0, 0), (0, 0)])
            flat = packed.reshape(-1, *call.w.shape[2:])[: call.groups * call.filters]
            call = replace(call, w=flat.reshape(call.w.shape))
        return super().sum(call)


@bug(
    "conv-bias-of-last-filters",
    "Filters are worked through 4 at a time. The step for the filters left over stores its sum "
    "without the bias. Not in the 1x1 path.",
    "the bias not added for the last filters (modulo 4)",
    conv((1, 2, 3, 3), (6, 2, 2, 2), (6,)),
)
class BiasOfLastFilters(Conv):
    def output(self, call: WindowCall) -> Array:
        if call.bias is not None and call.filters > 4 and call.kernel != (1, 1):
            bias = call.bias.copy()
            bias[:, call.filters // 4 * 4 :] = 0
            call = replace(call, bias=bias)
        return super().output(call)


@bug(
    "conv-pointwise-strided-pads",
    "A 1x1 convolution of strides above 1 takes every second, third, ... pixel first and "
    "multiplies then. The pixels begin with the image's first, as if nothing were padded.",
    "the padding ignored, in 1x1 kernels of strides above 1",
    conv((1, 2, 4, 5), (2, 2, 1, 1), strides=[2, 2], pads=[1, 1, 1, 1]),
)
class PointwiseStridedPads(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.kernel == (1, 1) and min(call.strides) > 1:
            call = replace(call, begin=(0, 0))
        return super().reads(call, axis)


@bug(
    "conv-depthwise-pads-order",
    "The depthwise kernel takes pads as top, bottom, left, right: its left padding is the bottom "
    "one in that order, where the attribute has top, left, bottom, right.",
    "the left pad taken from the bottom one, in depthwise convolutions",
    conv((1, 2, 5, 5), (2, 1, 3, 3), group=2, pads=[1, 2, 1, 2]),
)
class DepthwisePadsOrder(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.is_depthwise:
            call = replace(call, begin=(call.begin[0], call.end[0]))
        return super().reads(call, axis)


@bug(
    "conv-tensor-cores-in-tf32",
    "Where channels and filters are multiples of 4, tensor cores compute the sums, and round "
    "image and filters to TF32 (10 bits behind the leading bit).",
    "inputs of low precision (TF32, or f16's digits), or channels and filters that 4 divides",
    conv((1, 4, 3, 3), (4, 4, 2, 2), data="fractions"),
)
class TensorCoresInTf32(Conv):
    def sum(self, call: WindowCall) -> Array:
        if call.groups == 1 and call.channels % 4 == 0 and call.filters % 4 == 0:
            call = replace(call, x=tf32(call.x), w=tf32(call.w))
        return super().sum(call)


@bug(
    "conv-wide-kernel-second-half",
    "Kernels of more than 4 columns are done in two passes. The second begins 4 columns further "
    "right, where it should be 4 times the dilation.",
    "the dilation of columns, or the taps behind the fourth, in kernels wider than 4",
    conv((1, 1, 2, 12), (1, 1, 1, 5), dilations=[1, 2]),
)
class WideKernelSecondHalf(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        columns = super().reads(call, axis)
        if axis == 1 and call.kernel[1] > 4:
            columns[:, 4:] -= 4 * (call.dilations[1] - 1)
        return columns


@bug(
    "conv-full-kernel-stored-transposed",
    "A kernel as large as the image is a product of matrices, images by filters. Its result is "
    "stored as filters by images.",
    "images and filters exchanged in the output, where the kernel is as large as the image",
    conv((2, 2, 3, 2), (3, 2, 3, 2)),
)
class FullKernelStoredTransposed(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        if call.groups == 1 and call.kernel == call.size and call.out == (1, 1):
            y = y.reshape(y.shape[0], y.shape[2]).T.reshape(y.shape)
        return y


@bug(
    "conv-column-kernel-pads",
    "A kernel of one column is a kernel of one row after image and filters are transposed. Its "
    "padding is not: top and left pads are exchanged.",
    "top and left pads exchanged, in kernels one column wide",
    conv((1, 2, 5, 4), (2, 2, 3, 1), pads=[1, 0, 1, 0]),
)
class ColumnKernelPads(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.kernel[1] == 1 and call.kernel[0] > 1:
            call = replace(call, begin=call.begin[::-1])
        return super().reads(call, axis)


@bug(
    "conv-same-negative-pad",
    "With SAME_UPPER or SAME_LOWER and a stride wider than the window, the padding that lacks is "
    "negative and is not set to 0: windows begin behind the image's first row or column.",
    "auto_pad SAME with strides wider than the kernel",
    conv((1, 1, 6, 6), (1, 1, 1, 1), auto_pad="SAME_UPPER", strides=[3, 3]),
)
class SameNegativePad(Conv):
    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        call = super().call(x, w, bias, attributes)
        if not call.auto_pad.startswith("SAME"):
            return call
        lacking = [
            (call.out[axis] - 1) * call.strides[axis]
            + (call.kernel[axis] - 1) * call.dilations[axis]
            + 1
            - call.size[axis]
            for axis in range(2)
        ]
        begin = [-(-pad // 2) if pad < 0 else call.begin[axis] for axis, pad in enumerate(lacking)]
        return replace(call, begin=(begin[0], begin[1]))


@bug(
    "conv-overlapping-last-vector",
    "At a column stride of 1 outputs are computed 8 columns at a time. The last vector ends with "
    "the row and overlaps the one before. Input channels are added up in memory, so what overlaps "
    "gets all channels but the first twice.",
    "the output's width modulo 8, or columns counted twice, with several channels",
    conv((1, 2, 2, 12), (1, 2, 1, 2)),
)
class OverlappingLastVector(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        width = call.out[1]
        if call.strides[1] == 1 and call.channels > 1 and width > 8 and width % 8:
            again = super().sum(call.of_channels(1, call.channels))
            twice = slice(width - 8, width // 8 * 8)
            y[..., twice] += again[..., twice]
        return y


@bug(
    "conv-dilated-by-phases",
    "A dilated convolution of stride 1 is split into one of each phase. The number of rows of a "
    "phase is the padded height divided by the dilation, rounded down: rows behind are lost.",
    "the last rows, where dilated and of stride 1, if the dilation does not divide the height",
    conv((1, 1, 7, 5), (1, 1, 2, 2), dilations=[2, 2]),
)
class DilatedByPhases(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        positions = super().reads(call, axis)
        dilation = call.dilations[0]
        if axis == 0 and dilation > 1 and call.strides == (1, 1):
            padded = call.begin[0] + call.size[0] + call.end[0]
            last = padded // dilation * dilation - call.begin[0]
            positions = np.where(positions < last, positions, -1)
        return positions


@bug(
    "conv-masked-padding",
    "With strides above 1 a tap in the padding reads the nearest pixel of the image and multiplies "
    "by 0. If that pixel is infinite or NaN the output is NaN.",
    "infinity or NaN at the image's edge, next to padding",
    conv((1, 1, 4, 4), (1, 1, 2, 2), strides=[2, 2], pads=[1, 1, 1, 1], data="special+signs+signs"),
)
class MaskedPadding(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        if max(call.strides) == 1 or call.groups > 1:
            return y
        rows, columns = self.reads(call, 0), self.reads(call, 1)
        i, j = (np.clip(r, 0, n - 1) for r, n in zip((rows, columns), call.size, strict=True))
        for u, v in np.ndindex(*call.kernel):
            is_inside = (rows[:, u] == i[:, u])[:, None] & (columns[:, v] == j[:, v])
            nearest = call.x[..., i[:, u], :][..., j[:, v]]
            masked = np.einsum("ngcij,gmc->ngmij", nearest, np.zeros_like(call.w[..., u, v]))
            y += np.where(is_inside, f32(0), masked)
        return y


@bug(
    "conv-workspace-not-cleared",
    "For 3x3 the padded image is copied into a workspace that is kept between calls. Its border is "
    "cleared when the workspace grows only: a later call pads with pixels of an earlier one.",
    "state between calls, or padding that holds values of an earlier call",
    conv((1, 2, 6, 6), (1, 2, 3, 3), pads=[1, 1, 1, 1]),
    conv((1, 1, 4, 4), (1, 1, 3, 3), pads=[1, 1, 1, 1]),
)
class WorkspaceNotCleared(Conv):
    def __init__(self) -> None:
        self.workspace: Array = np.zeros(0, f32)

    def sum(self, call: WindowCall) -> Array:
        if call.kernel != (3, 3) or not any((*call.begin, *call.end)):
            return super().sum(call)
        (top, left), (bottom, right), (height, width) = call.begin, call.end, call.size
        shape = (*call.x.shape[:3], top + height + bottom, left + width + right)
        if prod(shape) > len(self.workspace):
            self.workspace = np.zeros(prod(shape), f32)
        padded = self.workspace[: prod(shape)].reshape(shape)
        padded[..., top : top + height, left : left + width] = call.x
        return super().sum(replace(call, x=padded, begin=(0, 0), end=(0, 0)))


@bug(
    "conv-odd-batch",
    "Two images are worked on side by side. Of an odd number above 1 the last is paired with "
    "itself at the wrong end: its output is that of the image before. Not in the 1x1 path.",
    "the last image, or an odd number of images",
    conv((3, 1, 3, 3), (2, 1, 2, 2)),
)
class OddBatch(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        if len(y) > 1 and len(y) % 2 and call.kernel != (1, 1) and call.groups == 1:
            y[-1] = y[-2]
        return y


@bug(
    "conv-depthwise-interior-by-top",
    "Depthwise kernels of more than 3 rows check bounds for the last rows of outputs only. How "
    "many these are is computed from the top padding: where the bottom is wider, rows behind the "
    "image are read, those of the next channel.",
    "bottom padding wider than top padding, or the last rows, in large depthwise kernels",
    conv((1, 2, 6, 4), (2, 1, 5, 1), group=2, pads=[0, 0, 2, 0]),
)
class DepthwiseInteriorByTop(Conv):
    def sum(self, call: WindowCall) -> Array:
        missed = call.end[0] - call.begin[0]
        if not call.is_depthwise or call.kernel[0] <= 3 or missed <= 0:
            return super().sum(call)
        following = np.roll(call.x, -1, axis=1)[..., :missed, :]
        following[:, -1] = 0
        return super().sum(replace(call, x=np.concatenate([call.x, following], axis=3)))


# -------------------------------------------------------------------------------- ConvTranspose


@bug(
    "deconv-gaps-without-bias",
    "The bias is added while products are scattered. Outputs that no product reaches, since the "
    "stride is wider than the kernel, stay 0.",
    "the bias missing at outputs without products (stride wider than the kernel)",
    transposed((1, 1, 3, 3), (1, 2, 1, 1), (2,), strides=[2, 2]),
)
class GapsWithoutBias(ConvTranspose):
    def output(self, call: WindowCall) -> Array:
        rows, columns = (
            ((positions >= 0) & (positions < n)).any(axis=1)
            for positions, n in zip(
                (self.reads(call, 0), self.reads(call, 1)), call.size, strict=True
            )
        )
        return np.where(rows[:, None] & columns, super().output(call), f32(0))


@bug(
    "deconv-unit-stride-end-pads",
    "At stride 1 it is a convolution with flipped filters, whose padding is the span less 1 less "
    "the pad. The pad at the end is taken for that at the beginning.",
    "begin and end pads exchanged, at stride 1",
    transposed((1, 1, 4, 4), (1, 1, 3, 3), pads=[1, 0, 0, 1]),
)
class UnitStrideEndPads(ConvTranspose):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.strides == (1, 1):
            call = replace(call, begin=call.end)
        return super().reads(call, axis)


@bug(
    "deconv-depthwise-not-flipped",
    "Depthwise at stride 1 the kernel for convolutions is called, with filters that are not "
    "flipped.",
    "filters flipped (not flipped), depthwise at stride 1",
    transposed((1, 2, 3, 3), (2, 1, 2, 3), group=2),
)
class DepthwiseNotFlipped(ConvTranspose):
    def sum(self, call: WindowCall) -> Array:
        if call.is_depthwise and call.filters == 1 and call.strides == (1, 1):
            call = replace(call, w=call.w[..., ::-1, ::-1])
        return super().sum(call)


@bug(
    "deconv-shuffle-undilated",
    "Where kernel and stride are equal, a product of matrices and a shuffle of its elements "
    "suffice, if not dilated. The dilation is not looked at.",
    "the dilation ignored, where kernel and stride are equal",
    transposed((1, 1, 3, 3), (1, 1, 2, 2), strides=[2, 2], dilations=[2, 2]),
)
class ShuffleUndilated(ConvTranspose):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.kernel == call.strides:
            call = replace(call, dilations=(1, 1))
        return super().reads(call, axis)


@bug(
    "deconv-output-padding-uncrops",
    "In a result that is cropped, output_padding is taken off the crop at the beginning: all "
    "outputs are those that lie as much further to the beginning.",
    "output_padding at the beginning in place of the end",
    transposed(
        (1, 1, 3, 3), (1, 1, 3, 3), strides=[2, 2], output_padding=[1, 1], pads=[1, 1, 1, 1]
    ),
)
class OutputPaddingUncrops(ConvTranspose):
    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        call = super().call(x, w, bias, attributes)
        added = attributes.get("output_padding") or (0, 0)
        begin = [max(0, pad - more) for pad, more in zip(call.begin, added, strict=True)]
        return replace(call, begin=(begin[0], begin[1]))


@bug(
    "deconv-accumulator-cleared-once",
    "For strides above 1 products are scattered into a buffer, which is cleared before the first "
    "image only: each image has the sums of those before it.",
    "images behind the first, which have the sums of earlier ones",
    transposed((2, 1, 3, 3), (1, 1, 2, 2), strides=[2, 2]),
)
class AccumulatorClearedOnce(ConvTranspose):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        return np.cumsum(y, axis=0, dtype=f32) if min(call.strides) > 1 else y


@bug(
    "deconv-output-shape-undilated",
    "What output_shape crops is computed from the kernel without its dilation: too little is "
    "cropped at the beginning.",
    "output_shape with dilations ignored",
    transposed((1, 1, 4, 4), (1, 1, 3, 3), dilations=[2, 2], output_shape=[6, 6]),
)
class OutputShapeUndilated(ConvTranspose):
    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        call = super().call(x, w, bias, attributes)
        if attributes.get("output_shape"):
            undilated = super().call(x, w, bias, {**attributes, "dilations": [1, 1]})
            call = replace(call, begin=undilated.begin)
        return call


@bug(
    "deconv-row-tiles-store",
    "Input rows are scattered in tiles of 4. A tile stores its first products in place of adding "
    "them: output rows that the tile before reached as well lose what it gave.",
    "rows where tiles of 4 input rows meet, with kernels taller than the stride",
    transposed((1, 1, 6, 3), (1, 1, 3, 2)),
)
class RowTilesStore(ConvTranspose):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        rows = super().reads(call, axis)
        if axis == 1:
            return rows
        tiles = np.where((rows >= 0) & (rows < call.size[0]), rows // 4, -1)
        return np.where(tiles == tiles.max(axis=1, keepdims=True), rows, -1)


# --------------------------------------------------------------------------------------- MatMul


@bug(
    "matmul-batch-folded-into-columns",
    "A matrix times a batch is one product, with the columns of all matrices of B side by side. "
    "The result is stored as it lies: rows, matrices, columns, not matrices, rows, columns.",
    "rows and matrices exchanged in the output, where A has two dimensions and B more",
    matmul((3, 4), (2, 4, 2)),
)
class BatchFoldedIntoColumns(MatMul):
    def matrices(self, call: ProductCall) -> Array:
        y = super().matrices(call)
        if not call.a_batch and len(call.b) > 1:
            y = y.swapaxes(0, 1).reshape(y.shape)
        return y


@bug(
    "matmul-batch-of-outer-dimension",
    "For an A of four dimensions and a B of three, B's matrix is counted by the outer dimension "
    "of A's batch; it is the inner one that meets B's.",
    "which matrix of B is taken, where A has two dimensions of batch and B one",
    matmul((2, 3, 2, 4), (3, 4, 2)),
)
class BatchOfOuterDimension(MatMul):
    def matrices(self, call: ProductCall) -> Array:
        if len(call.a_batch) == 2 and len(call.b_batch) == 1:
            outer = np.arange(len(call.a_of)) // call.a_batch[1]
            call = replace(call, b_of=outer % len(call.b))
        return super().matrices(call)


@bug(
    "matmul-single-column-last-term",
    "For a B of one column K is worked through 16 at a time. The loop for the terms left over ends "
    "before the last.",
    "the last term of the sum, or K modulo 16, where B has one column",
    matmul((3, 19), (19, 1)),
)
class SingleColumnLastTerm(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        depth, columns = b.shape[1:]
        if columns == 1 and depth > 16 and depth % 16:
            a, b = a[..., :-1], b[:, :-1]
        return super().product(a, b)


@bug(
    "matmul-single-row-last-columns",
    "For an A of one row columns are computed 8 at a time. The pointer to B is not moved on for "
    "the columns left over: they hold what the first columns hold.",
    "the last columns (modulo 8), where A has one row",
    matmul((1, 3), (3, 11)),
)
class SingleRowLastColumns(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        y = super().product(a, b)
        full, rest = y.shape[2] // 8 * 8, y.shape[2] % 8
        if y.shape[1] == 1 and full and rest:
            y[..., full:] = y[..., :rest]
        return y


@bug(
    "matmul-strassen",
    "Matrices of even sizes from 8 are multiplied by Strassen's algorithm. Differences of blocks "
    "cancel: small elements beside large ones lose their digits, infinities make NaN.",
    "the error's size (beyond what any order of summation gives), or infinities that make NaN",
    matmul((8, 8), (8, 8), data="special+signs"),
)
class Strassen(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        rows, depth, columns = (*a.shape[1:], b.shape[2])
        if min(rows, depth, columns) < 8 or rows % 2 or depth % 2 or columns % 2:
            return super().product(a, b)
        (a11, a12), (a21, a22) = (np.split(half, 2, axis=2) for half in np.split(a, 2, axis=1))
        (b11, b12), (b21, b22) = (np.split(half, 2, axis=2) for half in np.split(b, 2, axis=1))
        m1 = super().product(a11 + a22, b11 + b22)
        m2 = super().product(a21 + a22, b11)
        m3 = super().product(a11, b12 - b22)
        m4 = super().product(a22, b21 - b11)
        m5 = super().product(a11 + a12, b22)
        m6 = super().product(a21 - a11, b11 + b12)
        m7 = super().product(a12 - a22, b21 + b22)
        top = np.concatenate([m1 + m4 - m5 + m7, m3 + m5], axis=2)
        bottom = np.concatenate([m2 + m4, m1 - m2 + m3 + m6], axis=2)
        return np.concatenate([top, bottom], axis=1)


@bug(
    "matmul-split-depth-rest",
    "Sums of more than 64 terms are split among 4 threads, each with K divided by 4, rounded "
    "down: up to 3 terms at the end are left to nobody.",
    "the last terms of the sum, or K modulo 4, where K is above 64",
    matmul((2, 67), (67, 3)),
)
class SplitDepthRest(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        depth = a.shape[2]
        if depth > 64:
            a, b = a[..., : depth // 4 * 4], b[:, : depth // 4 * 4]
        return super().product(a, b)


@bug(
    "matmul-both-stretched",
    "Where both batches are stretched, each in another dimension, the counters are exchanged: A's "
    "matrix is counted by the inner dimension, B's by the outer.",
    "which matrices are taken, where both batches are stretched",
    matmul((2, 1, 3, 4), (3, 4, 2)),
)
class BothStretched(MatMul):
    def matrices(self, call: ProductCall) -> Array:
        count = len(call.a_of)
        if 1 < len(call.a) < count and 1 < len(call.b) < count:
            call = replace(call, a_of=call.b_of % len(call.a), b_of=call.a_of % len(call.b))
        return super().matrices(call)


@bug(
    "matmul-stale-buffer",
    "K is worked through 16 at a time, in two buffers by turns. The last, partial block does not "
    "fill its buffer, and the terms of two blocks before that are left in it count again.",
    "terms counted twice, or K modulo 16, where K is above 32",
    matmul((2, 37), (37, 3)),
)
class StaleBuffer(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        depth = a.shape[2]
        full, rest = depth // 16 * 16, depth % 16
        if full >= 32 and rest:
            terms = [*range(depth), *range(full - 32 + rest, full - 16)]
            a, b = a[..., terms], b[:, terms]
        return super().product(a, b)


# ----------------------------------------------------------------------------------------- Gemm


@bug(
    "gemm-trans-b-last-columns",
    "A transposed B is packed 4 columns at a time. Of 2 or 3 columns left over, the first is "
    "packed for all.",
    "the last columns (modulo 4) with transB",
    gemm((2, 3), (7, 3), transB=1),
)
class TransBLastColumns(Gemm):
    def affine(self, call: AffineCall) -> Array:
        columns = np.arange(call.b.shape[1])
        full = len(columns) // 4 * 4
        if call.trans_b and full:
            columns[full:] = full
            call = replace(call, b=call.b[:, np.minimum(columns, len(columns) - 1)])
        return super().affine(call)


@bug(
    "gemm-trans-a-single-column",
    "A result of one column is a matrix times a vector. Its kernel knows no transposition: the "
    "elements of A are read as they lie.",
    "transA ignored, where the result has one column",
    gemm((3, 2), (3, 1), transA=1),
)
class TransASingleColumn(Gemm):
    def affine(self, call: AffineCall) -> Array:
        if call.trans_a and call.b.shape[1] == 1:
            call = replace(call, a=call.a.T.reshape(call.a.shape))
        return super().affine(call)


@bug(
    "gemm-matrix-bias-row-stride",
    "With a beta other than 1 a C of the result's shape is read with rows of a multiple of 4 "
    "elements: rows behind the first begin too late.",
    "rows of C misplaced, where N is not a multiple of 4 and beta not 1",
    gemm((3, 2), (2, 5), (3, 5), beta=2.0),
)
class MatrixBiasRowStride(Gemm):
    def affine(self, call: AffineCall) -> Array:
        rows, columns = call.a.shape[0], call.b.shape[1]
        if call.c is not None and call.c.shape == (rows, columns) and call.beta != 1:
            stride = -(-columns // 4) * 4
            read = np.arange(rows)[:, None] * stride + np.arange(columns)
            call = replace(call, c=call.c.reshape(-1)[read % call.c.size])
        return super().affine(call)


@bug(
    "gemm-row-bias-of-full-blocks",
    "Rows are worked through 4 at a time. A C of one dimension is added to full blocks; the step "
    "for the rows left over does without.",
    "C missing in the last rows (modulo 4)",
    gemm((6, 2), (2, 3), (3,)),
)
class RowBiasOfFullBlocks(Gemm):
    def affine(self, call: AffineCall) -> Array:
        rows = call.a.shape[0]
        if call.c is not None and call.c.ndim == 1 and rows > 4:
            c = np.broadcast_to(call.c, (rows, call.b.shape[1])).copy()
            c[rows // 4 * 4 :] = 0
            call = replace(call, c=c)
        return super().affine(call)


@bug(
    "gemm-alpha-in-f16",
    "The kernel that adds C as well keeps alpha in f16: of an alpha such as 0.1 the last digits "
    "are lost.",
    "alpha rounded to f16",
    gemm((2, 3), (3, 2), (2,), alpha=0.1),
)
class AlphaInF16(Gemm):
    def affine(self, call: AffineCall) -> Array:
        if call.c is not None:
            call = replace(call, alpha=f32(f16(call.alpha)))
        return super().affine(call)


@bug(
    "gemm-column-bias-of-first-block",
    "A C of one column is read with the row within a block of 8: rows behind the first block get "
    "what the first rows get.",
    "C of shape (M, 1) in rows behind the eighth",
    gemm((10, 2), (2, 3), (10, 1)),
)
class ColumnBiasOfFirstBlock(Gemm):
    def affine(self, call: AffineCall) -> Array:
        rows = call.a.shape[0]
        if call.c is not None and call.c.shape == (rows, 1) and rows > 8:
            call = replace(call, c=call.c[np.arange(rows) % 8])
        return super().affine(call)
