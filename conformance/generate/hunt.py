"""Searches for vectors that kill survivors, or tell mutants apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice

import numpy as np

from conformance.audit.cover import cover
from conformance.audit.kills import SLICE, Bank
from conformance.audit.membership import profile, within
from conformance.audit.score import achievements
from conformance.audit.vacuity import vacuous
from conformance.generate.build import build
from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.looking import Sight, rarity, sound
from conformance.generate.pairs import Effort, retyped
from conformance.generate.pool import draw_fast
from conformance.generate.strategies import Aim
from conformance.generate.values import data_of
from conformance.model import Case, Vector
from conformance.spec.catalogue import Fault
from conformance.spec.model import Draw, OpSpec
from conformance.spec.strata import strata_of
from conformance.spec.table import table_of
from conformance.suite.parts import Part

ENOUGH = 4
"""Vectors that are found for one item before the smallest of them is taken."""

PATIENCE = 120
"""Cases whose outputs differ that are graded for one item before it is given up."""

CHILDREN = 3000
ROUNDS = 4
"""How many children of known cases are looked at on each rank, and how often, at most."""

Item = tuple[str, ...]
"""A level and a mutant to be killed at it; or ``apart`` and two mutants to be distinguished."""

OTHER = 0x5EED
"""Added to the root, so that the hunt draws other cases than those that were chosen from."""


def hunt(
    spec: OpSpec, faults: Sequence[Fault], wanted: Collection[Item], cases: Iterable[Case]
) -> list[Vector]:
    """Few vectors that show what is wanted of some mutants, of valid cases in this order.

    Cases are taken until enough are found for each item. What none shows is left.
    """
    wanted = set(wanted)
    names = {name for _, *among in wanted for name in among}
    bank = Bank(spec, [fault for fault in faults if fault.id in names])
    tried: Counter[Item] = Counter()
    met: Counter[Item] = Counter()
    found: list[tuple[Vector, frozenset[Item]]] = []
    some = iter(cases)
    while wanted and (slice_ := list(islice(some, SLICE))):
        # What is no longer wanted is not worked out.
        bank = bank.among({name for _, *among in wanted for name in among})
        may = bank.may_differ(slice_)
        for case, row in zip(slice_, may, strict=True):
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
    costs = {
        vector.id: (vector.inputs[0].size + 200) * int(rare)
        for ndim in {vector.inputs[0].ndim for vector, _ in found}
        for vectors in [[vector for vector, _ in found if vector.inputs[0].ndim == ndim]]
        for vector, rare in zip(vectors, rarity(spec, [v.case for v in vectors]), strict=True)
    }
    chosen = cover(found, lambda one: one[1], lambda one: costs[one[0].id])
    return [vector for vector, _ in chosen]


def _shown(prints: Mapping[str, bytes], wanted: Collection[Item]) -> Iterator[Item]:
    """Which of the wanted items outputs with these fingerprints may settle."""
    for item in wanted:
        if item[0] == "apart":
            if prints.get(item[1]) != prints.get(item[2]):
                yield item
        elif item[1] in prints:
            yield item


def known_cases(spec: OpSpec, part: Part, known: Sequence[Case]) -> Iterator[Case]:
    """Known cases of a part, and others of its rank in its element type."""
    own = [case for case in known if case.types[spec.data.type] == part.dtype]
    others = sound(spec, part.rank, retyped(spec, known, part.dtype))
    return inside(spec, part, [*own, *others])


def drawn_cases(spec: OpSpec, part: Part, *, root: int, effort: Effort) -> list[Case]:
    """Valid cases that are drawn for a part, within the aims of its profile."""
    drawn = draw_fast(
        spec, part.rank, _count(spec, effort), root=root + OTHER, within=aims_of(spec, part)
    )
    return list(inside(spec, part, sound(spec, part.rank, drawn)))


def _count(spec: OpSpec, effort: Effort) -> int:
    """How many cases are drawn; every second has the aim of an edge or a stratum."""
    return effort.base + 2 * effort.aimed * (len(spec.aims) + len(strata_of(spec).strata))


def aims_of(spec: OpSpec, part: Part) -> list[Aim]:
    """What to draw so that cases belong to a part: its type, and any aim of its profile."""
    of_type = {spec.data.type: Draw(values=(part.dtype,))}
    aims = profile(spec, part).aims if part.profile else ()
    return [{**aim, **of_type} for aim in aims or ({},)]


def children(spec: OpSpec, part: Part, known: Sequence[Case], *, root: int) -> Iterator[Case]:
    """Valid cases of a part that take after known ones of its rank, two each.

    They are made as they are asked for.
    """
    sight = Sight(spec, part.rank, edges=False)
    own = [case for case in known if case.types[spec.data.type] == part.dtype]
    given = [*own, *retyped(spec, known, part.dtype)]
    parents = table_of(spec, given, part.rank)
    for number in range(ROUNDS if given else 0):
        chance = Chance(f"{root}/{spec.op}/{part}/{number}/hunt")
        a, b = (chance.below(len(given), CHILDREN) for _ in range(2))
        seen = sight.look(crossed(parents, a, b, chance, freely=number % 2 > 0))
        yield from inside(spec, part, [case_of(seen.table, row) for row in range(len(seen))])


def inside(spec: OpSpec, part: Part, cases: Sequence[Case]) -> Iterator[Case]:
    """Those of some cases that belong to a part."""
    return compress(cases, within(spec, part, cases))


def any_case(spec: OpSpec, known: Sequence[Case], *, root: int, effort: Effort) -> Iterator[Case]:
    """Valid cases of an operator: known ones, then drawn ones of each rank."""
    drawn = (
        sound(
            spec,
            rank,
            draw_fast(spec, rank, _count(spec, effort), root=root + OTHER),
        )
        for rank in spec.ranks
    )
    return chain(known, chain.from_iterable(drawn))
