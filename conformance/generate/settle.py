"""Finds a case or a proof for each pair of edges that drawn cases do not cover."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from conformance.feasible import Feasible, Infeasible
from conformance.generate.chance import Chance
from conformance.generate.crossing import crossed
from conformance.generate.looking import Seen
from conformance.generate.pairs import Pair, Pool, retyped
from conformance.model import Case
from conformance.spec.batch_values import Bools, code
from conformance.spec.model import DrawBounds, OpSpec
from conformance.suite.manifest import UndecidedTarget
from conformance.suite.proofs import load_proofs, proven_infeasible
from conformance.suite.recorded_cases import current_value_cases

Rows = NDArray[np.int64]

SEEDS = (4, 28)
"""How often the prover's geometry is filled anew: at first, and where those data cover nothing."""

REFILLS = 8
"""How often a recorded case's geometry is filled anew, until its data show what is wanted."""

REFILLED = 4
"""Of how many recorded cases the geometry is filled anew, the smallest ones."""

PARENTS = 120
"""Among how many of the cheapest cases of a target parents are chosen."""

KEPT = 3
"""How many cases that newly cover a pair are kept, the cheapest ones."""

LOOKED_AT = 2
"""In how many cases of a round that may cover a pair the data are evaluated for it."""

MOST_LOOKED_AT = 600
"""In how many cases of a round the data are looked at, at most."""

LEFT_OVER = 12
"""How many pairs may be left over for cases to be drawn at each of them."""

DRAWN = 48
"""How many cases are drawn for each way to aim at such a pair."""

BARREN = 2
"""After how many rounds that found nothing new no more is expected of crossing."""

WITNESSES = 8
"""After how many pairs of a target in a row, all of whose cases were vacuous, no more is expected
of its other pairs."""


def settle(pool: Pool) -> None:
    """Show every pair of edges that the pool does not show yet, or prove that none can.

    Then show each edge in each element type. What is known of a shipped specification is used:
    proofs, and the geometries of its recorded cases. Beyond that, without the package z3-solver
    nothing is proven, and what no case is found for is undecided.
    """
    pool.uncovered.clear()
    pool.infeasible.update(proven_infeasible(pool.spec).get(pool.rank, {}))
    _cross(pool)
    _refill(pool)
    _rule_out(pool)
    in_vain: Counter[str] = Counter()
    for anew in (False, True) if pool.prover is not None else ():
        for pair in pool.missing():
            if pool.lacks(pair) and max(in_vain[edge] for edge in pair) < WITNESSES:
                _prove(pool, pair, in_vain, anew=anew)
        if pool.missing():
            _cross(pool)
        for pair in pool.missing() if len(pool.missing()) <= LEFT_OVER else ():
            _draw_both(pool, pair)
    pool.uncovered += [
        UndecidedTarget(pool.spec.op, pool.rank, "", pair) for pair in pool.missing()
    ]
    _settle_types(pool)


def _rule_out(pool: Pool) -> None:
    """Prove targets that nothing in the base type covers infeasible, before any pair."""
    for dtype, edge in pool.untyped() if pool.prover is not None else ():
        if pool.dtypes[dtype] == pool.base:
            _exclude(pool, pool.base, pool.edges[edge])


def _exclude(pool: Pool, dtype: str, edge: str) -> bool:
    """Whether it is proven that no case of an element type covers a target."""
    against = None if pool.prover is None else pool.prover.excludes(edge, dtype)
    if against is not None:
        pool.infeasible[dtype, edge] = against
    return against is not None


