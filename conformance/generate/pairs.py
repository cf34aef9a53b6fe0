"""A pool of cases of one rank that shows every edge, and every pair of edges, that can be shown."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from math import prod

from conformance.audit.vacuity import vacuous
from conformance.errors import EvaluationError
from conformance.generate.build import build
from conformance.generate.coverage import Candidate, candidate, pairs
from conformance.generate.crossing import cross
from conformance.generate.feasible import Feasible, Infeasible, Limits, Prover, Unknown
from conformance.generate.patterns import fills
from conformance.generate.pool import draw, text_of
from conformance.generate.strategies import Aim
from conformance.model import Case
from conformance.reference.windows import WindowEnvironment
from conformance.spec.model import Draw, Edge, OpSpec
from conformance.spec.validity import violations
from conformance.suite.manifest import Uncovered

MAX_ELEMENTS = 1 << 15
"""No vector has more elements, in its data or in an output; proofs hold within this bound."""

LIMITS = Limits(MAX_ELEMENTS)

PATIENT_MS = 30_000
"""How long a check of the solver may take where nothing else has settled a pair."""

MAX_TAPS = 1 << 21
"""No vector has more taps, over all windows and planes; no proof rests on it."""

Pair = tuple[str, str]

SEEDS = 32
"""How often the prover's geometry is filled anew, until its data show what is wanted."""

PARENTS = 60
"""Among how many of the smallest cases of either edge parents are chosen."""


@dataclass(frozen=True)
class Effort:
    """How many cases are drawn: at large, at each edge, and at what is then still missing; how many
    are then crossed for it; how many rounds of how many children are bred before what is missing is
    sought, and after; and how many cases are drawn at what no other way has found."""

    base: int = 1200
    aimed: int = 24
    missing: int = 16
    crossed: int = 1000
    early: int = 1
    late: int = 5
    children: int = 2500
    insistent: int = 256


@dataclass
class Pool:
    """The candidates of one rank, by id, and what is known of pairs that none shows.

    ``infeasible`` gives for each pair that cannot be (an edge with itself: the edge alone; an
    element type with an edge: the edge in that type) what contradicts it; ``uncovered`` is neither
    shown nor proven. ``sought`` are the aims that nothing new comes of any more, each with how many
    cases were drawn.
    """

    spec: OpSpec
    rank: int
    root: int
    effort: Effort
    candidates: dict[str, Candidate] = field(default_factory=dict)
    infeasible: dict[Pair, tuple[str, ...]] = field(default_factory=dict)
    uncovered: list[Uncovered] = field(default_factory=list)
    shown: set[Pair] = field(default_factory=set)
    typed: set[tuple[str, str]] = field(default_factory=set)
    banned: set[str] = field(default_factory=set)
    strict: bool = False
    sought: set[tuple[int, str]] = field(default_factory=set)
    answers: dict[Pair, Feasible | Infeasible | Unknown] = field(default_factory=dict)

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

    def fill(self) -> None:
        """Draw at large, and at each edge."""
        self.draw(self.effort.base)
        for edge in self.spec.edges:
            for aim in edge.aims:
                self.draw(self.effort.aimed, aim)

    def draw(self, count: int, aim: Aim | None = None) -> None:
        """Draw cases and keep those that are valid and small enough."""
        for case in draw(self.spec, self.rank, count, root=self.root, aim=aim):
            self.add(case)

    def add(self, case: Case) -> Candidate | None:
        """Keep a case if it is valid, small enough and not banned."""
        if case.id in self.candidates:
            return self.candidates[case.id]
        if not fills(case.pattern, case.types[self.spec.data.type]):
            return None
        if case.id in self.banned or violations(self.spec, case) or not sized(self.spec, case):
            return None
        try:
            one = candidate(self.spec, case)
        except EvaluationError:  # windows too large to be listed
            return None
        if one is None:
            self.banned.add(case.id)
            return None
        if self.strict and self._news(one) and vacuous(self.spec, build(self.spec, case)):
            self.banned.add(case.id)
            return None
        self.candidates[case.id] = one
        self._show(one)
        return one

    def _news(self, one: Candidate) -> bool:
        return not self.shown.issuperset(pairs(one.edges)) or any(
            (one.dtype, edge) not in self.typed for edge in one.edges
        )

    def _show(self, one: Candidate) -> None:
        self.shown.update(pairs(one.edges), ((edge, edge) for edge in one.edges))
        self.typed.update((one.dtype, edge) for edge in one.edges)

    def ban(self, case_id: str) -> None:
        """Never use a case; what it shows is to be shown by another."""
        del self.candidates[case_id]
        self.banned.add(case_id)

    def reopen(self) -> bool:
        """Count anew what is shown; whether that is less than before, so that more is sought.

        From then on a case is only kept for something new if it is not vacuous.
        """
        before = len(self.shown) + len(self.typed)
        self.strict = True
        self.shown.clear()
        self.typed.clear()
        for one in self.candidates.values():
            self._show(one)
        return len(self.shown) + len(self.typed) < before


