"""Selects the cases of one operator and rank: draw, settle, condense, drop vacuous ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from conformance import parallel
from conformance.audit.kills import Kill
from conformance.audit.trivial_implementations import trivially_passed
from conformance.generate.candidates import Candidates
from conformance.generate.condense import asked, breed, choose
from conformance.generate.killers import Killers, selecting
from conformance.generate.pairs import Effort, Pair, Pool
from conformance.generate.settle import settle
from conformance.generate.suites import with_twins
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec.batch_values import Bools
from conformance.spec.model import OpSpec
from conformance.suite.lint import inputs_digest
from conformance.suite.manifest import UndecidedTarget
from conformance.suite.survivors import Partition

SAMPLE = Effort(base=100, aimed=2)
"""How many cases of a lower rank are drawn to see which targets it covers."""

TRIES = 100
"""How often a part of a cover is made anew to find a smaller one."""

MOST_LOOKED_AT = 128
"""How many cases are looked at, at most, that could take the place of a vacuous one."""


@dataclass(frozen=True)
class Ranked:
    """What was chosen for one rank, and what is known of the pairs that no case shows.

    ``vectors`` show every edge in every element type and every pair that can be shown in the base
    type, their twins among them, isolate the edges that no lower rank shows, and kill every mutant
    that can be in each part of the rank; ``kills`` gives by id the mutants that each kills,
    ``inert`` by part those that are proven to change nothing there.
    ``spare`` are the other cases that were looked at.
    """

    rank: int
    vectors: tuple[Vector, ...]
    kills: Mapping[str, tuple[Kill, ...]]
    inert: Mapping[Partition, frozenset[str]]
    infeasible: Mapping[Pair, tuple[str, ...]]
    uncovered: tuple[UndecidedTarget, ...]
    spare: tuple[Case, ...] = ()


@dataclass(frozen=True)
class RankTask:
    """The work on one rank; its result depends on nothing else."""

    spec: OpSpec
    rank: int
    root: int
    effort: Effort

    @property
    def label(self) -> str:
        return f"{self.spec.op} rank {self.rank}"

    def run(self) -> Ranked:
        spec = self.spec
        pool = Pool(spec, self.rank, self.root, self.effort)
        share = selecting(spec, self.rank) if self.effort.pairs else 1
        parallel.step("drawing cases", 0)
        pool.fill()
        what = "covering pairs of targets" if self.effort.pairs else "covering targets"
        parallel.step(what, share / 3)
        settle(pool)
        if not len(pool):
            return Ranked(self.rank, (), {}, {}, pool.proven, tuple(pool.uncovered))
        parallel.step("selecting cases", 2 * share / 3)
        breed(pool, self.effort.condensing, self.effort.children // 2)
        shown = {edge.name for n, edge in enumerate(spec.edges) if pool.pairs[n, n]}
        below = _shown_below(spec, self.rank, self.root) if self.effort.pairs else shown
        vectors = with_twins(spec, meaningful(pool, shown - below))
        killers = Killers(spec, self.rank, vectors)
        if self.effort.pairs:
            killers.complete(
                Candidates.spelled(pool.seen.table), root=self.root, effort=self.effort
            )
        return Ranked(
            rank=self.rank,
            vectors=tuple(killers.vectors.values()),
            kills=killers.kills,
            inert=killers.inert,
            infeasible=pool.proven,
            uncovered=tuple(pool.uncovered),
            spare=tuple(pool.cases()),
        )


def meaningful(
    pool: Pool, isolated: Collection[str] = (), known: Mapping[str, Vector] = MappingProxyType({})
) -> list[Vector]:
    """Vectors of a cover, none of them vacuous and no two alike: what is gives way to another, as
    long as one shows the same; then more are sought. What vectors that are ``known``, by id, show
    is not asked of others."""
    built, sound = dict(known), set[str]()
    while True:
        # Before it is known what vacuous cases alone show, a smaller cover is not worth its time.
        last = pool.strict
        chosen = choose(pool, TRIES if last else 0, isolated, beside=_rows(pool, known))
        looked_at = 1
        while bad := _useless(pool, chosen, built, known, sound):
            # Where most cases are vacuous, one at a time would take for ever.
            looked_at = min(2 * looked_at, MOST_LOOKED_AT)
            bad |= _also_vacuous(pool, asked(pool, isolated), chosen, bad, looked_at)
            left = np.delete(np.arange(len(pool)), sorted(bad))
            kept = set(chosen) - bad
            pool.ban(bad)
            start = [n for n, row in enumerate(left) if row in kept]
            chosen = choose(pool, 0, isolated, start, _rows(pool, known))
        if pool.reopen():
            settle(pool)
        elif last:
            return [built[pool.case(row).id] for row in chosen]


def _rows(pool: Pool, known: Mapping[str, Vector]) -> list[int]:
    return [row for row, case in enumerate(pool.cases()) if case.id in known] if known else []


def _useless(
    pool: Pool,
    chosen: Sequence[int],
    built: dict[str, Vector],
    known: Mapping[str, Vector],
    sound: set[str],
) -> set[int]:
    """The rows of those that are vacuous, or test the same as another. The ids of those that are
    not vacuous are added to ``sound``, and they are not looked at again."""
    found, asked = set(), {inputs_digest(vector) for vector in known.values()}
    for row in chosen:
        case = pool.case(row)
        if case.id not in built:
            built[case.id] = build(pool.spec, case)
        same = inputs_digest(built[case.id])
        if case.id not in sound and not trivially_passed(pool.spec, built[case.id]):
            sound.add(case.id)
        if same in asked or case.id not in sound:
            found.add(row)
        asked.add(same)
    return found


def _also_vacuous(
    pool: Pool, items: Bools, chosen: Sequence[int], bad: Collection[int], count: int
) -> set[int]:
    """More that are vacuous, of so many that would take the place of each of ``bad``: those that
    show most of what it alone shows, for their cost."""
    looked_at = set(chosen)
    found = set()
    alone = items[list(chosen)].sum(axis=0) == 1
    for row in sorted(bad):
        worth = (items & (items[row] & alone)).sum(axis=1) / pool.seen.cost
        for other in map(int, np.argsort(-worth, kind="stable")[:count]):
            if worth[other] and other not in looked_at:
                looked_at.add(other)
                if trivially_passed(pool.spec, build(pool.spec, pool.case(other))):
                    found.add(other)
    return found


def _shown_below(spec: OpSpec, rank: int, root: int) -> set[str]:
    """Targets that cases of lower ranks cover. These are simpler, so targets are isolated there."""
    shown: set[str] = set()
    for lower in spec.ranks:
        if lower < rank:
            pool = Pool(spec, lower, root, SAMPLE)
            pool.fill()
            shown.update(name for n, name in enumerate(pool.edges) if pool.pairs[n, n])
    return shown
