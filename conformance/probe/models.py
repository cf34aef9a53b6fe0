"""Listed models: ways of computing a mean, each of which predicts the bits of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType, narrowed
from conformance.probe.orders import Order, orders
from conformance.reference.exact import decode, round_ratio

Codes = NDArray[np.uint64]

ACCUMULATORS = {"f32": ("f16", "bf16", "f32", "f64"), "f64": ("f32", "f64")}
"""By element type, the types in which sums are kept by listed models: else its own, f32, f64."""

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


NEAREST, TRUNCATED, ODD_UP = "to nearest", "towards zero", "up from odd ones alone"
RESULTS = {
    NEAREST: "",
    TRUNCATED: "; the result is rounded towards zero",
    ODD_UP: "; the result is rounded to nearest above odd numbers, else towards zero",
}
"""How results are rounded to the element type where sums are wider. The last is what is left of
rounding to nearest where only the bit that settles ties is added."""

ROUNDING = {TRUNCATED: "toward_zero", ODD_UP: "up_from_odd"}
"""What :func:`~conformance.dtypes.narrowed` calls them."""


@dataclass(frozen=True)
class Model:
    """One listed model: its ``name``, what it ``says`` of each property, and itself in words."""

    name: str
    says: tuple[tuple[str, str], ...]
    words: str

    @cached_property
    def values(self) -> Mapping[str, str]:
        """By property, what it says."""
        return dict(self.says)


class Space(Protocol):
    """Listed models for windows of some number of elements of one type."""

    @property
    def models(self) -> tuple[Model, ...]:
        """The models, in a fixed order."""

    def predict(self, data: Array, among: Sequence[int] | None = None) -> Codes:
        """The codes of the results that models give for rows of data, (models, rows): all models,
        or those with these numbers, which ascend.
        """


def codes(values: Array, dtype: DType) -> Codes:
    """The bits of numbers as integers, those of any NaN as one."""
    found = np.ascontiguousarray(values).view(dtype.code).astype(np.uint64)
    if not dtype.is_float:
        return found
    with np.errstate(all="ignore"):
        return np.where(values != values, np.uint64(not_a_number(dtype)), found)


def not_a_number(dtype: DType) -> int:
    """The code that stands for any NaN."""
    return dtype.infinity | 1 << (dtype.digits - 2)


@dataclass(frozen=True)
class _Way:
    """What is shared by models that differ in the order alone."""

    accumulator: str
    finish: str
    result: str = ""


class MeanModels:
    """Means of ``n`` floating-point numbers; of a square window with ``side`` rows, if given."""

    def __init__(self, dtype: str, n: int, side: int | None = None) -> None:
        self.dtype, self.n = DTYPES[dtype], n
        self._side = side
        self._orders = orders(side)
        self._ways = tuple(
            _Way(kept, finish, result)
            for kept in ACCUMULATORS.get(dtype, (dtype, "f32", "f64"))
            for finish in _finishes(self.dtype, DTYPES[kept], square=side is not None)
            for result in _results(self.dtype, DTYPES[kept], finish)
        )
        self._exact = tuple(_Way(EXACT, one) for one in list(FINISHES)[:4] if one != "reciprocal")
        self.models = _models(self._orders, self._ways, self._exact)

    def predict(self, data: Array, among: Sequence[int] | None = None) -> Codes:
        """The codes of the mean of each row, by model; see :class:`Space`."""
        sums: dict[tuple[str, str, str], Array] = {}
        terms: dict[tuple[str, str], Array] = {}
        found: list[Array] = []
        with np.errstate(all="ignore"):
            for number in range(len(self.models)) if among is None else among:
                at, which = divmod(number, len(self._orders))
                if at >= len(self._ways):
                    way = self._exact[number - len(self._ways) * len(self._orders)]
                    found.append(self._exactly(data, way.finish))
                    continue
                way, order = self._ways[at], self._orders[which]
                kept = (way.accumulator, way.finish if way.finish.startswith("each") else "")
                if kept not in terms:
                    terms[kept] = self._terms(data, *kept)
                key = (*kept, order.name)
                if key not in sums:
                    sums[key] = order.add(terms[kept])
                found.append(self._finished(sums[key], way))
        return codes(np.stack(found), self.dtype)

    def _terms(self, data: Array, accumulator: str, each: str) -> Array:
        kept = DTYPES[accumulator].numpy
        terms = np.ascontiguousarray(data.astype(kept))
        if each == "each-divided":
            return np.asarray(terms / _number(self.n, kept))
        if each == "each-reciprocal":
            return np.asarray(terms * (_number(1, kept) / _number(self.n, kept)))
        return terms

    def _finished(self, total: Array, way: _Way) -> Array:
        own = self.dtype.numpy
        if way.finish.startswith("each"):
            return total.astype(own)
        if way.finish.startswith("rounded"):
            total = total.astype(own)
        if way.finish == "reciprocal-f32":
            total = total.astype(np.float32)
        kind = total.dtype
        if way.finish == "divided-twice" and self._side is not None:
            mean = total / _number(self._side, kind) / _number(self.n // self._side, kind)
        elif "reciprocal" in way.finish:
            mean = total * (_number(1, kind) / _number(self.n, kind))
        else:
            mean = total / _number(self.n, kind)
        return narrowed(np.asarray(mean), self.dtype, ROUNDING.get(way.result, "nearest"))

    def _exactly(self, data: Array, finish: str) -> Array:
        decoded = decode(data, self.dtype, headroom=(self.n - 1).bit_length())
        total = decoded.significand.sum(axis=1)
        if finish == "divided":
            return round_ratio(total, np.array(self.n), decoded.exponent, self.dtype)
        rounded = round_ratio(total, np.array(1), decoded.exponent, self.dtype)
        return self._finished(rounded, _Way(EXACT, finish))


def _results(own: DType, kept: DType, finish: str) -> tuple[str, ...]:
    """How results may be rounded; one that sums have already is not rounded any more."""
    if not _is_wider(own, kept):
        return ("",)
    return tuple(RESULTS) if finish in ("divided", "reciprocal") else (NEAREST,)


def _is_wider(own: DType, kept: DType) -> bool:
    return kept.digits > own.digits


def _number(value: int, kind: np.dtype[Any]) -> Array:
    return np.asarray([value]).astype(kind)


def _finishes(own: DType, kept: DType, *, square: bool) -> list[str]:
    found = ["divided", "reciprocal", *(["divided-twice"] if square else [])]
    if _is_wider(own, kept):
        found += ["rounded-divided", "rounded-reciprocal"]
    if kept.digits < DTYPES["f32"].digits:
        found.append("reciprocal-f32")
    return [*found, "each-divided", "each-reciprocal"]


def _models(
    listed: tuple[Order, ...], ways: tuple[_Way, ...], exact: tuple[_Way, ...]
) -> tuple[Model, ...]:
    found = [
        Model(
            f"{order.name} {way.accumulator} {way.finish} {way.result}".rstrip(),
            (
                ("accumulator", way.accumulator),
                ("order", order.kind),
                ("lanes", order.lanes),
                ("division", way.finish),
                ("results", way.result),
            ),
            f"added {order.about}, in {way.accumulator}; {FINISHES[way.finish]}"
            + RESULTS.get(way.result, ""),
        )
        for way in ways
        for order in listed
    ]
    for way in exact:
        says = (
            ("accumulator", EXACT),
            ("order", ""),
            ("lanes", ""),
            ("division", way.finish),
            ("results", ""),
        )
        words = f"added exactly; {FINISHES[way.finish]}"
        found.append(Model(f"any {EXACT} {way.finish}", says, words))
    return tuple(found)


@lru_cache(maxsize=64)
def means(dtype: str, n: int, side: int | None) -> MeanModels:
    """The listed means, made once."""
    return MeanModels(dtype, n, side)
