"""More bugs inside the specialised paths of pooling kernels, on f32 images [N, C, H, W].

Each bug is modelled on a public kernel that has such a path, named in its docstring by repository
and file, and was written without sight of the catalogue of mutants or of the suite. It is right
wherever its path is not taken. BUGS maps a name to a Bug, as in bank_paths_two, which has the form
and those right operators that the bank beside this file lacks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

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
    Inputs,
    Tile,
)
from bank_paths_two import (
    Bug,
    avg_pool_16,
    case,
    count_taps,
    enter,
    flat_planes,
    has_pads,
    is_kernel,
    largest_of,
    onnx_global_average_pool_22,
    onnx_global_max_pool_22,
    onnx_lp_pool_22,
    torch_max_pool_2,
)

BUGS: dict[str, Bug] = {}
bug = partial(enter, BUGS)


# Pieces of the paths


def is_dense(axes: Axes) -> bool:
    """Whether no axis is dilated."""
    return all(axis.dilation == 1 for axis in axes)


def strides_of(axes: Axes) -> tuple[int, int]:
    return axes[0].stride, axes[1].stride


def eights_inside(axis: Axis, length: int) -> dict[int, int]:
    """The outputs that are done eight at a time, where all eight windows lie inside of the data.

    It maps an output to its place among the eight.
    """
    places: dict[int, int] = {}
    first = 0
    while first < length:
        last = first + 7
        inside = axis.start(first) > 0 and axis.start(last) + axis.kernel < axis.size
        if last < length and inside:
            places.update((first + place, place) for place in range(8))
            first += 8
        else:
            first += 1
    return places


def tap_of(row: Array, col: Array, tile: Tile, grid: Grid) -> Array:
    """Which tap of the full window an element is, in row-major order."""
    height, width = grid.axes
    down = (row - height.start(tile.at[0])) // height.dilation
    right = (col - width.start(tile.at[1])) // width.dilation
    return down * width.kernel + right


# Bugs of ONNX MaxPool


@bug(
    "onnx.MaxPool-22",
    on_path=case(1, 1, 5, 24, kernel_shape=[2, 2], strides=[2, 2]),
    beside=case(1, 1, 5, 24, kernel_shape=[2, 2], strides=[2, 1]),
)
def onnx_max_stride_2_second_vector_too_near(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """opencv/opencv modules/dnn/src/layers/pooling_layer.cpp: eight outputs of a row at a time.

    With a horizontal stride of 2 each vector of four takes the even ones of eight elements. The
    second is loaded four elements behind the first, as with stride 1, not eight.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        height, width = grid.axes
        whole = len(tile.rows) == height.kernel and is_dense(grid.axes)
        if whole and width.stride == 2:
            place = eights_inside(width, grid.lengths[1]).get(tile.at[1], 0)
            if place >= 4:
                tile = replace(tile, cols=bank.find_taps(width, tile.at[1] - 2))
        return bank.pick_from_infinity(data, tile, grid)

    return bank.onnx_max_pool_22(inputs, attributes, replace(ONNX, pick=pick))


