"""Forty bugs of convolutions and products, written without sight of the catalogue and of mutants.

They measure a suite, so nothing here comes from what suites are built of. Each is a right kernel
of which a method goes wrong under the conditions of a fast path: what an engineer has seen who
writes kernels for CPUs, GPUs and NPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
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

from conformance.core.data import SEPARATOR, inputs_of
from conformance.core.evaluate import Evaluation, Interval
from conformance.core.loader import load_operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES
from conformance.model import Case

Evaluated = tuple[list[Array | None], list[Interval]]
f16 = np.float16


@dataclass(frozen=True)
class Bug:
    """A wrong kernel.

    Attributes:
        name: what it is called, in tables of what a suite refuses.
        op: the operator.
        sentence: what is wrong.
        right_if_named: what a diagnosis must name so that a reader goes to the right lines.
        kernel: the backend, a class without arguments.
        cases: legal cases, run one after the other, of which the last shows the bug.
    """

    name: str
    op: str
    sentence: str
    right_if_named: str
    kernel: type[Kernel]
    cases: tuple[Case, ...]


BUGS: dict[str, Bug] = {}


def bug(
    name: str, sentence: str, right_if_named: str, *cases: Case, table: dict[str, Bug] = BUGS
) -> Callable[[type[Kernel]], type[Kernel]]:
    """Enter a kernel into a table of bugs."""

    def enter(kernel: type[Kernel]) -> type[Kernel]:
        kernel.name = name
        table[name] = Bug(name, kernel.op, sentence, right_if_named, kernel, cases)
        return kernel

    return enter


def case(op: str, shapes: Sequence[Sequence[int]], data: str = "whole", **attributes: Any) -> Case:
    """Return a case of tensors with these shapes, the last of which may be left out."""
    tensors = load_operator(op).inputs
    named = {t.name: tuple(shape) for t, shape in zip(tensors, shapes, strict=False)}
    pattern = data if SEPARATOR in data else SEPARATOR.join([data] * len(tensors))
    return Case(op, {"T": "f32"}, named, attributes, {}, pattern, seed=1)


def conv(*shapes: Sequence[int], data: str = "whole", **attributes: Any) -> Case:
    """Return a case of Conv."""
    return case(Conv.op, shapes, data, **attributes)


def transposed(*shapes: Sequence[int], data: str = "whole", **attributes: Any) -> Case:
    """Return a case of ConvTranspose."""
    return case(ConvTranspose.op, shapes, data, **attributes)


def matmul(*shapes: Sequence[int], data: str = "whole") -> Case:
    """Return a case of MatMul."""
    return case(MatMul.op, shapes, data)


def gemm(*shapes: Sequence[int], data: str = "whole", **attributes: Any) -> Case:
    """Return a case of Gemm."""
    return case(Gemm.op, shapes, data, **attributes)


def evaluate(case: Case) -> Evaluated:
    """Return the inputs of a case and what is accepted of its outputs at precision standard."""
    operator = load_operator(case.op)
    inputs = inputs_of(operator, case)
    by_name = dict(zip((t.name for t in operator.inputs), inputs, strict=True))
    machine = Machine(DTYPES["f32"])
    return inputs, Evaluation(operator, case.attributes, by_name, machine).intervals()


def refused(
    bug: Bug, cases: Iterable[Case], evaluate: Callable[[Case], Evaluated] = evaluate
) -> list[Case]:
    """Return the cases in which the outputs of a bug are not accepted.

    ``evaluate`` gives the inputs and the accepted intervals of a case. Cases that the bug's
    kernel does not claim, and negative tests, are passed over. The kernel is made once and gets
    the cases in their order, since a bug may lie in what a kernel keeps.
    """
    kernel = bug.kernel()
    return [case for case in cases if is_claimed(bug, case) and not accepts(kernel, case, evaluate)]


def is_claimed(bug: Bug, case: Case) -> bool:
    """Return whether a bug's kernel claims a case."""
    if case.op != bug.op or case.reject is not None or set(case.types.values()) != {"f32"}:
        return False
    data = load_operator(case.op).inputs[0].name
    return len(case.shapes[data]) in (bug.kernel.capabilities.ranks or ())


def accepts(kernel: Kernel, case: Case, evaluate: Callable[[Case], Evaluated] = evaluate) -> bool:
    """Return whether the outputs of a kernel are accepted."""
    inputs, intervals = evaluate(case)
    copies = [None if array is None else array.copy() for array in inputs]
    outputs = kernel.run(case.op, copies, case.attributes)
    return all(map(is_accepted, outputs, intervals))


