"""Operators as far as a backend declares them."""

from __future__ import annotations

from functools import cache

import pytest
import tiers
from hypothesis import given, settings

from conformance.errors import UsageError
from conformance.generate.disprover import Disprover
from conformance.generate.narrow import DECLARED, Claim, as_claimed, narrowed
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.spec.catalogue import mutants_of
from conformance.spec.loader import find_spec
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations
from conformance.strategies import cases
from conformance.suite.survivors import Partition, Survivors, SurvivorTable

AVG = find_spec("AvgPool-1")
UNEVEN = "any(pad_begin != pad_end)"
CLAIM = Claim(("f16", "f32"), (4,), (UNEVEN, "any(kernel > 3)"))
NARROW = narrowed(AVG, CLAIM)


@settings(deadline=None)  # the first case compiles what the others use
@given(case=cases("AvgPool-1"))
def test_a_case_is_valid_if_it_is_claimed(case: Case) -> None:
    axes = len(case.shapes["data"]) - 2
    claimed = (
        case.types["T"] in CLAIM.dtypes
        and axes == 2
        and not any(violations(_only(predicate), case) for predicate in CLAIM.left_out)
    )
    assert claimed == (violations(NARROW, case) == ())


@cache
def _only(predicate: str) -> OpSpec:
    return narrowed(AVG, Claim(AVG.types["T"], tuple(AVG.ranks), (predicate,)))


def test_drawn_cases_are_of_the_claimed_types_and_rank() -> None:
    found = draw(NARROW, 4, 50, root=0)
    assert {case.types["T"] for case in found} == {"f16", "f32"}


def test_without_predicates_there_is_no_profile() -> None:
    claim = Claim(("f32",), (3, 4))
    narrow = narrowed(AVG, claim)
    assert narrow.profiles == ()
    assert list(narrow.ranks) == [3, 4]
    parts = SurvivorTable({Partition("f32", 3): Survivors(inert=frozenset({"some"}))})
    found = as_claimed(AVG, narrow, parts, claim)
    assert not found.profiles
    assert "some" in found.survivors[Partition("f32", 3)].inert


def test_mutants_that_only_the_whole_operator_has_change_nothing() -> None:
    narrow = narrowed(AVG, Claim(("f32",), (4,)))
    own = {fault.id for fault in mutants_of(narrow)}
    gone = {fault.id for fault in mutants_of(AVG) if not fault.equivalent} - own
    assert "f64-summed-in-f32" in gone
    parts = SurvivorTable({Partition("f32", 4): Survivors()})
    found = as_claimed(AVG, narrow, parts, Claim(("f32",), (4,)))
    assert found.survivors[Partition("f32", 4)].inert == gone


def test_a_profile_that_is_declared_as_it_is_keeps_its_name() -> None:
    own = next(one for one in AVG.profiles if one.name == "pads-excluded")
    claim = Claim(("f32",), (4,), (f"not ({own.when.text})",))
    assert [one.name for one in narrowed(AVG, claim).profiles] == ["pads-excluded"]
    assert [one.name for one in narrowed(AVG, CLAIM).profiles] == [DECLARED]


def test_all_parts_are_of_what_is_declared() -> None:
    """What the profile's own part says wins: statements are made of profiles by name."""
    stated = Survivors(stated={"some": "It cannot."})
    parts = SurvivorTable(
        {
            Partition("f32", 4): Survivors(undetermined=frozenset({"some"})),
            Partition("f16", 4): Survivors(inert=frozenset({"other"})),
            Partition("f32", 4, DECLARED): stated,
        }
    )
    found = as_claimed(AVG, NARROW, parts, CLAIM)
    assert found.profiles == {DECLARED: CLAIM.left_out}
    assert found.survivors.keys() == {Partition("f32", 4, DECLARED), Partition("f16", 4, DECLARED)}
    assert found.survivors[Partition("f32", 4, DECLARED)].stated == stated.stated
    assert not found.survivors[Partition("f32", 4, DECLARED)].undetermined
    assert "other" in found.survivors[Partition("f16", 4, DECLARED)].inert


def test_a_predicate_that_does_not_fit_is_named() -> None:
    with pytest.raises(UsageError, match=r"'any.dilations > 1.' does not fit AvgPool-1"):
        narrowed(AVG, Claim(("f32",), (4,), ("any(dilations > 1)",)))


def test_what_no_tap_of_a_window_shows_is_proven() -> None:
    """A backend of small kernels has no row of a window whose tail could be lost."""
    small = narrowed(AVG, Claim(("f32",), (4,), ("max(kernel) > 7",)))
    part = Partition("f32", 4)
    disprover = Disprover(small, 4, mutants_of(small))
    never = {"window-tail-dropped-8", "window-tail-dropped-16", "lanes-not-combined-8"}
    shown = {"window-tail-dropped-4", "lanes-not-combined-4", "first-element-never-read"}
    assert not disprover.proven(part, never)
    assert disprover.proven(part, never | shown, taps=True) == never


def test_nothing_that_a_vector_kills_is_proven_to_change_nothing(exhaustive: bool) -> None:
    killed = {
        name
        for entry in tiers.smoke().manifest.vectors
        if entry.op == AVG.op and entry.dtype == "f32" and tiers.rank(entry) == 4
        for name in entry.kills
    }
    assert len(killed) > 100
    # The solver is slow about what is not so.
    asked = sorted(killed)[:: 1 if exhaustive else 4]
    assert not Disprover(AVG, 4, mutants_of(AVG)).proven(Partition("f32", 4), asked, taps=True)
