"""Most explicitly padded vectors are for backends that take padding below the kernel only."""

from __future__ import annotations

import pytest

from conformance.generate import recorded
from conformance.model import Case
from conformance.specification import (
    condition_of,
    find_spec,
    profiles_of,
    ranks_of,
    shipped_operators,
)

MOST = 0.4
"""The share of explicitly padded vectors that may have a pad as large as the kernel."""

BELOW = {
    op: profile.when
    for op in shipped_operators()
    for profile in profiles_of(find_spec(op))
    if profile.name == "pads-below-kernel"
}


def padded(case: Case) -> bool:
    pads = (case.attributes.get(name) for name in ("pads", "pads_begin", "pads_end"))
    mode = str(case.attributes.get("auto_pad", "explicit")).lower()
    return mode in ("explicit", "notset") and any(any(one) for one in pads if one is not None)


@pytest.mark.parametrize("op", BELOW)
def test_most_padded_vectors_of_a_rank_have_pads_below_the_kernel(op: str) -> None:
    spec, known = find_spec(op), recorded.read(op)
    assert known is not None
    below = condition_of(spec, BELOW[op])
    asked = [one.case for one in recorded.small(known).recorded if one.case.reject is None]
    for rank in ranks_of(spec):
        cases = [case for case in asked if case.rank == rank and padded(case)]
        outside = sum(not below.holds(case) for case in cases)
        assert len(cases) >= 50
        assert outside <= MOST * len(cases), (rank, outside, len(cases))
