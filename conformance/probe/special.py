"""Inputs with NaN, zeros of both signs and subnormal numbers, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES, Array, DType
from conformance.probe.models import Codes, codes, not_a_number

Predict = Callable[[Array], Codes]


NAN_POSITIONS = 5
"""Positions at each end of a window that get a NaN; the middle gets one, too."""


@dataclass(frozen=True)
class Allowed:
    """Results that a value allows for one input: these codes, or all others."""

    codes: frozenset[int]
    is_complement: bool = False

    def __contains__(self, code: int) -> bool:
        return (code in self.codes) is not self.is_complement


@dataclass(frozen=True)
class SpecialInput:
    """Inputs (inputs, n) that test one property, and the results that each value allows."""

    about: str
    inputs: Array
    names: tuple[str, ...]
    allowed: Mapping[str, tuple[Allowed, ...]]


def of_means(dtype: str, n: int, predict: Predict) -> Iterator[SpecialInput]:
    """Yield the special inputs of means of ``n`` numbers.

    Args:
        predict: returns the codes (models, inputs) that the models predict which may be right.
    """
    kind = DTYPES[dtype]
    yield _not_a_number(kind, n, 1.0)
    minus = _of_type(kind, np.full((1, n), -0.0))
    yield SpecialInput("mean of -0", minus, ("-0 alone",), _zeros(kind))
    if n > 1:
        opposite = np.zeros((1, n))
        opposite[0, :2] = 1, -1
        yield SpecialInput(
            "cancelled sum", _of_type(kind, opposite), ("1, -1 and zeros",), _zeros(kind)
        )
        tiny = np.zeros((1, n), kind.numpy)
        tiny[0, 0] = -_subnormal(kind, smallest=True)
        names = ("the smallest negative number, and zeros",)
        yield SpecialInput("negative underflow", tiny, names, _zeros(kind))
        yield _flushed_inputs(kind, n, predict)
        yield _flushed_results(kind, n, predict)


def of_maxima(dtype: str, n: int) -> Iterator[SpecialInput]:
    """Yield the special inputs of maxima of ``n`` numbers."""
    kind = DTYPES[dtype]
    yield _not_a_number(kind, n, 1.0)
    nan = np.full((1, n), np.nan).astype(kind.numpy)
    limits = {
        "NaN": not_a_number(kind),
        "-infinity": _code(kind, -np.inf),
        "the lowest number": _code(kind, kind.lowest),
        "zero": _code(kind, 0.0),
    }
    only = {name: (_only(code),) for name, code in limits.items()}
    yield SpecialInput("NaN alone", nan, ("NaN alone",), only)
    yield SpecialInput(
        "-0 alone", _of_type(kind, np.full((1, n), -0.0)), ("-0 alone",), _zeros(kind)
    )
    if n > 1:
        yield _signed_zeros(kind, n)
    small = np.full((1, n), -1.0).astype(kind.numpy)
    small[0, n // 2] = _subnormal(kind)
    allowed = {
        "kept": (_only(_code(kind, small[0, n // 2])),),
        "replaced by zero": (_only(_code(kind, 0.0), _code(kind, -0.0)),),
    }
    yield SpecialInput("subnormal numbers", small, ("a subnormal number, and -1",), allowed)


def _signed_zeros(kind: DType, n: int) -> SpecialInput:
    """Make zeros with one of the other sign: at the start, middle and end."""
    indices = list(dict.fromkeys((0, n // 2, n - 1)))
    rows, names = [], []
    for index in indices:
        for sign, opposite in ((0.0, -0.0), (-0.0, 0.0)):
            row = np.full(n, opposite)
            row[index] = sign
            rows.append(row)
            names.append(f"{sign:+g} at {index} among {opposite:+g}")
    zeros = _of_type(kind, np.stack(rows))
    plus, minus = _only(_code(kind, 0.0)), _only(_code(kind, -0.0))
    allowed = {
        "+0": tuple(plus for _ in rows),
        "-0": tuple(minus for _ in rows),
        "the first": tuple(minus if np.signbit(row[0]) else plus for row in rows),
        "the last": tuple(minus if np.signbit(row[-1]) else plus for row in rows),
    }
    return SpecialInput("zeros of both signs", zeros, tuple(names), allowed)


def flushed(kind: DType, data: Array) -> Array:
    """Replace subnormal numbers by zeros of their signs."""
    small = np.abs(data) < _of_type(kind, np.ldexp(np.ones(1), kind.emin))
    return np.where(small, data * kind.numpy.type(0), data)


def _not_a_number(kind: DType, n: int, value: float) -> SpecialInput:
    ends = range(NAN_POSITIONS), (n // 2,), range(n - NAN_POSITIONS, n)
    indices = sorted({index for numbers in ends for index in numbers if 0 <= index < n})
    data = np.full((len(indices), n), value)
    for row, index in enumerate(indices):
        data[row, index] = np.nan
    nan = Allowed(frozenset({not_a_number(kind)}))
    number = Allowed(nan.codes, is_complement=True)
    allowed = {
        "propagates": tuple(nan for _ in indices),
        "ignored": tuple(number for _ in indices),
    }
    if n > 1:
        allowed["only as the first"] = tuple(nan if i == 0 else number for i in indices)
        allowed["only as the last"] = tuple(nan if i == n - 1 else number for i in indices)
    names = tuple(f"NaN at {index}" for index in indices)
    return SpecialInput("NaN", _of_type(kind, data), names, allowed)


def _flushed_inputs(kind: DType, n: int, predict: Predict) -> SpecialInput:
    """Make subnormal numbers and one so large that the mean is normal."""
    data = np.full((1, n), _subnormal(kind), kind.numpy)
    data[0, -1] = np.ldexp(float(n), kind.emin + 1)
    with_subnormals, with_zeros = predict(data)[:, 0], predict(flushed(kind, data))[:, 0]
    allowed = {"kept": (_any_of(with_subnormals),), "replaced by zero": (_any_of(with_zeros),)}
    return SpecialInput("subnormal inputs", data, ("subnormal numbers and a larger one",), allowed)


def _flushed_results(kind: DType, n: int, predict: Predict) -> SpecialInput:
    """Make the smallest normal number at every other index: their mean is subnormal."""
    data = np.zeros((1, n), kind.numpy)
    data[0, : n // 2 * 2 : 2] = np.ldexp(1.0, kind.emin)
    zero = _only(_code(kind, 0.0), _code(kind, -0.0))
    predicted = frozenset(int(code) for code in predict(data)[:, 0]) - zero.codes
    allowed = {"kept": (Allowed(predicted),), "replaced by zero": (zero,)}
    return SpecialInput(
        "subnormal results", data, ("the smallest normal number, and zeros",), allowed
    )


def _subnormal(kind: DType, *, smallest: bool = False) -> Any:
    ordinal = 1 if smallest else (1 << (kind.digits - 1)) - 1
    return kind.from_ordinals(np.asarray([ordinal]))[0]


def _zeros(kind: DType) -> dict[str, tuple[Allowed, ...]]:
    return {"-0": (_only(_code(kind, -0.0)),), "+0": (_only(_code(kind, 0.0)),)}


def _of_type(kind: DType, values: Array) -> Array:
    return values.astype(kind.numpy)


def _code(kind: DType, value: Any) -> int:
    return int(codes(np.asarray([value]).astype(kind.numpy), kind)[0])


def _only(*allowed: int) -> Allowed:
    return Allowed(frozenset(allowed))


def _any_of(predicted: Codes) -> Allowed:
    return Allowed(frozenset(int(code) for code in predicted))
