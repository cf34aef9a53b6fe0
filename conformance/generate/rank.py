"""The cases of one operator on one rank: drawn, settled, condensed, and none of them vacuous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.audit.kills import Bank, Kill
from conformance.audit.vacuity import vacuous
from conformance.generate.build import build
from conformance.generate.condense import breed, choose
from conformance.generate.coverage import Candidate
from conformance.generate.pairs import Effort, Pair, Pool, settle
from conformance.generate.suites import with_twins
from conformance.model import Vector
from conformance.spec.catalogue import faults
from conformance.spec.loader import find
from conformance.suite.manifest import Uncovered

TRIES = 100
"""How often a part of a cover is made anew to find a smaller one."""


@dataclass(frozen=True)
class Ranked:
    """What was chosen for one rank, and what is known of the pairs that no case shows.

    ``vectors`` show every edge in every element type and every pair that can be shown, their twins
    among them; ``kills`` gives by id the faults that each notices; ``isolating`` for each edge a
    case that shows few others.
    """

    rank: int
    vectors: tuple[Vector, ...]
    kills: Mapping[str, tuple[Kill, ...]]
    isolating: Mapping[str, Candidate]
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
        built: dict[str, Vector] = {}
        vectors = with_twins(spec, _meaningful(pool, built))
        bank = Bank(spec, faults(spec.op))
        return Ranked(
            rank=self.rank,
            vectors=tuple(vectors),
            kills={vector.id: bank.kills(vector) for vector in vectors},
            isolating=_isolating(pool, built),
            infeasible=pool.infeasible,
            uncovered=tuple(pool.uncovered),
        )


def _meaningful(pool: Pool, built: dict[str, Vector]) -> list[Vector]:
    """Vectors of a cover, none of them vacuous: what is gives way to another, as long as one shows
    the same; then more are sought."""
    tries = 0
    while True:
        chosen = choose(pool, tries)
        bad = [one for one in chosen if _is_vacuous(pool, one, built)]
        for one in bad:
            pool.ban(one.case.id)
        if bad:
            continue
        if pool.reopen():
            settle(pool)
        elif tries:
            return [built[one.case.id] for one in chosen]
        else:
            tries = TRIES


def _is_vacuous(pool: Pool, one: Candidate, built: dict[str, Vector]) -> bool:
    if one.case.id not in built:
        built[one.case.id] = build(pool.spec, one.case)
    return bool(vacuous(pool.spec, built[one.case.id]))


def _isolating(pool: Pool, built: dict[str, Vector]) -> dict[str, Candidate]:
    """For each edge the candidate that shows the fewest others, and is not vacuous."""
    best: dict[str, Candidate] = {}
    for one in sorted(pool.candidates.values(), key=isolation):
        new = one.edges - best.keys()
        if new and not _is_vacuous(pool, one, built):
            best.update(dict.fromkeys(new, one))
    return best


def isolation(one: Candidate) -> tuple[int, int, str]:
    """The fewer edges a candidate shows, the better it isolates each of them."""
    return len(one.edges), one.cost, one.case.id
