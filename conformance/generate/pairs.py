"""A pool of cases of one rank that shows every edge, and every pair of edges, that can be shown."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from conformance.audit.vacuity import vacuous
from conformance.generate.build import build
from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.feasible import Feasible, Infeasible, Limits, Prover, Unknown
from conformance.generate.looking import MAX_ELEMENTS, Seen, Sight, together
from conformance.generate.pool import draw, draw_at_edges
from conformance.generate.strategies import Aim
from conformance.model import Case
from conformance.spec.entries import Bools, code
from conformance.spec.model import Draw, OpSpec
from conformance.spec.table import table_of
from conformance.suite import cases as recorded
from conformance.suite import proofs
from conformance.suite.manifest import Uncovered

LIMITS = Limits(MAX_ELEMENTS)

PATIENT_MS = 30_000
"""How long a check of the solver may take where nothing else has settled a pair."""

Pair = tuple[str, str]
Rows = NDArray[np.int64]

SEEDS = 32
"""How often the prover's geometry is filled anew, until its data show what is wanted."""

REFILLS = 8
"""How often the geometry of a recorded case is filled anew, until its data show what is wanted."""

PARENTS = 120
"""Among how many of the cheapest cases of an edge parents are chosen."""

KEPT = 3
"""How many cases that newly show a pair are kept, the cheapest ones."""

LOOKED_AT = 2
"""In how many cases of a round that may show a pair the data are looked at for it."""

MOST_LOOKED_AT = 600
"""In how many cases of a round the data are looked at, at most."""

LEFT_OVER = 12
"""How many pairs may be left over for cases to be drawn at each of them."""

DRAWN = 48
"""How many cases are drawn for each way to aim at such a pair."""

BARREN = 2
"""After how many rounds that found nothing new no more is expected of crossing."""


@dataclass(frozen=True)
class Effort:
    """How many cases are drawn, at large and at each aim of an edge; how many children are crossed
    at most in a round, and in how many rounds; in how many more a smaller cover is sought. Without
    ``pairs`` each edge is to be shown alone."""

    base: int = 400
    aimed: int = 6
    children: int = 30_000
    rounds: int = 8
    condensing: int = 3
    pairs: bool = True


SMOKE = Effort(base=120, aimed=3, children=8_000, rounds=4, condensing=0, pairs=False)


