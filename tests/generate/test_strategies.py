"""Drawn cases are valid, follow their aim, and depend on nothing but the arguments."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.generate.pool import draw
from conformance.generate.strategies import SEEDS, cases
from conformance.model import Case
from conformance.spec.case_environment import Environment
from conformance.spec.default_attributes import with_defaults
from conformance.spec.expressions import Expression
from conformance.spec.loader import shipped_specs
from conformance.spec.model import CoverageTarget, DrawBounds, OpSpec
from conformance.spec.validity import violations

SPECS = list(shipped_specs().values())
AVG, MAX = shipped_specs()["AvgPool-1"], shipped_specs()["AdaptiveMaxPool-8"]


@settings(max_examples=tiers.examples(400, few=150), deadline=None)
@given(data=st.data(), spec=st.sampled_from(SPECS), rank=st.sampled_from([3, 4, 5]))
def test_a_case_that_nothing_aims_is_valid(data: st.DataObject, spec: OpSpec, rank: int) -> None:
    case = data.draw(cases(spec, rank))
    assert violations(spec, case) == ()
    assert len(case.shapes["data"]) == rank
    assert case.pattern in spec.data.patterns
    assert 0 <= case.seed < SEEDS
    assert case.reject is None
    assert case.types.keys() == spec.types.keys()
    assert case.attributes.keys() <= {quantity.name for quantity in spec.attributes}
    assert case.operands.keys() == {operand.name for operand in spec.operands}


def draws(spec: OpSpec) -> Iterator[Hashable]:
    """What an operator may be drawn with: a sample has all of it."""
    yield from spec.types["T"]
    yield from spec.data.patterns
    yield from (value for quantity in spec.attributes for value in quantity.values)
    yield from (quantity.name for quantity in spec.attributes if quantity.type == "bool")


@pytest.mark.parametrize("spec", tiers.sweep(SPECS, draws), ids=repr)
def test_every_type_value_and_pattern_is_drawn(spec: OpSpec) -> None:
    drawn = draw(spec, 4, 400, root=1)
    for variable, allowed in spec.types.items():
        assert {case.types[variable] for case in drawn} == set(allowed)
    assert {case.pattern for case in drawn} == set(spec.data.patterns)
    for quantity in spec.attributes:
        if quantity.values or quantity.type == "bool":
            asked = set(quantity.values) or {False, True}
            given = [with_defaults(spec, case) for case in drawn]
            assert {attributes[quantity.key] for attributes in given} == asked


def test_all_sizes_up_to_the_bounds_are_drawn_often() -> None:
    drawn = draw(MAX, 3, 1000, root=2)
    counts = Counter(case.shapes["data"][2] for case in drawn)
    assert set(counts) == set(range(1, 13))
    assert min(counts.values()) > len(drawn) / 80


AIMED = [(spec, edge) for spec in SPECS for edge in spec.edges if edge.aims]


@pytest.mark.parametrize(
    ("spec", "edge"),
    tiers.sweep(AIMED, lambda spec, edge: [spec.op, edge.name]),
    ids=lambda one: getattr(one, "name", repr(one)),
)
def test_an_aim_is_followed(spec: OpSpec, edge: CoverageTarget) -> None:
    for aim, case in ((a, case) for a in edge.aims for case in draw(spec, 4, 4, root=3, aim=a)):
        env = Environment(spec, case)
        given = {**case.types, "pattern": case.pattern, **case.operands}
        given |= with_defaults(spec, case)
        given |= {name: env[name] for name in spec.dims}
        keys = {quantity.name: quantity.key for quantity in spec.attributes}
        values = {keys.get(name, name): value for name, value in given.items()}
        for name, wanted in aim.items():
            value = values[keys.get(name, name)]
            entries = value if isinstance(value, list | tuple) else (value,)
            if wanted.values:
                assert set(entries) <= set(wanted.values)
            lows = spread(wanted.min, env, len(entries))
            highs = spread(wanted.max, env, len(entries))
            for low, entry, high in zip(lows, entries, highs, strict=True):
                assert low is None or low <= entry
                # A bound below the legal minimum gives way to it.
                assert high is None or entry <= max(high, low or 0)


def spread(bound: Expression | None, env: Environment, entries: int) -> tuple[Any, ...]:
    value = None if bound is None else bound.evaluate(env)
    return value if isinstance(value, tuple) else (value,) * entries


class TestTheSameCases:
    def test_for_the_same_arguments_and_others_for_others(self) -> None:
        first = ids(draw(AVG, 3, 50, root=0))
        assert ids(draw(AVG, 3, 50, root=0)) == first
        kernel = {"kernel": DrawBounds(values=(2,))}
        for other in (draw(AVG, 3, 50, root=1), draw(AVG, 3, 50, root=0, aim=kernel)):
            assert len(set(ids(other)) & set(first)) < 10

    def test_whatever_modules_are_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Hypothesis draws some of its integers from the literals of loaded modules."""
        before = ids(draw(AVG, 3, 400, root=0))
        literals = ", ".join(map(str, range(30_000, 31_000)))
        (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = [{literals}]")
        monkeypatch.syspath_prepend(tmp_path)
        importlib.import_module("full_of_numbers")
        assert ids(draw(AVG, 3, 400, root=0)) == before


def ids(drawn: list[Case]) -> list[str]:
    return [case.id for case in drawn]
