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
from conformance.reference import facts
from conformance.spec.model import OpSpec
from conformance.specification import case_from_inputs, find_spec, outputs, violations

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
    def facts(self) -> Any:
        spec = find_spec(self.op)
        case = case_from_inputs(spec, self.inputs, self.attributes)
        assert not violations(spec, case)
        return facts(spec, case, self.inputs)

    def axes(self, name: str) -> list[int]:
        """A number of the case with one entry an axis: ``kernel``, ``strides``, ``pad_begin``."""
        spec = find_spec(self.op)
        if isinstance(spec, OpSpec):
            return [int(value) for value in self.facts.per_axis(name)]
        binding = Binding(spec, self.attributes, {"data": self.data.shape})
        return [int(value) for value in binding.value("taps" if name == "kernel" else name)]

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
        env = self.facts
        held = [int(np.max(one)) for one in env.per_axis("on_data")]
        taps = [int(np.max(one)) for one in env.per_axis("taps")]
        return set(self.out) == {1} and held == taps == list(self.size)

    def starts(self, axis: int) -> Array:
        """Where each window of an axis starts, which may be before the data."""
        if isinstance(find_spec(self.op), OpSpec):
            return np.asarray(self.facts.along("start", axis))
        stride, begin = self.axes("strides")[axis], self.axes("pad_begin")[axis]
        return np.arange(self.out[axis]) * stride - begin

    def positions(self) -> list[list[Array]]:
        """Of each axis and window the position of each tap, which may lie beyond the data."""
        listed = []
        for axis in range(len(self.out)):
            taps, step = (self._along(name, axis) for name in ("taps", "step"))
            rows = zip(self.starts(axis), taps, step, strict=True)
            listed.append([first + np.arange(count) * by for first, count, by in rows])
        return listed

    def _along(self, name: str, axis: int) -> Array:
        if isinstance(find_spec(self.op), OpSpec):
            return np.asarray(self.facts.along(name, axis))
        value = self.axes({"taps": "kernel", "step": "dilations"}[name])[axis]
        return np.full(self.out[axis], value)

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
