"""Integer window geometry: which elements each window reads, by the rules of a specification."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conformance.errors import EvaluationError
from conformance.families.pooling.rules import RULES
from conformance.model import Case
from conformance.reference.exact import AxisWindows, Runs
from conformance.reference.subject import told
from conformance.spec.case_environment import Environment, Evaluable
from conformance.spec.model import OpSpec

MAX_ELEMENTS = 1 << 27
"""No output and no table of window elements may be larger; a case that asks for more is refused."""


def is_whole(spec: OpSpec, case: Case) -> bool:
    """Whether one window takes the whole plane, and nothing else."""
    env = WindowEnvironment(spec, case)
    try:
        if any(n != 1 for n in env.out):
            return False
        sizes = zip(
            env.per_axis("on_data"), env.per_axis("taps"), env.per_axis("size"), strict=True
        )
        return all(int(np.max(held)) == int(np.max(taps)) == size for held, taps, size in sizes)
    except EvaluationError:
        return False


class WindowEnvironment(Environment):
    """An environment that also knows the windows: ``i`` (their numbers) and ``on_data``.

    Per-axis values over windows are arrays of shape (1, .., out_a, .., 1) with one dimension an
    axis, so that combining axes broadcasts to the grid of all windows.
    """

    def __init__(
        self, spec: OpSpec, case: Case, definitions: Mapping[str, Evaluable] | None = None
    ) -> None:
        super().__init__(spec, case, definitions)
        self.read: dict[tuple[Any, ...], AxisWindows] = {}

    @cached_property
    def out(self) -> tuple[int, ...]:
        """The spatial shape of the output."""
        out = tuple(int(n) for n in self.per_axis("out"))
        if any(n < 0 for n in out) or math.prod(out) > MAX_ELEMENTS:
            raise EvaluationError(f"an output of shape {out} cannot be computed")
        return out

    @cached_property
    def windows(self) -> tuple[AxisWindows, ...]:
        """The elements that each window of each axis reads.

        Environments of one case share them: what reads the same elements is the same object.
        """
        axes = range(self["axes"])
        return tuple(
            self._plain(a) if self._is_plain else self._shared(*self.listed(a)) for a in axes
        )

    def on_grid(self, axis: int, vector: NDArray[Any]) -> NDArray[Any]:
        """A vector over the windows of one axis, shaped to broadcast over the grid."""
        shape = [1] * self["axes"]
        shape[axis] = -1
        return vector.reshape(shape)

    def _numbers(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(self.on_grid(a, np.arange(n, dtype=np.int64)) for a, n in enumerate(self.out))

    def _on_data(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(
            self.on_grid(axis, windows.counts) for axis, windows in enumerate(self.windows)
        )

    sources: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"i": _numbers, "on_data": _on_data}

    def along(self, name: str, axis: int) -> NDArray[np.int64]:
        """A per-axis definition as a vector over the windows of ``axis``."""
        value = self.per_axis(name)[axis]
        if isinstance(value, np.ndarray) and value.size == self.out[axis]:
            return value.reshape(-1)
        return np.full(self.out[axis], value, np.int64)

    def _geometry(self, axis: int) -> tuple[NDArray[np.int64], ...]:
        """Start, taps and step of each window of an axis."""
        start, taps, step = (self.along(name, axis) for name in ("start", "taps", "step"))
        longest = int(taps.max(initial=0))
        if longest * self.out[axis] > MAX_ELEMENTS:
            raise EvaluationError(f"windows of {longest} elements cannot be computed")
        return start, taps, step

    @property
    def _is_plain(self) -> bool:
        """Whether every tap on the data counts, and reads where it is."""
        rules = RULES
        return all(
            getattr(self.definitions[name], "text", "") == rules[name].default
            for name in ("tap", "reads")
        )

    def _plain(self, axis: int) -> AxisWindows:
        """The windows of an axis where the taps that count are those on the data."""
        asked = (self.per_axis(name)[axis] for name in ("start", "taps", "step", "size"))
        told = (one.tobytes() if isinstance(one, np.ndarray) else one for one in asked)
        key = self.out[axis], *told
        if key not in self.read:
            start, taps, step = self._geometry(axis)
            first, count = on_data(start, taps, step, self.per_axis("size")[axis])
            runs = Runs(first * (count > 0), count, step * (count > 1))
            self.read[key] = self.read.setdefault(runs.key, runs)
        return self.read[key]

    def _shared(self, position: NDArray[np.int64], counted: NDArray[np.bool_]) -> AxisWindows:
        indices = np.where(counted, position, 0)
        key = counted.shape, told(indices), told(counted)
        return self.read.setdefault(key, AxisWindows(indices, counted))

    def listed(self, axis: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The position that each tap of an axis's windows reads, and whether it counts.

        Both are (out, taps), with as many taps for each window as the longest has.
        """
        size = self.per_axis("size")[axis]
        start, taps, step = self._geometry(axis)
        t = np.arange(max(0, int(taps.max(initial=0))), dtype=np.int64)
        at = start[:, None] + t * step[:, None]
        view = _TapView(self, axis, t, at)
        tap, read = (self.definitions[name].evaluate(view) for name in ("tap", "reads"))
        position = np.broadcast_to(_single(read), at.shape)
        inside = (position >= 0) & (position < size)
        return position, inside & (t < taps[:, None]) & _single(tap)


def on_data(
    start: NDArray[np.int64], taps: NDArray[np.int64], step: NDArray[np.int64], size: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The position of each window's first tap on the data, and how many are; both (windows,).

    What is first of none means nothing.
    """
    # The taps t with 0 <= start + t * step < size, counted from the end if steps go back.
    stride = np.where(step == 0, 1, np.abs(step))
    ahead = np.where(step > 0, start, size - 1 - start)
    low = np.maximum(0, -(ahead // stride))
    high = np.minimum(taps - 1, (size - 1 - ahead) // stride)
    still = np.where((start >= 0) & (start < size), np.maximum(0, taps), 0)
    count = np.where(step == 0, still, np.maximum(0, high - low + 1))
    return start + low * step, count


def _single(value: Any) -> Any:
    """The one entry of a value that a tap's view has for its axis."""
    return value[0] if isinstance(value, tuple) else value


class _TapView(Mapping[str, Any]):
    """The environment as one axis's taps see it: per-axis values of that axis alone.

    ``t`` has shape (K,), ``at`` (out, K), and a value over windows (out, 1).
    """

    def __init__(
        self, env: WindowEnvironment, axis: int, t: NDArray[np.int64], at: NDArray[np.int64]
    ) -> None:
        self._env, self._axis = env, axis
        self._own = {"t": (t,), "at": (at,)}

    def __getitem__(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        value = self._env[name]
        if not isinstance(value, tuple):
            return value
        entry = value[self._axis]
        return (entry.reshape(-1, 1) if isinstance(entry, np.ndarray) else entry,)

    def __iter__(self) -> Iterator[str]:
        return iter(self._env)

    def __len__(self) -> int:
        return len(self._env)
