"""The cases of one operator on one rank: drawn, settled, condensed, and none of them vacuous."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from conformance.audit.kills import Bank, Kill
from conformance.audit.vacuity import vacuous
from conformance.generate.build import build
from conformance.generate.condense import breed, choose, owned
from conformance.generate.coverage import Candidate
from conformance.generate.pairs import Effort, Pair, Pool, settle
from conformance.generate.suites import with_twins
from conformance.model import Vector
from conformance.spec.catalogue import faults
from conformance.spec.loader import find
from conformance.spec.model import OpSpec
from conformance.suite.lint import question
from conformance.suite.manifest import Uncovered

SAMPLE = Effort(base=200, aimed=8)
"""How many cases of a lower rank are drawn to see which edges it shows."""

TRIES = 160
"""How often a part of a cover is made anew to find a smaller one."""


MOST_LOOKED_AT = 128
"""How many cases are looked at, at most, that could take the place of a vacuous one."""


@dataclass(frozen=True)
class Ranked:
    """What was chosen for one rank, and what is known of the pairs that no case shows.

    ``vectors`` show every edge in every element type and every pair that can be shown, their twins
    among them, and isolate the edges that no lower rank shows; ``kills`` gives by id the faults
    that each notices.
    """

    rank: int
    vectors: tuple[Vector, ...]
    kills: Mapping[str, tuple[Kill, ...]]
    infeasible: Mapping[Pair, tuple[str, ...]]
    uncovered: tuple[Uncovered, ...]


@dataclass(frozen=True)
class RankTask:
    """The work on one rank; its result depends on nothing else."""

    op: str
    rank: int
    root: int
    effort: Effort

    @property
    def label(self) -> str:
        return f"{find(self.op).op} rank {self.rank}"

    def run(self) -> Ranked:
        spec = find(self.op)
        pool = Pool(spec, self.rank, self.root, self.effort)
        pool.fill()
        breed(pool, self.effort.early, self.effort.children)
        settle(pool)
        breed(pool, self.effort.late, self.effort.children)
        isolated = {edge for edge, _ in pool.shown} - _shown_below(spec, self.rank, self.root)
        vectors = with_twins(spec, _meaningful(pool, isolated))
        bank = Bank(spec, faults(spec.op))
        return Ranked(
            rank=self.rank,
            vectors=tuple(vectors),
            kills={vector.id: bank.kills(vector) for vector in vectors},
            infeasible=pool.infeasible,
            uncovered=tuple(pool.uncovered),
        )


def _meaningful(pool: Pool, isolated: Collection[str]) -> list[Vector]:
    """Vectors of a cover, none of them vacuous and no two alike: what is gives way to another, as
    long as one shows the same; then more are sought."""
    built: dict[str, Vector] = {}
    while True:
        chosen = choose(pool, TRIES, isolated)
        looked_at = 1
        while bad := _useless(pool, chosen, built):
            # Where most cases are vacuous, one at a time would take for ever.
            looked_at = min(2 * looked_at, MOST_LOOKED_AT)
            for case_id in bad | _also_vacuous(pool, chosen, bad, looked_at):
                pool.ban(case_id)
            good = [one for one in chosen if one.case.id not in bad]
            chosen = choose(pool, isolated=isolated, start=good)
        if not pool.reopen():
            return [built[one.case.id] for one in chosen]
        settle(pool)


def _useless(pool: Pool, chosen: Sequence[Candidate], built: dict[str, Vector]) -> set[str]:
    """The ids of those that are vacuous, or ask what another has asked."""
    found, asked = set(), set()
    for one in chosen:
        name = one.case.id
        if name not in built:
            built[name] = build(pool.spec, one.case)
        same = question(built[name])
        if same in asked or vacuous(pool.spec, built[name]):
            found.add(name)
        asked.add(same)
    return found


def _also_vacuous(
    pool: Pool, chosen: Sequence[Candidate], bad: Collection[str], count: int
) -> set[str]:
    """More that are vacuous, of so many that would take the place of each of ``bad``: those that
    show most of what it alone shows, for their cost."""
    looked_at = {one.case.id for one in chosen}
    found = set()
    alone = owned(chosen)
    for name in sorted(bad):
        able = [one for one in pool.candidates.values() if not alone[name].isdisjoint(one.items)]
        able.sort(key=lambda one: (-len(alone[name] & one.items) / one.cost, one.case.id))
        for one in able[:count]:
            if one.case.id not in looked_at:
                looked_at.add(one.case.id)
                if vacuous(pool.spec, build(pool.spec, one.case)):
                    found.add(one.case.id)
    return found


def _shown_below(spec: OpSpec, rank: int, root: int) -> set[str]:
    """Edges that cases of lower ranks show. These are simpler, so the edges are isolated there."""
    shown: set[str] = set()
    for lower in spec.ranks:
        if lower < rank:
            pool = Pool(spec, lower, root, SAMPLE)
            pool.fill()
            shown.update(edge for edge, _ in pool.shown)
    return shown
