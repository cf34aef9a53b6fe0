"""Reduces a pool of cases to few that cover the same, also by crossover.

A pool that was drawn at random covers pairs of edges thinly: many a chosen case is there for one
or two of them. Taking the data of one case with the geometry of another, axis by axis, gives cases
that show what both alone show, and a cover of the larger pool takes fewer.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from conformance.audit.set_cover import greedy_cover_rows
from conformance.generate.chance import Chance
from conformance.generate.crossing import crossed
from conformance.generate.pairs import Pool
from conformance.spec.batch_values import Bools, code
from conformance.spec.case_table import Table

SLACK = 2
"""How many targets more than the simplest case a case may cover and still isolate a target."""

MOST_BRED = 400
"""How many children of a round are looked at closely, at most."""

Rows = NDArray[np.int64]


def choose(
    pool: Pool,
    tries: int = 0,
    isolated: Collection[str] = (),
    start: Collection[int] = (),
    beside: Collection[int] = (),
) -> list[int]:
    """Few, cheap cases that show all that the pool shows, by row; fewer with more ``tries``.

    Those in ``start`` are taken before any other. Those ``beside`` are there anyway, so none is
    taken for what they show. For ``isolated`` see :func:`asked`.
    """
    order = np.argsort(pool.seen.cost, kind="stable")
    place = {int(row): number for number, row in enumerate(order)}
    begun = [place[row] for row in start]
    flags = asked(pool, isolated, order)
    flags &= ~flags[[place[row] for row in beside]].any(axis=0)
    return [
        int(order[n])
        for n in greedy_cover_rows(flags, pool.seen.cost[order], tries=tries, start=begun)
    ]


def asked(pool: Pool, isolated: Collection[str] = (), order: Rows | None = None) -> Bools:
    """What each case shows of all that is asked of a cover, (cases, items); the cases in ``order``.

    Each pair of edges in the base type, each edge in each type; or each edge alone. Each edge in
    ``isolated`` is to be shown by a case that shows hardly more than it must.
    """
    shows = pool.shows
    counts = shows.sum(axis=1)
    simple = np.zeros_like(shows)
    for edge, name in enumerate(pool.edges):
        if name in isolated and shows[:, edge].any():
            simple[:, edge] = shows[:, edge] & (counts <= counts[shows[:, edge]].min() + SLACK)
    rows = np.arange(len(pool)) if order is None else order
    if not pool.effort.pairs:
        return np.concatenate([shows, simple], axis=1)[rows]
    first, second = np.triu_indices(shows.shape[1], 1)
    needed = (pool.pairs & pool.asked_pairs)[first, second]
    first, second = first[needed], second[needed]
    own = shows & of_base(pool, pool.seen.table)[:, None]
    single = shows & np.diagonal(pool.asked_pairs)
    rest = np.concatenate([single[:, len(pool.spec.edges) :], typed(pool), simple], axis=1)
    found = np.empty((len(pool), len(first) + rest.shape[1]), np.bool_)
    found[:, len(first) :] = rest[rows]
    # The largest table that there is: one case at a time needs no second one.
    for row, flags in zip(found, own[rows], strict=True):
        np.logical_and(flags[first], flags[second], out=row[: len(first)])
    return found


def typed(pool: Pool) -> Bools:
    """Which target each case covers in which element type, (cases, types times edges)."""
    found = _in_types(pool, pool.shows, pool.seen.table) & pool.asked_types
    return found.reshape(len(pool), -1)


def of_base(pool: Pool, table: Table) -> Bools:
    """Which cases are of the type in which pairs count."""
    return np.asarray(table.columns[pool.spec.data.type] == code(pool.base))


def _in_types(pool: Pool, shows: Bools, table: Table) -> Bools:
    own = table.columns[pool.spec.data.type]
    codes = np.array([code(dtype) for dtype in pool.dtypes])
    return shows[:, None, :] & (own[:, None] == codes)[:, :, None]


def breed(pool: Pool, rounds: int, children: int) -> None:
    """Add children of the cases that a cover chooses, in some rounds of so many.

    A child is kept if it shows all that one of its parents alone shows, and something that another
    case alone does. Deterministic: the same pool gives the same children.
    """
    for _ in range(rounds):
        chosen = np.array(choose(pool))
        if len(chosen) < 2:
            return
        chance = Chance(f"{pool.root}/{pool.spec.op}/{pool.rank}/{len(pool)}/breed")
        a = chance.below(len(chosen), children)
        b = (a + 1 + chance.below(len(chosen) - 1, children)) % len(chosen)
        seen = pool.sight.look(crossed(pool.seen.table, chosen[a], chosen[b], chance))
        parents = np.stack([a, b])[:, seen.origin]
        own = _Own(pool, chosen)
        merit = own.merit(seen.table, seen.may[:, : len(pool.edges)], parents)
        best = np.argsort(-merit, kind="stable")[:MOST_BRED]
        best = best[merit[best] > 0]
        found = pool.sight.settle(seen, best)
        parents = np.stack([a, b])[:, found.origin]
        merit = own.merit(found.table, found.shows[:, : len(pool.edges)], parents)
        pool.keep(found.take(merit > 0))


class _Own:
    """What only each of the chosen cases covers: pairs, and targets in its type.

    ``paired`` are the targets of its pairs, (chosen, edges); ``whole`` counts what it alone covers.
    """

    def __init__(self, pool: Pool, chosen: Rows) -> None:
        self.pool = pool
        shows = pool.shows[chosen]
        paired = shows & of_base(pool, pool.seen.table.take(chosen))[:, None]
        numbers = paired.astype(np.float32)
        self.single = np.triu(numbers.T @ numbers == 1, 1) & pool.asked_pairs
        alone = [np.logical_and.outer(row, row) & self.single for row in paired]
        self.paired = np.array([pairs.any(axis=0) | pairs.any(axis=1) for pairs in alone])
        own = _in_types(pool, shows, pool.seen.table.take(chosen))
        self.once = (own.sum(axis=0) == 1) & pool.asked_types
        self.typed = own & self.once
        self.whole = [
            int(pairs.sum() + typed.sum()) for pairs, typed in zip(alone, self.typed, strict=True)
        ]

    def merit(self, table: Table, shows: Bools, parents: Rows) -> Rows:
        """How much that one of the chosen alone shows each case does; 0 if it does not take the
        place of either parent, or of nothing else."""
        paired = shows & of_base(self.pool, table)[:, None]
        inside = _in_types(self.pool, shows, table)
        worth = _pairs_among(paired, self.single) + (inside & self.once).sum(axis=(1, 2))
        found = np.zeros(len(shows))
        for parent, whole in enumerate(self.whole):
            rows = np.flatnonzero((parents == parent).any(axis=0))
            takes = (paired[rows] | ~self.paired[parent]).all(axis=1)
            takes &= (inside[rows] | ~self.typed[parent]).all(axis=(1, 2))
            takes &= worth[rows] > whole
            found[rows[takes]] = worth[rows[takes]]
        return found.astype(np.int64)


def _pairs_among(shows: Bools, pairs: Bools) -> NDArray[np.float32]:
    """How many of some pairs each case covers."""
    numbers = shows.astype(np.float32)
    return np.asarray(((numbers @ pairs.astype(np.float32)) * numbers).sum(axis=1))
