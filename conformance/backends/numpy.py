"""Pools and products of matrices in plain numpy, as a first implementation might be written.

Windows are found in whole numbers, sums run in float32 (float64 for f64), and arguments are
checked. Batch and channel are handled together; there is one step of a loop for each window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.backends import products
from conformance.backends.capabilities import Capabilities
from conformance.backends.products import Inputs, MatrixProduct
from conformance.dtypes import Array
from conformance.errors import Unsupported

Span = tuple[int, int]  # a window on one axis: first element, and one past the last
INDEX_TYPES = {"i32": np.int32, "i64": np.int64}
ROUNDING_TYPES = {
    "AvgPool-1": ("floor", "ceil"),
    "AvgPool-14": ("floor", "ceil", "ceil_torch"),
}
OPERATORS = (*ROUNDING_TYPES, "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")


class NumPy:
    """A plain implementation that accumulates in float32; an example for your own backend."""

    name = "numpy"
    version = np.__version__
    capabilities = Capabilities(
        operators=(*OPERATORS, *(f"{family}-*" for family in products.MATRIX_PRODUCTS)),
        dtypes=("f16", "bf16", "f32", "f64"),
    )

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``.

        Raises:
            ValueError: the operator does not allow these arguments.
            Unsupported: another operator than those implemented here.
        """
        if products.family(op) in products.MATRIX_PRODUCTS:
            product = products.matrix_product(op, inputs, attributes)
            require(not products.stretches(op, inputs, product), "shapes that fit as they are")
            with np.errstate(over="ignore", invalid="ignore"):
                return [matrix_product(inputs, product)]
        if op not in OPERATORS:
            raise Unsupported(f"{op} is not implemented")
        if not 3 <= inputs[0].ndim <= 5:
            raise ValueError(f"data has rank {inputs[0].ndim}, not 3 to 5")
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if op in ROUNDING_TYPES:
                arguments = {name.replace("-", "_"): value for name, value in attributes.items()}
                rounding = arguments.get("rounding_type", "floor")
                require(rounding in ROUNDING_TYPES[op], f"no rounding_type {rounding}")
                return [avg_pool(inputs[0], **arguments)]
            if op == "AdaptiveAvgPool-8":
                return [adaptive_avg_pool(inputs[0], inputs[1])]
            return adaptive_max_pool(inputs[0], inputs[1], **attributes)


def matrix_product(inputs: Inputs, product: MatrixProduct) -> Array:
    """Multiply two inputs, perhaps transposed, and perhaps add another; in the type of both."""
    left, right = (
        data.swapaxes(-1, -2) if turned else data
        for data, turned in zip(inputs, product.transposed, strict=False)
        if data is not None
    )
    wide = left.dtype if left.dtype.kind == "i" else sum_type(left)
    total = np.matmul(left.astype(wide), right.astype(wide))
    if product.alpha != 1:
        total = product.alpha * total
    addend = None if product.addend is None else inputs[product.addend]
    if addend is not None:
        total = total + product.beta * addend.astype(wide)
    return np.asarray(total).astype(left.dtype)


def avg_pool(
    data: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads_begin: Sequence[int],
    pads_end: Sequence[int],
    exclude_pad: bool,
    auto_pad: str = "explicit",
    rounding_type: str = "floor",
) -> Array:
    """Mean of each window; ``data`` is ``[N, C, spatial...]``, the result has its type."""
    sizes = data.shape[2:]
    require(min(data.shape[:2]) > 0, "batch and channel are not empty")
    require(len(kernel) == len(strides) == len(sizes), "one kernel and stride an axis")
    require(min(kernel) > 0 and min(strides) > 0, "kernel and strides are positive")

    if auto_pad == "explicit":
        require(len(pads_begin) == len(pads_end) == len(sizes), "one pad an axis and end")
        begin, end = list(pads_begin), list(pads_end)
    else:
        begin, end = automatic_pads(auto_pad, sizes, kernel, strides)
    require(min(begin + end) >= 0, "pads are not negative")

    spans = []
    for size, k, s, first, last in zip(sizes, kernel, strides, begin, end, strict=True):
        room = size + first + last - k
        require(room >= 0, "the kernel fits into the padded input")
        require(not exclude_pad or max(first, last) < k, "excluded pads are below the kernel")
        steps = room // s if rounding_type == "floor" else -(-room // s)
        starts = [i * s - first for i in range(steps + 1)]
        if rounding_type == "ceil_torch" and starts[-1] >= size:
            starts.pop()
        spans.append([(clip(start, size), clip(start + k, size)) for start in starts])

    counts_pads = not exclude_pad and any(begin + end)
    return means(data, spans, prod(kernel) if counts_pads else None)


