"""Searches for vectors that kill survivors, or tell mutants apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from math import prod
from operator import attrgetter

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
from conformance.spec.batch_values import Bools
from conformance.spec.catalogue import Fault
from conformance.spec.model import Draw, OpSpec
from conformance.spec.strata import strata_of
from conformance.spec.table import table_of
from conformance.suite.parts import Part

ENOUGH = 4
"""Cases whose outputs may show an item before the best of them are graded."""

PATIENCE = 120
"""Cases that are graded for one item in vain before it is given up."""

BARREN = 1000
"""Cases in a row on which a mutant's outputs are worked out, and are the right ones, before it is
given up: its geometry does not rule out a difference, but perhaps no data of the operator's do."""

CHILDREN = 3000
ROUNDS = 4
"""How many children of known cases are looked at on each rank, and how often, at most."""

Item = tuple[str, ...]
"""A level and a mutant to be killed at it; or ``apart`` and two mutants to be distinguished."""

OTHER = 0x5EED
"""Added to the root, so that the hunt draws other cases than those that were chosen from."""


def hunt(
    spec: OpSpec,
    faults: Sequence[Fault],
    wanted: Collection[Item],
    cases: Iterable[Case],
    equal: Counter[str] | None = None,
) -> list[Vector]:
    """Few vectors that show what is wanted of some mutants, of valid cases in this order.

    Cases are taken until enough are found for each item. What none shows is left. ``equal`` counts
    on how many cases in a row each mutant's outputs were right, in hunts before this one, too.
    """
    sought = _Sought(spec, faults, wanted, Counter() if equal is None else equal)
    some = iter(cases)
    while sought.hopeful and (slice_ := list(islice(some, SLICE))):
        sought.look(slice_)
        sought.grade(ENOUGH)
    sought.grade(1)
    chosen = cover(sought.found, attrgetter("shows"), attrgetter("cost"))
    return [one.vector for one in chosen]


@dataclass(frozen=True)
class _Candidate:
    """A case whose outputs differ under mutants such that it may show some items."""

    case: Case
    may_show: frozenset[Item]
    cost: int


@dataclass(frozen=True)
class _Found:
    """A vector that shows some items."""

    vector: Vector
    shows: frozenset[Item]
    cost: int


class _Sought:
    """Items that are sought, the cases that may show them, and the vectors that do.

    To work out outputs costs less than to build a vector and grade it, so few are built: a small
    cover of the items, then another of what these don't show after all.
    """

    def __init__(
        self,
        spec: OpSpec,
        faults: Sequence[Fault],
        wanted: Collection[Item],
        equal: Counter[str],
    ) -> None:
        self.items = set(wanted)
        self.found: list[_Found] = []
        self._spec = spec
        names = _mutants(self.items)
        self._bank = Bank(spec, [fault for fault in faults if fault.id in names])
        self._open: list[_Candidate] = []
        self._failed: Counter[Item] = Counter()
        self._equal = equal

    def look(self, cases: Sequence[Case]) -> None:
        """Note which of some cases may show what too few are known to show."""
        waiting = Counter(item for one in self._open for item in one.may_show)
        few = {item for item in self.items if waiting[item] < ENOUGH and not self._barren(item)}
        # What is no longer wanted is not worked out.
        bank = self._bank.among(_mutants(few))
        may = bank.may_differ(cases)
        costs = _costs(self._spec, cases)
        needed = np.ones(len(bank.faults), np.bool_)
        for case, row, cost in zip(cases, may, costs, strict=True):
            if not (row & needed).any():
                continue
            prints = bank.prints(case, data_of(self._spec, case), row & needed)
            self._note(bank, row & needed, prints)
            shown = frozenset(_shown(prints, few))
            if shown:
                self._open.append(_Candidate(case, shown, cost))
                waiting.update(shown)
                few -= {item for item in shown if waiting[item] >= ENOUGH}
                left = _mutants(few)
                needed = np.array([fault.id in left for fault in bank.faults], np.bool_)

    @property
    def hopeful(self) -> bool:
        """Whether anything is sought that is not given up."""
        return not all(map(self._barren, self.items))

    def _barren(self, item: Item) -> bool:
        return all(self._equal[name] >= BARREN for name in item[1:])

    def _note(self, bank: Bank, asked: Bools, prints: Mapping[str, bytes]) -> None:
        """Count, for each mutant that was asked, on how many cases in a row it was right."""
        for fault in compress(bank.faults, asked):
            self._equal[fault.id] = 0 if fault.id in prints else self._equal[fault.id] + 1

    def grade(self, least: int) -> None:
        """Grade few cases for each item that so many may show, others where they don't, as long as
        there are so many."""
        while True:
            waiting = Counter(item for one in self._open for item in one.may_show)
            due = frozenset(item for item, count in waiting.items() if count >= least)
            if not due:
                return
            chosen = cover(self._open, partial(_among, due), attrgetter("cost"))
            for one in chosen:
                self._try(one)
            tried = {id(one) for one in chosen}
            self._open = [
                replace(one, may_show=left)
                for one in self._open
                if id(one) not in tried and (left := one.may_show & self.items)
            ]

    def _try(self, one: _Candidate) -> None:
        vector = build(self._spec, one.case)
        kills = self._bank.among(_mutants(one.may_show)).kills(vector)
        prints = {kill.fault: kill.print for kill in kills}
        apart = [item for item in _shown(prints, self.items) if item[0] == "apart"]
        shows = self.items.intersection((*apart, *achievements(kills)))
        if shows and vacuous(self._spec, vector):
            shows = set()
        if shows:
            self.found.append(_Found(vector, frozenset(shows), one.cost))
        self._failed.update(one.may_show - shows)
        self.items -= shows
        self.items -= {item for item in one.may_show if self._failed[item] >= PATIENCE}


def _among(items: frozenset[Item], one: _Candidate) -> frozenset[Item]:
    return one.may_show & items


def _mutants(items: Iterable[Item]) -> set[str]:
    return {name for _, *among in items for name in among}


def _costs(spec: OpSpec, cases: Sequence[Case]) -> list[int]:
    """What a vector of each of some cases costs, in elements."""
    ranks = [spec.rank_of(case) for case in cases]
    found = np.array([prod(case.shapes[spec.data.name]) + 200 for case in cases])
    for rank in set(ranks):
        rows = [row for row, own in enumerate(ranks) if own == rank]
        found[rows] *= rarity(spec, [cases[row] for row in rows])
    return [int(cost) for cost in found]


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
