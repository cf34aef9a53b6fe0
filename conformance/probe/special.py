"""Questions about NaN, signs of zero and subnormal numbers: inputs, and what each answer gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES, Array, DType
from conformance.probe.models import Codes, codes, not_a_number

Predict = Callable[[Array], Codes]


ENDS = 5
"""Places at each end of a window at which a NaN is asked; there is one in the middle, too."""


@dataclass(frozen=True)
class Allowed:
    """Results that an answer allows for one input: these codes, or all others."""

    codes: frozenset[int]
    others: bool = False

    def __contains__(self, code: int) -> bool:
        return (code in self.codes) is not self.others


@dataclass(frozen=True)
class SpecialInput:
    """One property, inputs (inputs, n) that ask for it, and what each answer allows for each."""

    about: str
    inputs: Array
    names: tuple[str, ...]
    answers: Mapping[str, tuple[Allowed, ...]]


def of_means(dtype: str, n: int, predict: Predict) -> Iterator[SpecialInput]:
    """The questions about means of ``n`` numbers. ``predict`` gives the codes that the models which
    may be right predict for inputs: (models, inputs).
    """
    kind = DTYPES[dtype]
    yield _not_a_number(kind, n, 1.0)
    minus = _of(kind, np.full((1, n), -0.0))
    yield SpecialInput("mean of -0", minus, ("-0 alone",), _zeros(kind))
    if n > 1:
        opposite = np.zeros((1, n))
        opposite[0, :2] = 1, -1
        yield SpecialInput("cancelled sum", _of(kind, opposite), ("1, -1 and zeros",), _zeros(kind))
        tiny = np.zeros((1, n), kind.numpy)
        tiny[0, 0] = -_subnormal(kind, smallest=True)
        names = ("the smallest negative number, and zeros",)
        yield SpecialInput("negative underflow", tiny, names, _zeros(kind))
        yield _flushed_inputs(kind, n, predict)
        yield _flushed_results(kind, n, predict)


def of_maxima(dtype: str, n: int) -> Iterator[SpecialInput]:
    """The questions about the largest of ``n`` numbers."""
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
    yield SpecialInput("-0 alone", _of(kind, np.full((1, n), -0.0)), ("-0 alone",), _zeros(kind))
    if n > 1:
        yield _signed_zeros(kind, n)
    small = np.full((1, n), -1.0).astype(kind.numpy)
    small[0, n // 2] = _subnormal(kind)
    kept = {
        "kept": (_only(_code(kind, small[0, n // 2])),),
        "replaced by zero": (_only(_code(kind, 0.0), _code(kind, -0.0)),),
    }
    yield SpecialInput("subnormal numbers", small, ("a subnormal number, and -1",), kept)


def _signed_zeros(kind: DType, n: int) -> SpecialInput:
    """One zero of another sign than all others, at the beginning, in the middle and at the end."""
    places = list(dict.fromkeys((0, n // 2, n - 1)))
    rows, names = [], []
    for place in places:
        for sign, other in ((0.0, -0.0), (-0.0, 0.0)):
            row = np.full(n, other)
            row[place] = sign
            rows.append(row)
            names.append(f"{sign:+g} at {place} among {other:+g}")
    zeros = _of(kind, np.stack(rows))
    plus, minus = _only(_code(kind, 0.0)), _only(_code(kind, -0.0))
    answers = {
        "+0": tuple(plus for _ in rows),
        "-0": tuple(minus for _ in rows),
        "the first": tuple(minus if np.signbit(row[0]) else plus for row in rows),
        "the last": tuple(minus if np.signbit(row[-1]) else plus for row in rows),
    }
    return SpecialInput("zeros of both signs", zeros, tuple(names), answers)


def flushed(kind: DType, data: Array) -> Array:
    """The same numbers with zeros for subnormal ones; they keep their signs."""
    small = np.abs(data) < _of(kind, np.ldexp(np.ones(1), kind.emin))
    return np.where(small, data * kind.numpy.type(0), data)


def _not_a_number(kind: DType, n: int, value: float) -> SpecialInput:
    ends = range(ENDS), (n // 2,), range(n - ENDS, n)
    places = sorted({place for at in ends for place in at if 0 <= place < n})
    data = np.full((len(places), n), value)
    for row, place in enumerate(places):
        data[row, place] = np.nan
    nan = Allowed(frozenset({not_a_number(kind)}))
    number = Allowed(nan.codes, others=True)
    answers = {
        "propagates": tuple(nan for _ in places),
        "ignored": tuple(number for _ in places),
    }
    if n > 1:
        answers["only as the first"] = tuple(nan if i == 0 else number for i in places)
        answers["only as the last"] = tuple(nan if i == n - 1 else number for i in places)
    names = tuple(f"NaN at {place}" for place in places)
    return SpecialInput("NaN", _of(kind, data), names, answers)


def _flushed_inputs(kind: DType, n: int, predict: Predict) -> SpecialInput:
    """Subnormal numbers and one so large that the mean is normal."""
    data = np.full((1, n), _subnormal(kind), kind.numpy)
    data[0, -1] = np.ldexp(float(n), kind.emin + 1)
    kept, without = predict(data)[:, 0], predict(flushed(kind, data))[:, 0]
    answers = {"kept": (_any(kept),), "replaced by zero": (_any(without),)}
    return SpecialInput("subnormal inputs", data, ("subnormal numbers and a larger one",), answers)


def _flushed_results(kind: DType, n: int, predict: Predict) -> SpecialInput:
    """The smallest normal number at every other place: their mean is subnormal."""
    data = np.zeros((1, n), kind.numpy)
    data[0, : n // 2 * 2 : 2] = np.ldexp(1.0, kind.emin)
    zero = _only(_code(kind, 0.0), _code(kind, -0.0))
    kept = frozenset(int(one) for one in predict(data)[:, 0]) - zero.codes
    answers = {"kept": (Allowed(kept),), "replaced by zero": (zero,)}
    return SpecialInput(
        "subnormal results", data, ("the smallest normal number, and zeros",), answers
    )


def _subnormal(kind: DType, *, smallest: bool = False) -> Any:
    ordinal = 1 if smallest else (1 << (kind.digits - 1)) - 1
    return kind.from_ordinals(np.asarray([ordinal]))[0]


def _zeros(kind: DType) -> dict[str, tuple[Allowed, ...]]:
    return {"-0": (_only(_code(kind, -0.0)),), "+0": (_only(_code(kind, 0.0)),)}


def _of(kind: DType, values: Array) -> Array:
    return values.astype(kind.numpy)


def _code(kind: DType, value: Any) -> int:
    return int(codes(np.asarray([value]).astype(kind.numpy), kind)[0])


def _only(*allowed: int) -> Allowed:
    return Allowed(frozenset(allowed))


def _any(predicted: Codes) -> Allowed:
    return Allowed(frozenset(int(one) for one in predicted))
