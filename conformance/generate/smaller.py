"""Smaller variants of large cases, which may cover the same in fewer bytes.

A case that was found for one thing is as large as it happened to be, and one that joins two long
axes is larger than two cases of one long axis each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from conformance.generate.looking import sound
from conformance.model import Case
from conformance.spec.case_environment import resized
from conformance.spec.model import OpSpec

LARGE = 1000
"""Elements of data from which on relatives of a case are made."""

LANES = 16
"""A shorter axis leaves the same rest of vectors of so many elements."""

MOST = 24
"""How many relatives of a case are made, at most, the smallest first."""


def relatives(spec: OpSpec, cases: Sequence[Case]) -> list[Case]:
    """Valid cases of one rank like some large ones, with one of what has no axes (images, say), or
    axes that are shorter by a multiple of :data:`LANES`."""
    made = {case.id: case for large in cases for case in _shorter(spec, large)}
    known = {case.id for case in cases}
    new = [case for name, case in made.items() if name not in known]
    if not new:
        return []
    return sound(spec, spec.rank_of(new[0]), new)


def _shorter(spec: OpSpec, case: Case) -> Iterator[Case]:
    shape = case.shapes[spec.data.name]
    if prod(shape) < LARGE:
        return
    lengths = (
        _lengths(extent) if long else ((1, extent) if extent > 1 else (extent,))
        for extent, long in zip(shape, _of_axes(spec, case), strict=True)
    )
    found = sorted(product(*lengths), key=prod)
    for shorter in found[:MOST]:
        if 2 * prod(shorter) <= prod(shape):
            yield resized(spec, case, shorter)


def _of_axes(spec: OpSpec, case: Case) -> Iterator[bool]:
    """Of each dimension of the data whether it is shortened by lanes: those of axes, and all where
    there are none."""
    for name in spec.data.shape:
        if spec.dims[name].per_axis:
            yield from [True] * spec.axes_of(case)
        else:
            yield not spec.layout.spread


def _lengths(extent: int) -> list[int]:
    return [one for one in {extent % LANES, extent % LANES + LANES, extent} - {0} if one <= extent]
