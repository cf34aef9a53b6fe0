"""The window of a wrong element, read from an untrusted log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

MAX_TAPS = 1 << 16
"""Taps of an axis at most; no picture could show more."""


@dataclass(frozen=True)
class Axis:
    """A spatial axis of a window, with the positions that its taps read.

    Attributes:
        positions: of each tap; negative or at least ``size`` on padding.
        counts: whether each tap counts.
        begin: the padding before the data.
        end: the padding after the data.
    """

    size: int
    positions: tuple[int, ...]
    counts: tuple[bool, ...]
    begin: int = 0
    end: int = 0

    @cached_property
    def taps(self) -> Counter[int]:
        """The number of taps that read each position."""
        return Counter(self.positions)

    @cached_property
    def counted_positions(self) -> frozenset[int]:
        """The positions with a tap that counts."""
        pairs = zip(self.positions, self.counts, strict=True)
        return frozenset(position for position, counts in pairs if counts)

    def has_data(self, position: int) -> bool:
        """Return whether the position holds data."""
        return 0 <= position < self.size

    @property
    def data_taps(self) -> int:
        """The number of taps that read data."""
        return sum(self.has_data(position) for position in self.positions)


@dataclass(frozen=True)
class DrawnWindow:
    """The taps of an element of an output over one to three spatial axes.

    Attributes:
        data: a nested list of the shape of the axes.
        divisor: None if there is none.
        has_counts: the log says which taps count; otherwise those that read data count.
    """

    axes: tuple[Axis, ...]
    data: Any = field(repr=False)
    divisor: int | None = None
    has_counts: bool = False

    @property
    def sentence(self) -> str:
        """The window, in words."""
        size = " by ".join(str(axis.size) for axis in self.axes)
        taps = math.prod(len(axis.positions) for axis in self.axes)
        if not taps:
            return f"The window has no taps; the data has {size}.{self._divisor_sentence}"
        spans = " by ".join(_span(axis.positions) for axis in self.axes)
        on_data = math.prod(axis.data_taps for axis in self.axes)
        text = f"The window spans positions {spans}; the data has {size}. "
        if taps == on_data:
            text += "Its one tap reads data" if taps == 1 else f"All its {taps} taps read data"
        else:
            text += f"{on_data} of its {taps} taps read data, {taps - on_data} lie on padding"
        counted = math.prod(sum(axis.counts) for axis in self.axes)
        if self.has_counts and counted != on_data:
            text += f"; {counted} count{'s' * (counted == 1)}"
        return f"{text}.{self._divisor_sentence}"

    @property
    def _divisor_sentence(self) -> str:
        return "" if self.divisor is None else f" The divisor is {self.divisor}."


def parse_window(data: object) -> DrawnWindow | None:
    """Parse a finding's ``detail["window"]``; None if it describes no window.

    ``input`` is a nested list over the spatial axes, ``positions`` and ``counts`` have a list an
    axis, ``pads`` has [begin, end] an axis. ``counts``, ``pads`` and ``divisor`` may be missing.
    """
    if not isinstance(data, Mapping):
        return None
    positions = _positions(data)
    if positions is None:
        return None
    shape = _shape(data.get("input"), len(positions))
    if shape is None:
        return None
    pads = _pads(data.get("pads"), len(positions))
    counts = _counts(data.get("counts"), positions)
    has_counts = counts is not None
    if counts is None:
        counts = [
            tuple(0 <= position < size for position in axis)
            for size, axis in zip(shape, positions, strict=True)
        ]
    axes = tuple(
        Axis(size, axis, axis_counts, begin, end)
        for size, axis, axis_counts, (begin, end) in zip(
            shape, positions, counts, pads, strict=True
        )
    )
    divisor = data.get("divisor")
    if not isinstance(divisor, int) or isinstance(divisor, bool) or abs(divisor) >= 2**63:
        divisor = None
    return DrawnWindow(axes, data["input"], divisor, has_counts)


def _span(positions: Sequence[int]) -> str:
    low, high = min(positions), max(positions)
    if low == high:
        return str(low)
    gaps = " (with gaps)" if len(set(positions)) <= high - low else ""
    repeated = " (some more than once)" if len(set(positions)) < len(positions) else ""
    return f"{low} to {high}{gaps}{repeated}"


def _positions(data: Mapping[str, Any]) -> list[tuple[int, ...]] | None:
    axes = data.get("positions")
    if not isinstance(axes, list | tuple) or not 1 <= len(axes) <= 3:
        return None
    positions = [numbers for numbers in map(_integers, axes) if numbers is not None]
    return positions if len(positions) == len(axes) else None


def _counts(data: object, positions: Sequence[Sequence[int]]) -> list[tuple[bool, ...]] | None:
    if not isinstance(data, list | tuple) or len(data) != len(positions):
        return None
    for axis, axis_positions in zip(data, positions, strict=True):
        if not isinstance(axis, list | tuple) or len(axis) != len(axis_positions):
            return None
        if not all(isinstance(item, bool) for item in axis):
            return None
    return [tuple(axis) for axis in data]


def _pads(data: object, axes: int) -> list[tuple[int, int]]:
    pads = [_integers(pair) for pair in data] if isinstance(data, list | tuple) else []
    pairs = [(pad[0], pad[1]) for pad in pads if pad is not None and len(pad) == 2]
    return pairs if len(pairs) == len(pads) == axes else [(0, 0)] * axes


def _integers(value: object) -> tuple[int, ...] | None:
    """Return integers of sane size; None for anything else."""
    if not isinstance(value, list | tuple) or len(value) > MAX_TAPS:
        return None
    if not all(type(item) is int and abs(item) < 2**31 for item in value):
        return None
    return tuple(value)


def _shape(data: object, axes: int) -> tuple[int, ...] | None:
    """Return the shape of a nested list with that many axes; None if it is ragged or empty."""
    if axes == 0:
        return () if isinstance(data, int | float | str) else None
    if not isinstance(data, list | tuple) or not data:
        return None
    inner = {_shape(item, axes - 1) for item in data}
    first = inner.pop()
    return None if inner or first is None else (len(data), *first)
