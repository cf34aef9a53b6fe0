"""Honest evaluations that a narrower bound refuses: each was a counterexample to one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from honest import EVALUATIONS, Evaluation
from one_window import accepted, answer, question

from conformance.dtypes import DTYPES
from conformance.model import OPEN_BIT

SCALED = EVALUATIONS["forward, scaled first"]
FUSED = EVALUATIONS["fused"]


@pytest.mark.parametrize("evaluation", [SCALED, FUSED], ids=["scaled first", "fused"])
def test_exact_sums_do_not_make_terms_scaled_first_exact(evaluation: Evaluation) -> None:
    """(7 - 5 - 1) / 3: sums are exact, but each term times 1/3 is rounded, and 7/3 is not small.

    Half a unit in the last place and 2u(1 + u)|r|, for the reciprocal and the product alone,
    would not be enough; so exact sums narrow the interval only where d is a power of two.
    """
    vector = question(np.array([7, -5, -1], np.float32), "f32", 3)
    got = answer(vector, evaluation)
    unit = Fraction(1, 2**24)
    exact = Fraction(1, 3)
    narrower = 2 * unit * (1 + unit) * exact + Fraction(1, 2**26)
    assert abs(Fraction(got.item()) - exact) > narrower
    assert accepted(vector, got, "standard")


def test_cancellation_leaves_the_error_of_one_product() -> None:
    """x, -x and 1 over 3 with fused multiply-add: 1/4 instead of 1/3, for x just above 2^23."""
    x = 2**23 + 1
    vector = question(np.array([x, -x, 1], np.float32), "f32", 3)
    got = answer(vector, FUSED)
    assert got.item() == 0.25
    assert accepted(vector, got, "standard")
    assert answer(vector, SCALED).item() == np.float32(1 / 3)


def test_a_power_of_two_leaves_one_value_whatever_the_order() -> None:
    vector = question(np.array([7, -5, -1], np.float32), "f32", 4)
    assert vector.answers[0].lo == vector.answers[0].hi == 0.25
    for evaluation in EVALUATIONS.values():
        assert answer(vector, evaluation).item() == 0.25


@pytest.mark.parametrize("name", ["forward, times the reciprocal", "forward, scaled first"])
def test_a_subnormal_reciprocal_has_no_relative_bound(name: str) -> None:
    """1 / 65152 in f16 errs by 0.2 %, four units of its roundoff: not graded at native."""
    vector = question(np.array([60000], np.float16), "f16", 65152)
    got = answer(vector, EVALUATIONS[name].keeping(None))
    answered = vector.answers[0]
    assert answered.open is not None
    assert answered.open.item() == OPEN_BIT["native"]
    assert accepted(vector, got, "native")
    assert not accepted(vector, got, "standard")


def test_divisors_with_a_normal_reciprocal_are_graded() -> None:
    vector = question(np.array([60000], np.float16), "f16", 16384)
    double = 2 * answer(vector, EVALUATIONS["forward, divided"])
    assert not accepted(vector, double, "native")


def test_products_flushed_to_zero_are_as_large_as_the_mean() -> None:
    """Eight times six smallest normal numbers over 8: each product is subnormal, the mean not."""
    row = DTYPES["bf16"]
    vector = question(np.full(8, 6 * 2.0**row.emin, row.numpy), "bf16", 8)
    got = answer(vector, replace(SCALED, flushes=frozenset({"sums"})))
    assert got.item() == 0
    assert accepted(vector, got, "standard", "must")
