"""Accepted intervals beside TOSA's bound, and the numbers that docs/tightness.md gives."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiers

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import tightness
from tightness_means import (
    Means,
    answered,
    generated_means,
    honest,
    one_window,
    suite_means,
    tosa_count,
    tosa_distance,
    wider_than_tosa,
)

from conformance.dtypes import DTYPES
from conformance.suite.store import open_suite

WITH_TOSA = [mode for mode in tightness.MODES if mode not in tightness.WITHOUT_TOSA]


def window(taps: list[float], dtype: str, precision: str = "standard") -> Means:
    """One window that holds all of ``taps``."""
    data = np.array(taps).astype(DTYPES[dtype].numpy).reshape(1, 1, -1)
    (means,) = answered(one_window(dtype, data.shape), data, precision)
    return means


def distances(means: Means, **changed: int) -> list[Fraction | None]:
    arrays: dict[str, Any] = {name: np.array([value]) for name, value in changed.items()}
    return tosa_distance(replace(means, **arrays))


@pytest.mark.parametrize(("dtype", "precision"), WITH_TOSA)
def test_no_interval_is_wider_than_that_of_tosa(dtype: str, precision: str) -> None:
    shipped = suite_means(tiers.smoke(), dtype, precision)
    made = generated_means(dtype, precision, sizes=(1, 2, 3, 7, 64, 100))
    assert sum(len(means.taps) for means in shipped) > 0
    for means in (*shipped, *made):
        assert wider_than_tosa(means) == []


@pytest.mark.parametrize(("dtype", "precision"), WITH_TOSA)
def test_a_wider_interval_is_noticed(dtype: str, precision: str) -> None:
    means = window([1.0, 2.0, 4.0, 8.0], dtype, precision)
    beyond = DTYPES[dtype].ordinals(means.hi) + tosa_count(
        means.exact[0], tosa_distance(means)[0] or Fraction(0), means.dtype
    )
    assert wider_than_tosa(replace(means, hi=DTYPES[dtype].from_ordinals(beyond))) == [0]


def test_a_window_of_two_may_differ_by_one_value_that_no_honest_evaluation_gives() -> None:
    means = window([2 + 2**-22, -17 * 2**-48], "f32")
    (distance,) = tosa_distance(means)
    assert distance == 4 * Fraction(1, 2**24) * (1 + Fraction(1, 2**23) + Fraction(17, 2**49))
    assert means.values[0] <= tosa_count(means.exact[0], distance, means.dtype) + 1
    for _, got in honest(means):
        assert abs(Fraction(float(got[0])) - means.exact[0]) <= distance


def test_the_formula_of_tosa_by_hand() -> None:
    ones = window([1.0] * 4, "f32")
    assert distances(ones) == [Fraction(8, 2**24)]
    assert distances(ones, kernel=9) == [Fraction(18, 2**24)]  # a border
    assert distances(ones, kernel=9, divisor=9) == [Fraction(18, 2**24) * Fraction(4, 9)]
    half = window([1.0] * 4, "f16")
    assert distances(half, kernel=90) == [Fraction(2, 2**11)]  # 2**6.5 is 90.5
    assert distances(half, kernel=91) == [Fraction(4, 2**11)]
    assert distances(window([1.0] * 4, "f16", "native"), kernel=90) == [Fraction(180, 2**11)]
    brain = window([1.0] * 4, "bf16")
    assert distances(brain, kernel=256) == [Fraction(2, 2**8)]
    assert distances(brain, kernel=257) == [Fraction(4, 2**8)]
    assert distances(window([0.0, 0.0], "f32")) == [Fraction(4, 2**126)]
    assert distances(window([65504.0] * 2, "f16")) == [None]


@pytest.mark.parametrize(("units", "accepted"), [(1, 2), (2, 4), (3, 5), (4, 7)])
def test_values_within_a_distance(units: int, accepted: int) -> None:
    # The values of f32 lie u apart below 1, and 2u apart above.
    distance = Fraction(units, 2**24)
    assert tosa_count(Fraction(1), distance, DTYPES["f32"]) == accepted


@pytest.mark.exhaustive
def test_the_document_shows_what_the_script_finds() -> None:
    mode = ("f16", "native")
    means = suite_means(open_suite(), *mode), generated_means(*mode)
    lines = tightness.DOCUMENT.read_text("utf-8").splitlines()
    points = tightness.share_points(*means)
    for row in (*tightness.share_rows(mode, points), *tightness.tosa_rows(mode, *means)):
        assert row in lines, "run `python tests/benchmarks/tightness.py --write`"
