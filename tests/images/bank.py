"""Pooling operators on f32 images [N, C, H, W], and a bank of realistic kernel bugs in them.

The right versions follow the documents: OpenVINO's AvgPool-1, AdaptiveAvgPool-8,
AdaptiveMaxPool-8 and MaxPool-14, ONNX's AveragePool and MaxPool of opset 22, PyTorch's avg_pool2d.
Each operator takes a record of hooks, small functions that a bug replaces. RIGHT maps an operator
id to its run function, BUGS a name to (operator id, run); run(op, inputs, attributes) gives a list
of arrays. Invalid cases raise ValueError, valid ones that are no f32 image NotImplementedError.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray
Attributes = Mapping[str, Any]
Inputs = Sequence[Array]
Operator = Callable[..., list[Array]]
Run = Callable[[str, Inputs, Attributes], list[Array]]
# What a maximum is: its value, row and column, each an array [N, C].
Best = tuple[Array, Array, Array]

LOWEST = np.finfo(np.float32).min
OPENVINO_PADS = ("explicit", "valid", "same_upper", "same_lower")
ONNX_PADS = {
    "NOTSET": "explicit",
    "VALID": "valid",
    "SAME_UPPER": "same_upper",
    "SAME_LOWER": "same_lower",
}
INDEX_TYPES = {"i64": np.int64, "i32": np.int32}


# Geometry


@dataclass(frozen=True)
class Axis:
    """One spatial axis of a sliding window."""

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def span(self) -> int:
        """The length that the dilated kernel covers."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def padded(self) -> int:
        """The length of the padded input."""
        return self.begin + self.size + self.end

    def start(self, step: int) -> int:
        """Where a window starts, counted from the first element of the data."""
        return step * self.stride - self.begin


Axes = tuple[Axis, Axis]
Lengths = tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Both axes, height first, and the output's lengths."""

    axes: Axes
    lengths: Lengths


@dataclass(frozen=True)
class Tile:
    """One output position and the rows and columns of the data that its window covers."""

    at: tuple[int, int]
    rows: list[int]
    cols: list[int]

    @property
    def count(self) -> int:
        """The number of elements of the data in the window."""
        return len(self.rows) * len(self.cols)


def split_pads(total: int, auto_pad: str, _number: int) -> tuple[int, int]:
    """The begin and end part of same padding, the larger at the end for same_upper."""
    small, large = total // 2, total - total // 2
    return (small, large) if auto_pad == "same_upper" else (large, small)