def _refill(pool: Pool) -> None:
    """Geometries of known cases that show what crossing did not, filled with other data.

    Where no other data are found that show it, the known case is taken as it is.
    """
    known = witnesses(pool.spec, pool.rank) if pool.missing() else []
    if not known:
        return
    known += retyped(pool.spec, known, pool.base)
    shows = pool.sight.shown(known)
    chance = Chance(f"{pool.root}/{pool.spec.op}/{pool.rank}/refill")
    for pair in pool.missing():
        a, b = (pool.place[edge] for edge in pair)
        showing = [known[row] for row in np.flatnonzero(shows[:, a] & shows[:, b])[:REFILLED]]
        seeds = [int(seed) for seed in chance.below(1 << 31, REFILLS)]
        if showing and pool.lacks(pair):
            pool.add([replace(case, seed=seed) for seed in seeds for case in showing])
        if showing and pool.lacks(pair):
            pool.add(showing)


def witnesses(spec: OpSpec, rank: int) -> list[Case]:
    """The cases that are known of a specification as it is: recorded ones, and those of proofs."""
    kept = load_proofs(spec)
    known = (*current_value_cases(spec), *(kept.witnesses if kept else ()))
    return [case for case in known if spec.rank_of(case) == rank]


def _prove(pool: Pool, pair: Pair, in_vain: Counter[str], *, anew: bool) -> None:
    """Whether the prover proves that no case covers the pair. A case that does joins the pool.

    ``in_vain`` counts for each target how many of its pairs in a row had vacuous cases alone.
    """
    answer = pool.ask(pair, anew=anew)
    if isinstance(answer, Infeasible):
        pool.infeasible[pair] = answer.uses
    if isinstance(answer, Feasible):
        seeds = iter(range(sum(SEEDS)))
        for count in SEEDS:
            if pool.lacks(pair):
                pool.add([replace(answer.case, seed=seed) for seed in islice(seeds, count)])
        for edge in {*pair} if pool.strict else ():
            in_vain[edge] = in_vain[edge] + 1 if pool.lacks(pair) else 0


def _draw_both(pool: Pool, pair: Pair) -> None:
    """Draw with the constraints of both targets; where both narrow the same, with either."""
    aims = {edge.name: edge.aims or ({},) for edge in pool.sight.spec.edges}
    base = {pool.spec.data.type: DrawBounds(values=(pool.base,))} if pair[0] != pair[1] else {}
    for one, other in product(*(aims[name] for name in pair)):
        for aim in ({**one, **other, **base}, {**other, **one, **base}):
            if pool.lacks(pair):
                pool.draw(DRAWN, aim)


