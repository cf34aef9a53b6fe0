"""Worked examples of operators, and a slow exact loop written from their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

Attributes = dict[str, Any]


def avg(kernel: Sequence[int], exclude: bool = False, **attributes: Any) -> Attributes:
    """Attributes of an AvgPool: stride 1, no pads, floor, unless given."""
    axes = len(kernel)
    plain = {"strides": [1] * axes, "pads_begin": [0] * axes, "pads_end": [0] * axes}
    plain |= {"kernel": list(kernel), "exclude-pad": exclude, "auto_pad": "explicit"}
    return plain | {"rounding_type": "floor"} | attributes


def plane(values: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """One image of one channel."""
    array = np.asarray(values).astype(dtype)
    return array.reshape(1, 1, *array.shape)


ONE_AXIS = [
    # size of 1..n, attributes, expected
    (8, avg([3], strides=[2], rounding_type="ceil"), [2, 4, 6, 7.5]),
    (8, avg([3], strides=[2], rounding_type="ceil", pads_end=[1]), [2, 4, 6, 5]),
    (5, avg([3], strides=[2], rounding_type="ceil", pads_begin=[1]), [1, 3, 3]),
    (5, avg([3], True, strides=[2], rounding_type="ceil", pads_begin=[1]), [1.5, 3, 4.5]),
    (5, avg([2], strides=[2], auto_pad="same_lower"), [0.5, 2.5, 4.5]),
    (5, avg([2], True, strides=[2], auto_pad="same_lower"), [1, 2.5, 4.5]),
    (5, avg([2], strides=[2], auto_pad="same_upper"), [1.5, 3.5, 2.5]),
    (5, avg([2], strides=[2], rounding_type="ceil"), [1.5, 3.5, 5]),
    (5, avg([2], strides=[2], auto_pad="valid", pads_begin=[1]), [1.5, 3.5]),
    (1, avg([2], pads_begin=[2], pads_end=[2]), [0, 0.5, 0.5, 0]),
    (2, avg([2], pads_begin=[3], pads_end=[1]), [0, 0, 0.5, 1.5, 1]),
]
"""AvgPool-1 of one axis with the values 1 to n."""

CEIL_TORCH = [
    (4, avg([2], strides=[2], rounding_type="ceil_torch", pads_end=[1]), [1.5, 3.5]),
    (5, avg([2], strides=[2], rounding_type="ceil_torch", pads_end=[1]), [1.5, 3.5, 2.5]),
    (3, avg([2], strides=[4], rounding_type="ceil_torch", auto_pad="valid"), [1.5]),
    (2, avg([1], rounding_type="ceil_torch", pads_end=[2]), [1, 2, 0]),
]
"""AvgPool-14 of one axis with the values 1 to n: at most one window behind the data is left out."""

FULL_KERNEL = [[14 / 9, 10 / 3, 4 / 3], [19 / 3, 11, 4], [3, 5, 16 / 9]]
CLIPPED = [[14 / 9, 10 / 3, 2], [19 / 3, 11, 6], [4.5, 7.5, 4]]
OVERRUN = avg([3, 3], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1], rounding_type="ceil")
"""1..16 as 4 x 4: the last windows overrun the padded input, whose divisor is read in two ways."""

INVALID = [
    avg([0]),
    avg([-2]),
    avg([2], strides=[0]),
    avg([2], strides=[-1]),
    avg([2, 2]),
    avg([2], strides=[1, 1]),
    avg([2], pads_begin=[1, 1], pads_end=[1]),
    avg([3], pads_begin=[-1], pads_end=[-1]),
    avg([9]),
    avg([9], auto_pad="valid"),
]
"""AvgPool-1 of 8 elements with attributes that no implementation can accept."""


def exact_avg_pool(data: np.ndarray[Any, Any], attributes: Attributes) -> dict[Any, Fraction]:
    """Exact means by output index, tap by tap; an empty window without counted pads is left out."""
    sizes = data.shape[2:]
    kernel, strides = attributes["kernel"], attributes["strides"]
    begin, end = list(attributes["pads_begin"]), list(attributes["pads_end"])
    for a, size in enumerate(sizes):
        if attributes["auto_pad"] == "explicit":
            continue
        total = max(0, (-(-size // strides[a]) - 1) * strides[a] + kernel[a] - size)
        small, large = total // 2, total - total // 2
        begin[a], end[a] = {
            "valid": (0, 0),
            "same_upper": (small, large),
            "same_lower": (large, small),
        }[attributes["auto_pad"]]
    counts = []
    for a, size in enumerate(sizes):
        steps = Fraction(size + begin[a] + end[a] - kernel[a], strides[a])
        last = steps // 1 if attributes["rounding_type"] == "floor" else -(-steps // 1)
        behind = last * strides[a] - begin[a] >= size
        counts.append(last + (not (behind and attributes["rounding_type"] == "ceil_torch")))
    counts_pads = not attributes["exclude-pad"] and any(begin + end)

    found = {}
    for index in product(*map(range, data.shape[:2]), *map(range, map(int, counts))):
        taps = []
        for offset in product(*map(range, kernel)):
            terms = zip(index[2:], strides, begin, offset, strict=True)
            at = [i * s - b + o for i, s, b, o in terms]
            if all(0 <= position < size for position, size in zip(at, sizes, strict=True)):
                taps.append(Fraction(float(data[(*index[:2], *at)])))
        if taps or counts_pads:
            found[index] = sum(taps, Fraction()) / (prod(kernel) if counts_pads else len(taps))
    return found


def adaptive_windows(
    data: np.ndarray[Any, Any], output_size: Sequence[int]
) -> dict[Any, dict[int, Fraction]]:
    """By output index the elements of its window, by their flat position.

    Element p of an axis is in window i if the interval from p to p + 1 overlaps the i-th of
    ``output_size`` equal parts of the axis.
    """
    sizes = data.shape[2:]
    found = {}
    for index in product(*map(range, data.shape[:2]), *map(range, output_size)):
        taps = {}
        for flat, at in enumerate(product(*map(range, sizes))):
            inside = (
                i * size < (p + 1) * out and p * out < (i + 1) * size
                for p, i, size, out in zip(at, index[2:], sizes, output_size, strict=True)
            )
            if all(inside):
                taps[flat] = Fraction(float(data[(*index[:2], *at)]))
        found[index] = taps
    return found
