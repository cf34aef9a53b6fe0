"""Honest evaluations in float32 lie within the core's accepted intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from drawn_cases import KINDS, SHAPES, Case, cases, data
from honest_sums import evaluations, sums

from conformance.dtypes import DTYPES

DTYPE_NAMES = ("f32", "f16", "bf16")


def _check(drawn: Iterable[Case]) -> int:
    """Check every honest evaluation of cases, and return the number of elements."""
    checked = 0
    for case in drawn:
        (interval,) = case.core().intervals()
        lo, hi = (end.reshape(-1).astype("f8") for end in (interval.lo, interval.hi))
        free = interval.unspecified.reshape(-1)
        for name, results in evaluations(sums(case.elements(), is_mean=case.is_mean)):
            with np.errstate(over="ignore"):
                stored = results.astype(DTYPES[case.dtype].numpy).astype("f8")
            outside = np.flatnonzero(~((lo <= stored) & (stored <= hi) | free))
            assert not len(outside), _message(case, name, outside[0], lo, stored, hi)
            checked += len(stored)
    return checked


def _message(case: Case, name: str, i: int, lo: Any, stored: Any, hi: Any) -> str:
    return f"{case}, {name}: element {i} is {stored[i]!r}, not in [{lo[i]!r}, {hi[i]!r}]"


def _drawn(count: int, seed: int) -> Iterable[Case]:
    for operator in SHAPES:
        for case in cases(operator, count, seed=seed, dtypes=DTYPE_NAMES):
            yield replace(case, accumulator="f32")


LONG: list[tuple[str, dict[str, Any], dict[str, tuple[int, ...]]]] = [
    ("MatMul", {}, {"A": (2, 200), "B": (200, 3)}),
    ("Gemm", {"alpha": 0.1, "beta": -0.7}, {"A": (2, 90), "B": (90, 2), "C": (2, 1)}),
    ("Conv", {"pads_begin": [1, 2]}, {"X": (1, 5, 6, 5), "W": (2, 5, 5, 5), "B": (2,)}),
    ("ConvTranspose", {"strides": [2]}, {"X": (1, 20, 3), "W": (20, 2, 5), "B": (2,)}),
    ("ReduceSum", {"axes": [1]}, {"X": (3, 150)}),
    ("ReduceMean", {"axes": [1]}, {"X": (3, 147)}),
    ("AveragePool", {"kernel": [9, 9], "pads_end": [3, 0]}, {"X": (1, 1, 8, 10)}),
]


def _long(seed: int) -> Iterable[Case]:
    """Yield a case of many terms for each operator and kind of data."""
    rng = np.random.default_rng(seed)
    for number, kind in enumerate(KINDS):
        dtype = DTYPE_NAMES[(number + seed) % len(DTYPE_NAMES)]
        for operator, attributes, shapes in LONG:
            inputs = {k: data(rng, shape, dtype, kind) for k, shape in shapes.items()}
            yield Case(operator, attributes, inputs, dtype)


def test_drawn_cases() -> None:
    assert _check(_drawn(6, seed=10)) > 10_000


def test_many_terms() -> None:
    assert _check(_long(seed=0)) > 3_000


@pytest.mark.exhaustive
def test_many_drawn_cases() -> None:
    assert _check(_drawn(60, seed=11)) > 100_000


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1, 9))
def test_many_terms_of_many_seeds(seed: int) -> None:
    assert _check(_long(seed)) > 3_000


def _sevens(*shape: int) -> Any:
    return np.full(shape, 7, "f4")


def _ramp(*shape: int) -> Any:
    """Return integers from 1 to 11."""
    return (np.arange(np.prod(shape)) % 11 + 1).reshape(shape).astype("f4")


def _rise_and_fall(*shape: int) -> Any:
    """Return integers whose partial sums are far above the sum, so that a bias loses digits."""
    flat = _ramp(*shape).reshape(-1)
    flat[len(flat) // 2 :] *= -1
    return flat.reshape(shape)


TENTH = np.array([0.1], "f4")
MATRICES = {"A": _ramp(1, 40), "B": _rise_and_fall(40, 1)}
EXACT_BUT_FOR_A_FACTOR = {
    "scale of a mean": Case("ReduceMean", {}, {"X": _sevens(49)}),
    "scale of a window": Case("AveragePool", {"kernel": [7, 7]}, {"X": _sevens(1, 1, 7, 7)}),
    "bias": Case("Conv", {}, {"X": _ramp(1, 3, 9), "W": _rise_and_fall(1, 3, 9), "B": TENTH}),
    "bias of a transpose": Case(
        "ConvTranspose", {}, {"X": _ramp(1, 40, 1), "W": _rise_and_fall(40, 1, 1), "B": TENTH}
    ),
    "beta": Case("Gemm", {"beta": 0.1}, {**MATRICES, "C": np.array([3], "f4")}),
    "alpha": Case("Gemm", {"alpha": 0.1}, {**MATRICES, "C": None}),
}


@pytest.mark.parametrize("case", EXACT_BUT_FOR_A_FACTOR.values(), ids=EXACT_BUT_FOR_A_FACTOR)
def test_integers_with_a_factor_or_bias_applied_first(case: Case) -> None:
    (element,) = case.elements()
    terms = [a * b for a, b in element.terms]
    assert all(term.denominator == 1 for term in terms)
    assert sum(map(abs, terms)) < 2**24
    results = [stored for _, stored in evaluations(sums([element], is_mean=case.is_mean))]
    assert len(np.unique(results)) > 1  # the order matters, though that of the integers does not
    _check([case])


def test_terms_that_are_lost_together() -> None:
    # Added first, 1 swallows all others: the error is as large as the bound admits.
    x = np.array([1] + [2.0**-24] * 200, "f4")
    case = Case("ReduceSum", {}, {"X": x})
    results = dict(evaluations(sums(case.elements(), is_mean=False)))
    assert results["forward, bias last"].tolist() == [1]
    assert results["backward, bias last"].tolist() == [1 + 200 * 2.0**-24]
    _check([case, Case("ReduceMean", {}, {"X": x}), Case("MatMul", {}, {"A": x, "B": x**0})])


def _scaled(alpha: float, a: list[float], b: list[float]) -> Case:
    inputs = {"A": np.array([a], "f4"), "B": np.array(b, "f4").reshape(-1, 1), "C": None}
    return Case("Gemm", {"alpha": alpha}, inputs)


class TestAlpha:
    def test_large(self) -> None:
        case = _scaled(2.0**62, [1, 2], [3, 4])
        assert case.core().outputs()[0].tolist() == [[11 * 2.0**62]]