@dataclass
class Pool:
    """The cases of one rank, what they show, and what is known of pairs that none shows.

    ``infeasible`` gives for each pair that cannot be (an edge with itself: the edge alone; an
    element type with an edge: the edge in that type) what contradicts it; ``uncovered`` is neither
    shown nor proven.
    """

    spec: OpSpec
    rank: int
    root: int
    effort: Effort
    infeasible: dict[Pair, tuple[str, ...]] = field(default_factory=dict)
    uncovered: list[Uncovered] = field(default_factory=list)
    strict: bool = False
    answers: dict[Pair, Feasible | Infeasible | Unknown] = field(default_factory=dict)
    _known: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.sight = Sight(self.spec, self.rank - 2)
        self.edges = self.sight.edges
        self.place = {name: number for number, name in enumerate(self.edges)}
        self.dtypes = self.spec.types[self.spec.data.type]
        self.seen = self.sight.look(table_of(self.spec, [], self.rank - 2))
        self._count()

    def __len__(self) -> int:
        return len(self.seen)

    def _count(self) -> None:
        """Note anew what is shown: ``pairs`` (edges, edges) and ``typed`` (types, edges)."""
        shows = self.shows
        numbers = shows.astype(np.float32)
        self.pairs = numbers.T @ numbers > 0
        own = self.seen.table.columns[self.spec.data.type]
        self.typed = np.stack([shows[own == code(one)].any(axis=0) for one in self.dtypes])

    @property
    def shows(self) -> Bools:
        """Which edges each case shows, (cases, edges)."""
        return self.seen.shows[:, : len(self.edges)]

    def cases(self) -> Iterator[Case]:
        """All cases."""
        return (case_of(self.seen.table, row) for row in range(len(self)))

    def case(self, row: int) -> Case:
        return case_of(self.seen.table, row)

    @cached_property
    def prover(self) -> Prover | None:
        """None without the package z3-solver."""
        if importlib.util.find_spec("z3") is None:
            return None
        return Prover(self.spec, self.rank, LIMITS)

    def ask(self, pair: Pair, *, anew: bool = False) -> Feasible | Infeasible | Unknown | None:
        """Whether a case can show two edges, or one, given twice. None without z3.

        A pair is asked about once, unless ``anew`` is true: then by a prover that has not heard
        other questions, which may find another case, or a proof; and if it does not, by a patient
        one.
        """
        if anew:
            vars(self).pop("prover", None)
            self.answers.pop(pair, None)
        if pair not in self.answers and self.prover is not None:
            edges = tuple(dict.fromkeys(pair))
            answer = self.prover.ask(edges)
            if anew and isinstance(answer, Unknown):
                answer = Prover(self.spec, self.rank, LIMITS, timeout_ms=PATIENT_MS).ask(edges)
            self.answers[pair] = answer
        return self.answers.get(pair)

    @property
    def proven(self) -> dict[Pair, tuple[str, ...]]:
        """What contradicts each infeasible pair besides its own edges."""
        return {
            pair: tuple(use for use in uses if use not in {f"edge {edge}" for edge in pair})
            for pair, uses in self.infeasible.items()
        }

    def fill(self) -> None:
        """Draw at large, and at each edge."""
        effort = self.effort
        self.add(draw_at_edges(self.spec, self.rank, effort.base, effort.aimed, root=self.root))

    def draw(self, count: int, aim: Aim | None = None) -> None:
        """Draw cases and keep those that are valid and small enough."""
        self.add(draw(self.spec, self.rank, count, root=self.root, aim=aim))

    def add(self, cases: list[Case]) -> None:
        """Keep those of some cases that are valid and small enough."""
        seen = self.sight.look(table_of(self.spec, cases, self.rank - 2), patiently=True)
        self.keep(self.sight.settle(seen, np.arange(len(seen))))

    def keep(self, found: Seen) -> None:
        """Keep cases of which it is settled what they show, if they are new and not banned."""
        if self.strict:
            found = found.take(self._not_vacuous(found))
        table = found.table
        columns = [np.atleast_2d(column) for column in table.columns.values()]
        keys = np.concatenate([*columns, table.seeds[None]]).astype(np.int64).T.copy()
        fresh = np.zeros(len(found), np.bool_)
        for row, key in enumerate(keys):
            if key.tobytes() not in self._known:
                self._known.add(key.tobytes())
                fresh[row] = True
        self.seen = together([self.seen, found.take(fresh)])
        self._count()

    def _not_vacuous(self, found: Seen) -> Bools:
        good = np.ones(len(found), np.bool_)
        for row in range(len(found)):
            good[row] = not vacuous(self.spec, build(self.spec, case_of(found.table, row)))
        return good

    def ban(self, rows: Iterable[int]) -> None:
        """Never use some cases again; what they show is to be shown by others."""
        left = np.ones(len(self), np.bool_)
        left[list(rows)] = False
        self.seen = self.seen.take(left)

    def reopen(self) -> bool:
        """Count anew what is shown; whether that is less than before, so that more is sought.

        From then on a case is only kept if it is not vacuous.
        """
        before = self.pairs.sum() + self.typed.sum()
        self.strict = True
        self._count()
        return bool(self.pairs.sum() + self.typed.sum() < before)

    def missing(self) -> list[Pair]:
        """What is asked for, not shown and not known to be infeasible: edges alone, then pairs."""
        names = sorted(self.edges)
        asked = [(name, name) for name in names]
        asked += combinations(names, 2) if self.effort.pairs else ()
        return [pair for pair in asked if self.lacks(pair)]

    def untyped(self) -> list[tuple[int, int]]:
        """Places of an element type, and of an edge that is shown, but neither shown in that type
        nor known to be infeasible in it."""
        return [
            (int(dtype), int(edge))
            for dtype, edge in np.argwhere(~self.typed)
            if self.pairs[edge, edge]
            and (self.dtypes[dtype], self.edges[edge]) not in self.infeasible
        ]

    def lacks(self, pair: Pair) -> bool:
        """Whether a pair is neither shown nor known to be infeasible."""
        a, b = pair
        if self.pairs[self.place[a], self.place[b]]:
            return False
        if pair not in self.infeasible:
            alone = self.infeasible.get((a, a)) or self.infeasible.get((b, b))
            if alone:
                self.infeasible[pair] = alone
        return pair not in self.infeasible


