"""Bugs in the specialised paths of pooling kernels, on f32 images [N, C, H, W].

A fast kernel has loops of its own for 2x2 windows of stride 2, for 3x3 windows, for what is left
after whole vectors, and so on. Each bug is one mistake in one such path, and everything else is
right. Its docstring names the public kernel that it is modelled on, which does not have the bug.

BUGS maps a name to (operator id, run), as in the bank beside this file, whose geometry is used.
RIGHT maps a name to (operator id, run) of right versions: those that the bank lacks, and some that
work in float32 and in the order of such a path, which must not be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import bank
import numpy as np
from bank import (
    ADAPTIVE,
    ONNX,
    OPENVINO,
    TORCH,
    Array,
    Attributes,
    Axis,
    Best,
    Grid,
    Hooks,
    Inputs,
    Operator,
    Run,
    Tile,
)

INFINITY = np.float32(-np.inf)
Cell = tuple[int, int]
"""A row and a column, counted from the first element of a channel."""
Powers = Callable[[Array, Tile, Grid, int], Array]
"""The sum of |x|^p over one window, for each channel: [N, C]."""

RIGHT: dict[str, tuple[str, Run]] = {}
BUGS: dict[str, tuple[str, Run]] = {}


def entered(into: dict[str, tuple[str, Run]]) -> Callable[[str], Callable[[Operator], Operator]]:
    """A decorator that enters a function under its own name."""

    def of(operator: str) -> Callable[[Operator], Operator]:
        def enter(function: Operator) -> Operator:
            into[function.__name__] = (operator, bank.as_run(function))
            return function

        return enter

    return of


right, bug = entered(RIGHT), entered(BUGS)


# Which path is taken


def is_square(grid: Grid, kernel: int, stride: int) -> bool:
    """Whether both axes have this kernel and stride, without dilation."""
    return all((a.kernel, a.stride, a.dilation) == (kernel, stride, 1) for a in grid.axes)


def is_dense(grid: Grid) -> bool:
    """Whether no axis is dilated."""
    return all(axis.dilation == 1 for axis in grid.axes)


def has_pads(grid: Grid) -> bool:
    """Whether any side is padded."""
    return any(axis.begin or axis.end for axis in grid.axes)


# Memory


def load(data: Array, cell: Cell, outside: float) -> Array:
    """What a pointer finds in each channel: behind a row the next one, behind a channel the next.

    Before the tensor and behind it is ``outside``.
    """
    batch, channels, height, width = data.shape
    place = np.arange(batch * channels) * height * width + cell[0] * width + cell[1]
    found = (place >= 0) & (place < data.size)
    values = np.where(found, data.ravel()[np.where(found, place, 0)], np.float32(outside))
    return values.reshape(batch, channels)


def unbordered(grid: Grid, cells: Iterable[Cell]) -> list[Cell]:
    """Cells of the padded plane as cells of the data, without those in padding."""
    height, width = grid.axes
    moved = [(row - height.begin, col - width.begin) for row, col in cells]
    return [(y, x) for y, x in moved if 0 <= y < height.size and 0 <= x < width.size]


def window(tile: Tile) -> list[Cell]:
    """The cells of a window that lie on the data, in row-major order."""
    return [(row, col) for row in tile.rows for col in tile.cols]


def largest_of(data: Array, cells: Sequence[Cell]) -> Best:
    """The first of the largest elements of these cells; NaN counts as -inf."""
    if not cells:
        base = np.zeros(data.shape[:2], np.int64)
        return np.full(base.shape, INFINITY), base, base
    taps = np.stack([load(data, cell, INFINITY) for cell in cells], axis=2)
    taps = np.where(np.isnan(taps), INFINITY, taps)
    place = taps.argmax(axis=2)
    rows, cols = np.array(cells).T
    return np.take_along_axis(taps, place[:, :, None], axis=2)[:, :, 0], rows[place], cols[place]


def sum_of(data: Array, cells: Iterable[Cell]) -> Array:
    """The sum of these cells; outside of the tensor are zeros."""
    return sum(
        (load(data, cell, 0.0).astype(np.float64) for cell in cells), np.zeros(data.shape[:2])
    )


# Operators that the bank beside this file lacks


@right("AvgPool-16")
def avg_pool_16(inputs: Inputs, attributes: Attributes, hooks: Hooks = OPENVINO) -> list[Array]:
    """OpenVINO's AvgPool-16: AvgPool-1 with dilations and ceil_torch."""
    data = inputs[0]
    bank.check_image(data)
    bank.check_not_empty(data)
    if "exclude-pad" not in attributes:
        raise ValueError("exclude-pad is required")
    words = ("floor", "ceil", "ceil_torch")
    rounding = bank.read_word(attributes, "rounding_type", "floor", words)
    dilations = bank.read_ints(attributes, "dilations", 2, 1, 1)
    axes = bank.openvino_axes(data, attributes, dilations, hooks)
    only_pads = any(axis.span <= max(axis.begin, axis.end) for axis in axes)
    if bank.is_true(attributes["exclude-pad"]) and only_pads:
        raise ValueError("a window of padding only")
    grid = bank.make_grid(axes, rounding, attributes, hooks)
    return bank.slide_average(data, grid, attributes, hooks)


