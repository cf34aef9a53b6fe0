"""Larger variants of small cases: what begins at some size shows in them, and chance draws few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.generate.looking import sound
from conformance.model import Case
from conformance.spec.case_environment import resized
from conformance.spec.model import OpSpec

EXTENTS = (33, 543)
"""Sizes of what has no axes (images, channels), with a rest by every power of two up to 32."""

ROWS = (1030, 4200)
"""Sizes of the last axis."""

MOST = 40
"""Cases of which variants are made, at most: the first."""


def enlarged(spec: OpSpec, cases: Sequence[Case]) -> list[Case]:
    """Valid variants of cases of one rank, in each of which one dimension is large."""
    made = {new.id: new for case in cases[:MOST] for new in _larger(spec, case)}
    return sound(spec, spec.rank_of(cases[0]), list(made.values())) if made else []


def _larger(spec: OpSpec, case: Case) -> Iterator[Case]:
    shape = case.shapes[spec.data.name]
    without = sum(not spec.dims[name].per_axis for name in spec.data.shape)
    for place in range(without):
        for extent in EXTENTS:
            sizes = (extent if n == place else 1 for n in range(without))
            yield resized(spec, case, (*sizes, *shape[without:]))
    for extent in ROWS:
        yield resized(spec, case, (*([1] * without), *shape[without:-1], extent))
