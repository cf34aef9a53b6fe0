"""Means times a whole number: exact, and with intervals that hold what honest work gives."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.dtypes import DTYPES, Array
from conformance.families.pooling import oracle as pooling
from conformance.families.pooling.patterns import fill
from conformance.model import Answer
from conformance.reference import facts
from conformance.reference.mean_bounds import accumulator
from conformance.spec.case_environment import case_from_inputs
from conformance.spec.loader import find_spec
from conformance.spec.rule_change import make_rule_change

SPEC, WHOLE = find_spec("torch.avg_pool-2"), find_spec("AvgPool-16")
PATTERNS = ("ramp", "negative", "cancel", "wide", "normal", "subnormal")


def answer(data: Array, factor: int, divisor: int, **rules: str) -> Answer:
    """What a mean of all of ``data`` (1, 1, n) is under a factor and a divisor."""
    case = case_from_inputs(SPEC, [data], {"kernel_size": [data.shape[-1]]})
    replaced = {"factor": str(factor), "divisor": str(divisor), **rules}
    env = facts(SPEC, case, [data], (make_rule_change(SPEC, "scaled", replaced),))
    (found,) = pooling.answers(env, SPEC)
    (alone,) = pooling.outputs(env, SPEC)
    if "subnormals" not in rules:
        np.testing.assert_array_equal(alone, found.rounded)
    return found


@settings(max_examples=tiers.examples(150, few=40), deadline=None)
@given(
    dtype=st.sampled_from(["f16", "bf16", "f32", "f64"]),
    pattern=st.sampled_from(PATTERNS),
    precision=st.sampled_from(["standard", "native"]),
    size=st.integers(1, 24),
    factor=st.integers(1, 48),
    divisors=st.tuples(st.integers(1, 48), st.integers(1, 9)),
    seed=st.integers(0, 2**16),
)
def test_honest_work_lies_in_the_interval(
    dtype: str,
    pattern: str,
    precision: str,
    size: int,
    factor: int,
    divisors: tuple[int, int],
    seed: int,
) -> None:
    """A mean that is multiplied and divided again, in any order, forwards and backwards."""
    data = fill(pattern, seed, (1, 1, size), dtype)
    one, other = divisors
    found = answer(data, factor, one * other)
    if found.open is not None and found.open.any():
        return  # sums may overflow
    exact = sum(Fraction(float(x)) for x in data.ravel()) * factor / (one * other)
    if abs(exact) < Fraction(2) ** 1000:
        assert float(found.expected.ravel()[0]) == float(exact)
    lo, hi = (end.ravel()[0] for end in found.interval(precision))
    own = accumulator(DTYPES[dtype], precision).numpy.type
    for taps in (data.ravel(), data.ravel()[::-1]):
        total = own(0)
        for tap in taps:
            total = own(total + own(tap))
        mean = own(total / own(one))
        some = (
            own(own(mean * own(factor)) / own(other)),
            own(own(mean / own(other)) * own(factor)),
            own(own(mean * own(own(1) / own(other))) * own(factor)),
            own(own(total * own(factor)) / own(one * other)),
        )
        for result in some:
            assert lo <= DTYPES[dtype].numpy.type(result) <= hi


def test_a_factor_of_one_changes_nothing() -> None:
    data = fill("normal", 3, (1, 1, 7), "f32")
    one, same = answer(data, 1, 7), answer(data, 5, 35)
    assert one.expected == same.expected
    assert one.rounded == same.rounded
    assert same.lo is not None
    assert one.lo is not None
    assert same.lo <= one.lo, "rounding errors of a product and two divisions more"


def test_what_is_far_off_is_refused() -> None:
    """Three taps of 1 under a factor of 4 and a divisor of 3 are 4, and not 1 or 3."""
    found = answer(np.ones((1, 1, 3), "f4"), 4, 3)
    lo, hi = (end.ravel()[0] for end in found.interval("standard"))
    assert found.expected == 4
    assert 3.99999 < lo <= 4 <= hi < 4.00001


def test_subnormals_may_vanish_before_they_are_multiplied() -> None:
    data = np.full((1, 1, 2), 2.0**-149, "f4")
    kept = answer(data, 1 << 20, 2)
    flushed = answer(data, 1 << 20, 2, subnormals="flushed")
    assert kept.lo is not None
    assert flushed.lo is not None
    assert flushed.lo <= 0 < kept.expected


@pytest.mark.parametrize(
    ("taps", "factor", "divisor", "expected"), [((5, 2), 3, 2, 10), ((-5, -2), 3, 4, -5)]
)
def test_whole_numbers(taps: tuple[int, ...], factor: int, divisor: int, expected: int) -> None:
    data = np.array([[taps]], "i4")
    attributes: dict[str, Any] = {"kernel": [2], "strides": [1], "exclude-pad": True}
    attributes |= {"pads_begin": [0], "pads_end": [0], "dilations": [1]}
    replaced = {"factor": str(factor), "divisor": str(divisor)}
    env = facts(
        WHOLE,
        case_from_inputs(WHOLE, [data], attributes),
        [data],
        (make_rule_change(WHOLE, "scaled", replaced),),
    )
    assert pooling.outputs(env, WHOLE)[0].tolist() == [[[expected]]]


@pytest.mark.parametrize(("taps", "expected"), [((40000, 20000), 45000), ((40000, 30000), np.inf)])
def test_a_sum_in_a_type_is_multiplied_there(taps: tuple[int, ...], expected: float) -> None:
    """65504 is the largest number of f16."""
    data = np.array([[taps]], "f2")
    rules = {"factor": "3", "divisor": "4", "accumulator": "own"}
    env = facts(
        SPEC,
        case_from_inputs(SPEC, [data], {"kernel_size": [2]}),
        [data],
        (make_rule_change(SPEC, "scaled", rules),),
    )
    assert pooling.outputs(env, SPEC)[0].ravel()[0] == np.float16(expected)