def add_powers(data: Array, tile: Tile, _grid: Grid, p: int) -> Array:
    """The sum of |x|^p over one window."""
    return (np.abs(bank.read_window(data, tile).astype(np.float64)) ** p).sum(axis=2)


def keep_every_window(axes: bank.Axes, rounding: str) -> bank.Lengths:
    """LpPool leaves no window out that ceil_mode adds."""
    return bank.count_both(axes, "ceil" if rounding == "ceil_torch" else rounding)


@right("onnx.LpPool-22")
def lp_pool_22(inputs: Inputs, attributes: Attributes, powers: Powers = add_powers) -> list[Array]:
    """ONNX's LpPool of opset 22."""
    data = inputs[0]
    bank.check_image(data)
    p = int(attributes.get("p", 2))
    if p < 1:
        raise ValueError(f"p is {p}")
    grid = bank.onnx_grid(data, attributes, replace(ONNX, lengths=keep_every_window))
    out = np.zeros(data.shape[:2] + grid.lengths, np.float32)
    with np.errstate(all="ignore"):
        for tile in bank.sliding_tiles(grid, bank.find_taps):
            if tile.count:
                out[:, :, *tile.at] = powers(data, tile, grid, p) ** (1 / p)
    return [out]


@right("torch.max_pool-2")
def torch_max_pool_2(inputs: Inputs, attributes: Attributes, hooks: Hooks = ONNX) -> list[Array]:
    """PyTorch's max_pool2d: values, and indices inside a channel."""
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
    return bank.slide_max(data, bank.make_grid((height, width), rounding, attributes, hooks), hooks)


