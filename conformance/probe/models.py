"""Listed models: ways of computing a mean, each of which predicts the bits of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conformance.core.integers import decode, round_ratio
from conformance.dtypes import DTYPES, Array, DType, narrowed
from conformance.probe.orders import Order, orders

Codes = NDArray[np.uint64]

ACCUMULATORS = {"f32": ("f16", "bf16", "f32", "f64"), "f64": ("f32", "f64")}
"""Types in which listed models keep sums, by element type: else its own, f32, f64."""

EXACT = "exact"

FINISHES = {
    "divided": "the sum is divided",
    "reciprocal": "the sum is multiplied by one over the number",
    "rounded-divided": "the sum is rounded to the element type and divided there",
    "rounded-reciprocal": "the sum is rounded to the element type and multiplied there by one over "
    "the number",
    "reciprocal-f32": "the sum is multiplied in f32 by one over the number",
    "divided-twice": "the sum is divided by the number of rows, and then by that of columns",
    "each-divided": "each element is divided before it is added",
    "each-reciprocal": "each element is multiplied by one over the number before it is added",
}
EXACT_FINISHES = ("divided", "rounded-divided", "rounded-reciprocal")
"""Finishes of an exact sum."""

NEAREST, TRUNCATED, ODD_UP = "to nearest", "towards zero", "up from odd ones alone"
RESULTS = {
    NEAREST: "",
    TRUNCATED: "; the result is rounded towards zero",
    ODD_UP: "; the result is rounded to nearest above odd numbers, else towards zero",
}
"""How results are rounded to the element type where sums are wider.

