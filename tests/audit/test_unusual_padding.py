"""Most explicitly padded vectors are for backends that take padding below the kernel only."""

import pytest

from conformance.audit.partitions import cases_within
from conformance.generate import recorded
from conformance.model import Case
from conformance.spec.loader import shipped_operators
from conformance.specification import find_spec
from conformance.suite.survivors import Partition

MOST = 0.4
"""The share of explicitly padded vectors that may have a pad as large as the kernel."""

OPS = [op for op in shipped_operators() if any(profile.usual for profile in find_spec(op).profiles)]


def padded(case: Case) -> bool:
    pads = ("pads", "pads_begin", "pads_end")
    mode = str(case.attributes.get("auto_pad", "explicit")).lower()
    given = (case.attributes.get(name) or () for name in pads)
    return mode in ("explicit", "notset") and any(sum(one) for one in given)  # type: ignore[arg-type]


@pytest.mark.parametrize("op", OPS)
def test_most_padded_vectors_of_a_rank_have_pads_below_the_kernel(op: str) -> None:
    spec, known = find_spec(op), recorded.read(op)
    assert known is not None
    known = recorded.small(known)
    assert known is not None
    (usual,) = (profile.name for profile in spec.profiles if profile.usual)
    for rank in spec.ranks:
        cases = [
            one.case
            for one in known.recorded
            if one.case.reject is None
            and len(one.case.shapes[spec.data.name]) == rank
            and padded(one.case)
        ]
        below = {
            dtype: cases_within(spec, Partition(dtype, rank, usual), cases)
            for dtype in spec.types[spec.data.type]
        }
        outside = len(cases) - sum(int(inside.sum()) for inside in below.values())
        assert len(cases) > 20
        assert outside <= MOST * len(cases), (rank, outside, len(cases))
