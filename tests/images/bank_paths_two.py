"""Bugs inside the specialised paths of pooling kernels, on f32 images [N, C, H, W].

Each bug is modelled on a public kernel that has such a path, named in its docstring by repository
and file, and was written without sight of the catalogue of mutants or of the suite. It is right
wherever its path is not taken. BUGS maps a name to a Bug: its operator, its run function, a case
that takes the path and shows the bug, and one beside the path that does not. RIGHT has the
operators that the other bank lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import bank
import numpy as np
from bank import (
    ADAPTIVE,
    ONNX,
    OPENVINO,
    TORCH,
    Array,
    Attributes,
    Axes,
    Axis,
    Best,
    Grid,
    Hooks,
    Inputs,
    Operator,
    Run,
    Tile,
    as_run,
)

# Operators that the other bank lacks


def avg_pool_16(inputs: Inputs, attributes: Attributes, hooks: Hooks = OPENVINO) -> list[Array]:
    """OpenVINO's AvgPool-16: AvgPool-1 with dilations and ceil_torch."""
    data = inputs[0]
    bank.check_image(data)
    bank.check_not_empty(data)
    if "exclude-pad" not in attributes:
        raise ValueError("exclude-pad is required")
    known = ("floor", "ceil", "ceil_torch")
    rounding = bank.read_word(attributes, "rounding_type", "floor", known)
    dilations = bank.read_ints(attributes, "dilations", 2, 1, 1)
    axes = bank.openvino_axes(data, attributes, dilations, hooks)
    only_pads = any(axis.span <= max(axis.begin, axis.end) for axis in axes)
    if bank.is_true(attributes["exclude-pad"]) and only_pads:
        raise ValueError("a window of padding only")
    grid = bank.make_grid(axes, rounding, attributes, hooks)
    return bank.slide_average(data, grid, attributes, hooks)


def onnx_lp_pool_22(inputs: Inputs, attributes: Attributes, hooks: Hooks = ONNX) -> list[Array]:
    """ONNX's LpPool of opset 22; the hook `total` adds up the powers."""
    data = inputs[0]
    bank.check_image(data)
    p = attributes.get("p", 2)
    if p < 1:
        raise ValueError(f"p is {p}")
    grid = bank.onnx_grid(data, attributes, hooks)
    out = np.zeros(data.shape[:2] + grid.lengths, np.float32)
    with np.errstate(all="ignore"):
        powers = np.abs(data.astype(np.float64)) ** p
        for tile in bank.sliding_tiles(grid, hooks.taps):
            out[:, :, *tile.at] = hooks.total(powers, tile, grid) ** (1 / p)
    return [out]


def torch_max_pool_2(inputs: Inputs, attributes: Attributes, hooks: Hooks = ONNX) -> list[Array]:
    """PyTorch's max_pool2d with return_indices."""
    data = inputs[0]
    bank.check_image(data)
    if 0 in data.shape[1:] or "kernel_size" not in attributes:
        raise ValueError(f"shape {data.shape}, attributes {attributes}")
    kernel = bank.read_pair(attributes["kernel_size"], "kernel_size", 1)
    stride = attributes.get("stride")
    strides = kernel if stride is None or stride == [] else bank.read_pair(stride, "stride", 1)
    pads = bank.read_pair(attributes.get("padding", 0), "padding", 0)
    dilations = bank.read_pair(attributes.get("dilation", 1), "dilation", 1)
    if any(2 * pad > length for pad, length in zip(pads, kernel, strict=True)):
        raise ValueError(f"padding {pads} above half of the kernel {kernel}")
    rows = zip(data.shape[2:], kernel, strides, dilations, pads, pads, strict=True)
    height, width = (Axis(*row) for row in rows)
    bank.check_fit((height, width))
    rounding = "ceil_torch" if bank.ceil_mode(attributes) else "floor"
    grid = bank.make_grid((height, width), rounding, attributes, hooks)
    return bank.slide_max(data, grid, hooks)


def onnx_global_average_pool_22(inputs: Inputs, _attributes: Attributes) -> list[Array]:
    """ONNX's GlobalAveragePool of opset 22."""
    return bank.adaptive_avg_pool_8([inputs[0], np.array([1, 1])], {})