def settle(pool: Pool) -> None:
    """Show every pair of edges that the pool does not show yet, or prove that none can.

    Then show each edge in each element type. Without the package z3-solver nothing is proven, and
    what no case is found for is uncovered.
    """
    pool.uncovered.clear()
    _settle_pairs(pool)
    _settle_types(pool)


def _settle_pairs(pool: Pool) -> None:
    edges = {edge.name: edge for edge in pool.spec.edges}
    for a, b in _asked(edges):
        if (a, b) in pool.shown or (a, b) in pool.infeasible:
            continue
        alone = pool.infeasible.get((a, a)) or pool.infeasible.get((b, b))
        if alone:
            pool.infeasible[a, b] = alone
            continue
        if _proven(pool, (a, b)):
            continue
        for look in (_merged, _crossed, _blended, _insisted):
            if (a, b) not in pool.shown:
                look(pool, edges[a], edges[b])
        if (a, b) in pool.shown or _proven(pool, (a, b), anew=True):
            continue
        if (a, b) not in pool.shown:
            pool.uncovered.append(Uncovered(pool.spec.op, pool.rank, "", (a, b)))


def _proven(pool: Pool, pair: Pair, *, anew: bool = False) -> bool:
    """Ask the prover: whether no case shows the pair. A case that does goes into the pool."""
    answer = pool.ask(pair, anew=anew)
    if isinstance(answer, Infeasible):
        pool.infeasible[pair] = answer.uses
        return True
    if isinstance(answer, Feasible):
        _try_model(pool, answer.case, pair)
    return False


def _asked(edges: Iterable[str]) -> Iterator[Pair]:
    """Each edge alone, then each pair."""
    names = sorted(edges)
    yield from ((name, name) for name in names)
    yield from combinations(names, 2)


def _try_model(pool: Pool, case: Case, wanted: Pair) -> None:
    """Cases of the geometry that the prover came upon, until the data show the edges too."""
    for seed in range(SEEDS):
        pool.add(replace(case, seed=seed))
        if wanted in pool.shown:
            return


def _merged(pool: Pool, a: Edge, b: Edge, count: int | None = None) -> None:
    """Draw what both edges aim at; where they narrow the same, the one or the other."""
    for one, other in _ways(a, b):
        _draw_until(pool, (a.name, b.name), {**one, **other}, count)
        if one.keys() & other.keys():
            _draw_until(pool, (a.name, b.name), {**other, **one}, count)


def _insisted(pool: Pool, a: Edge, b: Edge) -> None:
    _merged(pool, a, b, pool.effort.insistent)