def settle(pool: Pool) -> None:
    """Show every pair of edges that the pool does not show yet, or prove that none can.

    Then show each edge in each element type. What is known of a shipped specification is used:
    proofs, and the geometries of its recorded cases. Beyond that, without the package z3-solver
    nothing is proven, and what no case is found for is uncovered.
    """
    pool.uncovered.clear()
    pool.infeasible.update(proofs.of(pool.spec).get(pool.rank, {}))
    _cross(pool)
    _refill(pool)
    for anew in (False, True) if pool.prover is not None else ():
        for pair in pool.missing():
            if pool.lacks(pair):
                _prove(pool, pair, anew=anew)
        if pool.missing():
            _cross(pool)
        for pair in pool.missing() if len(pool.missing()) <= LEFT_OVER else ():
            _draw_both(pool, pair)
    pool.uncovered += [Uncovered(pool.spec.op, pool.rank, "", pair) for pair in pool.missing()]
    _settle_types(pool)


def _refill(pool: Pool) -> None:
    """Geometries of known cases that show what crossing did not, filled with other data.

    Where no other data are found that show it, the known case is taken as it is.
    """
    known = witnesses(pool.spec, pool.rank) if pool.missing() else []
    if not known:
        return
    shows = pool.sight.shown(known)
    chance = Chance(f"{pool.root}/{pool.spec.op}/{pool.rank}/refill")
    for pair in pool.missing():
        a, b = (pool.place[edge] for edge in pair)
        showing = [known[row] for row in np.flatnonzero(shows[:, a] & shows[:, b])]
        for seed in chance.below(1 << 31, REFILLS):
            if pool.lacks(pair):
                pool.add([replace(case, seed=int(seed)) for case in showing])
        if pool.lacks(pair):
            pool.add(showing)


def witnesses(spec: OpSpec, rank: int) -> list[Case]:
    """The cases that are known of a specification as it is: recorded ones, and those of proofs."""
    kept = proofs.known(spec)
    known = (*recorded.of(spec), *(kept.witnesses if kept else ()))
    return [case for case in known if len(case.shapes[spec.data.name]) == rank]


def _prove(pool: Pool, pair: Pair, *, anew: bool) -> None:
    """Ask the prover: whether no case shows the pair. A case that does goes into the pool."""
    answer = pool.ask(pair, anew=anew)
    if isinstance(answer, Infeasible):
        pool.infeasible[pair] = answer.uses
    if isinstance(answer, Feasible):
        pool.add([replace(answer.case, seed=seed) for seed in range(SEEDS)])


def _draw_both(pool: Pool, pair: Pair) -> None:
    """Draw what both edges aim at; where they narrow the same, the one or the other."""
    aims = {edge.name: edge.aims or ({},) for edge in pool.spec.edges}
    for one, other in product(*(aims[name] for name in pair)):
        for aim in ({**one, **other}, {**other, **one}):
            if pool.lacks(pair):
                pool.draw(DRAWN, aim)


