"""Coverage, worked out again from the vectors of a suite alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice

import numpy as np

from conformance.audit.membership import base_type
from conformance.model import Vector
from conformance.reference import facts
from conformance.reference.many import WindowBatch
from conformance.spec.model import OpSpec
from conformance.spec.table import table_of
from conformance.suite.manifest import Manifest
from conformance.suite.strength import Pair

SLICE = 1000
"""Vectors that are in memory at once."""


@dataclass(frozen=True)
class RankCoverage:
    """What the vectors of one operator and rank show.

    ``pairs`` holds each pair of edges that some vector shows in the operator's base type, which is
    the one that nearly every backend has (an edge with itself: the edge, in any type), and
    ``typed`` each edge with the element types that show it. ``infeasible`` are those of both that
    the manifest has a proof for, ``unsettled`` those that were neither found nor proven.
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

    @cached_property
    def feasible_edges(self) -> tuple[str, ...]:
        return tuple(edge for edge in self.edges if (edge, edge) not in self.infeasible)

    @cached_property
    def missing_edges(self) -> tuple[str, ...]:
        """Edges that can be shown, and are not."""
        settled = self.pairs | self.unsettled
        return tuple(edge for edge in self.feasible_edges if (edge, edge) not in settled)

    @cached_property
    def missing_types(self) -> tuple[tuple[str, str], ...]:
        """Element types, each with an edge that can be shown and is not in that type."""
        settled = self.typed | self.infeasible | self.unsettled
        return tuple(
            (dtype, edge)
            for edge in self.feasible_edges
            for dtype in self.dtypes
            if (dtype, edge) not in settled
        )

    @cached_property
    def feasible_pairs(self) -> tuple[Pair, ...]:
        """The pairs of different edges that are not proven infeasible."""
        return tuple(pair for pair in self._different if pair not in self.infeasible)

    @cached_property
    def infeasible_pairs(self) -> tuple[Pair, ...]:
        """The pairs of different edges that are proven infeasible."""
        return tuple(pair for pair in self._different if pair in self.infeasible)

    @property
    def _different(self) -> Iterator[Pair]:
        return combinations(sorted(self.edges), 2)

    @cached_property
    def missing_pairs(self) -> tuple[Pair, ...]:
        """Pairs that can be shown, and that no vector shows."""
        settled = self.pairs | self.unsettled
        return tuple(pair for pair in self.feasible_pairs if pair not in settled)

    @cached_property
    def undecided(self) -> tuple[Pair, ...]:
        """What no vector shows, and for which neither a case nor a proof was found."""
        return tuple(sorted(self.unsettled - self.pairs - self.typed))

    @cached_property
    def disproved(self) -> tuple[Pair, ...]:
        """Pairs that are called infeasible, and that a vector shows all the same."""
        return tuple(sorted(self.infeasible & (self.pairs | self.typed)))

    @property
    def complete(self) -> bool:
        """Whether everything that can be shown is, and nothing that cannot be."""
        return not (
            self.missing_edges
            or self.missing_types
            or self.missing_pairs
            or self.disproved
            or self.undecided
        )


def coverage(
    spec: OpSpec, manifest: Manifest, vectors: Iterable[Vector]
) -> tuple[list[RankCoverage], list[str]]:
    """The coverage of each rank by some vectors of ``spec``, and what their files say wrongly.

    The edges of each vector are evaluated anew from its inputs and attributes; those that its file
    lists are compared with them.
    """
    shown: dict[int, list[tuple[str, tuple[str, ...]]]] = {rank: [] for rank in spec.ranks}
    wrong = []
    asked = (vector for vector in vectors if vector.case.reject is None)
    while some := list(islice(asked, SLICE)):
        for rank in spec.ranks:
            own = [vector for vector in some if vector.inputs[0].ndim == rank]
            for vector, edges in zip(own, _edges(spec, rank, own), strict=True):
                if edges != vector.edges:
                    lists = "lists edges that its inputs and attributes do not show"
                    wrong.append(f"{vector.id}: {lists}")
                shown[rank].append((vector.case.types[spec.data.type], edges))
    strength = manifest.strength.get(spec.op)
    return [
        RankCoverage(
            op=spec.op,
            rank=rank,
            vectors=len(found),
            edges=tuple(edge.name for edge in spec.edges),
            dtypes=spec.types[spec.data.type],
            pairs=frozenset(
                pair for dtype, edges in found for pair in _pairs(edges, dtype == base_type(spec))
            ),
            typed=frozenset((dtype, edge) for dtype, edges in found for edge in edges),
            infeasible=_infeasible(strength.infeasible if strength else {}, rank),
            unsettled=frozenset(_unsettled(manifest, spec.op, rank)),
        )
        for rank, found in shown.items()
    ], wrong


def _edges(spec: OpSpec, rank: int, vectors: Sequence[Vector]) -> list[tuple[str, ...]]:
    """The edges of each vector: told by geometry for all at once, by the data for each alone."""
    batch = WindowBatch(table_of(spec, [vector.case for vector in vectors], rank - 2))
    told = [batch.truth(edge.when) for edge in spec.edges]
    shows, may = (np.stack(columns, axis=1) for columns in zip(*told, strict=True))
    for row, vector in enumerate(vectors):
        unsure = np.flatnonzero(may[row] & ~shows[row])
        if len(unsure):
            env = facts(spec, vector.case, vector.inputs[0])
            shows[row, unsure] = [spec.edges[edge].when.evaluate(env) for edge in unsure]
    return [
        tuple(edge.name for edge, holds in zip(spec.edges, row, strict=True) if holds)
        for row in shows
    ]


def _pairs(edges: tuple[str, ...], paired: bool) -> Iterator[Pair]:
    yield from ((edge, edge) for edge in edges)
    if paired:
        yield from combinations(sorted(edges), 2)


def _unsettled(manifest: Manifest, op: str, rank: int) -> Iterator[Pair]:
    """What the manifest lists as neither shown nor proven: pairs, edges alone, edges in a type."""
    for one in manifest.uncovered:
        if (one.op, one.rank) == (op, rank):
            yield (one.dtype, one.edges[0]) if one.dtype else (one.edges[0], one.edges[-1])


def _infeasible(
    by_rank: Mapping[int, Mapping[Pair, tuple[str, ...]]], rank: int
) -> frozenset[Pair]:
    return frozenset(by_rank.get(rank, {}))