@right("onnx.GlobalAveragePool-22")
def global_average_pool_22(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ONNX's GlobalAveragePool of opset 22."""
    bank.check_image(inputs[0])
    return bank.adaptive_avg_pool_8([inputs[0], np.array([1, 1])], attributes)


# Right, in float32 and in the order of a specialised path


def add_columns_first(data: Array, tile: Tile, _grid: Grid) -> Array:
    """The sum of one window in float32: of each column, then of these sums."""
    columns = data[:, :, tile.rows][:, :, :, tile.cols].sum(axis=2, dtype=np.float32)
    return columns.sum(axis=2, dtype=np.float32)


def add_in_raster_order(data: Array, tile: Tile, _grid: Grid) -> Array:
    """The sum of one window in float32, one element after the other."""
    return np.cumsum(bank.read_window(data, tile), axis=2, dtype=np.float32)[:, :, -1]


def times_reciprocal(attributes: Attributes) -> Hooks:
    """OpenVINO's average as a float32 sum times the float32 reciprocal of the divisor."""

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        scale = np.float32(1) / np.float32(bank.divide_openvino(tile, grid, attributes))
        return add_in_raster_order(data, tile, grid) * scale

    return replace(OPENVINO, total=total, divisor=lambda *_: 1)


@right("AvgPool-1")
def avg1_times_reciprocal(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """XNNPACK (src/f32-avgpool/9p8x-minmax-sse-c4.c) multiplies sums with a scale."""
    return bank.avg_pool_1(inputs, attributes, times_reciprocal(attributes))


@right("AvgPool-16")
def avg16_times_reciprocal(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """As avg1_times_reciprocal, with dilations."""
    return avg_pool_16(inputs, attributes, times_reciprocal(attributes))


@right("onnx.AveragePool-22")
def onnx_avg_columns_first(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ONNX Runtime (onnxruntime/core/mlas/lib/pooling.cpp) adds rows first, then columns."""
    return bank.onnx_average_pool_22(inputs, attributes, replace(ONNX, total=add_columns_first))


@right("torch.avg_pool-2")
def torch_avg_in_float32(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """PyTorch (aten/src/ATen/native/cpu/AvgPoolKernel.cpp) adds in the type of the data."""
    return bank.torch_avg_pool_2(inputs, attributes, replace(TORCH, total=add_in_raster_order))


@right("onnx.LpPool-22")
def lp_in_float32(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Arm Compute Library (src/core/NEON/kernels/NEPoolingLayerKernel.cpp) squares in float32."""

    def powers(data: Array, tile: Tile, grid: Grid, p: int) -> Array:
        sums = (np.abs(bank.read_window(data, tile)) ** np.float32(p)).sum(axis=2)
        return sums.astype(np.float32)

    return lp_pool_22(inputs, attributes, powers)


@right("AdaptiveAvgPool-8")
def adaptive_avg_in_float32(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ncnn (src/layer/pooling.cpp) adds in float32, one element after the other."""
    out = bank.adaptive_avg_pool_8(inputs, attributes)
    data = inputs[0]
    with np.errstate(all="ignore"):
        for tile in bank.adaptive_tiles(data, out[0].shape[2:], bank.adaptive_borders):
            taps = bank.read_window(data, tile)
            total = np.cumsum(taps, axis=2, dtype=np.float32)[:, :, -1]
            out[0][:, :, *tile.at] = total / np.float32(tile.count)
    return out


@right("onnx.GlobalAveragePool-22")
def global_avg_in_four_lanes(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Paddle Lite (lite/backends/arm/math/pooling.cc) adds in four lanes, then the rest."""
    out = global_average_pool_22(inputs, attributes)
    data = inputs[0]
    planes = data.reshape(*data.shape[:2], -1)
    area = planes.shape[2]
    with np.errstate(all="ignore"):
        lanes = planes[:, :, : area // 16 * 16].reshape(*data.shape[:2], -1, 4)
        total = lanes.sum(axis=2, dtype=np.float32).sum(axis=2, dtype=np.float32)
        for place in range(area // 16 * 16, area):
            total = total + planes[:, :, place]
        out[0][:, :, 0, 0] = total / np.float32(area)
    return out


# Bugs of ONNX MaxPool


@bug("onnx.MaxPool-22")
def onnx_max_2x2s2_odd_width(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ncnn, src/layer/arm/pooling_2x2.h, pooling2x2s2_max_neon.

    After a row of outputs the pointers move by one row, not by what is left of two rows, so an odd
    width shifts every later row by one element more.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        if not is_square(grid, 2, 2):
            return bank.pick_from_infinity(data, tile, grid)
        width = max(grid.axes[1].padded, 2 * grid.lengths[1])
        first = tile.at[0] * (2 * grid.lengths[1] + width) + 2 * tile.at[1]
        places = [first, first + 1, first + width, first + width + 1]
        return largest_of(data, unbordered(grid, [divmod(place, width) for place in places]))

    return bank.onnx_max_pool_22(inputs, attributes, replace(ONNX, pick=pick))


@bug("onnx.MaxPool-22")
def onnx_max_3x3s2_third_row_of_block(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ncnn, src/layer/arm/pooling_3x3.h, pooling3x3s2_max_neon.

    Four outputs at a time: the last of them takes its third element from the next block. In the
    third row vext gets the same block twice, so that element is the first of the block.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        row, col = tile.at
        if not is_square(grid, 3, 2) or col % 4 != 3:
            return bank.pick_from_infinity(data, tile, grid)
        cells = [(2 * row + i, 2 * col + j) for i in range(3) for j in range(3)]
        cells[-1] = (2 * row + 2, 2 * (col - 3))
        return largest_of(data, unbordered(grid, cells))

    return bank.onnx_max_pool_22(inputs, attributes, replace(ONNX, pick=pick))


@bug("onnx.MaxPool-22")
def onnx_max_rest_of_six_taps(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """XNNPACK, src/f32-maxpool/9p8x-minmax-sse-c4.c.

    After nine taps come passes of eight. The test whether a rest has a seventh tap is k < 6 for
    k <= 6, so a rest of six takes one more pointer, the first of the next output.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        height, width = grid.axes
        taps = height.kernel * width.kernel
        if not is_dense(grid) or taps <= 9 or (taps - 9) % 8 != 6:
            return bank.pick_from_infinity(data, tile, grid)
        next_column = width.start(tile.at[1]) + max(width.kernel, width.stride)
        extra = (max(height.start(tile.at[0]), 0), next_column)
        if tile.at[1] == grid.lengths[1] - 1 or not 0 <= next_column < width.size:
            return bank.pick_from_infinity(data, tile, grid)
        return largest_of(data, [*window(tile), extra])

    return bank.onnx_max_pool_22(inputs, attributes, replace(ONNX, pick=pick))


# Bugs of ONNX AveragePool


@bug("onnx.AveragePool-22")
def onnx_avg_stride_2_divisor_lags(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ONNX Runtime, onnxruntime/core/mlas/lib/pooling.cpp, MlasPool2DVectorKernel.

    Excluding padding, the divisor of each column comes from a vector of input positions. With
    stride 2 it advances by the two outputs stored, not by the four columns read.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        width = grid.axes[1]
        fast = is_dense(grid) and width.stride == 2
        if not fast or attributes.get("count_include_pad", 0):
            return bank.divide_onnx(tile, grid, attributes)
        start = tile.at[1] // 2 * 2 + tile.at[1] % 2 * 2
        end = min(start + width.kernel, width.begin + width.size)
        return max(1, (end - max(start, width.begin)) * len(tile.rows))

    return bank.onnx_average_pool_22(inputs, attributes, replace(ONNX, divisor=divisor))


@bug("onnx.AveragePool-22")
def onnx_avg_3x3s1_scales_transposed(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Arm Compute Library, a64_fp32_nhwc_avg_3x3_s1_output2x2_depthfirst/generic.cpp.

    Two rows and two columns of outputs at a time: excluding padding, the scale of row i and
    column j is kept as j * 2 + i, so two of the four outputs get each other's.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if not is_square(grid, 3, 1) or attributes.get("count_include_pad", 0):
            return bank.divide_onnx(tile, grid, attributes)
        row, col = tile.at
        height, width = grid.axes
        rows = bank.find_taps(height, row - row % 2 + col % 2)
        cols = bank.find_taps(width, col - col % 2 + row % 2)
        return max(1, len(rows) * len(cols))

    return bank.onnx_average_pool_22(inputs, attributes, replace(ONNX, divisor=divisor))


# Bugs of ONNX LpPool


@bug("onnx.LpPool-22")
def lp_7x7_eighth_column(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Arm Compute Library, src/core/NEON/kernels/NEPoolingLayerKernel.cpp, pooling7_f32_nchw, L2.

    Each row of the window is loaded as eight elements and the eighth set to zero. In the loop over
    the rows after the first that is forgotten, so their sums have an eighth column.
    """

    def powers(data: Array, tile: Tile, grid: Grid, p: int) -> Array:
        sums = add_powers(data, tile, grid, p)
        height, width = grid.axes
        col = width.start(tile.at[1]) + 7
        if p != 2 or not is_dense(grid) or height.kernel != 7 or width.kernel != 7:
            return sums
        if not 0 <= col < width.size:
            return sums
        rows = [row for row in tile.rows if row > height.start(tile.at[0])]
        return sums + (data[:, :, rows, col].astype(np.float64) ** 2).sum(axis=2)

    return lp_pool_22(inputs, attributes, powers)


@bug("onnx.LpPool-22")
def lp_rest_of_row_not_squared(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Arm Compute Library, src/core/NEON/kernels/NEPoolingLayerKernel.cpp, poolingMxN, L2.

    Windows other than 2x2, 3x3 and 7x7 are added in vectors of four columns; the loop for the
    columns left over adds the elements, not their squares.
    """

    def powers(data: Array, tile: Tile, grid: Grid, p: int) -> Array:
        height, width = grid.axes
        special = height.kernel == width.kernel and width.kernel in (2, 3, 7)
        if p != 2 or special or not is_dense(grid):
            return add_powers(data, tile, grid, p)
        rest = width.start(tile.at[1]) + width.kernel // 4 * 4
        taps = bank.read_window(data, tile).astype(np.float64)
        in_vectors = np.array([col < rest for _, col in window(tile)])
        return np.where(in_vectors, taps**2, taps).sum(axis=2)

    return lp_pool_22(inputs, attributes, powers)


# Bugs of PyTorch avg_pool2d


@bug("torch.avg_pool-2")
def torch_avg_channels_left_over(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """PyTorch, aten/src/ATen/native/cpu/AvgPoolKernel.cpp, channels last.

    Channels are done in vectors of eight; the loop for those left over divides by the size of the
    window with its padding, whatever count_include_pad and divisor_override say.
    """
    channels = inputs[0].shape[1] if inputs[0].ndim == 4 else 0
    left_over = np.arange(channels) >= channels // 8 * 8

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> Array:
        asked = bank.divide_torch(tile, grid, attributes)
        return np.where(left_over, bank.count_clipped(tile, grid), asked)

    # The hook gives one divisor for each channel, which numpy divides by as well as by one for all.
    return bank.torch_avg_pool_2(inputs, attributes, replace(TORCH, divisor=divisor))


@bug("torch.avg_pool-2")
def torch_avg_2x2s2_half_kept(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Paddle Lite, lite/backends/arm/math/pooling.cc, pooling2x2s2_avg.

    Vectors of four outputs are multiplied by a factor that is set before the loop over channels.
    The row that ceil_mode adds has one row of data and sets the factor to 1/2; nothing sets it
    back to 1/4, so it stays for all channels after the first.
    """
    out = bank.torch_avg_pool_2(inputs, attributes)
    data = inputs[0]
    grid = bank.torch_grid(data, attributes, TORCH)
    given = attributes.get("divisor_override") is not None
    adds_row = 2 * grid.lengths[0] > data.shape[2]
    if is_square(grid, 2, 2) and adds_row and not given and not has_pads(grid):
        batch, channels, height, width = out[0].shape
        planes = out[0].reshape(batch * channels, height, width)
        planes[1:, : data.shape[2] // 2, : width // 4 * 4] *= 2
    return out


# Bugs of PyTorch max_pool2d


@bug("torch.max_pool-2")
def torch_max_first_index_of_left_over(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """PyTorch, aten/src/ATen/native/cpu/MaxPoolKernel.cpp, compute_internal.

    The index starts as that of the window's first element. For the channels left over after
    vectors of eight the row is missing in it, which shows where nothing is above -inf.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = bank.pick_from_infinity(data, tile, grid)
        channels = data.shape[1]
        left_over = np.arange(channels) >= channels // 8 * 8
        return value, np.where(left_over & (value == INFINITY), 0, row), col

    return torch_max_pool_2(inputs, attributes, replace(ONNX, pick=pick))


@bug("torch.max_pool-2")
def torch_max_3x3s1p1_last_vector(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Paddle Lite, lite/backends/arm/math/pooling.cc, pooling3x3s1p1_max.

    The last outputs of a row are left to a loop that knows the right padding, even where whole
    vectors of four would do. Without that the last vector reads on into the next row.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        width = grid.lengths[1]
        padded_by_one = all(axis.begin == axis.end == 1 for axis in grid.axes)
        last = tile.at[1] == width - 1 and width % 4 == 0
        if not (is_square(grid, 3, 1) and padded_by_one and last):
            return bank.pick_from_infinity(data, tile, grid)
        cols = [*tile.cols, grid.axes[1].size]
        return largest_of(data, [(row, col) for row in tile.rows for col in cols])

    return torch_max_pool_2(inputs, attributes, replace(ONNX, pick=pick))


# Bugs of AvgPool-1 and AvgPool-16


@bug("AvgPool-1")
def avg1_right_pad_before_last_block(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """oneDNN, src/cpu/x64/jit_uni_pool_kernel.cpp, generate.

    A row is done in blocks of twelve outputs and a rest. Where there is a rest, right padding that
    reaches into the last whole block is forgotten: windows read on into the next row, and divide
    as if they were inside.
    """

    def overhang(tile: Tile, grid: Grid) -> int:
        width, length = grid.axes[1], grid.lengths[1]
        whole = length // 12 * 12
        if whole == length or not whole - 12 <= tile.at[1] < whole:
            return 0
        return max(0, width.start(tile.at[1]) + width.kernel - width.size)

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        width, last = grid.axes[1].size, data.shape[2] - 1
        cols = range(width, width + overhang(tile, grid))
        extra = [(row, col) for row in tile.rows for col in cols if row < last]
        return bank.add_window(data, tile, grid) + sum_of(data, extra)

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if bank.is_true(attributes["exclude-pad"]):
            return tile.count + len(tile.rows) * overhang(tile, grid)
        return bank.divide_openvino(tile, grid, attributes)

    return bank.avg_pool_1(inputs, attributes, replace(OPENVINO, total=total, divisor=divisor))


@bug("AvgPool-1")
def avg1_column_window_ignores_stride(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ONNX Runtime, onnxruntime/core/mlas/lib/pooling.cpp, MlasPool2DVectorKernel.

    Rows are added into a buffer first. For windows one column wide a path of their own copies the
    buffer to the output, without regard to a stride of two columns.
    """

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        width = grid.axes[1]
        if width.kernel == 1 and width.stride == 2 and not width.begin and not width.end:
            tile = replace(tile, cols=[tile.at[1]])
        return bank.add_window(data, tile, grid)

    return bank.avg_pool_1(inputs, attributes, replace(OPENVINO, total=total))


@bug("AvgPool-16")
def avg16_dilated_3x3_inside_too_far(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """MNN, source/backend/cpu/CPUPool.cpp, poolingAvg, with dilations added.

    Windows inside of the data are done without tests. For dilated 3x3 windows inside is still
    judged by three rows and columns, so some read behind the row or the channel, and divide by 9.
    """

    def inside(axis: Axis, step: int) -> bool:
        return axis.start(step) >= 0 and axis.start(step) + 3 <= axis.size

    def fast(tile: Tile, grid: Grid) -> bool:
        square = all(axis.kernel == 3 for axis in grid.axes) and not is_dense(grid)
        return square and all(map(inside, grid.axes, tile.at))

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        if not fast(tile, grid):
            return bank.add_window(data, tile, grid)
        starts = [axis.start(step) for axis, step in zip(grid.axes, tile.at, strict=True)]
        rows, cols = (
            [start + i * axis.dilation for i in range(3)]
            for axis, start in zip(grid.axes, starts, strict=True)
        )
        return sum_of(data, [(row, col) for row in rows for col in cols])

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        return 9 if fast(tile, grid) else bank.divide_openvino(tile, grid, attributes)

    return avg_pool_16(inputs, attributes, replace(OPENVINO, total=total, divisor=divisor))


# Bugs of MaxPool-14


@bug("MaxPool-14")
def max14_long_rows_forget_left_pad(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """oneDNN, src/cpu/x64/jit_uni_pool_kernel.cpp, process_oi.

    A row is done in blocks of sixteen outputs. Behind the first block the input moves on by
    sixteen strides, not less the left padding, so all later windows start too far to the right.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        width = grid.axes[1]
        if is_dense(grid) and tile.at[1] >= 16:
            cols = [col + width.begin for col in tile.cols if col + width.begin < width.size]
            tile = replace(tile, cols=cols)
        return bank.pick_from_lowest(data, tile, grid)

    return bank.max_pool_14(inputs, attributes, replace(OPENVINO, pick=pick))


@bug("MaxPool-14")
def max14_3x3s2_top_pad_for_both(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Paddle Lite, lite/kernels/arm/pool_compute.cc, the choice of pooling3x3s2p1_max.

    The path is taken for a top padding of 1 without a test that the left padding is the same, and
    starts each row one column before the data.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        height, width = grid.axes
        if is_square(grid, 3, 2) and height.begin == 1:
            start = 2 * tile.at[1] - 1
            cols = [col for col in range(start, start + 3) if 0 <= col < width.size]
            tile = replace(tile, cols=cols)
        return bank.pick_from_lowest(data, tile, grid)

    return bank.max_pool_14(inputs, attributes, replace(OPENVINO, pick=pick))


# Bugs of adaptive average pooling


@bug("AdaptiveAvgPool-8")
def adaptive_avg_same_width_first_height(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ncnn, src/layer/pooling.cpp, adaptive, with a path for an output as wide as the input.

    Windows are one column wide, so only rows are added. How many was computed once, for the first
    row of outputs, and all others divide by it.
    """
    out = bank.adaptive_avg_pool_8(inputs, attributes)
    height, width = inputs[0].shape[2:]
    rows, cols = out[0].shape[2:]
    if rows and cols == width:
        borders = [bank.adaptive_borders(row, height, rows) for row in range(rows)]
        first = borders[0][1]
        for row, (start, end) in enumerate(borders):
            if end - start != first:
                out[0][:, :, row] *= np.float32(end - start) / np.float32(first)
    return out


@bug("AdaptiveAvgPool-8")
def adaptive_avg_divisible_height_only(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """PyTorch, aten/src/ATen/native/mkldnn/Pooling.cpp, adaptive average pooling.

    Where the output's lengths divide the input's, this is average pooling whose kernel and stride
    are the quotients. Whether they divide was tested for the height alone.
    """
    data, size = inputs
    bank.check_image(data)
    lengths = bank.read_output_size(size)
    if 0 in lengths or data.shape[2] % lengths[0] or data.shape[3] < lengths[1]:
        return bank.adaptive_avg_pool_8(inputs, attributes)

    def borders(step: int, size: int, length: int) -> tuple[int, int]:
        return step * (size // length), (step + 1) * (size // length)

    return bank.adaptive_avg_pool_8(inputs, attributes, replace(ADAPTIVE, borders=borders))


# Bugs of ONNX GlobalAveragePool


@bug("onnx.GlobalAveragePool-22")
def global_avg_rest_of_six_pixels(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """XNNPACK, src/f32-gavgpool/7p7x-minmax-sse-c4.c, channels last.

    Pixels are added in passes of seven. The test whether a rest has a seventh pixel is rows < 6
    for rows <= 6, so a rest of six adds the first pixel of the next image.
    """
    out = global_average_pool_22(inputs, attributes)
    data = inputs[0]
    area = data.shape[2] * data.shape[3]
    if area > 7 and area % 7 == 6:
        with np.errstate(all="ignore"):
            out[0][:-1, :, 0, 0] += data[1:, :, 0, 0] / np.float32(area)
    return out


@bug("onnx.GlobalAveragePool-22")
def global_avg_rest_read_too_far(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Paddle Lite, lite/backends/arm/math/pooling.cc, pooling_global_avg.

    Sixteen elements are loaded ahead. The pointer is not taken back by them before the loop for
    what is left, which so reads from the next channel.
    """
    out = global_average_pool_22(inputs, attributes)
    data = inputs[0]
    height, width = data.shape[2:]
    area = height * width
    whole = area // 16 * 16
    if whole:
        read = [divmod(place, width) for place in range(whole)]
        rest = [divmod(place + 16, width) for place in range(whole, area)]
        with np.errstate(all="ignore"):
            out[0][:, :, 0, 0] = sum_of(data, read + rest) / area
    return out