def _cross(pool: Pool) -> None:
    """Cross cases that cover one target with cases that cover the other, until none is new."""
    barren = 0
    for number in range(pool.effort.rounds):
        wanted = np.array([(pool.place[a], pool.place[b]) for a, b in pool.missing()])
        if not len(wanted) or barren == BARREN or not len(pool):
            return
        chance = Chance(f"{pool.root}/{pool.spec.op}/{pool.rank}/{len(pool)}/{number}")
        each = int(np.clip(pool.effort.children // len(wanted), 16, 1500))
        a, b = (_showing(pool, edges, each, chance) for edges in wanted.T)
        table = crossed(pool.seen.table, a, b, chance, freely=number % 3 > 0)
        # Two edges are to meet in the base type, an edge alone in any.
        pairs = np.repeat(wanted[:, 0] != wanted[:, 1], each)
        table.columns[pool.spec.data.type][pairs] = code(pool.base)
        children = pool.sight.look(table)
        before = pool.pairs.sum()
        pool.keep(_news(pool, children, wanted))
        barren = 0 if pool.pairs.sum() > before else barren + 1


def _showing(pool: Pool, edges: Rows, each: int, chance: Chance) -> Rows:
    """So many small cases for each target that cover it, or any where none does."""
    order = np.argsort(pool.seen.cost, kind="stable")
    shows = pool.shows[order]
    parents = [order[np.flatnonzero(column)[:PARENTS]] for column in shows.T]
    among = [parents[edge] if len(parents[edge]) else order for edge in edges]
    return np.concatenate([rows[chance.below(len(rows), each)] for rows in among])


def _news(pool: Pool, children: Seen, wanted: Rows) -> Seen:
    """The cheapest children that cover what is wanted, their data evaluated where that matters."""
    order = np.argsort(children.cost, kind="stable")
    children = children.take(order)
    certain, maybe = [], []
    for a, b in wanted:
        rows = np.flatnonzero(_joins(pool, children, children.shows, a, b))
        certain.append(rows[:KEPT])
        if len(rows) < KEPT:
            may = np.flatnonzero(_joins(pool, children, children.may, a, b))
            maybe.append(np.setdiff1d(may[: LOOKED_AT + len(rows)], rows)[:LOOKED_AT])
    unsure = np.unique(np.concatenate(maybe))[:MOST_LOOKED_AT] if maybe else np.arange(0)
    rows = np.unique(np.concatenate([*certain, unsure])).astype(np.int64)
    found = pool.sight.settle(children, rows)
    showing = np.zeros(len(found), np.bool_)
    for a, b in wanted:
        showing[np.flatnonzero(_joins(pool, found, found.shows, a, b))[:KEPT]] = True
    return found.take(showing)


def _joins(pool: Pool, seen: Seen, shows: Bools, a: int, b: int) -> Bools:
    """Which cases cover two targets in the base type, or one target, given twice, in any."""
    both = shows[:, a] & shows[:, b]
    own = seen.table.columns[pool.spec.data.type]
    return both if a == b else both & (own == code(pool.base))


def _settle_types(pool: Pool) -> None:
    """Cover each target in each type: by a case that covers it in another, or by drawing."""
    if not pool.effort.pairs:
        return
    hopeless = {(dtype, edge) for dtype, edge in pool.untyped() if not _retype(pool, dtype, edge)}
    for dtype, edge in pool.untyped():
        name, own = pool.edges[edge], pool.dtypes[dtype]
        if _exclude(pool, own, name):
            continue
        for aim in pool.sight.spec.edges[edge].aims or ({},):
            if not pool.typed[dtype, edge] and (dtype, edge) not in hopeless:
                pool.draw(64, {**aim, pool.spec.data.type: DrawBounds(values=(own,))})
        if not pool.typed[dtype, edge]:
            pool.uncovered.append(UndecidedTarget(pool.spec.op, pool.rank, own, (name,)))


def _retype(pool: Pool, dtype: int, edge: int) -> bool:
    """The geometry of small cases that show an edge with the data of others, in another type.

    Whether any of them might show it, as far as their geometry tells.
    """
    if pool.typed[dtype, edge]:
        return True
    showing = np.flatnonzero(pool.shows[:, edge])
    showing = showing[np.argsort(pool.seen.cost[showing], kind="stable")][:24]
    table = pool.seen.table
    of_type = np.flatnonzero(table.columns[pool.spec.data.type] == code(pool.dtypes[dtype]))[:48]
    hopeful = False
    # With their own data first, which are fewer.
    for data in (showing[:, None], np.tile(of_type, (len(showing), 1))):
        children = _in_type(pool, showing, data, dtype)
        children = children.take(children.may[:, edge])
        order = np.argsort(children.cost + 1 * ~children.shows[:, edge], kind="stable")[:12]
        found = pool.sight.settle(children, order)
        pool.keep(found.take(np.flatnonzero(found.shows[:, edge])[:KEPT]))
        hopeful |= len(children) > 0
        if pool.typed[dtype, edge]:
            return True
    return hopeful


def _in_type(pool: Pool, geometry: Rows, data: Rows, dtype: int) -> Seen:
    """The geometry of cases, by row, each with the data of others, (cases, others), in a type."""
    table = pool.seen.table
    own = table.take(np.repeat(geometry, data.shape[1]))
    columns = dict(own.columns)
    for key in ("pattern", *pool.spec.types):
        columns[key] = table.columns[key][data.ravel()].copy()
    columns[pool.spec.data.type][:] = code(pool.dtypes[dtype])
    return pool.sight.look(replace(own, columns=columns, seeds=table.seeds[data.ravel()]))
