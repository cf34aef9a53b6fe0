"""Operators as far as a backend declares them."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given

from conformance.errors import UsageError
from conformance.generate.narrow import DECLARED, Claim, as_claimed, narrowed
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.spec.loader import find
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations
from conformance.strategies import cases
from conformance.suite.parts import Part, Parts, Survivors

AVG = find("AvgPool-1")
UNEVEN = "any(pad_begin != pad_end)"
CLAIM = Claim(("f16", "f32"), (4,), (UNEVEN, "any(kernel > 3)"))
NARROW = narrowed(AVG, CLAIM)


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
    parts = Parts({Part("f32", 3): Survivors(inert=frozenset({"some"}))})
    assert as_claimed(narrow, parts, claim) is parts


def test_a_profile_that_is_declared_as_it_is_keeps_its_name() -> None:
    own = next(one for one in AVG.profiles if one.name == "pads-excluded")
    claim = Claim(("f32",), (4,), (f"not ({own.when.text})",))
    assert [one.name for one in narrowed(AVG, claim).profiles] == ["pads-excluded"]
    assert [one.name for one in narrowed(AVG, CLAIM).profiles] == [DECLARED]


def test_all_parts_are_of_what_is_declared() -> None:
    """What the profile's own part says wins: statements are made of profiles by name."""
    stated = Survivors(stated={"some": "It cannot."})
    parts = Parts(
        {
            Part("f32", 4): Survivors(undetermined=frozenset({"some"})),
            Part("f16", 4): Survivors(inert=frozenset({"other"})),
            Part("f32", 4, DECLARED): stated,
        }
    )
    found = as_claimed(NARROW, parts, CLAIM)
    assert found.profiles == {DECLARED: CLAIM.left_out}
    assert found.survivors == {
        Part("f32", 4, DECLARED): stated,
        Part("f16", 4, DECLARED): Survivors(inert=frozenset({"other"})),
    }


def test_a_predicate_that_does_not_fit_is_named() -> None:
    with pytest.raises(UsageError, match=r"'any.dilations > 1.' does not fit AvgPool-1"):
        narrowed(AVG, Claim(("f32",), (4,), ("any(dilations > 1)",)))
