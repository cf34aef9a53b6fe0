"""Drawn cases have all that an operator may be asked, and depend on nothing but the arguments."""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Iterator
from functools import cache
from pathlib import Path

import pytest
import tiers
from hypothesis import HealthCheck, Phase, given, settings

from conformance import strategies
from conformance.core.data import patterns_of
from conformance.core.operator import Operator
from conformance.generate.cases import SEEDS, draw_cases
from conformance.model import Case
from conformance.specification import find_spec, ranks_of, shipped_specs, violations

SPECS = list(shipped_specs().values())
AVG = find_spec("AvgPool-1")


@cache
def many(spec: Operator) -> list[Case]:
    return draw_cases(spec, 600, seed=1)


def draws(spec: Operator) -> Iterator[Hashable]:
    """What an operator may be drawn with: a sample has all of it."""
    yield from (t for allowed in spec.types.values() for t in allowed)
    yield from (p for tensor in spec.inputs for p in tensor.patterns)
    yield from (value for one in spec.attributes.values() for value in one.values)
    yield from (one.spelling for one in spec.attributes.values() if one.type == "bool")


SAMPLE = pytest.mark.parametrize("spec", tiers.sweep(SPECS, draws), ids=lambda spec: spec.op)


@SAMPLE
def test_every_type_value_and_pattern_is_drawn(spec: Operator) -> None:
    drawn = many(spec)
    for variable, allowed in spec.types.items():
        assert {case.types[variable] for case in drawn} == set(allowed)
    # Tensors that broadcast may all be single numbers.
    numbers = {0} if any(dim.broadcast for dim in spec.dims.values()) else set()
    assert {case.rank for case in drawn} <= set(ranks_of(spec)) | numbers
    for dtype in next(iter(spec.types.values())):
        own = [case for case in drawn if case.dtype == dtype]
        for place, patterns in enumerate(patterns_of(spec, own[0].types)):
            assert {case.pattern.split("+")[place] for case in own} <= set(patterns)
    for attribute in spec.attributes.values():
        if attribute.values or attribute.type == "bool":
            asked = set(attribute.values) or {False, True}
            given_ = {c.attributes.get(attribute.spelling, attribute.default) for c in drawn}
            assert given_ == asked


@SAMPLE
def test_drawn_cases_are_valid_and_their_seeds_small(spec: Operator) -> None:
    for case in many(spec)[:60]:
        assert violations(spec, case) == ()
        assert case.reject is None
        assert 0 <= case.seed < SEEDS
        assert case.attributes.keys() <= spec.spelled.keys()


def test_sizes_around_blocks_are_drawn_too() -> None:
    sizes = {case.shapes["data"][1] for case in many(AVG)}
    assert {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17} <= sizes


class TestTheSameCases:
    def test_for_the_same_arguments_and_others_for_others(self) -> None:
        first = ids(draw_cases(AVG, 50, seed=0))
        assert ids(draw_cases(AVG, 50, seed=0)) == first
        assert len({*ids(draw_cases(AVG, 50, seed=1))} & {*first}) < 10
        narrow = draw_cases(AVG, 50, seed=0, dtypes=("f16",), ranks=(4,))
        assert {(case.dtype, case.rank) for case in narrow} == {("f16", 4)}

    def test_whatever_modules_are_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Hypothesis draws some of its integers from the literals of loaded modules."""
        before = ids(from_hypothesis(300))
        literals = ", ".join(map(str, range(30_000, 31_000)))
        (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = [{literals}]")
        monkeypatch.syspath_prepend(tmp_path)
        importlib.import_module("full_of_numbers")
        assert ids(from_hypothesis(300)) == before


def from_hypothesis(count: int) -> list[Case]:
    cases: list[Case] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategies.cases("AvgPool-1"))
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    return cases


def ids(drawn: list[Case]) -> list[str]:
    return [case.id for case in drawn]