def is_accepted(output: Array, interval: Interval) -> bool:
    """Return whether an output has the right shape, and each element is in its interval."""
    if output.shape != interval.lo.shape:
        return False
    between = (interval.lo <= output) & (output <= interval.hi)
    both_nan = np.isnan(interval.lo) & np.isnan(output)
    return bool(np.all(between | both_nan | interval.unspecified))


# ----------------------------------------------------------------------------------------- Conv


def is_winograd(call: WindowCall) -> bool:
    """Return whether a call takes the path of Winograd's algorithm."""
    steps = (*call.strides, *call.dilations)
    return call.kernel == (3, 3) and steps == (1, 1, 1, 1) and call.groups == 1


@bug(
    "conv-winograd-tail-columns",
    "In the 3x3 stride 1 path a last tile of fewer than 4 columns holds what a tile that ends "
    "with the image holds first: its columns are those a little further left.",
    "the output's width modulo 4, or its last columns, in 3x3 at stride 1",
    conv((1, 2, 6, 9), (3, 2, 3, 3)),
)
class WinogradTailColumns(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        width = call.out[1]
        tail = width // 4 * 4
        if is_winograd(call) and 0 < tail < width:
            y[..., tail:] = y[..., width - 4 : 2 * width - 4 - tail].copy()
        return y


@bug(
    "conv-winograd-pads-of-rows",
    "In the 3x3 stride 1 path the padding above is taken for the padding at the left as well.",
    "pads: the left pad taken from the top one, in 3x3 at stride 1",
    conv((1, 2, 5, 6), (2, 2, 3, 3), pads=[1, 0, 1, 2]),
)
class WinogradPadsOfRows(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if is_winograd(call):
            call = replace(call, begin=(call.begin[0], call.begin[0]))
        return super().reads(call, axis)


@bug(
    "conv-pointwise-row-stride",
    "A 1x1 convolution without padding becomes a product of matrices if the stride of columns "
    "is 1; the stride of rows is not looked at, so rows are read at stride 1.",
    "the row stride ignored, in 1x1 kernels",
    conv((1, 3, 5, 4), (2, 3, 1, 1), strides=[2, 1]),
)
class PointwiseRowStride(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        padded = any((*call.begin, *call.end))
        if axis == 0 and call.kernel == (1, 1) and call.strides[1] == 1 and not padded:
            call = replace(call, strides=(1, 1))
        return super().reads(call, axis)


@bug(
    "conv-bias-per-channel-block",
    "The 1x1 path works through input channels 16 at a time and adds the bias in every pass.",
    "the bias added more than once, or more than 16 input channels",
    conv((1, 20, 3, 3), (4, 20, 1, 1), (4,)),
)
class BiasPerChannelBlock(Conv):
    def output(self, call: WindowCall) -> Array:
        if call.bias is not None and call.kernel == (1, 1):
            call = replace(call, bias=call.bias * f32(-(-call.channels // 16)))
        return super().output(call)


@bug(
    "conv-depthwise-multiplier-order",
    "In a depthwise convolution with several filters for each channel, filter f reads channel "
    "f modulo channels; it is f divided by the filters of a channel.",
    "which input channel (group) a filter reads, depthwise with a multiplier",
    conv((1, 3, 4, 4), (6, 1, 3, 3), group=3),
)
class DepthwiseMultiplierOrder(Conv):
    def sum(self, call: WindowCall) -> Array:
        if not call.is_depthwise or call.filters == 1:
            return super().sum(call)
        n, groups, filters = len(call.x), call.groups, call.filters
        channels = np.arange(groups * filters) % groups
        w = call.w.reshape(groups * filters, 1, 1, *call.kernel)
        y = super().sum(replace(call, x=call.x[:, channels], w=w))
        return y.reshape(n, groups, filters, *call.out)


@bug(
    "conv-depthwise-bottom-clamped",
    "The depthwise 3x3 stride 2 kernel clamps the row pointer at the last row, so a window that "
    "goes into the bottom padding reads the last row again in place of zeros.",
    "bottom padding, or rows behind the image, in depthwise 3x3 at stride 2",
    conv((1, 4, 7, 6), (4, 1, 3, 3), group=4, strides=[2, 2], pads=[1, 1, 1, 1]),
)
class DepthwiseBottomClamped(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        rows = super().reads(call, axis)
        is_path = call.is_depthwise and call.kernel == (3, 3) and call.strides == (2, 2)
        return np.minimum(rows, call.size[0] - 1) if is_path and axis == 0 else rows


@bug(
    "conv-strided-dilation-of-rows",
    "im2col for strides above 1 steps from tap to tap in a row by the dilation of rows.",
    "dilations exchanged between axes, where strides are above 1",
    conv((1, 1, 8, 9), (2, 1, 2, 3), strides=[1, 2], dilations=[1, 3]),
)
class StridedDilationOfRows(Conv):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.strides[1] > 1:
            call = replace(call, dilations=(call.dilations[0], call.dilations[0]))
        return super().reads(call, axis)


@bug(
    "conv-gemm-both-tails",
    "The product behind im2col has 4 filters by 8 terms in a block. Behind full blocks, the last "
    "terms of the last filters have weights packed as zeros.",
    "the last filters (modulo 4), or the last terms (channels times kernel modulo 8)",
    conv((1, 2, 5, 5), (6, 2, 3, 3)),
)
class GemmBothTails(Conv):
    def sum(self, call: WindowCall) -> Array:
        weights = call.w.reshape(call.groups, call.filters, -1).copy()
        if call.filters > 4 and weights.shape[2] > 8 and call.kernel != (1, 1):
            weights[:, call.filters // 4 * 4 :, weights.shape[2] // 8 * 8 :] = 0
        return super().sum(replace(call, w=weights.reshape(call.w.shape)))


@bug(
    "conv-group-bias-of-first",
    "A convolution in groups (not depthwise) calls the plain kernel for each group and gives it "
    "the same pointer to the bias: all groups have that of the first.",
    "which bias a group takes",
    conv((1, 4, 3, 3), (4, 2, 2, 2), (4,), group=2),
)
class GroupBiasOfFirst(Conv):
    def output(self, call: WindowCall) -> Array:
        if call.bias is not None and call.groups > 1 and not call.is_depthwise:
            call = replace(call, bias=np.broadcast_to(call.bias[:1], call.bias.shape))
        return super().output(call)


@bug(
    "conv-group-input-offset",
    "Group g reads input channels from g times the filters of a group, not the channels of one; "
    "it shows where these differ.",
    "which input channels a group reads",
    conv((1, 4, 4, 4), (6, 2, 3, 3), group=2),
)
class GroupInputOffset(Conv):
    def sum(self, call: WindowCall) -> Array:
        if call.groups > 1 and not call.is_depthwise:
            flat = call.x.reshape(len(call.x), -1, *call.size)
            first = np.arange(call.groups)[:, None] * call.filters
            read = (first + np.arange(call.channels)) % flat.shape[1]
            call = replace(call, x=flat[:, read])
        return super().sum(call)


@bug(
    "conv-channel-rest-of-four",
    "With more than 8 input channels, what is left over after blocks of 4 is done by a scalar "
    "step that runs once: of 2 or 3 channels left, the others are dropped. Not in the 1x1 path.",
    "the last input channels, or their number modulo 4",
    conv((1, 11, 4, 4), (2, 11, 2, 2)),
)
class ChannelRestOfFour(Conv):
    def sum(self, call: WindowCall) -> Array:
        if call.channels > 8 and call.kernel != (1, 1):
            call = call.of_channels(0, min(call.channels, call.channels // 4 * 4 + 1))
        return super().sum(call)


@bug(
    "conv-idle-lanes-spread-infinity",
    "Channels lie in blocks of 8 (NC8HW8). Idle lanes of the last block still hold the channels of "
    "the block before, times weights of 0: an infinity there makes NaN.",
    "infinities (or NaN) with channels that 8 does not divide",
    conv((1, 10, 4, 4), (2, 10, 1, 1), data="special+signs+signs"),
)
class IdleLanesSpreadInfinity(Conv):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        full, rest = call.channels // 8 * 8, call.channels % 8
        if full and rest:
            idle = call.of_channels(full - 8 + rest, full)
            y = y + super().sum(replace(idle, w=np.zeros_like(idle.w)))
        return y


@bug(
    "conv-right-padding-overread",
    "Rows are copied with the left padding between them, which serves as right padding of the row "
    "above. Where the right one is wider, and the stride 1, windows read on into the next row.",
    "right padding wider than left padding, or the last columns there",
    conv((1, 2, 4, 5), (2, 2, 1, 3), pads=[0, 0, 0, 2]),
)
class RightPaddingOverread(Conv):
    def sum(self, call: WindowCall) -> Array:
        left, right = call.begin[1], call.end[1]
        if right > left and call.strides[1] == 1 and call.kernel[1] > 1:
            gap = np.zeros((*call.x.shape[:-1], left), f32)
            below = np.roll(call.x, -1, axis=3)[..., : right - left]
            below[..., -1, :] = 0
            call = replace(call, x=np.concatenate([call.x, gap, below], axis=4))
        return super().sum(call)


@bug(
    "conv-plane-offset-in-16-bits",
    "The 1x1 path keeps the offset within a plane in 16 bits: behind 65536 elements the plane is "
    "read from its beginning again.",
    "planes of more than 65536 elements, or elements behind these",
    conv((1, 1, 2, 32900), (1, 1, 1, 1)),
)
class PlaneOffsetIn16Bits(Conv):
    def sum(self, call: WindowCall) -> Array:
        if call.kernel == (1, 1):
            plane = np.arange(call.size[0] * call.size[1]) % (1 << 16)
            x = call.x.reshape(*call.x.shape[:3], -1)[..., plane]
            call = replace(call, x=x.reshape(call.x.shape))
        return super().sum(call)


@bug(
    "conv-partial-sums-in-f16",
    "Input channels are worked through 32 at a time, and partial sums wait in f16 in between.",
    "a narrow accumulator (f16), or more than 32 input channels",
    conv((1, 40, 3, 3), (2, 40, 2, 2), data="fractions"),
)
class PartialSumsInF16(Conv):
    def sum(self, call: WindowCall) -> Array:
        total = super().sum(call.of_channels(0, 32))
        for first in range(32, call.channels, 32):
            kept = total.astype(f16).astype(f32)
            total = kept + super().sum(call.of_channels(first, first + 32))
        return total


@bug(
    "conv-same-lower-strided",
    "With a stride above 1, SAME_LOWER pads as SAME_UPPER does: an odd pad is at the end.",
    "auto_pad SAME_LOWER taken for SAME_UPPER",
    conv((1, 1, 5, 6), (1, 1, 3, 3), auto_pad="SAME_LOWER", strides=[2, 2]),
)
class SameLowerStrided(Conv):
    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        call = super().call(x, w, bias, attributes)
        if call.auto_pad == "SAME_LOWER" and max(call.strides) > 1:
            call = replace(call, begin=call.end, end=call.begin)
        return call


@bug(
    "conv-same-undilated",
    "The padding of SAME_UPPER and SAME_LOWER is computed from the kernel without its dilation, "
    "so dilated windows begin too far right.",
    "auto_pad SAME with dilations ignored",
    conv((1, 1, 7, 7), (1, 1, 3, 3), auto_pad="SAME_UPPER", dilations=[2, 2]),
)
class SameUndilated(Conv):
    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        call = super().call(x, w, bias, attributes)
        if call.auto_pad.startswith("SAME") and max(call.dilations) > 1:
            undilated = super().call(x, w, bias, {**attributes, "dilations": [1, 1]})
            call = replace(call, begin=undilated.begin)
        return call


@bug(
    "conv-cached-windows",
    "Tables of what windows read are kept by the shapes and strides of a call. A later call of the "
    "same shapes with other pads or dilations gets the earlier tables.",
    "something kept from an earlier call (a cache of shapes)",
    conv((1, 1, 4, 4), (1, 1, 3, 3), pads=[1, 1, 0, 0]),
    conv((1, 1, 4, 4), (1, 1, 3, 3), pads=[0, 0, 1, 1]),
)
class CachedWindows(Conv):
    def __init__(self) -> None:
        self.tables: dict[Any, NDArray[np.int64]] = {}

    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        key = (axis, call.x.shape, call.w.shape, call.strides, call.out)
        return self.tables.setdefault(key, super().reads(call, axis))


# -------------------------------------------------------------------------------- ConvTranspose


@bug(
    "deconv-output-padding-is-empty",
    "Columns that output_padding adds are filled with the bias alone, though a kernel wider than "
    "the stride reaches them.",
    "output_padding, or the last columns with it",
    transposed((1, 2, 3, 3), (2, 2, 3, 4), strides=[2, 2], output_padding=[0, 1], pads=[1] * 4),
)
class OutputPaddingIsEmpty(ConvTranspose):
    def sum(self, call: WindowCall) -> Array:
        y = super().sum(call)
        added = (call.attributes.get("output_padding") or (0, 0))[1]
        if added and call.kernel[1] > call.strides[1]:
            y[..., -added:] = 0
        return y


@bug(
    "deconv-cropped-evenly",
    "Where the stride is above 1, the result is cropped by the mean of both pads at each end.",
    "asymmetric pads, where the stride is above 1",
    transposed((1, 1, 4, 4), (1, 1, 3, 3), strides=[2, 2], pads=[0, 0, 2, 2]),
)
class CroppedEvenly(ConvTranspose):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.strides[axis] > 1 and call.attributes.get("pads"):
            top, left = ((b + e) // 2 for b, e in zip(call.begin, call.end, strict=True))
            call = replace(call, begin=(top, left))
        return super().reads(call, axis)


@bug(
    "deconv-phase-undilated",
    "Outputs are split into phases of the stride. Which taps a phase has is decided without the "
    "dilation, what they read with it.",
    "dilations with strides above 1",
    transposed((1, 1, 4, 4), (1, 1, 3, 3), strides=[2, 2], dilations=[2, 2]),
)
class PhaseUndilated(ConvTranspose):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        stride, dilation = call.strides[axis], call.dilations[axis]
        if stride == 1 or dilation == 1:
            return super().reads(call, axis)
        outputs, taps = np.arange(call.out[axis])[:, None], np.arange(call.kernel[axis])
        start = outputs + call.begin[axis]
        return np.where((start - taps) % stride == 0, (start - taps * dilation) // stride, -1)


@bug(
    "deconv-2x2-odd-pads",
    "The path for 2x2 at stride 2, whose windows do not overlap, takes the tap of an output from "
    "its own index, not from the index in the uncropped result: odd pads exchange the taps.",
    "odd pads (at the beginning), in 2x2 at stride 2",
    transposed((1, 2, 3, 3), (2, 1, 2, 2), strides=[2, 2], pads=[1, 0, 0, 0]),
)
class TwoByTwoOddPads(ConvTranspose):
    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        if call.kernel != (2, 2) or call.strides != (2, 2) or call.dilations != (1, 1):
            return super().reads(call, axis)
        outputs, taps = np.arange(call.out[axis])[:, None], np.arange(2)
        return np.where(outputs % 2 == taps, (outputs + call.begin[axis]) // 2, -1)


@bug(
    "deconv-group-filters-of-conv",
    "In groups with as many channels as filters, the weights of a group are taken as [filter, "
    "channel], as a convolution has them.",
    "filters and channels of the weights exchanged, in groups",
    transposed((1, 4, 3, 3), (4, 2, 2, 2), group=2),
)
class GroupFiltersOfConv(ConvTranspose):
    def sum(self, call: WindowCall) -> Array:
        if call.groups > 1 and call.channels == call.filters:
            call = replace(call, w=call.w.swapaxes(1, 2))
        return super().sum(call)


@bug(
    "deconv-output-shape-odd-pad",
    "With output_shape and no auto_pad, an odd number of pads has the larger part at the end.",
    "the odd pad of output_shape without auto_pad",
    transposed((1, 1, 3, 3), (1, 1, 3, 3), strides=[2, 2], output_shape=[6, 6]),
)
class OutputShapeOddPad(ConvTranspose):
    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        call = super().call(x, w, bias, attributes)
        if attributes.get("output_shape") and call.auto_pad == "NOTSET":
            call = replace(call, begin=call.end, end=call.begin)
        return call


@bug(
    "deconv-last-of-odd-rows",
    "col2im for a row stride above 1 takes input rows in pairs; of an odd number above 2 the last "
    "row is not added.",
    "the last input row, or an odd number of rows",
    transposed((1, 1, 3, 4), (1, 1, 3, 3), strides=[2, 1]),
)
class LastOfOddRows(ConvTranspose):
    def sum(self, call: WindowCall) -> Array:
        if call.strides[0] > 1 and call.size[0] > 2 and call.size[0] % 2:
            call = replace(call, x=call.x[:, :, :, :-1])
        return super().sum(call)


@bug(
    "deconv-rest-overwrites",
    "At stride 1 input channels are taken in blocks of 4. The step for those left over stores its "
    "sum in place of adding it: all full blocks are lost.",
    "input channels modulo 4, or the first channels (full blocks) lost",
    transposed((1, 6, 3, 3), (6, 2, 2, 2)),
)
class RestOverwrites(ConvTranspose):
    def sum(self, call: WindowCall) -> Array:
        if call.strides == (1, 1) and call.channels > 4 and call.channels % 4:
            call = call.of_channels(call.channels // 4 * 4, call.channels)
        return super().sum(call)


# --------------------------------------------------------------------------------------- MatMul


@bug(
    "matmul-batch-modulo",
    "The matrix of an operand is the number of the result's matrix modulo its own matrices. That "
    "is right where dimensions lack at the front, not where a later one is stretched.",
    "broadcasting of batches where a dimension that is not the first is 1",
    matmul((2, 1, 3, 4), (2, 3, 4, 2)),
)
class BatchModulo(MatMul):
    def matrices(self, call: ProductCall) -> Array:
        count = np.arange(len(call.a_of))
        return super().matrices(replace(call, a_of=count % len(call.a), b_of=count % len(call.b)))


@bug(
    "matmul-vector-inner-batch",
    "For a vector B the batch of A is counted by its last dimension only: with two dimensions of "
    "batch, all results repeat those of the first.",
    "B a vector and A with two dimensions of batch",
    matmul((2, 3, 4, 5), (5,)),
)
class VectorInnerBatch(MatMul):
    def matrices(self, call: ProductCall) -> Array:
        if call.b_is_vector and len(call.a_batch) > 1:
            call = replace(call, a_of=call.a_of % call.a_batch[-1])
        return super().matrices(call)


@bug(
    "matmul-last-three-terms",
    "With fewer than 8 columns K is unrolled by 4. Of three terms left over, the step for two "
    "begins at the first, not behind it: the first counts twice, the last is lost.",
    "K modulo 4 is 3, or the last terms of the sum",
    matmul((2, 7), (7, 3)),
)
class LastThreeTerms(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        depth, columns = b.shape[1:]
        if depth > 4 and depth % 4 == 3 and columns < 8:
            terms = [*range(depth - 1), depth - 3]
            a, b = a[..., terms], b[:, terms]
        return super().product(a, b)


@bug(
    "matmul-corner-of-tails",
    "Where the last rows (of blocks of 4) and the last columns (of blocks of 16) meet, what is "
    "stored is the row above.",
    "the last rows (modulo 4) and the last columns (modulo 16) together",
    matmul((6, 3), (3, 19)),
)
class CornerOfTails(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        y = super().product(a, b)
        rows, columns = y.shape[1:]
        row, column = rows // 4 * 4, columns // 16 * 16
        if 0 < row < rows and 0 < column < columns:
            y[:, row:, column:] = y[:, row - 1 : rows - 1, column:].copy()
        return y


@bug(
    "matmul-row-offset-in-16-bits",
    "The offset of a row of A within its matrix is kept in 16 bits: behind 65536 elements rows are "
    "read from the beginning of the matrix again.",
    "matrices A of more than 65536 elements, or their last rows",
    matmul((260, 256), (256, 1)),
)
class RowOffsetIn16Bits(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        offsets = np.arange(a.shape[1])[:, None] * a.shape[2] % (1 << 16) + np.arange(a.shape[2])
        flat = a.reshape(len(a), -1)
        return super().product(flat[:, offsets % flat.shape[1]], b)


@bug(
    "matmul-split-depth-in-f16",
    "A small result (up to 64 elements) of a long sum (K above 128) is split in two halves of K, "
    "and the halves are stored in f16 before they are added.",
    "a narrow accumulator (f16), or long sums of few results",
    matmul((2, 140), (140, 2), data="fractions"),
)
class SplitDepthInF16(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        depth = a.shape[2]
        if depth <= 128 or a.shape[1] * b.shape[2] > 64:
            return super().product(a, b)
        half = depth // 2
        first = super().product(a[..., :half], b[:, :half]).astype(f16)
        second = super().product(a[..., half:], b[:, half:]).astype(f16)
        return first.astype(f32) + second.astype(f32)


@bug(
    "matmul-skips-zeros",
    "With 8 columns or more, a term whose factor in A is 0 is skipped, so 0 times infinity or NaN "
    "adds nothing.",
    "0 times infinity or NaN (B's) lost",
    matmul((5, 3), (3, 9), data="whole+special"),
)
class SkipsZeros(MatMul):
    def product(self, a: Array, b: Array) -> Array:
        if b.shape[2] < 8:
            return super().product(a, b)
        total = np.zeros((len(a), a.shape[1], b.shape[2]), f32)
        for k in range(a.shape[2]):
            factor = a[:, :, k, None]
            total += np.where(factor == 0, f32(0), factor * b[:, k, None])
        return total


@bug(
    "matmul-row-times-first-matrix",
    "Products of a single row by matrices, both in batches, become calls that take a vector and "
    "the first matrix of B each time.",
    "A with one row, in batches: which matrix of B is taken",
    matmul((3, 1, 4), (3, 4, 2)),
)
class RowTimesFirstMatrix(MatMul):
    def matrices(self, call: ProductCall) -> Array:
        if call.a.shape[1] == 1 and len(call.a) > 1 and not call.b_is_vector:
            call = replace(call, b_of=np.zeros_like(call.b_of))
        return super().matrices(call)


# ----------------------------------------------------------------------------------------- Gemm


@bug(
    "gemm-alpha-scales-bias",
    "For a C of one dimension and beta 1 the accumulators begin with C, and alpha is applied to "
    "them at the end: C is scaled by alpha as well.",
    "alpha applied to C",
    gemm((2, 3), (3, 4), (4,), alpha=2.0),
)
class AlphaScalesBias(Gemm):
    def affine(self, call: AffineCall) -> Array:
        if call.c is not None and call.c.ndim == 1 and call.beta == 1:
            return call.alpha * super().affine(replace(call, alpha=f32(1)))
        return super().affine(call)


@bug(
    "gemm-column-bias-as-row",
    "Only the number of elements distinguishes a C of one column from one of one row: where the "
    "result is square, a column is added as a row.",
    "C of shape (M, 1) broadcast along the wrong axis, where M is N",
    gemm((3, 2), (2, 3), (3, 1)),
)
class ColumnBiasAsRow(Gemm):
    def affine(self, call: AffineCall) -> Array:
        rows, columns = call.a.shape[0], call.b.shape[1]
        if call.c is not None and call.c.shape == (rows, 1) and rows == columns:
            call = replace(call, c=call.c.T)
        return super().affine(call)


@bug(
    "gemm-both-transposed-stored-as-is",
    "With transA and transB the product of B and A is computed, the transposed result, and its "
    "elements are stored as they lie.",
    "transA and transB together: the result not transposed",
    gemm((3, 2), (4, 3), transA=1, transB=1),
)
class BothTransposedStoredAsIs(Gemm):
    def affine(self, call: AffineCall) -> Array:
        if not (call.trans_a and call.trans_b):
            return super().affine(call)
        product = self.product(call.a, call.b)
        scaled = call.alpha * product.T.reshape(product.shape)
        return scaled if call.c is None else scaled + call.beta * call.c


@bug(
    "gemm-beta-not-for-scalar",
    "A C of a single element goes into the epilogue as a constant, without beta.",
    "beta ignored, where C has a single element",
    gemm((2, 3), (3, 2), (1,), beta=0.5),
)
class BetaNotForScalar(Gemm):
    def affine(self, call: AffineCall) -> Array:
        if call.c is not None and call.c.size == 1:
            call = replace(call, beta=f32(1))
        return super().affine(call)


@bug(
    "gemm-bias-per-depth-block",
    "K is worked through 32 at a time, and each pass adds beta times C, which only the first may.",
    "C added more than once, or K above 32",
    gemm((2, 40), (40, 3), (3,)),
)
class BiasPerDepthBlock(Gemm):
    def affine(self, call: AffineCall) -> Array:
        passes = -(-call.a.shape[1] // 32)
        return super().affine(replace(call, beta=f32(call.beta * passes)))


@bug(
    "gemm-odd-depth-of-pairs",
    "A transposed A is packed in pairs of K. Where K is odd, and above 4, the partner of the last "
    "is the last again: it counts twice.",
    "odd K with transA, or the last term of the sum",
    gemm((5, 3), (5, 2), transA=1),
)
class OddDepthOfPairs(Gemm):
    def affine(self, call: AffineCall) -> Array:
        depth = call.a.shape[1]
        if call.trans_a and not call.trans_b and depth % 2 and depth > 4:
            terms = [*range(depth), depth - 1]
            call = replace(call, a=call.a[:, terms], b=call.b[terms])
        return super().affine(call)
