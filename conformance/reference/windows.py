"""Integer window geometry: which elements each window reads, by the rules of a specification."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conformance.errors import EvaluationError
from conformance.reference.exact import AxisWindows
from conformance.spec.environment import Environment

MAX_ELEMENTS = 1 << 27
"""No output and no table of window elements may be larger; a case that asks for more is refused."""


class WindowEnvironment(Environment):
    """An environment that also knows the windows: ``i`` (their numbers) and ``on_data``.

    Per-axis values over windows are arrays of shape (1, .., out_a, .., 1) with one dimension an
    axis, so that combining axes broadcasts to the grid of all windows.
    """

    @cached_property
    def out(self) -> tuple[int, ...]:
        """The spatial shape of the output."""
        out = tuple(int(n) for n in self.per_axis("out"))
        if any(n < 0 for n in out) or math.prod(out) > MAX_ELEMENTS:
            raise EvaluationError(f"an output of shape {out} cannot be computed")
        return out

    @cached_property
    def windows(self) -> tuple[AxisWindows, ...]:
        """The elements that each window of each axis reads."""
        return tuple(self._axis_windows(axis) for axis in range(self["axes"]))

    def on_grid(self, axis: int, vector: NDArray[Any]) -> NDArray[Any]:
        """A vector over the windows of one axis, shaped to broadcast over the grid."""
        shape = [1] * self["axes"]
        shape[axis] = -1
        return vector.reshape(shape)

    def _numbers(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(self.on_grid(a, np.arange(n, dtype=np.int64)) for a, n in enumerate(self.out))

    def _on_data(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(
            self.on_grid(axis, windows.counted.sum(axis=1, dtype=np.int64))
            for axis, windows in enumerate(self.windows)
        )

    sources: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"i": _numbers, "on_data": _on_data}

    def along(self, name: str, axis: int) -> NDArray[np.int64]:
        """A per-axis definition as a vector over the windows of ``axis``."""
        value = np.asarray(self.per_axis(name)[axis], dtype=np.int64)
        return np.broadcast_to(value.reshape(-1), (self.out[axis],))

    def _axis_windows(self, axis: int) -> AxisWindows:
        size = self.per_axis("size")[axis]
        start, taps = self.along("start", axis), self.along("taps", axis)
        longest = max(0, int(taps.max(initial=0)))
        if longest * self.out[axis] > MAX_ELEMENTS:
            raise EvaluationError(f"windows of {longest} elements cannot be computed")
        t = np.arange(longest, dtype=np.int64)
        at = start[:, None] + t * self.along("step", axis)[:, None]
        view = _TapView(self, axis, t, at)
        tap, read = (self.definitions[name].evaluate(view) for name in ("tap", "reads"))
        position = np.broadcast_to(_single(read), at.shape)
        inside = (position >= 0) & (position < size)
        counted = inside & (t < taps[:, None]) & _single(tap)
        return AxisWindows(np.clip(position, 0, max(0, size - 1)), counted)


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
