"""Removes vectors of an operator that the others make redundant.

Pairs of edges, and then mutants in one part after the other, are each given few vectors. What was
found for one of them serves others, too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import ceil

import numpy as np

from conformance.audit.coverage import covered_targets
from conformance.audit.kills import Kill
from conformance.audit.partitions import base_type, cases_within, partitions_of_rank
from conformance.audit.score import MutationScore
from conformance.audit.set_cover import greedy_cover
from conformance.audit.strata_targets import IMAGES, required_pairs, required_types
from conformance.generate.condense import SLACK
from conformance.generate.looking import FILE, rarity, usual
from conformance.generate.suites import twins
from conformance.model import Vector
from conformance.reference.batches import CaseBatch, batch_of
from conformance.spec.case_table import table_of
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of

TRIES = 30
"""How often a part of the choice is made anew to find a smaller one."""

MOST_OUTSIDE = 0.4
"""The share of vectors that are outside a profile, at most, of those for which it is usual."""

LEAST_IMAGES = 0.25
"""The share of vectors that are images in the base type, at least, as far as there are as many."""

Item = Hashable


def reduced(
    spec: OpSpec,
    faults: Sequence[Mutant],
    vectors: Sequence[Vector],
    kills: Mapping[str, Sequence[Kill]],
) -> list[Vector]:
    """Fewer of some value vectors, in their order, that show and kill all that all of them do.

    Each pair of edges in the base type and each edge in each type, on each rank; what is asked for
    of strata; each mutant at
    both levels in each part; edges by a vector that shows hardly anything else; twins beside each
    other; and no two mutants are alike that were told apart. A quarter are images in the base type.
    """
    chosen: set[str] = set()
    shown: set[str] = set()
    by_id = {vector.id: vector for vector in vectors}
    for rank in spec.ranks:
        own = [vector for vector in vectors if vector.inputs[0].ndim == rank]
        if own:
            chosen |= _few(spec, own, _items(spec, rank, own, kills, shown))
            shown |= {edge for vector in own for edge in vector.edges}
    chosen |= _telling_apart(spec, faults, vectors, kills, chosen)
    for name in list(chosen):
        chosen |= {case.id for case in twins(spec, by_id[name].case)} & by_id.keys()
    chosen |= _images(spec, vectors, chosen)
    for rank in spec.ranks:
        own = [vector for vector in vectors if vector.inputs[0].ndim == rank]
        chosen |= _usual(spec, own, chosen) if own else set()
    return [vector for vector in vectors if vector.id in chosen]


def _few(
    spec: OpSpec, vectors: Sequence[Vector], items: Mapping[str, Collection[Item]]
) -> set[str]:
    costs = {vector.id: cost for vector, cost in zip(vectors, _costs(spec, vectors), strict=True)}
    few = greedy_cover(vectors, lambda one: items[one.id], lambda one: costs[one.id], tries=TRIES)
    return {vector.id for vector in few}


def _images(spec: OpSpec, vectors: Sequence[Vector], chosen: Collection[str]) -> set[str]:
    """More vectors of images in the base type, where too few of the chosen ones are: those that
    meet most edges for their cost."""
    base, more = base_type(spec), set[str]()
    images = [
        vector
        for vector in vectors
        if vector.inputs[0].ndim == IMAGES and vector.case.types[spec.data.type] == base
    ]
    spare = [vector for vector in images if vector.id not in chosen]
    costs = dict(zip((one.id for one in spare), _costs(spec, spare), strict=True))
    spare.sort(key=lambda one: (-len(one.edges) / costs[one.id], one.id))
    there = len(images) - len(spare)
    for vector in spare:
        if there + len(more) >= LEAST_IMAGES * (len(chosen) + len(more)):
            break
        more.add(vector.id)
    return more


def _usual(spec: OpSpec, vectors: Sequence[Vector], chosen: Collection[str]) -> set[str]:
    """More vectors of a rank, the cheapest, where too many of the chosen ones are outside a profile
    that most backends have."""
    more: set[str] = set()
    costs = list(_costs(spec, vectors))
    taken = np.array([vector.id in chosen for vector in vectors])
    for asked, inside in usual(_batch(spec, vectors)):
        outside = int(np.count_nonzero(taken & asked & ~inside))
        needed = ceil(outside / MOST_OUTSIDE) - int(np.count_nonzero(taken & asked))
        spare = sorted(map(int, np.flatnonzero(~taken & asked & inside)), key=costs.__getitem__)
        more |= {vectors[row].id for row in spare[: max(needed, 0)]}
    return more


def _items(
    spec: OpSpec,
    rank: int,
    vectors: Sequence[Vector],
    kills: Mapping[str, Sequence[Kill]],
    below: set[str],
) -> dict[str, set[Item]]:
    """What each vector of a rank covers; the targets ``below`` are isolated on a lower one."""
    found: dict[str, set[Item]] = {vector.id: set() for vector in vectors}
    cases = [vector.case for vector in vectors]
    for part in partitions_of_rank(spec, rank):
        for vector, inside in zip(vectors, cases_within(spec, part, cases), strict=True):
            if inside:
                for kill in kills[vector.id]:
                    found[vector.id] |= {(part, kill.mutant, "should")}
                    found[vector.id] |= {(part, kill.mutant, "must")} if kill.at_must else set()
    strata, base = strata_of(spec), base_type(spec)
    wanted = {*required_pairs(strata, rank), *required_types(spec, strata, rank)}
    of_strata = replace(strata.whole, edges=strata.all)
    for vector, met in zip(vectors, covered_targets(of_strata, rank, vectors), strict=True):
        own = vector.case.types[spec.data.type]
        shown = {(own, name) for name in met} | {(name, name) for name in met}
        shown |= set(combinations(sorted(met), 2)) if own == base else set()
        found[vector.id] |= shown & wanted
    for vector in vectors:
        dtype = vector.case.types[spec.data.type]
        found[vector.id] |= {(dtype, edge) for edge in vector.edges}
        if dtype == base:
            found[vector.id] |= set(combinations(sorted(vector.edges), 2))
    for edge, least in _fewest(vectors).items():
        if edge not in below:
            for vector in vectors:
                if edge in vector.edges and len(vector.edges) <= least + SLACK:
                    found[vector.id].add(("alone", edge, ""))
    return found


def _fewest(vectors: Sequence[Vector]) -> dict[str, int]:
    """How many targets a vector covers, at least, that covers a target."""
    found: dict[str, int] = {}
    for vector in vectors:
        for edge in vector.edges:
            found[edge] = min(found.get(edge, len(vector.edges)), len(vector.edges))
    return found


def _costs(spec: OpSpec, vectors: Sequence[Vector]) -> Iterator[int]:
    rare = rarity(_batch(spec, vectors))
    for vector, times in zip(vectors, rare, strict=True):
        data = sum(array.nbytes for array in vector.inputs)
        results = sum(4 * answer.expected.nbytes for answer in vector.answers)
        yield (FILE + data + results) * int(times)


def _batch(spec: OpSpec, vectors: Sequence[Vector]) -> CaseBatch:
    """The cases of vectors of one rank."""
    cases = [vector.case for vector in vectors]
    return batch_of(table_of(spec, cases, spec.rank_of(cases[0]) if cases else spec.ranks[0]))


def _telling_apart(
    spec: OpSpec,
    faults: Sequence[Mutant],
    vectors: Sequence[Vector],
    kills: Mapping[str, Sequence[Kill]],
    chosen: set[str],
) -> set[str]:
    """More vectors, for mutants that others than the chosen ones tell apart; the smallest first."""
    more: set[str] = set()
    left = sorted(
        (vector for vector in vectors if vector.id not in chosen),
        key=lambda vector: (vector.inputs[0].size, vector.id),
    )
    while True:
        kept = {name: tuple(kills[name]) for name in kills if name in chosen | more}
        found = None
        for group in MutationScore(spec.op, tuple(faults), kept).indistinguishable:
            for a, b in combinations(group, 2):
                found = next((one for one in left if _tells(kills[one.id], a, b)), None)
                if found is not None:
                    break
            if found is not None:
                break
        if found is None:
            return more
        more.add(found.id)


def _tells(kills: Sequence[Kill], a: str, b: str) -> bool:
    """Whether the outputs of two mutants differ."""
    prints = {kill.mutant: kill.fingerprint for kill in kills}
    return prints.get(a) != prints.get(b)
