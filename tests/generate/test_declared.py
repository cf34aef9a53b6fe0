"""Which mutants can show in nothing that a declaration leaves of an operator."""

from __future__ import annotations

import importlib.util

import pytest
import tiers

from conformance.generate.declared import can_not_show
from conformance.generate.narrow import Claim

OP = "AvgPool-1"
CLAIM = Claim(("f32",), (4,), ("auto_pad != explicit", "rounding_type != floor"))
NEVER = {"same-not-padded", "valid-uses-given-pads", "ceil-rounds-down"}
SHOWS = {"pads-begin-and-end-swapped", "exclude-pad-taken-for-true"}


def never(names: set[str], *parts: tuple[str, int]) -> frozenset[str]:
    return can_not_show(tiers.smoke(), OP, CLAIM, parts or [("f32", 4)], names)


def test_what_no_declared_case_reaches_is_proven_and_the_rest_is_not() -> None:
    assert never(NEVER | SHOWS) == NEVER


def test_a_mutant_of_the_excluded_cases_alone_is_not_proven_of_all_cases() -> None:
    whole = Claim(CLAIM.dtypes, CLAIM.ranks)
    names = {"same-not-padded"}
    assert not can_not_show(tiers.smoke(), OP, whole, [("f32", 4)], names)


def test_without_the_solver_nothing_is_taken_for_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not never(NEVER & {"same-not-padded"})