@bug(
    "onnx.MaxPool-22",
    on_path=case(1, 2, 3, 4, kernel_shape=[2, 2], storage_order=1),
    beside=case(1, 1, 3, 4, kernel_shape=[2, 2], storage_order=1),
)
def onnx_max_transposes_index_of_tensor(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """microsoft/onnxruntime onnxruntime/core/providers/cpu/nn/pool_functors.h: MaxPool2DTask.

    The branch for storage_order 1 transposes the index in the whole tensor, not that in a channel,
    to which the channel's offset is added.
    """
    if attributes.get("storage_order", 0) != 1:
        return bank.onnx_max_pool_22(inputs, attributes)
    values, indices = bank.onnx_max_pool_22(inputs, {**attributes, "storage_order": 0})
    height, width = inputs[0].shape[2:]
    return [values, indices % width * height + indices // width]


# Bugs of ONNX AveragePool


@bug(
    "onnx.AveragePool-22",
    on_path=case(1, 1, 6, 6, kernel_shape=[3, 3], pads=[0, 2, 0, 2]),
    beside=case(1, 1, 6, 6, kernel_shape=[3, 3], pads=[0, 1, 0, 1]),
)
def onnx_avg_border_shares_first_count(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """sonos/tract core/src/ops/cnn/patch_axis.rs and sumpool.rs: an axis is cut into zones.

    Excluding padding, the number of valid elements is found once a zone. Windows that reach into
    the padding at one end are one zone, whose first window counts for all of them.
    """

    def count(axis: Axis, step: int) -> int:
        def overruns(step: int) -> bool:
            return axis.start(step) + axis.span > axis.size

        first = step
        if axis.start(step) < 0:
            first = 0
        elif overruns(step):
            while overruns(first - 1) and axis.start(first - 1) >= 0:
                first -= 1
        return max(1, len(bank.find_taps(axis, first)))

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if attributes.get("count_include_pad", 0):
            return bank.divide_onnx(tile, grid, attributes)
        return count(grid.axes[0], tile.at[0]) * count(grid.axes[1], tile.at[1])

    return bank.onnx_average_pool_22(inputs, attributes, replace(ONNX, divisor=divisor))


@bug(
    "onnx.AveragePool-22",
    on_path=case(1, 1, 3, 40, kernel_shape=[2, 36]),
    beside=case(1, 1, 3, 40, kernel_shape=[2, 32]),
)
def onnx_avg_adds_32_columns_at_most(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """microsoft/onnxruntime onnxruntime/core/mlas/lib/pooling.cpp: MlasPool chooses a kernel.

    The vector kernels are for strides of 1 and 2 and for windows of 32 at most. Only the height is
    tested, and of wider windows the columns after the 32nd are left out of the sum.
    """

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        height, width = grid.axes
        matches = all(axis.kernel == axis.size for axis in grid.axes)
        is_global = matches and strides_of(grid.axes) == (1, 1) and not has_pads(grid.axes)
        vector = width.stride <= 2 and is_dense(grid.axes) and not is_global
        if vector and height.kernel <= 32 < width.kernel:
            end = width.start(tile.at[1]) + 32
            tile = replace(tile, cols=[col for col in tile.cols if col < end])
        return bank.add_window(data, tile, grid)

    return bank.onnx_average_pool_22(inputs, attributes, replace(ONNX, total=total))


# Bugs of ONNX LpPool


@bug(
    "onnx.LpPool-22",
    on_path=case(1, 5, 4, 4, kernel_shape=[2, 2], pads=[2, 2, 2, 2]),
    beside=case(1, 3, 4, 4, kernel_shape=[2, 2], pads=[2, 2, 2, 2]),
)
def onnx_lp_vector_root_of_nothing(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """ARM-software/ComputeLibrary src/cpu/kernels/pool2d/neon/fp32.cpp: channels last, L2.

    Four channels at a time the root of x is x times the reciprocal root of x, which is NaN for a
    window of zeros or of padding, and for an infinite sum. The channels left over take the root.
    """

    def total(powers: Array, tile: Tile, grid: Grid) -> Array:
        sums = bank.add_window(powers, tile, grid)
        if attributes.get("p", 2) == 2:
            vectors = sums[:, : powers.shape[1] // 4 * 4]
            vectors[(vectors == 0) | np.isinf(vectors)] = np.nan
        return sums

    return onnx_lp_pool_22(inputs, attributes, replace(ONNX, total=total))


@bug(
    "onnx.LpPool-22",
    on_path=case(1, 1, 5, 5, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    beside=case(1, 1, 6, 6, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
)
def onnx_lp_scales_up_a_clipped_average(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch torch/nn/functional.py: lp_pool2d is an average times the kernel's area.

    A window that ceil_mode adds overruns the padded data, and its average divides by less than
    that area, so that its sum comes out too large.
    """

    def total(powers: Array, tile: Tile, grid: Grid) -> Array:
        scale = count_taps(grid) / bank.count_clipped(tile, grid)
        return bank.add_window(powers, tile, grid) * scale

    return onnx_lp_pool_22(inputs, attributes, replace(ONNX, total=total))


# Bugs of AvgPool-1


@bug(
    "AvgPool-1",
    on_path=case(1, 8, 4, 4, kernel=[3, 3], strides=[1, 1], exclude_pad=False),
    beside=case(1, 7, 4, 4, kernel=[3, 3], strides=[1, 1], exclude_pad=False),
)
def avg1_packed_channels_take_estimate(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Tencent/ncnn src/layer/x86/pooling_x86.cpp: channels packed by eight.

    Their sums are multiplied with the area's reciprocal. It comes from the instruction that
    estimates one to twelve bits, and no step of Newton's follows.
    """
    channels = inputs[0].shape[1] if inputs[0].ndim == 4 else 0

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> float:
        right = bank.divide_openvino(tile, grid, attributes)
        if channels % 8:
            return right
        fraction, exponent = np.frexp(1 / right)
        return 1 / np.ldexp(np.floor(fraction * 2**12) / 2**12, exponent)

    return bank.avg_pool_1(inputs, attributes, replace(OPENVINO, divisor=divisor))


SPARSE = {"strides": [5, 5], "auto_pad": "same_upper", "exclude_pad": True}


@bug(
    "AvgPool-1",
    on_path=case(1, 1, 10, 10, kernel=[2, 2], **SPARSE),
    beside=case(1, 1, 10, 10, kernel=[5, 5], **SPARSE),
)
def avg1_same_padding_below_zero(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """tensorflow/tensorflow tensorflow/lite/kernels/padding.h: ComputePaddingWithOffset.

    Where strides are longer than the kernel, same padding can come out negative. It is not raised
    to 0, so that the first window starts behind the first element.
    """

    def moved(axis: Axis, auto_pad: str) -> Axis:
        windows = -(-axis.size // axis.stride)
        total = (windows - 1) * axis.stride + axis.kernel - axis.size
        if total >= 0:
            return axis
        half = -(-total // 2)
        return replace(axis, begin=half if auto_pad == "same_upper" else total - half)

    def inner(axes: Axes, attributes: Attributes) -> Axes:
        auto_pad = attributes.get("auto_pad", "explicit")
        if not auto_pad.startswith("same"):
            return axes
        return moved(axes[0], auto_pad), moved(axes[1], auto_pad)

    return bank.avg_pool_1(inputs, attributes, replace(OPENVINO, inner=inner))


# Bugs of AvgPool-16


TALL = {"kernel": [5, 3], "strides": [1, 1], "exclude_pad": True}


@bug(
    "AvgPool-16",
    on_path=case(1, 1, 3, 6, pads_begin=[2, 0], pads_end=[2, 0], **TALL),
    beside=case(1, 1, 6, 6, pads_begin=[2, 0], pads_end=[2, 0], **TALL),
)
def avg16_window_over_both_ends(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """uxlfoundation/oneDNN src/cpu/x64/jit_uni_pooling.cpp: ker_area_h of undilated windows.

    Excluding padding, a window's height loses its overflow at the top or at the bottom, the larger
    one. A window that is taller than the image has both.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        height = grid.axes[0]
        if not bank.is_true(attributes["exclude-pad"]) or not is_dense(grid.axes):
            return bank.divide_openvino(tile, grid, attributes)
        start = height.start(tile.at[0])
        top, bottom = max(0, -start), max(0, start + height.kernel - height.size)
        return max(1, (height.kernel - max(top, bottom)) * len(tile.cols))

    return avg_pool_16(inputs, attributes, replace(OPENVINO, divisor=divisor))


DILATED = {"kernel": [2, 2], "pads_begin": [1, 1], "pads_end": [1, 1], "dilations": [2, 2]}


@bug(
    "AvgPool-16",
    on_path=case(1, 1, 5, 5, strides=[1, 1], exclude_pad=True, **DILATED),
    beside=case(1, 1, 5, 5, strides=[2, 2], exclude_pad=True, **DILATED),
)
def avg16_space_to_batch_counts_pads(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """tensorflow/tensorflow tensorflow/python/ops/nn_ops.py: with_space_to_batch of pools.

    Dilated windows of stride 1 are undilated ones on every second element, say. The padding is
    put into these images as zeros first, so it counts although it is excluded.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if not is_dense(grid.axes) and strides_of(grid.axes) == (1, 1):
            return count_taps(grid)
        return bank.divide_openvino(tile, grid, attributes)

    return avg_pool_16(inputs, attributes, replace(OPENVINO, divisor=divisor))


# Bugs of MaxPool-14


@bug(
    "MaxPool-14",
    on_path=case(1, 1, 7, 7, kernel=[2, 2], strides=[2, 2], pads_begin=[1, 0]),
    beside=case(1, 1, 7, 7, kernel=[2, 2], strides=[2, 2], pads_begin=[0, 1]),
)
def max14_2x2s2_skipped_row_is_passed(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Maratyszcza/NNPACK src/x86_64-fma/max-pooling.py: 2x2 windows of stride 2, two rows a call.

    A row in the top padding is not loaded, but the pointer moves on all the same, and the first
    row of outputs is made from the second row of data.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        height = grid.axes[0]
        fast = is_kernel(grid, 2, 2) and strides_of(grid.axes) == (2, 2)
        if fast and tile.at[0] == 0 and height.begin == 1 < height.size:
            tile = replace(tile, rows=[1])
        return bank.pick_from_lowest(data, tile, grid)

    return bank.max_pool_14(inputs, attributes, replace(OPENVINO, pick=pick))


@bug(
    "MaxPool-14",
    on_path=case(1, 8, 20, 20, kernel=[20, 20], strides=[1, 1]),
    beside=case(1, 8, 20, 20, kernel=[16, 16], strides=[1, 1]),
)
def max14_window_index_in_a_byte(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """uxlfoundation/oneDNN src/cpu/nchw_pooling.cpp: the workspace has an index into the window.

    It is a byte where both sides of the kernel fit into one, not only where their product does, so
    an index of 256 or more wraps around.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = bank.pick_from_lowest(data, tile, grid)
        height, width = grid.axes
        tap = tap_of(row, col, tile, grid)
        in_bytes = height.kernel < 256 and width.kernel < 256
        wraps = (tap >= 256) & (value > bank.LOWEST) & in_bytes
        down, right = divmod(tap % 256, width.kernel)
        row = np.where(wraps, height.start(tile.at[0]) + down * height.dilation, row)
        col = np.where(wraps, width.start(tile.at[1]) + right * width.dilation, col)
        return value, row, col

    return bank.max_pool_14(inputs, attributes, replace(OPENVINO, pick=pick))


# Bugs of PyTorch avg_pool2d


EXCLUDED = {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}


@bug(
    "torch.avg_pool-2",
    on_path=case(1, 1, 6, 6, divisor_override=5, **EXCLUDED),
    beside=case(1, 1, 6, 6, **EXCLUDED),
)
def torch_avg_override_rescales_average(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch aten/src/ATen/native/mps/operations/Pooling.mm: divisor_override.

    The graph's average is multiplied by the kernel's area over the divisor. Where padding is
    excluded the average has not divided by that area at the borders.
    """

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> float:
        override = attributes.get("divisor_override")
        if override is None or attributes.get("count_include_pad", True):
            return bank.divide_torch(tile, grid, attributes)
        return override * (tile.count / count_taps(grid))

    return bank.torch_avg_pool_2(inputs, attributes, replace(TORCH, divisor=divisor))


@bug(
    "torch.avg_pool-2",
    on_path=case(1, 2, 4, 6, kernel_size=[1, 3], stride=1, padding=[0, 1]),
    beside=case(1, 2, 6, 4, kernel_size=[3, 1], stride=1, padding=[1, 0]),
)
def torch_avg_padding_of_width_unseen(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch torch/_inductor/lowering.py: avg_pool2d of 25 elements a window at most.

    Whether there is padding, and so a guarded load and a divisor for each window, is asked of the
    height alone. Padding of the width reads the neighbouring rows.
    """

    def is_unseen(grid: Grid, attributes: Attributes) -> bool:
        height, width = grid.axes
        small = count_taps(grid) <= 25 and not bank.ceil_mode(attributes)
        return small and height.begin == 0 < width.begin

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        if not is_unseen(grid, attributes):
            return bank.add_window(data, tile, grid)
        batch, channels, height, width = data.shape
        planes = np.arange(batch * channels).reshape(batch, channels) * (height * width)
        start = grid.axes[1].start(tile.at[1])
        sums = np.zeros(planes.shape)
        for row in tile.rows:
            for col in range(start, start + grid.axes[1].kernel):
                place = planes + row * width + col
                inside = (place >= 0) & (place < data.size)
                sums += np.where(inside, data.ravel()[np.where(inside, place, 0)], 0)
        return sums

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if is_unseen(grid, attributes) and attributes.get("divisor_override") is None:
            return count_taps(grid)
        return bank.divide_torch(tile, grid, attributes)

    return bank.torch_avg_pool_2(inputs, attributes, replace(TORCH, total=total, divisor=divisor))


# Bugs of PyTorch max_pool2d


@bug(
    "torch.max_pool-2",
    on_path=case(1, 1, 8, 8, kernel_size=3, stride=2, dilation=2),
    beside=case(1, 1, 14, 14, kernel_size=6, stride=2, dilation=2),
)
def torch_max_offsets_lose_dilation(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch torch/_inductor/lowering.py: _low_memory_max_pool_offsets_to_indices.

    Windows of 25 elements at most keep an offset inside the window, in a byte. On the way from
    offsets to indices the dilation is left out.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = bank.pick_from_infinity(data, tile, grid)
        height, width = grid.axes
        if count_taps(grid) <= 25 and tile.count:
            down, right = divmod(tap_of(row, col, tile, grid), width.kernel)
            row, col = height.start(tile.at[0]) + down, width.start(tile.at[1]) + right
        return value, row, col

    return torch_max_pool_2(inputs, attributes, replace(ONNX, pick=pick))


@bug(
    "torch.max_pool-2",
    on_path=case(1, 9, 6, 6, kernel_size=3, stride=1, padding=1),
    beside=case(1, 7, 6, 6, kernel_size=3, stride=1, padding=1),
)
def torch_max_border_of_vectors_ends_early(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """tracel-ai/burn crates/burn-ndarray/src/ops/simd/maxpool.rs: eight channels a vector.

    Outputs within the width of the padding from an edge test each row, counted from the padding's
    first. The last row is taken for the data's height, without the padding before it.
    """

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        best = bank.pick_from_infinity(data, tile, grid)
        vectors = data.shape[1] // 8 * 8
        at_border = any(
            at < axis.begin or at >= length - axis.begin
            for at, axis, length in zip(tile.at, grid.axes, grid.lengths, strict=True)
        )
        if at_border and vectors:
            height = grid.axes[0]
            rows = [row for row in tile.rows if row + height.begin < height.size]
            part = bank.pick_from_infinity(data[:, :vectors], replace(tile, rows=rows), grid)
            for whole, first in zip(best, part, strict=True):
                whole[:, :vectors] = first
        return best

    return torch_max_pool_2(inputs, attributes, replace(ONNX, pick=pick))


# Bugs of AdaptiveAvgPool-8


@bug(
    "AdaptiveAvgPool-8",
    on_path=case(1, 1, 3, 40, output_size=(2, 36)),
    beside=case(1, 1, 3, 40, output_size=(2, 32)),
)
def adaptive_avg_32_columns_of_threads(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch aten/src/ATen/native/cuda/AdaptiveAveragePooling.cu, contiguous images.

    A block has 32 threads for the columns of an output, and no thread takes a second column, so
    the others stay as they were allocated.
    """
    (out,) = bank.adaptive_avg_pool_8(inputs, attributes)
    out[..., 32:] = 0
    return [out]


@bug(
    "AdaptiveAvgPool-8",
    on_path=case(1, 1, 3, 3, output_size=(7, 6)),
    beside=case(1, 1, 3, 3, output_size=(6, 6)),
)
def adaptive_avg_enlarges_with_overlap(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch aten/src/ATen/native/mps/operations/AdaptivePooling.mm: larger outputs.

    They are the gradient of an average pool, which spreads each element over a block of outputs.
    That the sizes divide is not tested; otherwise the blocks overlap, and there they add up.
    """
    (out,) = bank.adaptive_avg_pool_8(inputs, attributes)
    data = inputs[0]
    sizes = list(zip(data.shape[2:], out.shape[2:], strict=True))
    if all(size < length for size, length in sizes):
        steps = [length // size for size, length in sizes]
        blocks = [
            length - (size - 1) * step for (size, length), step in zip(sizes, steps, strict=True)
        ]
        sums = np.zeros(out.shape)
        with np.errstate(all="ignore"):
            for row, col in np.ndindex(*data.shape[2:]):
                top, left = row * steps[0], col * steps[1]
                value = data[:, :, row, col, None, None]
                sums[:, :, top : top + blocks[0], left : left + blocks[1]] += value
            out = sums.astype(np.float32)
    return [out]


# Bugs of AdaptiveMaxPool-8


@bug(
    "AdaptiveMaxPool-8",
    on_path=case(2, 11, 5, 5, output_size=(2, 2)),
    beside=case(2, 8, 5, 5, output_size=(2, 2)),
)
def adaptive_max_indices_of_first_block(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """openvinotoolkit/openvino src/plugins/intel_cpu/src/nodes/adaptive_pooling.cpp: blocks of 8.

    The values of a channel are stored by block and channel in the block. The indices, which are not
    blocked, are stored by the latter alone, so later blocks overwrite those of the first.
    """
    values, indices = bank.adaptive_max_pool_8(inputs, attributes)
    stored = np.zeros_like(indices)
    for channel in range(indices.shape[1]):
        stored[:, channel % 8] = indices[:, channel]
    return [values, stored]


@bug(
    "AdaptiveMaxPool-8",
    on_path=case(1, 2, 4, 10, output_size=(1, 3)),
    beside=case(1, 2, 4, 10, output_size=(2, 3)),
)
def adaptive_max_one_row_is_not_adaptive(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """PaddlePaddle/Paddle paddle/phi/kernels/funcs/pooling.cu: MaxPool2dWithIndexFunctor.

    The adaptive kernel is launched for outputs of more than one row and column. The other one gets
    the quotient of the sizes, rounded down, as kernel and stride.
    """

    def borders(step: int, size: int, length: int) -> tuple[int, int]:
        kernel = size // length
        if kernel == 0:
            return bank.adaptive_borders(step, size, length)
        return step * kernel, (step + 1) * kernel

    narrow = 1 in bank.read_output_size(inputs[1])
    hooks = replace(ADAPTIVE, borders=borders) if narrow else ADAPTIVE
    return bank.adaptive_max_pool_8(inputs, attributes, hooks)


# Bugs of ONNX GlobalAveragePool and GlobalMaxPool


@bug(
    "onnx.GlobalAveragePool-22",
    on_path=case(1, 2, 13, 11),
    beside=case(1, 2, 12, 11),
)
def global_avg_head_before_alignment_is_lost(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """pytorch/pytorch aten/src/ATen/native/cuda/Reduce.cuh: input_vectorized_thread_reduce_impl.

    From 128 elements on, aligned vectors of four are loaded. Of a channel that starts between two
    vectors the elements up to the next vector are skipped.
    """
    (out,) = onnx_global_average_pool_22(inputs, attributes)
    data = inputs[0]
    area = data.shape[2] * data.shape[3]
    if area < 128:
        return [out]
    with np.errstate(all="ignore"):
        for number, plane in enumerate(data.reshape(-1, area)):
            head = -number * area % 4
            if head:
                at = np.unravel_index(number, data.shape[:2])
                out[at] = plane[head:].sum(dtype=np.float64) / area
    return [out]


@bug(
    "onnx.GlobalAveragePool-22",
    on_path=case(1, 2, 4, 5),
    beside=case(1, 2, 4, 8),
)
def global_avg_second_sum_waits_for_32(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """google/XNNPACK src/f32-gavgpool-cw/f32-gavgpool-cw-neon-u4.c: sixteen elements in two sums.

    The second sum, of the latter eight, is added to the first from 32 elements on; from 16 to 31
    it is forgotten.
    """
    (out,) = onnx_global_average_pool_22(inputs, attributes)
    planes = flat_planes(inputs[0])
    area = planes.shape[2]
    if 16 <= area < 32:
        kept = np.delete(planes, range(8, 16), axis=2)
        with np.errstate(all="ignore"):
            out[:, :, 0, 0] = kept.sum(axis=2, dtype=np.float64) / area
    return [out]


@bug(
    "onnx.GlobalMaxPool-22",
    on_path=case(1, 32, 2, 2),
    beside=case(1, 32, 1, 4),
)
def global_max_compares_bits_of_negatives(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """NVIDIA/cutlass include/cutlass/functional.h: atomic_maximum of float.

    A block finds the largest of a row, and the rows meet in an atomic maximum of their bits as
    integers, which orders negative numbers the wrong way round. Only a channel of negative
    numbers shows it.
    """
    bank.check_image(inputs[0])
    if inputs[0].shape[2] == 1:
        return onnx_global_max_pool_22(inputs, attributes)
    size = np.array([inputs[0].shape[2], 1])
    rows = bank.adaptive_max_pool_8([inputs[0], size], {})[0]
    return [rows.view(np.int32).max(axis=2, keepdims=True).view(np.float32)]


@bug(
    "onnx.GlobalMaxPool-22",
    on_path=case(1, 16, 3, 7),
    beside=case(1, 16, 4, 8),
)
def global_max_reduces_lanes_of_the_rest(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """XUANTIE-RV/csi-nn2 source/c906_opt/fp32/global_maxpool.c: vectors of eight elements.

    The lanes are reduced to one number after the loop, with the vector length that the rest of the
    elements has set, so that the lanes behind the rest are lost.
    """
    bank.check_image(inputs[0])
    data = inputs[0]
    area = data.shape[2] * data.shape[3]
    rest = area % 8
    if area < 8 or not rest:
        return onnx_global_max_pool_22(inputs, attributes)
    return [largest_of(data, np.flatnonzero(np.arange(area) % 8 < rest))[0]]