The last is what remains of rounding to nearest if only the bit that settles ties is added.
"""

ROUNDING = {TRUNCATED: "toward_zero", ODD_UP: "up_from_odd"}
"""The names of :func:`~conformance.dtypes.narrowed`."""


@dataclass(frozen=True)
class Model:
    """A listed model.

    Attributes:
        says: its value of each property.
        description: the model in words.
    """

    name: str
    says: tuple[tuple[str, str], ...]
    description: str

    @cached_property
    def values(self) -> Mapping[str, str]:
        """Its value of each property, by name."""
        return dict(self.says)


class Space(Protocol):
    """Listed models for windows of a number of elements of one type."""

    @property
    def models(self) -> tuple[Model, ...]:
        """The models, in a fixed order."""

    def predict(self, data: Array, numbers: Sequence[int] | None = None) -> Codes:
        """Return the codes of the results of rows of data, (models, rows).

        Args:
            numbers: the models to predict, ascending; all if None.
        """


def codes(values: Array, dtype: DType) -> Codes:
    """Return the bits of numbers as integers; all NaNs have the same."""
    bits = np.ascontiguousarray(values).view(dtype.code).astype(np.uint64)
    if not dtype.is_float:
        return bits
    with np.errstate(all="ignore"):
        return np.where(values != values, np.uint64(not_a_number(dtype)), bits)


def not_a_number(dtype: DType) -> int:
    """Return the code that stands for any NaN."""
    return dtype.infinity | 1 << (dtype.digits - 2)


@dataclass(frozen=True)
class _Computation:
    """The part of models that differ in the order alone."""

    accumulator: str
    finish: str
    result: str = ""


class MeanModels:
    """Listed models of the mean of ``n`` floats; ``side`` rows, if a square."""

    def __init__(self, dtype: str, n: int, side: int | None = None) -> None:
        self.dtype, self.n = DTYPES[dtype], n
        self._side = side
        self._orders = orders(side)
        self._computations = tuple(
            _Computation(accumulator, finish, result)
            for accumulator in ACCUMULATORS.get(dtype, (dtype, "f32", "f64"))
            for finish in _finishes(self.dtype, DTYPES[accumulator], square=side is not None)
            for result in _roundings(self.dtype, DTYPES[accumulator], finish)
        )
        self._exact = tuple(_Computation(EXACT, finish) for finish in EXACT_FINISHES)
        self.models = _list_models(self._orders, self._computations, self._exact)

    def predict(self, data: Array, numbers: Sequence[int] | None = None) -> Codes:
        """Return the codes of the mean of each row; see :class:`Space`."""
        sums: dict[tuple[str, str, str], Array] = {}
        terms: dict[tuple[str, str], Array] = {}
        results: list[Array] = []
        with np.errstate(all="ignore"):
            for number in range(len(self.models)) if numbers is None else numbers:
                group, order_number = divmod(number, len(self._orders))
                if group >= len(self._computations):
                    computation = self._exact[number - len(self._computations) * len(self._orders)]
                    results.append(self._exact_means(data, computation.finish))
                    continue
                computation, order = self._computations[group], self._orders[order_number]
                term_key = (
                    computation.accumulator,
                    computation.finish if computation.finish.startswith("each") else "",
                )
                if term_key not in terms:
                    terms[term_key] = self._terms(data, *term_key)
                key = (*term_key, order.name)
                if key not in sums:
                    sums[key] = order.add(terms[term_key])
                results.append(self._finish(sums[key], computation))
        return codes(np.stack(results), self.dtype)

    def _terms(self, data: Array, accumulator: str, each: str) -> Array:
        numpy_type = DTYPES[accumulator].numpy
        terms = np.ascontiguousarray(data.astype(numpy_type))
        if each == "each-divided":
            return np.asarray(terms / _number(self.n, numpy_type))
        if each == "each-reciprocal":
            return np.asarray(terms * (_number(1, numpy_type) / _number(self.n, numpy_type)))
        return terms

    def _finish(self, total: Array, computation: _Computation) -> Array:
        numpy_type = self.dtype.numpy
        if computation.finish.startswith("each"):
            return total.astype(numpy_type)
        if computation.finish.startswith("rounded"):
            total = total.astype(numpy_type)
        if computation.finish == "reciprocal-f32":
            total = total.astype(np.float32)
        kind = total.dtype
        if computation.finish == "divided-twice" and self._side is not None:
            mean = total / _number(self._side, kind) / _number(self.n // self._side, kind)
        elif "reciprocal" in computation.finish:
            mean = total * (_number(1, kind) / _number(self.n, kind))
        else:
            mean = total / _number(self.n, kind)
        return narrowed(np.asarray(mean), self.dtype, ROUNDING.get(computation.result, "nearest"))

    def _exact_means(self, data: Array, finish: str) -> Array:
        decoded = decode(data, self.dtype, headroom=(self.n - 1).bit_length())
        total = decoded.significand.sum(axis=1)
        if finish == "divided":
            return round_ratio(total, np.array(self.n), decoded.exponent, self.dtype)
        rounded = round_ratio(total, np.array(1), decoded.exponent, self.dtype)
        return self._finish(rounded, _Computation(EXACT, finish))


def _roundings(dtype: DType, accumulator: DType, finish: str) -> tuple[str, ...]:
    """List how results may be rounded, if sums are of a wider type."""
    if not _is_wider(dtype, accumulator):
        return ("",)
    return tuple(RESULTS) if finish in ("divided", "reciprocal") else (NEAREST,)


def _is_wider(dtype: DType, accumulator: DType) -> bool:
    return accumulator.digits > dtype.digits


def _number(value: int, kind: np.dtype[Any]) -> Array:
    return np.asarray([value]).astype(kind)


def _finishes(dtype: DType, accumulator: DType, *, square: bool) -> list[str]:
    finishes = ["divided", "reciprocal", *(["divided-twice"] if square else [])]
    if _is_wider(dtype, accumulator):
        finishes += ["rounded-divided", "rounded-reciprocal"]
    if accumulator.digits < DTYPES["f32"].digits:
        finishes.append("reciprocal-f32")
    return [*finishes, "each-divided", "each-reciprocal"]


def _list_models(
    orders: tuple[Order, ...],
    computations: tuple[_Computation, ...],
    exact: tuple[_Computation, ...],
) -> tuple[Model, ...]:
    models = [
        Model(
            " ".join(
                filter(
                    None,
                    (order.name, computation.accumulator, computation.finish, computation.result),
                )
            ),
            (
                ("accumulator", computation.accumulator),
                ("order", order.kind),
                ("lanes", order.lanes),
                ("division", computation.finish),
                ("results", computation.result),
            ),
            f"added {order.about}, in {computation.accumulator}; {FINISHES[computation.finish]}"
            + RESULTS.get(computation.result, ""),
        )
        for computation in computations
        for order in orders
    ]
    for computation in exact:
        says = (
            ("accumulator", EXACT),
            ("order", ""),
            ("lanes", ""),
            ("division", computation.finish),
            ("results", ""),
        )
        description = f"added exactly; {FINISHES[computation.finish]}"
        models.append(Model(f"any {EXACT} {computation.finish}", says, description))
    return tuple(models)


@lru_cache(maxsize=64)
def means(dtype: str, n: int, side: int | None) -> MeanModels:
    """Return the listed means, made once."""
    return MeanModels(dtype, n, side)
