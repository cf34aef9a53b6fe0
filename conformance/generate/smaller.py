"""Smaller variants of large cases, which may cover the same in fewer bytes.

A case that was found for one thing is as large as it happened to be, and one that joins two long
axes is larger than two cases of one long axis each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from conformance.generate.looking import sound
from conformance.model import Case
from conformance.spec.model import OpSpec

LARGE = 1000
"""Elements of data from which on relatives of a case are made."""

LANES = 16
"""A shorter axis leaves the same rest of vectors of so many elements."""

MOST = 24
"""How many relatives of a case are made, at most, the smallest first."""


def relatives(spec: OpSpec, cases: Sequence[Case]) -> list[Case]:
    """Valid cases of one rank like some large ones, with fewer images, fewer channels, or axes that
    are shorter by a multiple of :data:`LANES`."""
    made = {case.id: case for large in cases for case in _shorter(spec, large)}
    known = {case.id for case in cases}
    new = [case for name, case in made.items() if name not in known]
    if not new:
        return []
    return sound(spec, len(new[0].shapes[spec.data.name]) - 2, new)


def _shorter(spec: OpSpec, case: Case) -> Iterator[Case]:
    shape = case.shapes[spec.data.name]
    if prod(shape) < LARGE:
        return
    planes = ((1, extent) if extent > 1 else (extent,) for extent in shape[:2])
    axes = ({extent % LANES, extent % LANES + LANES, extent} - {0} for extent in shape[2:])
    lengths = (
        [one for one in axis if one <= extent] for axis, extent in zip(axes, shape[2:], strict=True)
    )
    found = sorted(product(*planes, *lengths), key=prod)
    for shorter in found[:MOST]:
        if 2 * prod(shorter) <= prod(shape):
            yield replace(case, shapes={**case.shapes, spec.data.name: shorter})