def onnx_global_max_pool_22(inputs: Inputs, _attributes: Attributes) -> list[Array]:
    """ONNX's GlobalMaxPool of opset 22."""
    return bank.adaptive_max_pool_8([inputs[0], np.array([1, 1])], {})[:1]


RIGHT: dict[str, Run] = {
    "AvgPool-16": as_run(avg_pool_16),
    "onnx.LpPool-22": as_run(onnx_lp_pool_22),
    "torch.max_pool-2": as_run(torch_max_pool_2),
    "onnx.GlobalAveragePool-22": as_run(onnx_global_average_pool_22),
    "onnx.GlobalMaxPool-22": as_run(onnx_global_max_pool_22),
}


# The form of a bug


@dataclass(frozen=True)
class Case:
    """The shape of the data, the attributes, and the output size of an adaptive operator."""

    shape: tuple[int, int, int, int]
    attributes: Attributes
    output_size: tuple[int, int] | None = None

    def inputs(self) -> list[Array]:
        """Distinct numbers of both signs in random order, and the output size."""
        count = int(np.prod(self.shape))
        numbers = np.random.default_rng(0).permutation(count) - count // 2 + 0.25
        data = numbers.astype(np.float32).reshape(self.shape)
        sizes = [] if self.output_size is None else [np.array(self.output_size)]
        return [data, *sizes]


@dataclass(frozen=True)
class Bug:
    """A wrong operator, a case on its path that shows it, and a case beside the path."""

    operator: str
    run: Run
    on_path: Case
    beside: Case


def enter(
    bugs: dict[str, Bug], operator: str, on_path: Case, beside: Case
) -> Callable[[Operator], Operator]:
    """Enters a function into a bank, under its own name."""

    def entered(function: Operator) -> Operator:
        bugs[function.__name__] = Bug(operator, as_run(function), on_path, beside)
        return function

    return entered


BUGS: dict[str, Bug] = {}
bug = partial(enter, BUGS)


def case(*shape: int, output_size: tuple[int, int] | None = None, **attributes: Any) -> Case:
    """A case; exclude_pad stands for exclude-pad, which is no name in Python."""
    named = {
        name.replace("exclude_pad", "exclude-pad"): value for name, value in attributes.items()
    }
    batch, channels, height, width = shape
    return Case((batch, channels, height, width), named, output_size)


# Pieces of the paths


def is_kernel(grid: Grid, height: int, width: int) -> bool:
    """Whether the window has these sides and is not dilated."""
    sides = [(axis.kernel, axis.dilation) for axis in grid.axes]
    return sides == [(height, 1), (width, 1)]


def has_pads(axes: Axes) -> bool:
    return any(axis.begin or axis.end for axis in axes)


def count_taps(grid: Grid) -> int:
    """The taps of a full window, those in padding too."""
    return grid.axes[0].kernel * grid.axes[1].kernel


def number_taps(tile: Tile, grid: Grid) -> Array:
    """Which tap of the full window each element on the data is, in row-major order."""
    height, width = grid.axes
    down = (np.array(tile.rows, int) - height.start(tile.at[0])) // height.dilation
    right = (np.array(tile.cols, int) - width.start(tile.at[1])) // width.dilation
    return (down[:, None] * width.kernel + right).ravel()


def flat_planes(data: Array) -> Array:
    """Each channel as one row, [N, C, H * W]."""
    return data.reshape(*data.shape[:2], -1)


def largest_of(data: Array, kept: Array) -> tuple[Array, Array]:
    """The largest of the kept elements of each channel, and its flat position."""
    taps = flat_planes(data)[:, :, kept]
    place = np.where(np.isnan(taps), np.float32(-np.inf), taps).argmax(axis=2)
    value = np.take_along_axis(taps, place[:, :, None], axis=2)
    return value[..., None], kept[place][..., None, None]


# Windows of more than nine taps


