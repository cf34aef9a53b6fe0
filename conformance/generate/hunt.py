"""Vectors for faults that the others miss, or cannot tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, product
from math import prod

import numpy as np

from conformance.audit.cover import cover
from conformance.audit.kills import SLICE, Bank
from conformance.audit.score import Score, achievements
from conformance.audit.vacuity import vacuous
from conformance.generate.build import build
from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.looking import Sight
from conformance.generate.pairs import Effort
from conformance.generate.pool import draw_at_edges
from conformance.generate.values import data_of
from conformance.model import Case, Vector
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec
from conformance.spec.table import table_of

ENOUGH = 4
"""Vectors that are found for one item before the smallest of them is taken."""

PATIENCE = 120
"""Cases whose outputs differ that are graded for one item before it is given up."""

CHILDREN = 3000
ROUNDS = 4
"""How many children of known cases are looked at on each rank, and how often, at most."""

Item = tuple[str, ...]
OTHER = 0x5EED
"""Added to the root, so that the hunt draws other cases than those that were chosen from."""


def hunt(
    spec: OpSpec, score: Score, *, root: int, effort: Effort, cases: Iterable[Case] = ()
) -> list[Vector]:
    """Few vectors that notice what those of ``score`` do not, and tell apart what they do not.

    Without ``effort.pairs`` nothing is told apart. They are sought among ``cases`` first, which are
    valid, and then among drawn ones. What none shows is left for the audit to report.
    """
    wanted = {item for item in _wanted(score) if effort.pairs or item[0] != "apart"}
    names = {name for _, *among in wanted for name in among}
    bank = Bank(spec, _named(score.faults, names))
    tried: Counter[Item] = Counter()
    met: Counter[Item] = Counter()
    found: list[tuple[Vector, frozenset[Item]]] = []
    given = sorted(cases, key=_size)
    some = chain(given, _cases(spec, root, effort), _crossed(spec, given, root, wanted))
    while wanted and (slice_ := list(islice(some, SLICE))):
        may = bank.may_differ(slice_)
        for case, row in zip(slice_, may, strict=True):
            # What is no longer wanted is not worked out.
            open_ = {name for _, *among in wanted for name in among}
            row = row & np.array([fault.id in open_ for fault in bank.faults], np.bool_)
            if not row.any():
                continue
            maybe = set(_shown(bank.prints(case, data_of(spec, case), row), wanted))
            if not maybe:
                continue
            vector = build(spec, case)
            noticed = bank.kills(vector, row)
            prints = {kill.fault: kill.print for kill in noticed}
            apart = [item for item in _shown(prints, wanted) if item[0] == "apart"]
            items = frozenset(wanted.intersection((*apart, *achievements(noticed))))
            if items and not vacuous(spec, vector):
                found.append((vector, items))
                met.update(items)
            tried.update(maybe)
            wanted -= {item for item in maybe if met[item] >= ENOUGH or tried[item] >= PATIENCE}
    chosen = cover(found, lambda one: one[1], lambda one: one[0].inputs[0].size + 200)
    return [vector for vector, _ in chosen]


def _crossed(
    spec: OpSpec, cases: Sequence[Case], root: int, wanted: Collection[Item]
) -> Iterator[Case]:
    """Children of the cases, as long as something is not noticed at all."""
    for rank, number in product(spec.ranks, range(ROUNDS)):
        own = [case for case in cases if len(case.shapes[spec.data.name]) == rank]
        if own and any(item[0] != "apart" for item in wanted):
            chance = Chance(f"{root}/{spec.op}/{rank}/{number}/hunt")
            a, b = (chance.below(len(own), CHILDREN) for _ in range(2))
            table = crossed(table_of(spec, own, rank - 2), a, b, chance, freely=number % 2 > 0)
            seen = Sight(spec, rank - 2).look(table)
            yield from (case_of(seen.table, row) for row in range(len(seen)))


def _size(case: Case) -> tuple[int, str]:
    return sum(prod(shape) for shape in case.shapes.values()), case.id


def _named(faults: Sequence[Fault], names: Collection[str]) -> list[Fault]:
    return [fault for fault in faults if fault.id in names]


def _wanted(score: Score) -> frozenset[Item]:
    """What is missing: faults to notice at a level, and pairs of faults to tell apart."""
    missed = [("should", fault.id) for fault in score.missed]
    missed += [("must", fault.id) for fault in score.missed_at_must]
    alike = [
        ("apart", *pair) for group in score.indistinguishable for pair in combinations(group, 2)
    ]
    return frozenset((*missed, *alike))


def _shown(prints: Mapping[str, bytes], wanted: Collection[Item]) -> Iterator[Item]:
    """Which of the wanted items outputs with these fingerprints may show."""
    for item in wanted:
        if item[0] == "apart":
            if prints.get(item[1]) != prints.get(item[2]):
                yield item
        elif item[1] in prints:
            yield item


def _cases(spec: OpSpec, root: int, effort: Effort) -> Iterator[Case]:
    for rank in spec.ranks:
        cases = draw_at_edges(spec, rank, effort.base, effort.aimed, root=root + OTHER)
        yield from Sight(spec, rank - 2).sound(cases)
