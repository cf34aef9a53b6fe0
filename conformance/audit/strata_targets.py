"""Pairs of remainder and stratum that a suite must cover, by operator and rank."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from conformance.audit.partitions import base_type
from conformance.spec.model import OpSpec
from conformance.spec.strata import Strata
from conformance.suite.unreachable import Pair

IMAGES = 4
"""The rank on which each remainder is asked for in each stratum: that of images, which nearly every
backend runs."""


def required_pairs(strata: Strata, rank: int) -> Iterator[Pair]:
    """Yield the pairs of remainder, stratum and profile that a rank must cover.

    On the rank of images: each remainder with each stratum, in the base type, and with each other
    where there is one stratum; and each stratum within each profile. On other ranks: each remainder
    alone, in any stratum and type.
    """
    if rank == IMAGES:
        for stratum, remainder in product(strata.strata, strata.remainders):
            yield remainder.name, stratum.name
        for profile, stratum in product(strata.profiles, strata.strata):
            yield profile.name, stratum.name
        if len(strata.strata) == 1:
            yield from combinations(sorted(remainder.name for remainder in strata.remainders), 2)
    else:
        yield from ((remainder.name, remainder.name) for remainder in strata.remainders)


def required_types(spec: OpSpec, strata: Strata, rank: int) -> Iterator[tuple[str, str]]:
    """Yield another element type with each remainder, on the rank of images."""
    other_types = [dtype for dtype in spec.types[spec.data.type] if dtype != base_type(spec)]
    if rank == IMAGES and other_types:
        yield from ((other_types[0], remainder.name) for remainder in strata.remainders)
