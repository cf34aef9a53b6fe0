"""Intervals of norms from both sides: honest work is inside, and what is wrong is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, DType
from conformance.families.pooling.patterns import fill
from conformance.model import OPEN_BIT, Answer, Case
from conformance.reference import answers
from conformance.spec.loader import find_spec
from conformance.spec.model import RuleChange
from conformance.spec.rule_change import make_rule_change

Array = NDArray[Any]
SPEC = find_spec("onnx.LpPool-22")
FLOATS = ("f16", "bf16", "f32", "f64")
NUMBERS = ("ramp", "negative", "normal", "cancel", "wide", "large", "subnormal", "zeros", "steady")


def norm(data: Array, p: int, dtype: str, *variants: RuleChange) -> Answer:
    """What is answered for one window that holds all of ``data`` and padding behind it."""
    attributes = {"kernel_shape": [len(data) + 1], "pads": [0, 1], "p": p}
    case = Case(SPEC.op, {"T": dtype}, {"data": (1, 1, len(data))}, attributes)
    (found,) = answers(SPEC, case, [data.reshape(1, 1, -1)], variants)
    return found


def accepts(answer: Answer, got: Any, precision: str) -> bool:
    if answer.open is not None and answer.open.item() & OPEN_BIT[precision]:
        return True
    lo, hi = answer.interval(precision)
    return bool((lo <= got) & (got <= hi)) or bool(np.isnan(lo) & np.isnan(got))


def multiplied(data: Array, p: int) -> Array:
    powers = data
    for _ in range(p - 1):
        powers = powers * data
    return powers


def squared(data: Array, p: int) -> Array:
    """By squaring where that halves the work."""
    if p % 2:
        return data if p == 1 else data * squared(data, p - 1)
    half = squared(data, p // 2)
    return half * half


def by_pow(data: Array, p: int) -> Array:
    return np.power(data, data.dtype.type(p))


def forward(terms: Array) -> Any:
    return np.add.accumulate(terms, dtype=terms.dtype)[-1]


def backward(terms: Array) -> Any:
    return forward(terms[::-1])


def pairwise(terms: Array) -> Any:
    while len(terms) > 1:
        odd = terms[len(terms) & ~1 :]
        terms = np.concatenate([terms[0 : len(terms) & ~1 : 2] + terms[1::2], odd])
    return terms[0]


def root_by_pow(total: Any, p: int) -> Any:
    return np.power(total, total.dtype.type(1) / total.dtype.type(p))


def root_by_function(total: Any, p: int) -> Any:
    return {1: lambda x: x, 2: np.sqrt, 3: np.cbrt, 4: lambda x: np.sqrt(np.sqrt(x))}[p](total)


POWERS = {"multiplied": multiplied, "squared": squared, "pow": by_pow}
SUMS = {"forward": forward, "backward": backward, "pairwise": pairwise}
ROOTS = {"pow": root_by_pow, "function": root_by_function}


def evaluated(
    data: Array,
    p: int,
    own: DType,
    acc: DType,
    power: Callable[[Array, int], Array],
    sum_of: Callable[[Array], Any],
    root: Callable[[Any, int], Any],
    *,
    by_mean: bool = False,
) -> Any:
    """The norm as a kernel works it out in ``acc``, with a mean times the taps on request."""
    with np.errstate(all="ignore"):
        total = sum_of(power(np.abs(data.astype(acc.numpy)), p))
        taps = acc.numpy.type(len(data) + 1)
        if by_mean:
            total = total / taps * taps
        return root(total, p).astype(acc.numpy).astype(own.numpy)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("precision", ["standard", "native"])
@settings(max_examples=tiers.examples(60, few=15))
@given(
    pattern=st.sampled_from(NUMBERS),
    seed=st.integers(0, 1 << 30),
    size=st.one_of(st.integers(1, 9), st.integers(10, 300)),
    p=st.integers(1, 4),
)
def test_honest_norms_are_accepted(
    dtype: str, precision: str, pattern: str, seed: int, size: int, p: int
) -> None:
    own = DTYPES[dtype]
    acc = own if precision == "native" or dtype == "f64" else DTYPES["f32"]
    data = fill(pattern, seed, (1, 1, size), dtype).ravel()
    answer = norm(data, p, dtype)
    for power in POWERS.values():
        for sum_of in SUMS.values():
            for root in ROOTS.values():
                for by_mean in (False, True):
                    got = evaluated(data, p, own, acc, power, sum_of, root, by_mean=by_mean)
                    assert accepts(answer, got, precision), (data, got, answer)
    assert answer.rounded is not None
    assert accepts(answer, answer.rounded.item(), precision)


FAULTS: dict[str, Callable[[Array, int], Any]] = {
    "no root": lambda x, p: (np.abs(x) ** p).sum(),
    "always the square": lambda x, p: np.sqrt((x**2).sum()),
    "always a square root": lambda x, p: np.sqrt((np.abs(x) ** p).sum()),
    "signs kept": lambda x, p: np.cbrt((x**p).sum()),
    "the mean": lambda x, p: (np.abs(x) ** p).mean() ** (1 / p),
    "the mean with padding": lambda x, p: ((np.abs(x) ** p).sum() / (len(x) + 1)) ** (1 / p),
    "padding of ones": lambda x, p: ((np.abs(x) ** p).sum() + 1) ** (1 / p),
    "one element lost": lambda x, p: (np.abs(x[1:]) ** p).sum() ** (1 / p),
    "the root of a root": lambda x, p: (np.abs(x) ** p).sum() ** (1 / p**2),
    "a relative error of 1 in 100000": lambda x, p: (np.abs(x) ** p).sum() ** (1 / p) * (1 + 1e-5),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_a_fault_is_refused(fault: str, dtype: str) -> None:
    """Of the third power of negative numbers, which shows each of them."""
    data = -np.arange(1, 8).astype(DTYPES[dtype].numpy)
    answer = norm(data, 3, dtype)
    wrong = DTYPES[dtype].numpy.type(FAULTS[fault](data.astype(np.float64), 3))
    right = DTYPES[dtype].numpy.type(np.cbrt((np.abs(data.astype(np.float64)) ** 3).sum()))
    assert accepts(answer, right, "standard")
    assert not accepts(answer, wrong, "standard")


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_sums_in_a_short_type_are_refused(dtype: str) -> None:
    own = DTYPES[dtype]
    data = fill("steady", 1, (1, 1, 3000), dtype).ravel()
    answer = norm(data, 2, dtype)
    wrong = evaluated(data, 2, own, own, multiplied, forward, root_by_function)
    assert accepts(answer, wrong, "native")
    assert not accepts(answer, wrong, "standard")


def test_overflowing_powers_may_give_infinity_and_nothing_smaller() -> None:
    """3e30 and 4e30 square to infinity in f32; scaled first they give 5e30."""
    answer = norm(np.array([3e30, -4e30], np.float32), 2, "f32")
    for honest in (np.float32(5e30), np.float32(np.inf)):
        assert accepts(answer, honest, "standard")
    for wrong in (np.float32(4.9e30), np.float32(3.4028235e38) * 0, np.float32(np.nan)):
        assert not accepts(answer, wrong, "standard")
    assert answer.rounded is not None
    assert answer.rounded.item() == np.float32(5e30)


def test_vanishing_powers_may_give_zero() -> None:
    """1e-30 squared is zero in f32, and the sum of thousands of such is not."""
    answer = norm(np.array([1e-30], np.float32), 2, "f32")
    assert accepts(answer, np.float32(0), "standard")
    assert accepts(answer, np.float32(1e-30), "standard")
    assert not accepts(answer, np.float32(1e-20), "standard")


def test_signed_sums_that_may_be_negative_are_not_graded() -> None:
    """Where NaN stands for the root of a negative sum, rounding decides between it and a number."""
    signed = make_rule_change(
        SPEC, "made", {"powers_of": "elements", "negative_root": "not_a_number"}
    )
    below = norm(np.array([1, -2], np.float32), 3, "f32", signed)
    assert np.isnan(below.expected).all()
    assert accepts(below, np.float32(np.nan), "standard")
    assert not accepts(below, np.float32(-1.9129), "standard")
    close = norm(np.array([1.1, -1.1, 1e-3], np.float32), 3, "f32", signed)
    assert close.open is not None
    roots = make_rule_change(SPEC, "made", {"powers_of": "elements"})
    real = norm(np.array([1, -2], np.float32), 3, "f32", roots)
    assert real.expected.item() == pytest.approx(-(7 ** (1 / 3)))
    assert not accepts(real, np.float32(np.nan), "standard")