def same_total(axis: Axis, span: int) -> int:
    """How much padding same_upper and same_lower need for a window of this span."""
    windows = -(-axis.size // axis.stride)
    return max(0, (windows - 1) * axis.stride + span - axis.size)


def place_pads(axis: Axis, auto_pad: str, number: int, split: Callable) -> Axis:
    """The axis with the pads that auto_pad asks for; axis number 0 is the height."""
    if auto_pad == "explicit":
        return axis
    if auto_pad == "valid":
        return replace(axis, begin=0, end=0)
    begin, end = split(same_total(axis, axis.span), auto_pad, number)
    return replace(axis, begin=begin, end=end)


def count_windows(axis: Axis, rounding: str) -> int:
    """The output length of one axis."""
    room = axis.padded - axis.span
    if rounding == "floor":
        return room // axis.stride + 1
    last = -(-room // axis.stride)
    if rounding == "ceil_torch" and axis.start(last) >= axis.size:
        return last
    return last + 1


def count_both(axes: Axes, rounding: str) -> Lengths:
    """The output lengths of both axes."""
    return count_windows(axes[0], rounding), count_windows(axes[1], rounding)


def same_axes(axes: Axes, _attributes: Attributes) -> Axes:
    """The axes as the inner loop sees them: unchanged."""
    return axes


def find_taps(axis: Axis, step: int) -> list[int]:
    """The positions on the data that one window touches along an axis."""
    start = axis.start(step)
    positions = range(start, start + axis.span, axis.dilation)
    return [position for position in positions if 0 <= position < axis.size]


def count_padded_taps(axis: Axis, step: int) -> int:
    """How many taps of a window lie inside the padded input."""
    start = axis.start(step)
    return len(range(start, min(start + axis.span, axis.size + axis.end), axis.dilation))


# Pieces of a kernel


def read_window(data: Array, tile: Tile) -> Array:
    """The elements of every channel in one window, as [N, C, taps] in row-major order."""
    picked = data[:, :, tile.rows][:, :, :, tile.cols]
    return picked.reshape(data.shape[0], data.shape[1], tile.count)


def add_window(data: Array, tile: Tile, _grid: Grid) -> Array:
    """The sum of one window."""
    return read_window(data, tile).sum(axis=2, dtype=np.float64)


def largest(data: Array, tile: Tile) -> Best:
    """The first of the largest elements of a window; NaN counts as -inf."""
    taps = read_window(data, tile)
    taps = np.where(np.isnan(taps), np.float32(-np.inf), taps)
    place = taps.argmax(axis=2)
    value = np.take_along_axis(taps, place[:, :, None], axis=2)[:, :, 0]
    rows, cols = np.array(tile.rows), np.array(tile.cols)
    return value, rows[place // len(cols)], cols[place % len(cols)]


def pick_from_lowest(data: Array, tile: Tile, _grid: Grid | None = None) -> Best:
    """MaxPool-14: only what is above the lowest finite number counts, else the channel's base."""
    base = np.zeros(data.shape[:2], np.int64)
    if tile.count == 0:
        return np.full(base.shape, LOWEST), base, base
    value, row, col = largest(data, tile)
    found = value > LOWEST
    return np.where(found, value, LOWEST), np.where(found, row, 0), np.where(found, col, 0)


def pick_from_infinity(data: Array, tile: Tile, _grid: Grid | None = None) -> Best:
    """ONNX and the adaptive operator: padding is -inf."""
    if tile.count == 0:
        base = np.zeros(data.shape[:2], np.int64)
        return np.full(base.shape, np.float32(-np.inf)), base, base
    return largest(data, tile)


def row_major(row: Array, col: Array, grid: Grid) -> Array:
    """The flat position inside one channel."""
    return row * grid.axes[1].size + col


def divide_openvino(tile: Tile, grid: Grid, attributes: Attributes) -> int:
    """The full kernel where padding exists and is counted, else the elements of the data."""
    padded = any(axis.begin or axis.end for axis in grid.axes)
    if padded and not is_true(attributes["exclude-pad"]):
        return grid.axes[0].kernel * grid.axes[1].kernel
    return tile.count


def count_clipped(tile: Tile, grid: Grid) -> int:
    """The taps of a window that lie inside the padded input."""
    height, width = grid.axes
    return count_padded_taps(height, tile.at[0]) * count_padded_taps(width, tile.at[1])


def divide_onnx(tile: Tile, grid: Grid, attributes: Attributes) -> int:
    """The taps inside the padded input where padding is counted, else those on the data."""
    if attributes.get("count_include_pad", 0):
        return count_clipped(tile, grid)
    return tile.count


def divide_torch(tile: Tile, grid: Grid, attributes: Attributes) -> int:
    """As ONNX, but padding is counted by default and divisor_override comes first."""
    override = attributes.get("divisor_override")
    if override is not None:
        return override
    return count_clipped(tile, grid) if attributes.get("count_include_pad", True) else tile.count


def adaptive_borders(step: int, size: int, length: int) -> tuple[int, int]:
    """The start and end of one adaptive window, in integers."""
    return step * size // length, -(-(step + 1) * size // length)


@dataclass(frozen=True)
class Hooks:
    """The replaceable pieces of a sliding window operator."""

    split: Callable[[int, str, int], tuple[int, int]] = split_pads
    lengths: Callable[[Axes, str], Lengths] = count_both
    inner: Callable[[Axes, Attributes], Axes] = same_axes
    taps: Callable[[Axis, int], list[int]] = find_taps
    total: Callable[[Array, Tile, Grid], Array] = add_window
    divisor: Callable[[Tile, Grid, Attributes], int] = divide_openvino
    pick: Callable[[Array, Tile, Grid], Best] = pick_from_lowest
    position: Callable[[Array, Array, Grid], Array] = row_major


@dataclass(frozen=True)
class AdaptiveHooks:
    """The replaceable pieces of an adaptive operator."""

    borders: Callable[[int, int, int], tuple[int, int]] = adaptive_borders
    pick: Callable[[Array, Tile], Best] = pick_from_infinity


OPENVINO = Hooks()
ONNX = Hooks(divisor=divide_onnx, pick=pick_from_infinity)
TORCH = Hooks(divisor=divide_torch)
ADAPTIVE = AdaptiveHooks()


# Reading attributes


def ceil_mode(attributes: Mapping[str, Any]) -> bool:
    """The attribute of ONNX and PyTorch: 0 or 1, or a truth value."""
    if attributes.get("ceil_mode", 0) not in (0, 1):
        raise ValueError("ceil_mode is neither 0 nor 1")
    return bool(attributes.get("ceil_mode", 0))


def is_true(value: Any) -> bool:
    """A boolean attribute, which may come as the word of the document's XML."""
    return value in (True, "true")


def read_ints(attributes: Attributes, name: str, count: int, least: int, default: int) -> list[int]:
    """A list attribute, filled with the default where it is absent or empty."""
    values = [int(value) for value in attributes.get(name, ())] or [default] * count
    if len(values) != count:
        raise ValueError(f"{name} needs {count} values, got {values}")
    if min(values) < least:
        raise ValueError(f"{name} has a value below {least}: {values}")
    return values


def read_required(attributes: Attributes, name: str) -> list[int]:
    """A list of two positive values that has to be there."""
    if name not in attributes:
        raise ValueError(f"{name} is required")
    return read_ints(attributes, name, 2, 1, 0)


def read_word(attributes: Attributes, name: str, default: str, known: Sequence[str]) -> str:
    """An attribute that is one of a few words."""
    word = attributes.get(name, default)
    if word not in known:
        raise ValueError(f"{name} is {word!r}, not one of {list(known)}")
    return word


def read_pair(value: Any, name: str, least: int) -> list[int]:
    """PyTorch's one or two integers."""
    values = [value] if isinstance(value, (int, np.integer)) else list(value)
    if len(values) not in (1, 2) or min(values) < least:
        raise ValueError(f"{name} is {value}")
    return [int(values[0]), int(values[-1])]


def check_image(data: Array) -> None:
    """Only rank 4 and f32 are done here; a rank that no document knows is invalid."""
    if not 3 <= data.ndim <= 5:
        raise ValueError(f"rank {data.ndim}")
    if data.ndim != 4 or data.dtype != np.float32:
        raise NotImplementedError(f"rank {data.ndim} of {data.dtype}")


def check_not_empty(data: Array) -> None:
    """OpenVINO's sliding windows refuse an empty batch and no channels."""
    if 0 in data.shape[:2]:
        raise ValueError(f"batch or channels 0: {data.shape}")


def check_fit(axes: Axes) -> None:
    """A window that is longer than the padded input is invalid."""
    for axis in axes:
        if axis.span > axis.padded:
            raise ValueError(f"window of {axis.span} on {axis.padded} padded elements")


def openvino_axes(data: Array, attributes: Attributes, dilations: list[int], hooks: Hooks) -> Axes:
    """Both axes from OpenVINO's attributes."""
    auto_pad = read_word(attributes, "auto_pad", "explicit", OPENVINO_PADS)
    kernel = read_required(attributes, "kernel")
    strides = read_required(attributes, "strides")
    # Given pads are ignored beside another auto_pad, and may then be negative.
    least = 0 if auto_pad == "explicit" else -(2**31)
    begin = read_ints(attributes, "pads_begin", 2, least, 0)
    end = read_ints(attributes, "pads_end", 2, least, 0)
    rows = zip(data.shape[2:], kernel, strides, dilations, begin, end, strict=True)
    height, width = (
        place_pads(Axis(*row), auto_pad, number, hooks.split) for number, row in enumerate(rows)
    )
    check_fit((height, width))
    return height, width


def onnx_grid(data: Array, attributes: Attributes, hooks: Hooks) -> Grid:
    """The geometry from ONNX's attributes."""
    auto_pad = ONNX_PADS[read_word(attributes, "auto_pad", "NOTSET", list(ONNX_PADS))]
    kernel = read_required(attributes, "kernel_shape")
    strides = read_ints(attributes, "strides", 2, 1, 1)
    dilations = read_ints(attributes, "dilations", 2, 1, 1)
    pads = read_ints(attributes, "pads", 4, 0, 0)
    rows = zip(data.shape[2:], kernel, strides, dilations, pads[:2], pads[2:], strict=True)
    height, width = (
        place_pads(Axis(*row), auto_pad, number, hooks.split) for number, row in enumerate(rows)
    )
    check_fit((height, width))
    # The formulas of the other auto_pad words do not depend on ceil_mode.
    ceil = ceil_mode(attributes) and auto_pad == "explicit"
    return make_grid((height, width), "ceil_torch" if ceil else "floor", attributes, hooks)


def torch_grid(data: Array, attributes: Attributes, hooks: Hooks) -> Grid:
    """The geometry from PyTorch's arguments."""
    kernel = read_pair(attributes["kernel_size"], "kernel_size", 1)
    stride = attributes.get("stride")
    strides = kernel if stride is None or stride == [] else read_pair(stride, "stride", 1)
    pads = read_pair(attributes.get("padding", 0), "padding", 0)
    if any(2 * pad > length for pad, length in zip(pads, kernel, strict=True)):
        raise ValueError(f"padding {pads} above half of the kernel {kernel}")
    if attributes.get("divisor_override") == 0:
        raise ValueError("divisor_override is 0")
    rows = zip(data.shape[2:], kernel, strides, (1, 1), pads, pads, strict=True)
    height, width = (Axis(*row) for row in rows)
    check_fit((height, width))
    rounding = "ceil_torch" if ceil_mode(attributes) else "floor"
    return make_grid((height, width), rounding, attributes, hooks)


def make_grid(axes: Axes, rounding: str, attributes: Attributes, hooks: Hooks) -> Grid:
    """The output's lengths, and the axes as the inner loop sees them."""
    return Grid(hooks.inner(axes, attributes), hooks.lengths(axes, rounding))


def read_output_size(output_size: Array) -> Lengths:
    """The second input of the adaptive operators."""
    if output_size.dtype not in (np.int32, np.int64) or output_size.shape != (2,):
        raise ValueError(f"output_size {output_size.dtype} {output_size.shape}")
    if output_size.min() < 0:
        raise ValueError(f"output_size {output_size}")
    return int(output_size[0]), int(output_size[1])


# Loops


def sliding_tiles(grid: Grid, taps: Callable[[Axis, int], list[int]]) -> Iterator[Tile]:
    """Every output position of a sliding window."""
    height, width = grid.axes
    rows = [taps(height, step) for step in range(grid.lengths[0])]
    cols = [taps(width, step) for step in range(grid.lengths[1])]
    for i, j in itertools.product(range(len(rows)), range(len(cols))):
        yield Tile((i, j), rows[i], cols[j])


def adaptive_tiles(data: Array, lengths: Lengths, borders: Callable) -> Iterator[Tile]:
    """Every output position of an adaptive operator."""
    if 0 in data.shape[2:]:
        raise ValueError(f"nothing to pool: {data.shape}")
    rows = [list(range(*borders(i, data.shape[2], lengths[0]))) for i in range(lengths[0])]
    cols = [list(range(*borders(j, data.shape[3], lengths[1]))) for j in range(lengths[1])]
    for i, j in itertools.product(range(len(rows)), range(len(cols))):
        yield Tile((i, j), rows[i], cols[j])


def slide_average(data: Array, grid: Grid, attributes: Attributes, hooks: Hooks) -> list[Array]:
    """The average of every window; a window without data gives 0."""
    out = np.zeros(data.shape[:2] + grid.lengths, np.float32)
    with np.errstate(all="ignore"):
        for tile in sliding_tiles(grid, hooks.taps):
            if tile.count:
                total = hooks.total(data, tile, grid)
                out[:, :, *tile.at] = total / hooks.divisor(tile, grid, attributes)
    return [out]


def slide_max(data: Array, grid: Grid, hooks: Hooks) -> list[Array]:
    """The largest value of every window and its flat position inside its channel."""
    values = np.empty(data.shape[:2] + grid.lengths, np.float32)
    positions = np.empty(values.shape, np.int64)
    for tile in sliding_tiles(grid, hooks.taps):
        value, row, col = hooks.pick(data, tile, grid)
        values[:, :, *tile.at] = value
        positions[:, :, *tile.at] = hooks.position(row, col, grid)
    return [values, positions]


def add_plane_offsets(positions: Array, data: Array) -> Array:
    """Flat positions in the whole tensor from those inside a channel."""
    batch, channels, height, width = data.shape
    planes = np.arange(batch * channels).reshape(batch, channels, 1, 1)
    return positions + planes * (height * width)


# Operators


def avg_pool_1(inputs: Inputs, attributes: Attributes, hooks: Hooks = OPENVINO) -> list[Array]:
    """OpenVINO's AvgPool-1."""
    data = inputs[0]
    check_image(data)
    check_not_empty(data)
    if "exclude-pad" not in attributes:
        raise ValueError("exclude-pad is required")
    rounding = read_word(attributes, "rounding_type", "floor", ("floor", "ceil"))
    axes = openvino_axes(data, attributes, [1, 1], hooks)
    only_pads = any(axis.span <= max(axis.begin, axis.end) for axis in axes)
    if is_true(attributes["exclude-pad"]) and only_pads:
        raise ValueError("a window of padding only")
    grid = make_grid(axes, rounding, attributes, hooks)
    return slide_average(data, grid, attributes, hooks)


def max_pool_14(inputs: Inputs, attributes: Attributes, hooks: Hooks = OPENVINO) -> list[Array]:
    """OpenVINO's MaxPool-14: values and indices."""
    data = inputs[0]
    check_image(data)
    check_not_empty(data)
    rounding = read_word(attributes, "rounding_type", "floor", ("floor", "ceil", "ceil_torch"))
    kind = read_word(attributes, "index_element_type", "i64", list(INDEX_TYPES))
    axis = attributes.get("axis", 0)
    if not -4 <= axis <= 3:
        raise ValueError(f"axis {axis}")
    dilations = read_ints(attributes, "dilations", 2, 1, 1)
    axes = openvino_axes(data, attributes, dilations, hooks)
    grid = make_grid(axes, rounding, attributes, hooks)
    values, positions = slide_max(data, grid, hooks)
    bound = max(1, int(np.prod(data.shape[axis % 4 :])))
    return [values, (add_plane_offsets(positions, data) % bound).astype(INDEX_TYPES[kind])]


def onnx_average_pool_22(
    inputs: Inputs, attributes: Attributes, hooks: Hooks = ONNX
) -> list[Array]:
    """ONNX's AveragePool of opset 22."""
    check_image(inputs[0])
    grid = onnx_grid(inputs[0], attributes, hooks)
    return slide_average(inputs[0], grid, attributes, hooks)


def onnx_max_pool_22(inputs: Inputs, attributes: Attributes, hooks: Hooks = ONNX) -> list[Array]:
    """ONNX's MaxPool of opset 22: values and indices."""
    data = inputs[0]
    check_image(data)
    order = attributes.get("storage_order", 0)
    if order not in (0, 1):
        raise ValueError(f"storage_order {order}")
    grid = onnx_grid(data, attributes, hooks)
    values, positions = slide_max(data, grid, hooks)
    if order == 1:
        height, width = data.shape[2:]
        positions = positions % width * height + positions // width
    return [values, add_plane_offsets(positions, data)]


def torch_avg_pool_2(inputs: Inputs, attributes: Attributes, hooks: Hooks = TORCH) -> list[Array]:
    """PyTorch's avg_pool2d."""
    check_image(inputs[0])
    if 0 in inputs[0].shape[1:] or "kernel_size" not in attributes:
        raise ValueError(f"shape {inputs[0].shape}, attributes {attributes}")
    grid = torch_grid(inputs[0], attributes, hooks)
    return slide_average(inputs[0], grid, attributes, hooks)


def adaptive_avg_pool_8(
    inputs: Inputs, _attributes: Attributes, hooks: AdaptiveHooks = ADAPTIVE
) -> list[Array]:
    """OpenVINO's AdaptiveAvgPool-8."""
    data = inputs[0]
    check_image(data)
    lengths = read_output_size(inputs[1])
    out = np.empty(data.shape[:2] + lengths, np.float32)
    with np.errstate(all="ignore"):
        for tile in adaptive_tiles(data, lengths, hooks.borders):
            out[:, :, *tile.at] = read_window(data, tile).mean(axis=2, dtype=np.float64)
    return [out]


def adaptive_max_pool_8(
    inputs: Inputs, attributes: Attributes, hooks: AdaptiveHooks = ADAPTIVE
) -> list[Array]:
    """OpenVINO's AdaptiveMaxPool-8: values and indices."""
    data = inputs[0]
    check_image(data)
    lengths = read_output_size(inputs[1])
    kind = read_word(attributes, "index_element_type", "i64", list(INDEX_TYPES))
    values = np.empty(data.shape[:2] + lengths, np.float32)
    indices = np.empty(values.shape, INDEX_TYPES[kind])
    for tile in adaptive_tiles(data, lengths, hooks.borders):
        value, row, col = hooks.pick(data, tile)
        values[:, :, *tile.at] = value
        indices[:, :, *tile.at] = row * data.shape[3] + col
    return [values, indices]


def as_run(function: Operator) -> Run:
    """The run function of one operator; its id, the first argument, is not needed."""

    @functools.wraps(function)
    def run(op: str, inputs: Inputs, attributes: Attributes) -> list[Array]:
        return function(inputs, attributes)

    return run


RIGHT: dict[str, Run] = {
    "AvgPool-1": as_run(avg_pool_1),
    "AdaptiveAvgPool-8": as_run(adaptive_avg_pool_8),
    "AdaptiveMaxPool-8": as_run(adaptive_max_pool_8),
    "MaxPool-14": as_run(max_pool_14),
    "onnx.AveragePool-22": as_run(onnx_average_pool_22),
    "onnx.MaxPool-22": as_run(onnx_max_pool_22),
    "torch.avg_pool-2": as_run(torch_avg_pool_2),
}
BUGS: dict[str, tuple[str, Run]] = {}


def bug(operator: str) -> Callable[[Operator], Operator]:
    """Enters a function into the bank, under its own name."""

    def enter(function: Operator) -> Operator:
        BUGS[function.__name__] = (operator, as_run(function))
        return function

    return enter


# Bugs of AvgPool-1


@bug("AvgPool-1")
def avg1_tail_columns_full_divisor(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Output columns after the last full vector of 8 divide by the kernel volume always."""

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        vectors = grid.lengths[1] // 8 * 8
        if 0 < vectors <= tile.at[1]:
            return grid.axes[0].kernel * grid.axes[1].kernel
        return divide_openvino(tile, grid, attributes)

    return avg_pool_1(inputs, attributes, replace(OPENVINO, divisor=divisor))


@bug("AvgPool-1")
def avg1_same_lower_width_as_upper(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """With same_lower the width, copied from the other branch, has its larger pad at the end."""

    def split(total: int, auto_pad: str, number: int) -> tuple[int, int]:
        return split_pads(total, "same_upper" if number == 1 else auto_pad, number)

    return avg_pool_1(inputs, attributes, replace(OPENVINO, split=split))


@bug("AvgPool-1")
def avg1_only_begin_pads_count(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Including padding, only pads at the beginning switch to the full kernel as divisor."""

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if any(axis.begin for axis in grid.axes):
            return divide_openvino(tile, grid, attributes)
        return tile.count

    return avg_pool_1(inputs, attributes, replace(OPENVINO, divisor=divisor))


@bug("AvgPool-1")
def avg1_row_prefix_sums(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Stride 1 subtracts prefix sums of the rows, so an inf or NaN spoils windows to its right."""

    def total(data: Array, tile: Tile, grid: Grid) -> Array:
        if grid.axes[1].stride != 1:
            return add_window(data, tile, grid)
        sums = data[:, :, tile.rows].sum(axis=2, dtype=np.float64).cumsum(axis=2)
        before = sums[:, :, tile.cols[0] - 1] if tile.cols[0] > 0 else 0.0
        return sums[:, :, tile.cols[-1]] - before

    return avg_pool_1(inputs, attributes, replace(OPENVINO, total=total))


# Bugs of AdaptiveAvgPool-8


@bug("AdaptiveAvgPool-8")
def adaptive_avg_float32_borders(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The borders are computed with a float32 ratio of input to output length."""

    def borders(step: int, size: int, length: int) -> tuple[int, int]:
        ratio = np.float32(size) / np.float32(length)
        end = int(np.ceil(np.float32(step + 1) * ratio))
        return int(np.floor(np.float32(step) * ratio)), min(end, size)

    return adaptive_avg_pool_8(inputs, attributes, replace(ADAPTIVE, borders=borders))


@bug("AdaptiveAvgPool-8")
def adaptive_avg_global_reads_next_plane(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Output 1x1 adds whole vectors of 8, so a rest of H*W reads on into the next channel."""
    out = adaptive_avg_pool_8(inputs, attributes)
    data = inputs[0]
    area = data.shape[2] * data.shape[3]
    if tuple(inputs[1]) != (1, 1):
        return out
    flat = np.concatenate([data.ravel(), np.zeros(8, np.float32)])
    loaded = -(-area // 8) * 8
    with np.errstate(all="ignore"):
        sums = [
            flat[plane * area : plane * area + loaded].sum(dtype=np.float64)
            for plane in range(data.shape[0] * data.shape[1])
        ]
        return [(np.array(sums) / area).astype(np.float32).reshape(out[0].shape)]


@bug("AdaptiveAvgPool-8")
def adaptive_avg_batch_stride_rounded_up(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The batch stride counts channels rounded up to 4, so later images start too late."""
    data = inputs[0]
    check_image(data)
    batch, channels, height, width = data.shape
    rounded = -(-channels // 4) * 4
    planes = np.zeros((batch * rounded, height, width), np.float32)
    planes[: batch * channels] = data.reshape(batch * channels, height, width)
    seen = planes.reshape(batch, rounded, height, width)[:, :channels]
    return adaptive_avg_pool_8([seen, inputs[1]], attributes)


# Bugs of AdaptiveMaxPool-8


@bug("AdaptiveMaxPool-8")
def adaptive_max_fixed_window(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Every window has the length ceil(in/out) from its start, where some are one longer."""

    def borders(step: int, size: int, length: int) -> tuple[int, int]:
        start = adaptive_borders(step, size, length)[0]
        return start, min(start - (-size // length), size)

    return adaptive_max_pool_8(inputs, attributes, replace(ADAPTIVE, borders=borders))


@bug("AdaptiveMaxPool-8")
def adaptive_max_starts_at_lowest(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The running maximum starts at -FLT_MAX and index 0, which a window of -inf never beats."""
    return adaptive_max_pool_8(inputs, attributes, replace(ADAPTIVE, pick=pick_from_lowest))


# Bugs of MaxPool-14


@bug("MaxPool-14")
def max14_index_takes_top_pad_for_left(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The index goes back from padded coordinates with the top pad for the columns too."""

    def position(row: Array, col: Array, grid: Grid) -> Array:
        height, width = grid.axes
        return row_major(row, col + width.begin - height.begin, grid)

    return max_pool_14(inputs, attributes, replace(OPENVINO, position=position))


@bug("MaxPool-14")
def max14_same_pads_ignore_dilation(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The kernel, not shape inference, computes same padding from the undilated window."""

    def inner(axes: Axes, attributes: Attributes) -> Axes:
        auto_pad = attributes.get("auto_pad", "explicit")
        if not auto_pad.startswith("same"):
            return axes
        totals = [same_total(axis, axis.kernel) for axis in axes]
        begins = [split_pads(total, auto_pad, number)[0] for number, total in enumerate(totals)]
        return replace(axes[0], begin=begins[0]), replace(axes[1], begin=begins[1])

    return max_pool_14(inputs, attributes, replace(OPENVINO, inner=inner))


@bug("MaxPool-14")
def max14_ceil_overhang_is_zero(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """What a ceil window covers beyond the padded input is read from a buffer of zeros."""

    def overhangs(axis: Axis, step: int) -> bool:
        return axis.start(step) + axis.span > axis.size + axis.end

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        value, row, col = pick_from_lowest(data, tile, grid)
        if any(overhangs(axis, step) for axis, step in zip(grid.axes, tile.at, strict=True)):
            value = np.maximum(value, np.float32(0))
        return value, row, col

    return max_pool_14(inputs, attributes, replace(OPENVINO, pick=pick))


@bug("MaxPool-14")
def max14_channel_tail_not_moved(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """A rest of channels after blocks of 4 is done as the last 4, but stored without the shift."""
    outputs = max_pool_14(inputs, attributes)
    channels = inputs[0].shape[1]
    rest = channels % 4
    if channels > 4 and rest:
        for output in outputs:
            output[:, -rest:] = output[:, -4 : rest - 4].copy()
    return outputs


# Bugs of ONNX AveragePool


@bug("onnx.AveragePool-22")
def onnx_avg_clips_at_begin_pad(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Counting padding, the divisor is clipped at size plus the begin pad, not the end pad."""

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        height, width = (replace(axis, end=axis.begin) for axis in grid.axes)
        return divide_onnx(tile, Grid((height, width), grid.lengths), attributes)

    return onnx_average_pool_22(inputs, attributes, replace(ONNX, divisor=divisor))


@bug("onnx.AveragePool-22")
def onnx_avg_counts_undilated_window(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Excluding padding, the divisor clips the undilated window to the data."""

    def undilated(axis: Axis, step: int) -> int:
        start = axis.start(step)
        return max(1, min(start + axis.kernel, axis.size) - max(start, 0))

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if attributes.get("count_include_pad", 0):
            return divide_onnx(tile, grid, attributes)
        return undilated(grid.axes[0], tile.at[0]) * undilated(grid.axes[1], tile.at[1])

    return onnx_average_pool_22(inputs, attributes, replace(ONNX, divisor=divisor))


# Bugs of ONNX MaxPool


@bug("onnx.MaxPool-22")
def onnx_max_clamps_dilated_start(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """A window that starts in padding is moved to 0, not to its next dilated tap."""

    def taps(axis: Axis, step: int) -> list[int]:
        start = axis.start(step)
        return list(range(max(start, 0), min(start + axis.span, axis.size), axis.dilation))

    return onnx_max_pool_22(inputs, attributes, replace(ONNX, taps=taps))


@bug("onnx.MaxPool-22")
def onnx_max_3x3s2_last_column(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The 3x3 stride 2 path's loop after vectors of 4 omits the last tap of the last column."""

    def is_fast(grid: Grid) -> bool:
        return all((a.kernel, a.stride, a.dilation) == (3, 2, 1) for a in grid.axes)

    def pick(data: Array, tile: Tile, grid: Grid) -> Best:
        width = grid.lengths[1]
        if is_fast(grid) and width % 4 and tile.at[1] == width - 1 and len(tile.cols) == 3:
            tile = replace(tile, cols=tile.cols[:2])
        return pick_from_infinity(data, tile, grid)

    return onnx_max_pool_22(inputs, attributes, replace(ONNX, pick=pick))


@bug("onnx.MaxPool-22")
def onnx_max_keeps_column_in_right_pad(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """With ceil_mode a window that starts in the right padding is dropped for rows only."""

    def lengths(axes: Axes, rounding: str) -> Lengths:
        wide = "ceil" if rounding == "ceil_torch" else rounding
        return count_windows(axes[0], rounding), count_windows(axes[1], wide)

    return onnx_max_pool_22(inputs, attributes, replace(ONNX, lengths=lengths))


# Bugs of PyTorch avg_pool2d


@bug("torch.avg_pool-2")
def torch_avg_divides_overrun_by_kernel(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Counting padding, a ceil window that overruns the padded input divides by the kernel."""

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        counted = attributes.get("count_include_pad", True)
        if counted and attributes.get("divisor_override") is None:
            return grid.axes[0].kernel * grid.axes[1].kernel
        return divide_torch(tile, grid, attributes)

    return torch_avg_pool_2(inputs, attributes, replace(TORCH, divisor=divisor))


@bug("torch.avg_pool-2")
def torch_avg_2x2s2_loses_override(inputs: Inputs, attributes: Attributes) -> list[Array]:
    """The path for 2x2, stride 2, without padding multiplies by 1/4 despite divisor_override."""

    def divisor(tile: Tile, grid: Grid, attributes: Attributes) -> int:
        if all((a.kernel, a.stride, a.begin) == (2, 2, 0) for a in grid.axes) and tile.count == 4:
            return 4
        return divide_torch(tile, grid, attributes)

    return torch_avg_pool_2(inputs, attributes, replace(TORCH, divisor=divisor))
