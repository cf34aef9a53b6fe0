"""A must-reject case is a valid case with one condition broken, the one that it names."""

from __future__ import annotations

import dataclasses

import pytest
import tiers

from conformance.errors import SpecError
from conformance.generate.reject import reject_cases
from conformance.model import Case
from conformance.spec.loader import shipped_specs
from conformance.spec.model import NegativeTest, OpSpec
from conformance.spec.validity import violations

SPECS = tiers.sweep(
    sorted(shipped_specs().values(), key=lambda spec: spec.op not in tiers.core().manifest.ops),
    lambda spec: (
        [(entry.name, entry.breaks) for entry in spec.reject]
        + [spec.op] * (spec.op in tiers.core().manifest.ops)
    ),
)
"""Those with vectors first; of the others a sample has what these do not refuse."""
AVG = shipped_specs()["AvgPool-1"]


def entry(case: Case, spec: OpSpec) -> NegativeTest:
    return next(one for one in spec.reject if one.name == case.reject)


@pytest.fixture(scope="module", params=SPECS, ids=repr)
def spec(request: pytest.FixtureRequest, exhaustive: bool) -> OpSpec:
    """Each specification, with each entry on all of its ranks, or on one, in turn."""
    one: OpSpec = request.param
    if exhaustive:
        return one
    few = [on_one_rank(entry, one.ranks, turn) for turn, entry in enumerate(one.reject)]
    return dataclasses.replace(one, reject=tuple(few))


def on_one_rank(entry: NegativeTest, ranks: tuple[int, ...], turn: int) -> NegativeTest:
    if entry.rank:
        return entry
    of = entry.ranks or ranks
    return dataclasses.replace(entry, ranks=(of[turn % len(of)],))


@pytest.fixture(scope="module")
def made(spec: OpSpec) -> list[tuple[Case, str]]:
    return reject_cases(spec, root=0)


def test_each_breaks_exactly_its_condition(spec: OpSpec, made: list[tuple[Case, str]]) -> None:
    for case, level in made:
        (broken,) = violations(spec, case)
        assert broken.condition == entry(case, spec).breaks
        assert level == entry(case, spec).level


def test_each_entry_is_made_for_each_of_its_ranks(
    spec: OpSpec, made: list[tuple[Case, str]]
) -> None:
    found = {(case.reject, len(case.shapes["data"])) for case, _ in made}
    asked = {
        (one.name, rank)
        for one in spec.reject
        for rank in ([one.rank] if one.rank else one.ranks or spec.ranks)
    }
    assert found == asked
    assert len({case.id for case, _ in made}) == len(made) == len(asked)


def test_one_value_on_the_last_axis_is_changed() -> None:
    zero = next(one for one in AVG.reject if one.name == "zero-stride")
    spec = dataclasses.replace(AVG, reject=(zero,))
    for (case, _), axes in zip(reject_cases(spec, root=0), (1, 2, 3), strict=True):
        assert len(case.attributes["strides"]) == axes
        assert case.attributes["strides"][-1] == 0
        assert all(stride > 0 for stride in case.attributes["strides"][:-1])


@pytest.mark.exhaustive
def test_the_same_seed_gives_the_same_cases() -> None:
    spec = shipped_specs()["AdaptiveAvgPool-8"]
    made = reject_cases(spec, root=0)
    assert reject_cases(spec, root=0) == made
    assert reject_cases(spec, root=1) != made


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"set": {"strides": AVG.definitions["step"]}}, "but no case breaks it"),
        ({"breaks": "kernel.min"}, "but cases also break 'strides.min'"),
        ({"set": {"strides": 0, "kernel": 0}}, "but cases also break 'kernel.min'"),
    ],
)
def test_an_entry_that_breaks_something_else_is_an_error(
    changes: dict[str, object], said: str
) -> None:
    zero = next(one for one in AVG.reject if one.name == "zero-stride")
    wrong = dataclasses.replace(zero, **changes)
    with pytest.raises(SpecError, match=said) as raised:
        reject_cases(dataclasses.replace(AVG, reject=(wrong,)), root=0)
    (problem,) = raised.value.problems
    assert "'zero-stride'" in problem.message
    assert (problem.file, problem.line) == AVG.positions["reject", "zero-stride"][:2]
    assert problem.hint
