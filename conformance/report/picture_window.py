"""The window of a wrong element, read from an untrusted log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

MAX_TAPS = 1 << 16
"""Taps of one axis at most; no picture could show more."""


@dataclass(frozen=True)
class Axis:
    """One spatial axis of a window: which of its positions the taps read.

    ``positions`` has one entry a tap: negative or at least ``size`` on padding. ``taken`` says of
    each whether it counts. ``begin`` and ``end`` are the padding at the ends of the axis.
    """

    size: int
    positions: tuple[int, ...]
    taken: tuple[bool, ...]
    begin: int = 0
    end: int = 0

    @cached_property
    def taps(self) -> Counter[int]:
        """How many taps read each position."""
        return Counter(self.positions)

    @cached_property
    def counting(self) -> frozenset[int]:
        """The positions of which some tap counts."""
        pairs = zip(self.positions, self.taken, strict=True)
        return frozenset(position for position, taken in pairs if taken)

    def has(self, position: int) -> bool:
        """Whether the position holds data."""
        return 0 <= position < self.size

    @property
    def on_data(self) -> int:
        """How many taps read data."""
        return sum(self.has(position) for position in self.positions)


@dataclass(frozen=True)
class DrawnWindow:
    """The taps of one element of an output over one to three spatial axes.

    ``data`` is a nested list of the shape of the axes; ``divisor`` is None where there is none.
    ``told`` says whether the log told which taps count; otherwise those that read data do.
    """

    axes: tuple[Axis, ...]
    data: Any = field(repr=False)
    divisor: int | None = None
    told: bool = False

    @property
    def sentence(self) -> str:
        """What a picture of the window shows, in words."""
        size = " by ".join(str(axis.size) for axis in self.axes)
        taps = math.prod(len(axis.positions) for axis in self.axes)
        if not taps:
            return f"The window has no taps; the data has {size}.{self._divided}"
        spans = " by ".join(_span(axis.positions) for axis in self.axes)
        on_data = math.prod(axis.on_data for axis in self.axes)
        text = f"The window spans positions {spans}; the data has {size}. "
        if taps == on_data:
            text += "Its one tap reads data" if taps == 1 else f"All its {taps} taps read data"
        else:
            text += f"{on_data} of its {taps} taps read data, {taps - on_data} lie on padding"
        taken = math.prod(sum(axis.taken) for axis in self.axes)
        if self.told and taken != on_data:
            text += f"; {taken} count{'s' * (taken == 1)}"
        return f"{text}.{self._divided}"

    @property
    def _divided(self) -> str:
        return "" if self.divisor is None else f" The divisor is {self.divisor}."


def parse(data: object) -> DrawnWindow | None:
    """The window that a finding's ``detail["window"]`` describes; None where it describes none.

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
    counts = _counts(data.get("counts"), positions)
    pads = _pads(data.get("pads"), len(positions))
    axes = []
    for number, (size, at, (begin, end)) in enumerate(zip(shape, positions, pads, strict=True)):
        taken = counts[number] if counts else tuple(0 <= position < size for position in at)
        axes.append(Axis(size, at, taken, begin, end))
    divisor = data.get("divisor")
    whole = isinstance(divisor, int) and not isinstance(divisor, bool) and abs(divisor) < 2**63
    return DrawnWindow(tuple(axes), data["input"], divisor if whole else None, counts is not None)


def _span(positions: Sequence[int]) -> str:
    low, high = min(positions), max(positions)
    if low == high:
        return str(low)
    apart = " (with gaps)" if len(set(positions)) <= high - low else ""
    again = " (some more than once)" if len(set(positions)) < len(positions) else ""
    return f"{low} to {high}{apart}{again}"


def _positions(data: Mapping[str, Any]) -> list[tuple[int, ...]] | None:
    axes = data.get("positions")
    if not isinstance(axes, list | tuple) or not 1 <= len(axes) <= 3:
        return None
    positions = [numbers for numbers in map(_integers, axes) if numbers is not None]
    return positions if len(positions) == len(axes) else None


def _counts(data: object, positions: Sequence[Sequence[int]]) -> list[tuple[bool, ...]] | None:
    if not isinstance(data, list | tuple) or len(data) != len(positions):
        return None
    for axis, at in zip(data, positions, strict=True):
        if not isinstance(axis, list | tuple) or len(axis) != len(at):
            return None
        if not all(isinstance(item, bool) for item in axis):
            return None
    return [tuple(axis) for axis in data]


def _pads(data: object, axes: int) -> list[tuple[int, int]]:
    pads = [_integers(pair) for pair in data] if isinstance(data, list | tuple) else []
    pairs = [(pad[0], pad[1]) for pad in pads if pad is not None and len(pad) == 2]
    return pairs if len(pairs) == len(pads) == axes else [(0, 0)] * axes


def _integers(value: object) -> tuple[int, ...] | None:
    """Whole numbers of sane size."""
    if not isinstance(value, list | tuple) or len(value) > MAX_TAPS:
        return None
    if not all(type(item) is int and abs(item) < 2**31 for item in value):
        return None
    return tuple(value)


def _shape(data: object, axes: int) -> tuple[int, ...] | None:
    """The shape of a nested list with that many axes; None where it is ragged or empty."""
    if axes == 0:
        return () if isinstance(data, int | float | str) else None
    if not isinstance(data, list | tuple) or not data:
        return None
    inner = {_shape(item, axes - 1) for item in data}
    first = inner.pop()
    return None if inner or first is None else (len(data), *first)
