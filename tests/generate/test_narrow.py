"""Operators as far as a backend declares them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from conformance.errors import UsageError
from conformance.generate.claim import Claim, claimed
from conformance.model import Case
from conformance.specification import condition_of, find_spec
from conformance.strategies import cases

AVG = find_spec("AvgPool-1")
UNEVEN = "any(pad_begin != pad_end)"
CLAIM = Claim(("f16", "f32"), (4,), (UNEVEN, "any(kernel > 3)"))


@settings(deadline=None)  # the first case compiles what the others use
@given(case=cases("AvgPool-1"))
def test_a_case_is_claimed_that_has_a_type_and_a_rank_and_is_not_left_out(case: Case) -> None:
    left_out = any(condition_of(AVG, predicate).holds(case) for predicate in CLAIM.left_out)
    expected = case.types["T"] in CLAIM.dtypes and case.rank == 4 and not left_out
    assert claimed(AVG, CLAIM)(case) == expected


def test_a_profile_is_a_claim() -> None:
    (own,) = (one for one in AVG.profiles if one.name == "pads-excluded")
    is_claimed = claimed(AVG, Claim(("f32",), (3,), (f"not ({own.when})",)))
    given_ = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    for excluded in (True, False):
        case = Case(AVG.op, {"T": "f32"}, {"data": (1, 1, 2)}, {**given_, "exclude-pad": excluded})
        assert is_claimed(case) is excluded


def test_a_predicate_that_does_not_fit_is_named() -> None:
    with pytest.raises(UsageError, match=r"'any.dilations > 1.' does not fit AvgPool-1"):
        claimed(AVG, Claim(("f32",), (4,), ("any(dilations > 1)",)))
