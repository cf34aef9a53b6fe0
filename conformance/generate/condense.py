"""Fewer cases that show the same: children that join what two cases show.

A pool that was drawn at random covers pairs of edges thinly: many a chosen case is there for one
or two of them. Taking the data of one case with the geometry of another, axis by axis, gives cases
that show what both alone show, and a cover of the larger pool takes fewer.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Hashable, Sequence

from conformance.audit.cover import cover
from conformance.generate.coverage import Candidate
from conformance.generate.crossing import cross
from conformance.generate.pairs import Pool

SLACK = 2
"""How many edges more than the simplest case a case may show and still isolate an edge."""


def choose(
    pool: Pool,
    tries: int = 0,
    isolated: Collection[str] = (),
    start: Collection[Candidate] = (),
) -> list[Candidate]:
    """Few, cheap candidates that show all that the pool shows; fewer with more ``tries``.

    Each of the edges ``isolated`` is shown by a candidate that shows hardly more than it must.
    Those in ``start`` are taken before any other.
    """
    simplest_first = sorted(pool.candidates.values(), key=lambda one: (one.cost, one.case.id))
    fewest = dict.fromkeys(isolated, len(pool.spec.edges))
    for one in simplest_first:
        for edge in one.edges & fewest.keys():
            fewest[edge] = min(fewest[edge], len(one.edges))

    def items(one: Candidate) -> frozenset[Hashable]:
        simple = (e for e in one.edges & fewest.keys() if len(one.edges) <= fewest[e] + SLACK)
        return one.items.union(("isolated", edge) for edge in simple)

    return cover(simplest_first, items, lambda one: one.cost, tries=tries, start=start)


def breed(pool: Pool, rounds: int, children: int) -> None:
    """Add children of the cases that a cover chooses, in some rounds of so many.

    A child is kept if it shows all that one of its parents alone shows and something that another
    case alone does, or what nothing showed. Deterministic: the same pool gives the same children.
    """
    chance = random.Random(f"{pool.root}/{pool.spec.op}/{pool.rank}/{len(pool.candidates)}")  # noqa: S311
    for _ in range(rounds):
        chosen = choose(pool)
        if len(chosen) < 2:
            return
        own = owned(chosen)
        single = frozenset().union(*own.values())
        for _ in range(children):
            a, b = chance.sample(chosen, 2)
            case = cross(pool.spec, a.case, b.case, chance)
            if case.id in pool.candidates:
                continue
            shown = len(pool.shown) + len(pool.typed)
            child = pool.add(case)
            if child is None or len(pool.shown) + len(pool.typed) > shown:
                continue
            merit = single.intersection(child.items)
            if not any(own[parent.case.id] < merit for parent in (a, b)):
                del pool.candidates[case.id]


def owned(chosen: Sequence[Candidate]) -> dict[str, frozenset[Hashable]]:
    """What each of the chosen alone shows, by id."""
    shown = Counter(item for one in chosen for item in one.items)
    return {
        one.case.id: frozenset(item for item in one.items if shown[item] == 1) for one in chosen
    }
