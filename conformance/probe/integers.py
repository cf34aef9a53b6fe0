"""Listed models of the mean of whole numbers: what sums are kept in, and how means are rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.probe.models import Codes, Model, codes
from conformance.probe.orders import sequential

ROUNDINGS = {
    "half to even": "rounded to nearest, halves to even",
    "half away": "rounded to nearest, halves away from zero",
    "half up": "rounded to nearest, halves up",
    "truncated": "rounded towards zero",
    "floor": "rounded down",
    "ceiling": "rounded up",
}

ACCUMULATORS = ("exact", "f32", "f64", "i32", "own")
"""Sums are exact, or kept in f32 or f64, or wrap around in i32 or in the element type."""

KEPT = {
    "exact": "added exactly",
    "f32": "added one by one and divided in f32",
    "f64": "added one by one and divided in f64",
    "i32": "added in i32, which wraps around",
    "own": "added in the element type, which wraps around",
}


class IntegerMeans:
    """Means of ``n`` whole numbers of a type."""

    def __init__(self, dtype: str, n: int) -> None:
        self.dtype, self.n = DTYPES[dtype], n
        kept = [one for one in ACCUMULATORS if not (one == "own" and dtype == "i32")]
        self._kept = tuple(kept)
        self.models = tuple(
            Model(
                f"{kept} {rounding}",
                (("accumulator", kept), ("rounding", rounding)),
                f"{KEPT[kept]}; {ROUNDINGS[rounding]}",
            )
            for kept in self._kept
            for rounding in ROUNDINGS
        )

    def predict(self, data: Array, among: Sequence[int] | None = None) -> Codes:
        """The codes of the mean of each row, by model: (models, rows), or some of these rows."""
        found = []
        exact = data.astype(object).sum(axis=1)
        for kept in self._kept:
            for rounding in ROUNDINGS:
                if kept in ("f32", "f64"):
                    means = self._floating(data, DTYPES[kept].numpy, rounding)
                else:
                    total = exact if kept == "exact" else self._wrapped(exact, kept)
                    means = np.array(
                        [_divided(int(one), self.n, rounding) for one in total], object
                    )
                found.append(codes(self._stored(means), self.dtype))
        every = np.stack(found)
        return every if among is None else every[list(among)]

    def _wrapped(self, total: Array, kept: str) -> Array:
        kind = self.dtype if kept == "own" else DTYPES["i32"]
        low = int(np.iinfo(kind.numpy).min)
        size = 1 << (8 * kind.numpy.itemsize)
        return np.array([(int(one) - low) % size + low for one in total], object)

    def _floating(self, data: Array, kind: np.dtype[Any], rounding: str) -> Array:
        mean = sequential(data.astype(kind)) / kind.type(self.n)
        return np.array([int(one) for one in _ROUNDED[rounding](mean)], object)

    def _stored(self, means: Array) -> Array:
        # A mean lies within the type, but for what rounding in f32 adds at its end.
        limits = np.iinfo(self.dtype.numpy)
        low, high = int(limits.min), int(limits.max)
        return np.array([min(max(int(one), low), high) for one in means]).astype(self.dtype.numpy)


def _divided(total: int, n: int, rounding: str) -> int:
    down, rest = divmod(total, n)
    if rest == 0 or rounding == "floor":
        return down
    if rounding == "ceiling":
        return down + 1
    if rounding == "truncated":
        return down + (total < 0)
    if 2 * rest != n:
        return down + (2 * rest > n)
    up = {"half to even": down % 2 == 1, "half away": total > 0, "half up": True}[rounding]
    return down + up


_ROUNDED: dict[str, Callable[[Array], Array]] = {
    "half to even": np.rint,
    # What lies between a number and the whole number below is exact; a half added to it is not.
    "half away": lambda x: np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0),
    "half up": lambda x: np.floor(x) + (x - np.floor(x) >= 0.5),
    "truncated": np.trunc,
    "floor": np.floor,
    "ceiling": np.ceil,
}


@lru_cache(maxsize=64)
def integer_means(dtype: str, n: int) -> IntegerMeans:
    """The listed means, made once."""
    return IntegerMeans(dtype, n)
