"""Each part of each operator is whole: every mutant that can show there is killed.

By the kills that are recorded, which the audit of the shipped suite, and other tests, find again.
Of the operators that are in the shipped suite ``conformance audit --parts`` tells it, in CI.
"""

from __future__ import annotations

import pytest
import tiers

from conformance.audit.kills import Kill
from conformance.audit.membership import parts
from conformance.audit.standing import standings
from conformance.generate import recorded
from conformance.generate.attack import refuted
from conformance.generate.disprover import settled
from conformance.spec.catalogue import faults
from conformance.spec.loader import find, names

RECORDED = [op for op in names() if op not in tiers.core().manifest.ops]
"""Operators that have recorded cases alone."""


@pytest.mark.parametrize("op", tiers.first(RECORDED))
def test_no_mutant_is_undetermined_in_any_part(op: str) -> None:
    spec, known = find(op), recorded.read(op)
    assert known is not None
    graded = [one for one in known.recorded if one.case.reject is None]
    found = standings(
        spec,
        faults(spec),
        {one.case.id: one.case for one in graded},
        {
            one.case.id: [Kill(fault, fault not in one.excused, b"") for fault in one.kills]
            for one in graded
        },
        {part: one.inert for part, one in known.parts.survivors.items()},
    )
    assert len(found) == sum(1 for rank in spec.ranks for _ in parts(spec, rank))
    assert all(one.killed for one in found)
    left = {
        str(one.part): (one.survivors.undetermined, one.refuted)
        for one in settled(spec, faults(spec), found)
        if not one.complete
    }
    assert left == {}


@pytest.mark.parametrize("op", tiers.first(names()))
def test_drawn_cases_do_not_refute_what_is_stated(op: str) -> None:
    spec = find(op)  # `conformance audit --draw N` draws more
    found = refuted(spec, faults(spec), 80, processes=1, progress=lambda *_: None)
    assert list(found) == []