def _cross(pool: Pool) -> None:
    """Children of cases that show the one edge with such as show the other, until none is new."""
    barren = 0
    for number in range(pool.effort.rounds):
        wanted = np.array([(pool.place[a], pool.place[b]) for a, b in pool.missing()])
        if not len(wanted) or barren == BARREN or not len(pool):
            return
        chance = Chance(f"{pool.root}/{pool.spec.op}/{pool.rank}/{len(pool)}/{number}")
        each = int(np.clip(pool.effort.children // len(wanted), 16, 1500))
        a, b = (_showing(pool, edges, each, chance) for edges in wanted.T)
        children = pool.sight.look(crossed(pool.seen.table, a, b, chance, freely=number % 3 > 0))
        before = pool.pairs.sum()
        pool.keep(_news(pool, children, wanted))
        barren = 0 if pool.pairs.sum() > before else barren + 1


def _showing(pool: Pool, edges: Rows, each: int, chance: Chance) -> Rows:
    """So many small cases for each edge that show it, or any where none does."""
    order = np.argsort(pool.seen.cost, kind="stable")
    shows = pool.shows[order]
    parents = [order[np.flatnonzero(column)[:PARENTS]] for column in shows.T]
    among = [parents[edge] if len(parents[edge]) else order for edge in edges]
    return np.concatenate([rows[chance.below(len(rows), each)] for rows in among])


def _news(pool: Pool, children: Seen, wanted: Rows) -> Seen:
    """The cheapest children that show what is wanted, their data looked at where that matters."""
    order = np.argsort(children.cost, kind="stable")
    children = children.take(order)
    certain, maybe = [], []
    for a, b in wanted:
        rows = np.flatnonzero(children.shows[:, a] & children.shows[:, b])
        certain.append(rows[:KEPT])
        if len(rows) < KEPT:
            may = np.flatnonzero(children.may[:, a] & children.may[:, b])
            maybe.append(np.setdiff1d(may[: LOOKED_AT + len(rows)], rows)[:LOOKED_AT])
    unsure = np.unique(np.concatenate(maybe))[:MOST_LOOKED_AT] if maybe else np.arange(0)
    rows = np.unique(np.concatenate([*certain, unsure])).astype(np.int64)
    found = pool.sight.settle(children, rows)
    showing = np.zeros(len(found), np.bool_)
    for a, b in wanted:
        showing[np.flatnonzero(found.shows[:, a] & found.shows[:, b])[:KEPT]] = True
    return found.take(showing)


def _settle_types(pool: Pool) -> None:
    """Show each edge in each element type: by a case that shows it in another, or by drawing."""
    if not pool.effort.pairs:
        return
    hopeless = {(dtype, edge) for dtype, edge in pool.untyped() if not _retype(pool, dtype, edge)}
    for dtype, edge in pool.untyped():
        name, own = pool.edges[edge], pool.dtypes[dtype]
        against = None if pool.prover is None else pool.prover.excludes(name, own)
        if against is not None:
            pool.infeasible[own, name] = against
            continue
        for aim in pool.spec.edges[edge].aims or ({},):
            if not pool.typed[dtype, edge] and (dtype, edge) not in hopeless:
                pool.draw(64, {**aim, pool.spec.data.type: Draw(values=(own,))})
        if not pool.typed[dtype, edge]:
            pool.uncovered.append(Uncovered(pool.spec.op, pool.rank, own, (name,)))


def _retype(pool: Pool, dtype: int, edge: int) -> bool:
    """The geometry of small cases that show an edge with the data of others, in another type.

    Whether any of them might show it, as far as their geometry tells.
    """
    if pool.typed[dtype, edge]:
        return True
    showing = np.flatnonzero(pool.shows[:, edge])
    showing = showing[np.argsort(pool.seen.cost[showing], kind="stable")][:24]
    data = pool.spec.data.type
    of_type = np.flatnonzero(pool.seen.table.columns[data] == code(pool.dtypes[dtype]))[:48]
    table = pool.seen.table
    own = table.take(np.concatenate([showing, np.repeat(showing, len(of_type))]))
    other = np.concatenate([showing, np.tile(of_type, len(showing))])
    columns = dict(own.columns)
    for key in ("pattern", *pool.spec.types):
        columns[key] = table.columns[key][other].copy()
    columns[data][: len(showing)] = code(pool.dtypes[dtype])
    children = pool.sight.look(replace(own, columns=columns, seeds=table.seeds[other]))
    children = children.take(children.may[:, edge])
    order = np.argsort(children.cost + 1 * ~children.shows[:, edge], kind="stable")[:12]
    found = pool.sight.settle(children, order)
    pool.keep(found.take(np.flatnonzero(found.shows[:, edge])[:KEPT]))
    return len(children) > 0