def automatic_pads(
    auto_pad: str, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the pads before and after each axis for ``same_upper``, ``same_lower``, ``valid``."""
    require(auto_pad in ("same_upper", "same_lower", "valid"), f"no auto_pad {auto_pad}")
    if auto_pad == "valid":
        return [0] * len(sizes), [0] * len(sizes)
    total = [
        max(0, (-(-size // s) - 1) * s + k - size)
        for size, k, s in zip(sizes, kernel, strides, strict=True)
    ]
    smaller, larger = [t // 2 for t in total], [t - t // 2 for t in total]
    return (smaller, larger) if auto_pad == "same_upper" else (larger, smaller)


def adaptive_avg_pool(data: Array, output_size: Array) -> Array:
    """Mean of each of ``output_size`` windows an axis; the result has the type of ``data``."""
    return means(data, adaptive_spans(data.shape[2:], output_size), None)


def adaptive_max_pool(
    data: Array, output_size: Array, *, index_element_type: str = "i64"
) -> list[Array]:
    """Maximum of each window, and its flat position among the spatial elements of ``data``."""
    require(index_element_type in INDEX_TYPES, f"no index_element_type {index_element_type}")
    spans = adaptive_spans(data.shape[2:], output_size)
    values = np.empty(data.shape[:2] + lengths(spans), data.dtype)
    indices = np.empty(values.shape, INDEX_TYPES[index_element_type])
    positions = np.arange(prod(data.shape[2:])).reshape(data.shape[2:])
    for at, window in windows(spans):
        taps = data[window].reshape(*data.shape[:2], -1)
        first = taps.astype(sum_type(data)).argmax(axis=2)
        values[at] = np.take_along_axis(taps, first[..., None], axis=2)[..., 0]
        indices[at] = positions[window[2:]].ravel()[first]
    return [values, indices]


def adaptive_spans(sizes: Sequence[int], output_size: Array) -> list[list[Span]]:
    """Return the windows that divide each axis into ``output_size`` parts."""
    require(output_size.shape == (len(sizes),), "one output size an axis")
    require(all(out >= 0 for out in output_size), "output sizes are not negative")
    return [
        [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]
        for size, out in zip(sizes, output_size.tolist(), strict=True)
    ]


def means(data: Array, spans: list[list[Span]], divisor: int | None) -> Array:
    """Divide the sum over each window by ``divisor``, or by its number of elements."""
    result = np.empty(data.shape[:2] + lengths(spans), data.dtype)
    wide = sum_type(data)
    for at, window in windows(spans):
        taps = data[window].astype(wide).reshape(*data.shape[:2], -1)
        result[at] = (taps.sum(axis=2) / wide(divisor or taps.shape[2])).astype(data.dtype)
    return result


def clip(position: int, size: int) -> int:
    """Return the nearest of 0 to ``size``, which cuts off the padding of a window."""
    return max(0, min(position, size))


def windows(spans: list[list[Span]]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Yield for each output element its index and the slices of its window.

    Batch and channel are sliced completely.
    """
    all_images = (slice(None), slice(None))
    for numbered in product(*(enumerate(axis) for axis in spans)):
        at = tuple(i for i, _ in numbered)
        yield (
            all_images + at,
            all_images + tuple(slice(start, stop) for _, (start, stop) in numbered),
        )


def lengths(spans: list[list[Span]]) -> tuple[int, ...]:
    """Count the windows on each axis."""
    return tuple(len(axis) for axis in spans)


def sum_type(data: Array) -> type[np.float32] | type[np.float64]:
    """Return the type to compute in: float64 for float64, float32 for all narrower ones."""
    return np.float64 if data.dtype == np.float64 else np.float32


def require(holds: bool, condition: str) -> None:
    """Raise ValueError unless ``holds``; ``what`` states the condition."""
    if not holds:
        raise ValueError(condition)
