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
"""Types of sums: exact, f32 or f64, or wrapping around in i32 or the element type."""

ACCUMULATOR_TEXTS = {
    "exact": "added exactly",
    "f32": "added one by one and divided in f32",
    "f64": "added one by one and divided in f64",
    "i32": "added in i32, which wraps around",
    "own": "added in the element type, which wraps around",
}


class IntegerMeans:
    """The listed models of the mean of ``n`` whole numbers of a type."""

    def __init__(self, dtype: str, n: int) -> None:
        self.dtype, self.n = DTYPES[dtype], n
        self._accumulators = tuple(
            name for name in ACCUMULATORS if not (name == "own" and dtype == "i32")
        )
        self.models = tuple(
            Model(
                f"{accumulator} {rounding}",
                (("accumulator", accumulator), ("rounding", rounding)),
                f"{ACCUMULATOR_TEXTS[accumulator]}; {ROUNDINGS[rounding]}",
            )
            for accumulator in self._accumulators
            for rounding in ROUNDINGS
        )

    def predict(self, data: Array, numbers: Sequence[int] | None = None) -> Codes:
        """Return the codes of the mean of each row, (models, rows).

        Args:
            numbers: the models to predict, ascending; all if None.
        """
        predictions = []
        exact = data.astype(object).sum(axis=1)
        for accumulator in self._accumulators:
            for rounding in ROUNDINGS:
                if accumulator in ("f32", "f64"):
                    means = self._float_means(data, DTYPES[accumulator].numpy, rounding)
                else:
                    total = exact if accumulator == "exact" else self._wrap(exact, accumulator)
                    means = np.array(
                        [_divide(int(value), self.n, rounding) for value in total], object
                    )
                predictions.append(codes(self._to_dtype(means), self.dtype))
        all_codes = np.stack(predictions)
        return all_codes if numbers is None else all_codes[list(numbers)]

    def _wrap(self, total: Array, accumulator: str) -> Array:
        kind = self.dtype if accumulator == "own" else DTYPES["i32"]
        low = int(np.iinfo(kind.numpy).min)
        size = 1 << (8 * kind.numpy.itemsize)
        return np.array([(int(value) - low) % size + low for value in total], object)

    def _float_means(self, data: Array, kind: np.dtype[Any], rounding: str) -> Array:
        mean = sequential(data.astype(kind)) / kind.type(self.n)
        return np.array([int(value) for value in _ROUND[rounding](mean)], object)

    def _to_dtype(self, means: Array) -> Array:
        # A mean lies within the type, but for what rounding in f32 adds at its end.
        limits = np.iinfo(self.dtype.numpy)
        low, high = int(limits.min), int(limits.max)
        return np.array([min(max(int(value), low), high) for value in means]).astype(
            self.dtype.numpy
        )


def _divide(total: int, n: int, rounding: str) -> int:
    down, remainder = divmod(total, n)
    if remainder == 0 or rounding == "floor":
        return down
    if rounding == "ceiling":
        return down + 1
    if rounding == "truncated":
        return down + (total < 0)
    if 2 * remainder != n:
        return down + (2 * remainder > n)
    up = {"half to even": down % 2 == 1, "half away": total > 0, "half up": True}[rounding]
    return down + up


_ROUND: dict[str, Callable[[Array], Array]] = {
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
    """Return the listed means, made once."""
    return IntegerMeans(dtype, n)