def _crossed(pool: Pool, a: Edge, b: Edge) -> None:
    """Children of small cases that show the one edge with small ones that show the other."""
    wanted = a.name, b.name
    chance = random.Random(f"{pool.root}/{pool.spec.op}/{pool.rank}/{wanted}")  # noqa: S311
    smallest_first = sorted(pool.candidates.values(), key=lambda found: (found.cost, found.case.id))
    one, other = (
        [found.case for found in smallest_first if edge in found.edges][:PARENTS] for edge in wanted
    )
    for _ in range(pool.effort.crossed if one and other else 0):
        if wanted in pool.shown:
            return
        pool.add(cross(pool.spec, chance.choice(one), chance.choice(other), chance))


def _blended(pool: Pool, a: Edge, b: Edge) -> None:
    """Draw what both edges aim at, some of it as the one does and some as the other."""
    for one, other in _ways(a, b):
        for name in sorted(one.keys() & other.keys()):
            _draw_until(pool, (a.name, b.name), {**one, **other, name: one[name]})
            _draw_until(pool, (a.name, b.name), {**other, **one, name: other[name]})


def _ways(a: Edge, b: Edge) -> Iterator[tuple[Aim, Aim]]:
    return product(a.aims or ({},), b.aims or ({},))


def _draw_until(pool: Pool, wanted: Pair, aim: Aim, count: int | None = None) -> None:
    count = count or pool.effort.missing
    if wanted in pool.shown or (count, text_of(aim)) in pool.sought:
        return
    pool.sought.add((count, text_of(aim)))  # the same cases would come again
    pool.draw(count, aim)


def _settle_types(pool: Pool) -> None:
    """Show each edge in each element type: by a case that shows it in another, or by drawing."""
    data = pool.spec.data.type
    for edge in pool.spec.edges:
        if (edge.name, edge.name) in pool.infeasible:
            continue
        for dtype in pool.spec.types[data]:
            if (dtype, edge.name) in pool.typed or (dtype, edge.name) in pool.infeasible:
                continue
            showing = [one for one in pool.candidates.values() if edge.name in one.edges]
            for one in sorted(showing, key=lambda one: (one.cost, one.case.id))[:8]:
                pool.add(replace(one.case, types={**one.case.types, data: dtype}))
            if (dtype, edge.name) not in pool.typed and _excluded(pool, dtype, edge):
                continue
            for aim in edge.aims or ({},):
                if (dtype, edge.name) not in pool.typed:
                    pool.draw(4 * pool.effort.missing, {**aim, data: Draw(values=(dtype,))})
            if (dtype, edge.name) not in pool.typed:
                pool.uncovered.append(Uncovered(pool.spec.op, pool.rank, dtype, (edge.name,)))


def _excluded(pool: Pool, dtype: str, edge: Edge) -> bool:
    """Whether no case shows an edge in an element type, by the prover."""
    against = None if pool.prover is None else pool.prover.excludes(edge.name, dtype)
    if against is None:
        return False
    pool.infeasible[dtype, edge.name] = against
    return True


def drawn(
    spec: OpSpec, rank: int, count: int, *, root: int, aim: Aim | None = None
) -> Iterator[Case]:
    """Those of ``count`` drawn cases that are valid and small enough."""
    for case in draw(spec, rank, count, root=root, aim=aim):
        if not violations(spec, case) and sized(spec, case):
            yield case


def sized(spec: OpSpec, case: Case) -> bool:
    """Whether the data and the output are neither empty nor too large, and their windows too."""
    shape = case.shapes[spec.data.name]
    if not prod(shape):
        return False
    env = WindowEnvironment(spec, case)
    out, size = prod(shape[:2]) * prod(env.out), prod(shape)
    if not 0 < out <= MAX_ELEMENTS or size > MAX_ELEMENTS:
        return False
    if out * prod(shape[2:]) <= MAX_TAPS:
        return True
    taps = prod(int(env.along("taps", axis).sum()) for axis in range(env["axes"]))
    return prod(shape[:2]) * taps <= MAX_TAPS
