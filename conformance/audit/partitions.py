"""Partitions of an operator's cases: an element type, a rank, perhaps a profile.

A score of all vectors says nothing of a backend that runs a tenth of them, so each part is scored
by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from conformance.model import Case
from conformance.reference.batches import batch_of
from conformance.spec.batch_values import Bools, code
from conformance.spec.case_table import Table, table_of
from conformance.spec.model import CoverageTarget, OpSpec
from conformance.suite.survivors import Partition

COMMON = "f32"
"""The element type that nearly every backend has."""


def base_type(spec: OpSpec) -> str:
    """Return the element type in which pairs and profiles are covered: f32 if possible."""
    dtypes = spec.types[spec.data.type]
    return COMMON if COMMON in dtypes else dtypes[0]


def partitions_of_rank(spec: OpSpec, rank: int) -> Iterator[Partition]:
    """Yield each element type of a rank, the base type first, with its profiles."""
    base = base_type(spec)
    yield Partition(base, rank)
    yield from (Partition(base, rank, profile.name) for profile in spec.profiles)
    yield from (Partition(dtype, rank) for dtype in spec.types[spec.data.type] if dtype != base)


def cases_within(spec: OpSpec, partition: Partition, cases: Sequence[Case]) -> Bools:
    """Mark the cases that belong to a partition, (cases,)."""
    is_inside = np.array(
        [
            case.types[spec.data.type] == partition.dtype and spec.rank_of(case) == partition.rank
            for case in cases
        ],
        np.bool_,
    )
    if partition.profile and is_inside.any():
        rows = np.flatnonzero(is_inside)
        is_inside[rows] = rows_within(
            partition, table_of(spec, [cases[int(row)] for row in rows], partition.rank)
        )
    return is_inside


def rows_within(partition: Partition, table: Table) -> Bools:
    """Mark the cases of a table that belong to a partition of its rank, (cases,)."""
    spec = table.spec
    is_inside = (table.columns[spec.data.type] == code(partition.dtype)) & ~table.odd
    if partition.profile and is_inside.any():
        is_inside[is_inside] = batch_of(table.take(is_inside)).truth(
            profile_of(spec, partition).when
        )[0]
    return np.asarray(is_inside)


def excluded_predicates(profile: CoverageTarget) -> tuple[str, ...]:
    """Return the predicates of the cases that a profile leaves out, as backends declare them."""
    return (excluded_text(profile.when.text),)


def excluded_text(when: str) -> str:
    """Return the predicate of the cases that do not meet one, in a line."""
    return " ".join(f"not ({when})".split())


def profile_of(spec: OpSpec, partition: Partition) -> CoverageTarget:
    """Return the profile of a partition that has one."""
    return next(profile for profile in spec.profiles if profile.name == partition.profile)