@bug(
    "onnx.AveragePool-22",
    on_path=case(1, 5, 4, 5, kernel_shape=[2, 5]),
    beside=case(1, 5, 4, 5, kernel_shape=[3, 3]),
)
def onnx_avg_passes_lose_tail_channels(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """google/XNNPACK src/f32-avgpool/avgpool.c.in: nine taps a pass, four channels a vector.

    In the last pass the channels after the last full vector start from the zero buffer, not from
    what the passes before have stored.
    """

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        sums = bank.add_window(data, tile, grid)
        tail = data.shape[1] // 4 * 4
        in_last_pass = number_taps(tile, grid) >= (count_taps(grid) - 1) // 9 * 9
        taps = bank.read_window(data, tile)[:, tail:, in_last_pass]
        sums[:, tail:] = taps.sum(axis=2, dtype=np.float64)
        return sums

    return bank.onnx_average_pool_22(inputs, attributes, replace(ONNX, total=total))


@bug(
    "onnx.MaxPool-22",
    on_path=case(1, 4, 6, 6, kernel_shape=[4, 3]),
    beside=case(1, 4, 6, 6, kernel_shape=[3, 3]),
)
def onnx_max_passes_repeat_an_index(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """google/XNNPACK src/f32-argmaxpool/f32-argmaxpool-9p8x-neon-c4.c: nine taps a pass.

    Each further pass starts at the index of the last tap of the one before, where it should add 1.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = bank.pick_from_infinity(data, tile, grid)
        height, width = grid.axes
        down = (row - height.start(tile.at[0])) // height.dilation
        right = (col - width.start(tile.at[1])) // width.dilation
        tap = down * width.kernel + right
        tap -= tap // 9
        row = height.start(tile.at[0]) + tap // width.kernel * height.dilation
        col = width.start(tile.at[1]) + tap % width.kernel * width.dilation
        return value, row, col

    return bank.onnx_max_pool_22(inputs, attributes, replace(ONNX, pick=pick))


# Small square windows


@bug(
    "onnx.LpPool-22",
    on_path=case(1, 1, 4, 6, kernel_shape=[3, 3], strides=[1, 2]),
    beside=case(1, 1, 4, 6, kernel_shape=[3, 3], p=1),
)
def onnx_lp_3x3_adds_fourth_lane(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ARM-software/ComputeLibrary src/cpu/kernels/pool2d/neon/nchw/all.cpp: L2 of 3x3 windows.

    Rows are loaded four wide, and the fourth lane is not cleared before the sum across.
    """

    def total(powers: Array, tile: Tile, grid: Grid) -> Array:
        after = grid.axes[1].start(tile.at[1]) + 3
        if attributes.get("p", 2) == 2 and is_kernel(grid, 3, 3) and after < grid.axes[1].size:
            tile = replace(tile, cols=[*tile.cols, after])
        return bank.add_window(powers, tile, grid)

    return onnx_lp_pool_22(inputs, attributes, replace(ONNX, total=total))


@bug(
    "torch.avg_pool-2",
    on_path=case(1, 1, 5, 5, kernel_size=3, stride=2, padding=1, count_include_pad=False),
    beside=case(1, 1, 6, 6, kernel_size=3, stride=2, padding=1, count_include_pad=False),
)
def torch_avg_3x3_counts_end_pads(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ARM-software/ComputeLibrary src/cpu/kernels/pool2d/neon/nchw/all.cpp: averages of 3x3.

    The upper bound of the count includes the padding at the end, whether it is excluded or not.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        right = bank.divide_torch(tile, grid, attributes)
        excluded = not attributes.get("count_include_pad", True)
        if attributes.get("divisor_override") is None and excluded and is_kernel(grid, 3, 3):
            starts = [axis.start(step) for axis, step in zip(grid.axes, tile.at, strict=True)]
            ends = [
                min(start + 3, axis.size + axis.end)
                for axis, start in zip(grid.axes, starts, strict=True)
            ]
            return (ends[0] - max(starts[0], 0)) * (ends[1] - max(starts[1], 0))
        return right

    return bank.torch_avg_pool_2(inputs, attributes, replace(TORCH, divisor=divisor))


@bug(
    "MaxPool-14",
    on_path=case(1, 2, 4, 6, kernel=[2, 2], strides=[2, 2]),
    beside=case(1, 2, 4, 8, kernel=[2, 2], strides=[2, 2]),
)
def max14_2x2_index_takes_aligned_pitch(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ARM-software/ComputeLibrary src/cpu/kernels/pool2d/neon/fp32.cpp: 2x2 with indices, no pads.

    The index of the lower row adds the pitch of the buffer, rounded up to four elements, without
    taking off what the rounding added.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = bank.pick_from_lowest(data, tile, grid)
        if is_kernel(grid, 2, 2) and not has_pads(grid.axes):
            lower = row > grid.axes[0].start(tile.at[0])
            col = col + np.where(lower, -grid.axes[1].size % 4, 0)
        return value, row, col

    return bank.max_pool_14(inputs, attributes, replace(OPENVINO, pick=pick))


# Columns, rows and tiles


@bug(
    "onnx.LpPool-22",
    on_path=case(1, 1, 9, 2, kernel_shape=[3, 1], dilations=[2, 1]),
    beside=case(1, 1, 9, 2, kernel_shape=[3, 1]),
)
def onnx_lp_column_tile_lacks_dilated_halo(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ROCm/MIOpen src/kernels/MIOpenPooling.cl: tiles of four output rows in private memory.

    For columns k x 1 the tile holds as many input rows as undilated windows need; the last taps of
    a tile's last rows are 0.
    """

    def total(powers: Array, tile: Tile, grid: Grid) -> Array:
        height, width = grid.axes
        if width.kernel == 1 < height.kernel:
            first = tile.at[0] // 4 * 4
            end = height.start(first) + 3 * height.stride + height.kernel
            tile = replace(tile, rows=[row for row in tile.rows if row < end])
        return bank.add_window(powers, tile, grid)

    return onnx_lp_pool_22(inputs, attributes, replace(ONNX, total=total))


@bug(
    "onnx.MaxPool-22",
    on_path=case(1, 2, 1, 13, kernel_shape=[1, 3], strides=[1, 5]),
    beside=case(1, 2, 1, 13, kernel_shape=[1, 3], strides=[1, 3]),
)
def onnx_max_row_of_3_assumes_stride_3(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_maxpool1d_f32.c: 1x3, stride 3.

    The caller takes this path, for images of one row, where windows do not overlap: with a stride
    of 4 or more too, but there they still start at every third element.
    """

    def inner(axes: Axes, _attributes: Attributes) -> Axes:
        height, width = axes
        plain = height.size == height.kernel == 1 and not has_pads(axes)
        if plain and (width.kernel, width.dilation) == (3, 1) and width.stride > 3:
            return height, replace(width, stride=3)
        return axes

    return bank.onnx_max_pool_22(inputs, attributes, replace(ONNX, inner=inner))


LONG_ROW = {"auto_pad": "explicit", "kernel": [1, 3], "strides": [1, 1], "exclude_pad": True}


@bug(
    "AvgPool-16",
    on_path=case(1, 1, 1, 66, pads_begin=[0, 1], pads_end=[0, 1], **LONG_ROW),
    beside=case(1, 1, 1, 64, pads_begin=[0, 1], pads_end=[0, 1], **LONG_ROW),
)
def avg16_long_row_repeats_divisors(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """openvinotoolkit/openvino, pooling_gpu_blocked.cl of the GPU plugin: a block shares divisors.

    (src/plugins/intel_gpu/src/kernel_selector/cl_kernels.) For windows of one row, blocks of 64
    outputs: the divisors are computed for the first block of a row and kept for those after it.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if grid.axes[0].kernel == 1 and tile.at[1] >= 64:
            column = tile.at[1] % 64
            cols = bank.find_taps(grid.axes[1], column)
            tile = replace(tile, at=(tile.at[0], column), cols=cols)
        return max(1, bank.divide_openvino(tile, grid, attributes))

    return avg_pool_16(inputs, attributes, replace(OPENVINO, divisor=divisor))


# Padding and borders


@bug(
    "onnx.AveragePool-22",
    on_path=case(1, 1, 5, 5, kernel_shape=[3, 3], pads=[1, 0, 0, 0]),
    beside=case(1, 1, 5, 9, kernel_shape=[3, 3], pads=[1, 0, 0, 0], strides=[1, 3]),
)
def onnx_avg_clamps_top_before_end(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """microsoft/onnxruntime onnxruntime/core/mlas/lib/pooling.cpp: MlasPool2DVectorKernel.

    In the vector kernel, for horizontal strides of 1 and 2, the first row is moved from the padding
    to 0 before the end is computed from it, so windows at the top hold rows below them.
    """

    def moved(tile: Tile, grid: Grid) -> Tile:
        height, width = grid.axes
        vector = width.stride <= 2 and all(axis.dilation == 1 for axis in grid.axes)
        if vector and height.start(tile.at[0]) < 0:
            return replace(tile, rows=list(range(min(height.kernel, height.size))))
        return tile

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        return bank.add_window(data, moved(tile, grid), grid)

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if attributes.get("count_include_pad", 0):
            return bank.divide_onnx(tile, grid, attributes)
        return moved(tile, grid).count

    return bank.onnx_average_pool_22(
        inputs, attributes, replace(ONNX, total=total, divisor=divisor)
    )


@bug(
    "AvgPool-1",
    on_path=case(1, 2, 4, 5, kernel=[2, 2], strides=[1, 1], pads_end=[0, 1], exclude_pad=True),
    beside=case(1, 2, 4, 5, kernel=[2, 2], strides=[1, 1], exclude_pad=True),
)
def avg1_interior_one_column_too_wide(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """alibaba/MNN source/backend/cpu/CPUPool.hpp: poolingAvg's middle rectangle has no checks.

    Its right end is found with > instead of >=, so a window that overruns the data by one column
    adds the element stored after each row, and divides by the whole kernel.
    """

    def is_wide(tile: Tile, grid: Grid) -> bool:
        height, width = grid.axes
        start = width.start(tile.at[1])
        return (
            len(tile.rows) == height.kernel
            and start >= 0
            and start + width.kernel - 1 == width.size
        )

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        sums = bank.add_window(data, tile, grid)
        if is_wide(tile, grid):
            planes = data.reshape(-1, data.shape[2] * data.shape[3])
            stored = np.append(data.ravel(), np.float32(0))
            starts = np.arange(len(planes)) * planes.shape[1]
            for row in tile.rows:
                after = stored[starts + (row + 1) * data.shape[3]]
                sums = sums + after.reshape(data.shape[:2])
        return sums

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if is_wide(tile, grid):
            return count_taps(grid)
        return bank.divide_openvino(tile, grid, attributes)

    return bank.avg_pool_1(inputs, attributes, replace(OPENVINO, total=total, divisor=divisor))


UNEVEN = {"kernel": [3, 3], "strides": [2, 2], "exclude_pad": True}


@bug(
    "AvgPool-16",
    on_path=case(1, 1, 6, 6, auto_pad="same_upper", **UNEVEN),
    beside=case(1, 1, 5, 5, auto_pad="same_upper", **UNEVEN),
)
def avg16_uneven_pads_become_data(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """NVIDIA cuDNN, cudnnSetPooling2dDescriptor: a descriptor has one pad an axis.

    Where an axis has more padding at one end, the wrapper appends the rest to the data as zeros,
    which then count although padding is excluded.
    """

    def count(axis: Axis, step: int) -> int:
        common = min(axis.begin, axis.end)
        start = axis.start(step)
        positions = range(start, start + axis.span, axis.dilation)
        first, end = common - axis.begin, axis.size + axis.end - common
        return sum(first <= position < end for position in positions)

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if bank.is_true(attributes["exclude-pad"]):
            return count(grid.axes[0], tile.at[0]) * count(grid.axes[1], tile.at[1])
        return bank.divide_openvino(tile, grid, attributes)

    return avg_pool_16(inputs, attributes, replace(OPENVINO, divisor=divisor))


@bug(
    "torch.max_pool-2",
    on_path=case(1, 8, 7, 7, kernel_size=3, stride=1, dilation=2),
    beside=case(1, 9, 7, 7, kernel_size=3, stride=1, dilation=2),
)
def torch_max_channels_last_ignores_dilation(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch aten/src/ATen/native/cuda/DilatedMaxPool2d.cu: max_pool_forward_nhwc.

    The channels-last kernel, taken for multiples of eight channels, steps by 1 from the first tap
    to the last, not by the dilation.
    """
    if inputs[0].shape[1] % 8:
        return torch_max_pool_2(inputs, attributes)

    def taps(axis: Axis, step: int) -> list[int]:
        dilated = bank.find_taps(axis, step)
        end = min(axis.start(step) + axis.span, axis.size)
        return list(range(dilated[0], end)) if dilated else []

    return torch_max_pool_2(inputs, attributes, replace(ONNX, taps=taps))


@bug(
    "torch.max_pool-2",
    on_path=case(2, 3, 5, 5, kernel_size=2, ceil_mode=True),
    beside=case(2, 3, 5, 5, kernel_size=2, stride=1, ceil_mode=True),
)
def torch_max_disjoint_windows_overrun_zeros(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """tinygrad/tinygrad tinygrad/tensor.py: _pool's form for strides of at least the kernel.

    That form pads with zeros to a multiple of the stride and reshapes; what ceil_mode adds is left
    to it, so a window that overruns the padded data has zeros among its elements.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = bank.pick_from_infinity(data, tile, grid)
        disjoint = all(axis.dilation == 1 and axis.stride >= axis.kernel for axis in grid.axes)
        overruns = any(
            axis.start(step) + axis.span > axis.size + axis.end
            for axis, step in zip(grid.axes, tile.at, strict=True)
        )
        if disjoint and overruns:
            value = np.maximum(value, np.float32(0))
        return value, row, col

    return torch_max_pool_2(inputs, attributes, replace(ONNX, pick=pick))


# Later images


@bug(
    "AvgPool-1",
    on_path=case(3, 5, 3, 3, kernel=[2, 2], strides=[1, 1], exclude_pad=False),
    beside=case(3, 4, 3, 3, kernel=[2, 2], strides=[1, 1], exclude_pad=False),
)
def avg1_channel_blocks_of_other_images(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """alibaba/MNN source/backend/opencl/execution/cl/pooling_buf.cl: blocks of four channels.

    Block c of image b is stored at b + c * images and read at c + b * blocks, which is the same for
    one image, or for four channels at most.
    """
    data = inputs[0]
    bank.check_image(data)
    batch, channels, height, width = data.shape
    blocks = -(-channels // 4)
    padded = np.zeros((batch, blocks * 4, height, width), np.float32)
    padded[:, :channels] = data
    stored = padded.reshape(batch, blocks, 4, height, width).swapaxes(0, 1)
    read = np.ascontiguousarray(stored).reshape(padded.shape)[:, :channels]
    return bank.avg_pool_1([read], attributes)


# Adaptive and global pools


@bug(
    "AdaptiveAvgPool-8",
    on_path=case(1, 2, 6, 7, output_size=(3, 3)),
    beside=case(1, 2, 6, 9, output_size=(3, 3)),
)
def adaptive_avg_ratio_of_height_decides(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch torch/onnx/symbolic_opset9.py: adaptive pools become ones of fixed kernels.

    That is allowed where both sizes are multiples of the output's; only the height is tested.
    """
    data = inputs[0]
    bank.check_image(data)
    down, right = bank.read_output_size(inputs[1])
    fixed = down > 0 and data.shape[2] % down == 0 and 0 < right <= data.shape[3]

    def borders(step: int, size: int, length: int) -> tuple[int, int]:
        kernel = size // length
        return step * kernel, (step + 1) * kernel

    hooks = replace(ADAPTIVE, borders=borders) if fixed else ADAPTIVE
    return bank.adaptive_avg_pool_8(inputs, attributes, hooks)


@bug(
    "AdaptiveAvgPool-8",
    on_path=case(1, 4, 3, 5, output_size=(2, 3)),
    beside=case(1, 3, 3, 5, output_size=(2, 3)),
)
def adaptive_avg_channels_last_keeps_factor(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch aten/src/ATen/native/cuda/AdaptiveAveragePooling.cu, channels last.

    The factor 1 / area of adaptive_average_pool_nhwc, taken for multiples of four channels, is
    hoisted out of the loop over columns: a whole row is divided by its first window's area.
    """
    (out,) = bank.adaptive_avg_pool_8(inputs, attributes)
    data = inputs[0]
    if data.shape[1] % 4 == 0:
        width, length = data.shape[3], out.shape[3]
        spans = [bank.adaptive_borders(step, width, length) for step in range(length)]
        counts = np.array([end - start for start, end in spans])
        with np.errstate(all="ignore"):
            out = (out.astype(np.float64) * counts / counts[:1]).astype(np.float32)
    return [out]


@bug(
    "AdaptiveMaxPool-8",
    on_path=case(1, 1, 10, 10, output_size=(7, 7)),
    beside=case(1, 1, 14, 14, output_size=(7, 7)),
)
def adaptive_max_7x7_windows_do_not_overlap(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """apache/tvm include/tvm/topi/nn/pooling.h: start_index and end_index of adaptive pools.

    The schedule for 7x7 outputs ends a window where the next one starts, without the element that
    both hold where the sizes do not divide.
    """

    def borders(step: int, size: int, length: int) -> tuple[int, int]:
        start = step * size // length
        return start, max(start + 1, (step + 1) * size // length)

    classic = bank.read_output_size(inputs[1]) == (7, 7)
    hooks = replace(ADAPTIVE, borders=borders) if classic else ADAPTIVE
    return bank.adaptive_max_pool_8(inputs, attributes, hooks)


def survivors(lanes: int) -> set[int]:
    """The lanes whose elements are in the result of a reduction that halves their number."""
    held = [{lane} for lane in range(lanes)]
    half = lanes // 2
    while half:
        held = [held[lane] | held[lane + half] for lane in range(half)]
        half //= 2
    return held[0]


@bug(
    "AdaptiveMaxPool-8",
    on_path=case(1, 16, 9, 9, output_size=(1, 1)),
    beside=case(1, 16, 8, 8, output_size=(1, 1)),
)
def adaptive_max_1x1_halves_odd_lanes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """alibaba/MNN source/backend/opencl/execution/cl/pooling_buf.cl: global_pooling_buf.

    From 64 elements on, as many lanes as elements, 256 at most, reduce by halving; the number of
    lanes is no power of two any more, and an odd half loses its last lane.
    """
    values, indices = bank.adaptive_max_pool_8(inputs, attributes)
    data = inputs[0]
    area = data.shape[2] * data.shape[3]
    if bank.read_output_size(inputs[1]) == (1, 1) and area >= 64:
        lanes = min(area, 256)
        alive = sorted(survivors(lanes))
        kept = np.flatnonzero(np.isin(np.arange(area) % lanes, alive))
        values, positions = largest_of(data, kept)
        indices = positions.astype(indices.dtype)
    return [values, indices]


@bug(
    "onnx.GlobalMaxPool-22",
    on_path=case(1, 16, 20, 20),
    beside=case(1, 16, 16, 16),
)
def global_max_second_pass_is_the_last(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Tencent/ncnn src/layer/vulkan/shader/pooling_global_reduce_max_first.comp and its _last.

    The first pass leaves one result for eight elements; the last one, which takes 32 at most,
    follows at once, so more than 256 elements leave results unread.
    """
    bank.check_image(inputs[0])
    data = inputs[0]
    area = data.shape[2] * data.shape[3]
    if area <= 256:
        return onnx_global_max_pool_22(inputs, attributes)
    results = -(-area // 8)
    return [largest_of(data, np.flatnonzero(np.arange(area) % results < 32))[0]]


@bug(
    "onnx.GlobalAveragePool-22",
    on_path=case(1, 2, 13, 10),
    beside=case(1, 2, 16, 8),
)
def global_avg_rest_after_128_is_lost(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """alibaba/MNN source/backend/cuda/execution/PoolExecution.cu: global_avgpool_C8.

    128 threads add every 128th element, area / 128 times rounded down, not up.
    """
    bank.check_image(inputs[0])
    planes = flat_planes(inputs[0])
    area = planes.shape[2]
    if area < 128:
        return onnx_global_average_pool_22(inputs, attributes)
    with np.errstate(all="ignore"):
        sums = planes[:, :, : area // 128 * 128].sum(axis=2, dtype=np.float64)
        return [(sums / area).astype(np.float32)[..., None, None]]
