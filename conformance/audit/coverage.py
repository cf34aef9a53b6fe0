"""Pairwise and strata coverage, computed from the vectors of a suite alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice

import numpy as np

from conformance.audit.partitions import base_type
from conformance.audit.strata_targets import required_pairs, required_types
from conformance.model import Vector
from conformance.reference import facts
from conformance.reference.batches import batch_of
from conformance.spec.case_table import table_of
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of
from conformance.suite.manifest import Manifest
from conformance.suite.unreachable import Pair, Unreachable

SLICE = 1000
"""Vectors that are in memory at once."""


@dataclass(frozen=True)
class StrataCoverage:
    """Pairs of remainder and stratum that the vectors of one rank cover.

    The pairs are of names: a remainder with itself, in any stratum; an element type with a
    remainder, in that type.
    """

    required: frozenset[Pair] = field(repr=False)
    met: frozenset[Pair] = field(repr=False)
    infeasible: frozenset[Pair] = field(repr=False)
    unsettled: frozenset[Pair] = field(repr=False)

    @cached_property
    def missing(self) -> tuple[Pair, ...]:
        """Required pairs that are feasible and not covered."""
        return tuple(sorted(self.required - self.met - self.infeasible - self.unsettled))

    @cached_property
    def undecided(self) -> tuple[Pair, ...]:
        """Pairs that no vector covers, without a known case or proof."""
        return tuple(sorted(self.unsettled - self.met))

    @cached_property
    def disproved(self) -> tuple[Pair, ...]:
        """Pairs that are called infeasible although a vector covers them."""
        return tuple(sorted(self.infeasible & self.met))

    @property
    def complete(self) -> bool:
        """True if every feasible pair is covered, and no infeasible one."""
        return not (self.missing or self.undecided or self.disproved)


@dataclass(frozen=True)
class RankCoverage:
    """Coverage by the vectors of one operator and rank.

    ``pairs`` holds each pair of targets that some vector shows in the operator's base type, which
    is the one that nearly every backend has (a target with itself: the edge, in any type), and
    ``typed`` each target with the element types that show it. ``infeasible`` are those of both that
    the manifest has a proof for, ``unsettled`` those that were neither found nor proven. ``strata``
    is None where the suite was selected for other strata than there are, or for none.
    """

    op: str
    rank: int
    vectors: int
    edges: tuple[str, ...]
    dtypes: tuple[str, ...]
    pairs: frozenset[Pair] = field(repr=False)
    typed: frozenset[tuple[str, str]] = field(repr=False)
    infeasible: frozenset[Pair] = field(repr=False)
    unsettled: frozenset[Pair] = field(default=frozenset(), repr=False)
    strata: StrataCoverage | None = None

    @cached_property
    def feasible_edges(self) -> tuple[str, ...]:
        return tuple(target for target in self.edges if (target, target) not in self.infeasible)

    @cached_property
    def missing_edges(self) -> tuple[str, ...]:
        """Coverage targets that are feasible and not covered."""
        settled = self.pairs | self.unsettled
        return tuple(target for target in self.feasible_edges if (target, target) not in settled)

    @cached_property
    def missing_types(self) -> tuple[tuple[str, str], ...]:
        """Element types, each with a target that is feasible and not covered in that type."""
        settled = self.typed | self.infeasible | self.unsettled
        return tuple(
            (dtype, target)
            for target in self.feasible_edges
            for dtype in self.dtypes
            if (dtype, target) not in settled
        )

    @cached_property
    def feasible_pairs(self) -> tuple[Pair, ...]:
        """Pairs of different targets that are not proven infeasible."""
        return tuple(pair for pair in self._different if pair not in self.infeasible)

    @cached_property
    def infeasible_pairs(self) -> tuple[Pair, ...]:
        """Pairs of different targets that are proven infeasible."""
        return tuple(pair for pair in self._different if pair in self.infeasible)

    @property
    def _different(self) -> Iterator[Pair]:
        return combinations(sorted(self.edges), 2)

    @cached_property
    def missing_pairs(self) -> tuple[Pair, ...]:
        """Feasible pairs that no vector covers."""
        settled = self.pairs | self.unsettled
        return tuple(pair for pair in self.feasible_pairs if pair not in settled)

    @cached_property
    def undecided(self) -> tuple[Pair, ...]:
        """Pairs that no vector covers, without a known case or proof."""
        return tuple(sorted(self.unsettled - self.pairs - self.typed))

    @cached_property
    def disproved(self) -> tuple[Pair, ...]:
        """Pairs that are called infeasible although a vector covers them."""
        return tuple(sorted(self.infeasible & (self.pairs | self.typed)))

    @property
    def complete(self) -> bool:
        """True if everything feasible is covered, and nothing infeasible."""
        return not (
            self.missing_edges
            or self.missing_types
            or self.missing_pairs
            or self.disproved
            or self.undecided
            or not (self.strata is None or self.strata.complete)
        )


def coverage(
    spec: OpSpec, manifest: Manifest, vectors: Iterable[Vector]
) -> tuple[list[RankCoverage], list[str]]:
    """Compute the coverage of each rank, and check the targets that vectors list.

    The edges of each vector are evaluated anew from its inputs and attributes; those that its file
    lists are compared with them.
    """
    strata = strata_of(spec)
    names = {target.name for target in spec.edges}
    targets_by_rank: dict[int, list[tuple[str, tuple[str, ...]]]] = {
        rank: [] for rank in spec.ranks
    }
    wrong = []
    valued = (vector for vector in vectors if vector.case.reject is None)
    while batch := list(islice(valued, SLICE)):
        for rank in spec.ranks:
            rank_vectors = [vector for vector in batch if vector.inputs[0].ndim == rank]
            for vector, met in zip(
                rank_vectors, covered_targets(strata.whole, rank, rank_vectors), strict=True
            ):
                targets = tuple(name for name in met if name in names)
                if targets != vector.edges:
                    lists = "lists coverage targets that its inputs and attributes do not meet"
                    wrong.append(f"{vector.id}: {lists}")
                targets_by_rank[rank].append((vector.case.types[spec.data.type], met))
    strength = manifest.strength.get(spec.op, Unreachable())
    current = bool(strength.strata) and strength.strata == strata.meaning
    types = spec.types[spec.data.type]
    names_and_types = {*names, *types}
    return [
        RankCoverage(
            op=spec.op,
            rank=rank,
            vectors=len(covered),
            edges=tuple(target.name for target in spec.edges),
            dtypes=types,
            pairs=_of(
                (pair for dtype, met in covered for pair in _pairs(met, dtype == base_type(spec))),
                names,
            ),
            typed=_of(((dtype, name) for dtype, met in covered for name in met), names_and_types),
            infeasible=_of(strength.infeasible.get(rank, ()), names_and_types),
            unsettled=_of(_unsettled(manifest, spec.op, rank), names_and_types),
            strata=_strata(spec, manifest, rank, covered) if current else None,
        )
        for rank, covered in targets_by_rank.items()
    ], wrong


def covered_targets(spec: OpSpec, rank: int, vectors: Sequence[Vector]) -> list[tuple[str, ...]]:
    """List the targets of a specification that each vector of a rank covers, by name.

    Geometry decides for all vectors at once, data for each alone.
    """
    if not spec.edges:
        return [()] * len(vectors)
    batch = batch_of(table_of(spec, [vector.case for vector in vectors], rank))
    truths = [batch.truth(target.when) for target in spec.edges]
    shows, may = (np.stack(columns, axis=1) for columns in zip(*truths, strict=True))
    for row, vector in enumerate(vectors):
        unsure = np.flatnonzero(may[row] & ~shows[row])
        if len(unsure):
            env = facts(spec, vector.case, vector.inputs)
            shows[row, unsure] = [spec.edges[target].when.evaluate(env) for target in unsure]
    return [
        tuple(target.name for target, holds in zip(spec.edges, row, strict=True) if holds)
        for row in shows
    ]


def _pairs(targets: Sequence[str], paired: bool) -> Iterator[Pair]:
    yield from ((target, target) for target in targets)
    if paired:
        yield from combinations(sorted(targets), 2)


def _unsettled(manifest: Manifest, op: str, rank: int) -> Iterator[Pair]:
    """What the manifest lists as undecided: pairs, single targets, targets in a type."""
    for target in manifest.uncovered:
        if (target.op, target.rank) == (op, rank):
            yield (
                (target.dtype, target.edges[0])
                if target.dtype
                else (target.edges[0], target.edges[-1])
            )


def _of(pairs: Iterable[Pair], names: Collection[str]) -> frozenset[Pair]:
    """Those of some pairs whose names are both among these."""
    return frozenset(pair for pair in pairs if pair[0] in names and pair[1] in names)


def _strata(
    spec: OpSpec, manifest: Manifest, rank: int, covered: Sequence[tuple[str, tuple[str, ...]]]
) -> StrataCoverage:
    """The strata that vectors of a rank, each with its type and targets, cover."""
    strata, base = strata_of(spec), base_type(spec)
    required = {*required_pairs(strata, rank), *required_types(spec, strata, rank)}
    met: set[Pair] = set()
    for dtype, names in covered:
        met |= {(dtype, name) for name in names} | set(_pairs(names, dtype == base))
    return StrataCoverage(
        required=frozenset(required),
        met=frozenset(met & required),
        infeasible=frozenset(required & manifest.strength[spec.op].infeasible.get(rank, {}).keys()),
        unsettled=frozenset(required & {*_unsettled(manifest, spec.op, rank)}),
    )
