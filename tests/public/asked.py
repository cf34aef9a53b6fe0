"""A question as a backend of this folder sees it: the oracle's answer, and the windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from conformance.core.binding import Binding
from conformance.dtypes import Array
from conformance.specification import (
    binding_of,
    case_from_inputs,
    find_spec,
    outputs,
    violations,
)

Window = tuple[tuple[int, ...], tuple[Array, ...]]
"""Where a window's result stands, and the positions of its taps on each axis."""


@dataclass(frozen=True)
class Asked:
    """One call of a backend. What the specification does not allow raises InvalidCase."""

    op: str
    inputs: list[Array]
    attributes: dict[str, Any]
    right: list[Array] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "right", self.under(self.attributes))

    def under(self, attributes: Mapping[str, Any], data: Array | None = None) -> list[Array]:
        """The oracle's answer to another question, rounded once into the operator's types."""
        inputs = self.inputs if data is None else [data, *self.inputs[1:]]
        made = outputs(find_spec(self.op), list(inputs), attributes)
        return [np.array(one) for one in made]

    @property
    def data(self) -> Array:
        return self.inputs[0]

    @cached_property
    def binding(self) -> Binding:
        """The names of the definition, with their values."""
        spec = find_spec(self.op)
        case = case_from_inputs(spec, self.inputs, self.attributes)
        assert not violations(spec, case)
        return binding_of(spec, case)

    def axes(self, name: str) -> list[int]:
        """A number of the case with one entry an axis: ``kernel``, ``strides``, ``pad_begin``."""
        if name == "dilations" and name not in find_spec(self.op).attributes:
            return [1] * len(self.size)
        value = self.binding.value("taps" if name == "kernel" else name)
        return [int(entry) for entry in value]

    @property
    def out(self) -> tuple[int, ...]:
        return self.right[0].shape[2:]

    @property
    def size(self) -> tuple[int, ...]:
        return self.data.shape[2:]

    @property
    def taps(self) -> int:
        return prod(self.axes("kernel"))

    @property
    def whole(self) -> bool:
        """Whether the only window is the plane."""
        if set(self.out) != {1}:
            return False
        rows = zip(self.positions(), self.size, strict=True)
        return all(np.array_equal(at, np.arange(size)) for (at,), size in rows)

    def positions(self) -> list[list[Array]]:
        """Of each axis and window the position of each tap, which may lie beyond the data."""
        axes = range(len(self.out))
        if "daptive" in self.op:
            return [[*map(np.arange, *self._borders(axis))] for axis in axes]
        taps, steps = self.axes("kernel"), self.axes("dilations")
        return [
            [start + np.arange(taps[axis]) * steps[axis] for start in self.starts(axis)]
            for axis in axes
        ]

    def starts(self, axis: int) -> Array:
        """Where each window of an axis starts, which may be before the data."""
        stride, begin = self.axes("strides")[axis], self.axes("pad_begin")[axis]
        return np.arange(self.out[axis]) * stride - begin

    def _borders(self, axis: int) -> tuple[Array, Array]:
        """Where each window of an adaptive pool begins and ends."""
        size, out = self.size[axis], self.out[axis]
        window = np.arange(out)
        return window * size // out, -(-(window + 1) * size // out)

    @property
    def divisors(self) -> Array:
        """What AvgPool-1 divides each sum by, 0 where a window is empty."""
        if self.binding.value("counts_pads"):
            return np.full(self.out, self.taps)
        inside = [
            np.array([((at >= 0) & (at < size)).sum() for at in windows])
            for windows, size in zip(self.positions(), self.size, strict=True)
        ]
        return np.asarray(prod(np.ix_(*inside)))

    def windows(self, positions: Sequence[Sequence[Array]] | None = None) -> Iterator[Window]:
        per_axis = self.positions() if positions is None else positions
        for at in np.ndindex(*map(len, per_axis)):
            yield at, tuple(per_axis[axis][i] for axis, i in enumerate(at))

    def reduced(
        self, reduce: Callable[[Array], Array], positions: Sequence[Sequence[Array]] | None = None
    ) -> Array:
        """Each window, (N, C, taps on the data), made one number, in float64."""
        per_axis = self.positions() if positions is None else positions
        made = np.zeros((*self.data.shape[:2], *map(len, per_axis)))
        with np.errstate(all="ignore"):
            for at, taps in self.windows(per_axis):
                made[(..., *at)] = reduce(self.read(taps))
        return made

    def read(self, taps: Sequence[Array]) -> Array:
        """The elements of the data at some positions of each axis, those beyond left out."""
        found = self.data
        for axis, (at, size) in enumerate(zip(taps, self.size, strict=True), 2):
            found = found.take(at[(at >= 0) & (at < size)], axis)
        return found.reshape(*self.data.shape[:2], -1)
