"""No honest evaluation of any mean of the shipped suite is ever refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
import tiers
from honest import EVALUATIONS, Evaluation, Place
from windows import MEANS

import conformance
from conformance.model import Result, Status
from conformance.suite.store import Suite

FEW = [
    "forward, divided",
    "pairwise, times the reciprocal",
    "16 lanes, divided first",
    "axis by axis",
    "fused",
]


def refused(
    suite: Suite, backend: Callable[..., Any], *, precision: str, level: str = "should"
) -> list[Result]:
    run = conformance.check(suite, backend, ops=MEANS, level=level, precision=precision)
    assert Status.PASS in {result.status for result in run.results}
    return [result for result in run.results if result.status is not Status.PASS]


@pytest.mark.parametrize(
    ("name", "precision", "least"),
    tiers.sweep(
        [
            (name, *asked)
            for turn, name in enumerate(EVALUATIONS)
            for asked in [("standard", "f32"), ("native", None)][:: 1 if turn % 2 else -1]
        ],
        lambda name, precision, _: [name.partition(",")[0], precision],
    ),
)
def test_any_order_and_scaling(suite: Suite, name: str, precision: str, least: str | None) -> None:
    evaluation = EVALUATIONS[name].keeping(least)
    assert not refused(suite, evaluation, precision=precision)


def in_turn(*options: str) -> list[tuple[str, str]]:
    """A few evaluations, each with another option than the one before."""
    return list(zip(FEW, cycle(options), strict=False))


@pytest.mark.parametrize(("name", "precision"), in_turn("standard", "native"))
def test_a_wider_accumulator(suite: Suite, name: str, precision: str) -> None:
    """Sums in f64, then rounded once; and at native what standard asks for."""
    least = "f64" if precision == "standard" else "f32"
    assert not refused(suite, EVALUATIONS[name].keeping(least), precision=precision)


@pytest.mark.parametrize(("name", "least"), in_turn("f64", "f32"))
def test_ties_away_from_zero(suite: Suite, name: str, least: str) -> None:
    """A last conversion that rounds ties away is accepted: no document says how they go."""
    evaluation = EVALUATIONS[name].keeping(least, "away")
    assert not refused(suite, evaluation, precision="standard")


def test_rounding_twice(suite: Suite) -> None:
    """From f64 by way of f32, as many conversions to bf16 go."""
    evaluation = replace(Evaluation().keeping("f64"), by_f32=True)
    assert not refused(suite, evaluation, precision="standard")


@pytest.mark.parametrize(
    ("name", "precision", "least"),
    [
        ("forward, divided", "standard", "f32"),
        ("pairwise, times the reciprocal", "native", None),
    ],
)
@pytest.mark.parametrize("flushes", [("sums",), ("inputs", "sums", "results")], ids=" and ".join)
def test_flushing_subnormals_is_a_reading(
    suite: Suite, name: str, precision: str, least: str | None, flushes: tuple[Place, ...]
) -> None:
    """At level must nothing of such a backend fails, and the reading is named."""
    evaluation = replace(EVALUATIONS[name].keeping(least), flushes=frozenset(flushes))
    run = conformance.check(suite, evaluation, ops=MEANS, level="must", precision=precision)
    assert {result.status for result in run.results} <= {Status.PASS, Status.SKIPPED}
    assert "flushes-subnormals" in {result.reading for result in run.results}
