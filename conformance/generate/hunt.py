"""Searches for vectors that kill survivors, or tell mutants apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress
from operator import attrgetter

import numpy as np

from conformance.audit.kills import SLICE, MutantRunner
from conformance.audit.score import kill_levels
from conformance.audit.set_cover import greedy_cover
from conformance.audit.trivial_implementations import trivially_passed
from conformance.generate.candidates import Candidates
from conformance.generate.looking import rarity
from conformance.model import Case, Vector
from conformance.reference.batches import batch_of
from conformance.reference.build import build
from conformance.reference.values import data_of
from conformance.spec.batch_values import Bools
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec

ENOUGH = 4
"""Cases whose outputs may show an item before the best of them are graded."""

PATIENCE = 120
"""Cases that are graded for one item in vain before it is given up."""

BARREN = 1000
"""Cases in a row on which a mutant's outputs are worked out, and are the right ones, before it is
given up: its geometry does not rule out a difference, but perhaps no data of the operator's do.
Two mutants to be told apart are given up after as many on which their outputs are alike."""

Item = tuple[str, ...]
"""A level and a mutant to be killed at it; or ``apart`` and two mutants to be distinguished."""


def hunt(
    spec: OpSpec,
    faults: Sequence[Mutant],
    wanted: Collection[Item],
    cases: Iterable[Candidates],
    equal: Counter[str] | None = None,
) -> list[Vector]:
    """Few vectors that show what is wanted of some mutants, of valid cases in this order.

    Cases are taken until enough are found for each item. What none shows is left. ``equal`` counts
    on how many cases in a row each mutant's outputs were right, in hunts before this one, too.
    """
    sought = _Sought(spec, faults, wanted, Counter() if equal is None else equal)
    some = chain.from_iterable(group.slices(SLICE) for group in cases)
    while sought.hopeful and (slice_ := next(some, None)) is not None:
        sought.look(slice_)
        sought.grade(ENOUGH)
    sought.grade(1)
    chosen = greedy_cover(sought.found, attrgetter("shows"), attrgetter("cost"))
    return [one.vector for one in chosen]


@dataclass(frozen=True)
class _Promising:
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
        faults: Sequence[Mutant],
        wanted: Collection[Item],
        equal: Counter[str],
    ) -> None:
        self.items = set(wanted)
        self.found: list[_Found] = []
        self._spec = spec
        names = _mutants(self.items)
        self._bank = MutantRunner(spec, [fault for fault in faults if fault.id in names])
        self._open: list[_Promising] = []
        self._failed: Counter[Item] = Counter()
        self._equal = equal
        self._alike: Counter[Item] = Counter()

    def look(self, cases: Candidates) -> None:
        """Note which of some cases may show what too few are known to show."""
        waiting = Counter(item for one in self._open for item in one.may_show)
        few = {item for item in self.items if waiting[item] < ENOUGH and not self._barren(item)}
        # What is no longer wanted is not worked out.
        bank = self._bank.restricted_to(_mutants(few))
        batch = batch_of(cases.table)
        may = bank.may_differ_in(batch)
        costs = (cases.table.elements() + 200) * rarity(batch)
        needed = np.ones(len(bank.mutants), np.bool_)
        for place, (row, cost) in enumerate(zip(may, costs.tolist(), strict=True)):
            if not (row & needed).any():
                continue
            case = cases.case(place)
            prints = bank.fingerprints(case, data_of(self._spec, case), row & needed)
            self._note(bank, row & needed, prints, few)
            shown = frozenset(_shown(prints, few))
            if shown:
                self._open.append(_Promising(case, shown, cost))
                waiting.update(shown)
                few -= {item for item in shown if waiting[item] >= ENOUGH}
                left = _mutants(few)
                needed = np.array([fault.id in left for fault in bank.mutants], np.bool_)

    @property
    def hopeful(self) -> bool:
        """Whether anything is sought that is not given up."""
        return not all(map(self._barren, self.items))

    def _barren(self, item: Item) -> bool:
        right = all(self._equal[name] >= BARREN for name in item[1:])
        return right or self._alike[item] >= BARREN

    def _note(
        self,
        bank: MutantRunner,
        asked: Bools,
        prints: Mapping[str, bytes],
        wanted: Collection[Item],
    ) -> None:
        """Count, for each mutant that was asked, on how many cases in a row it was right, and for
        each two that are to be told apart, on how many they were alike."""
        names = {fault.id for fault in compress(bank.mutants, asked)}
        for name in names:
            self._equal[name] = 0 if name in prints else self._equal[name] + 1
        for item in wanted:
            if item[0] == "apart" and names.intersection(item[1:]):
                alike = prints.get(item[1]) == prints.get(item[2])
                self._alike[item] = self._alike[item] + 1 if alike else 0

    def grade(self, least: int) -> None:
        """Grade few cases for each item that so many may show, others where they don't, as long as
        there are so many."""
        while True:
            waiting = Counter(item for one in self._open for item in one.may_show)
            due = frozenset(item for item, count in waiting.items() if count >= least)
            if not due:
                return
            chosen = greedy_cover(self._open, partial(_among, due), attrgetter("cost"))
            for one in chosen:
                self._try(one)
            tried = {id(one) for one in chosen}
            self._open = [
                replace(one, may_show=left)
                for one in self._open
                if id(one) not in tried and (left := one.may_show & self.items)
            ]

    def _try(self, one: _Promising) -> None:
        vector = build(self._spec, one.case)
        kills = self._bank.restricted_to(_mutants(one.may_show)).kills(vector)
        prints = {kill.mutant: kill.fingerprint for kill in kills}
        apart = [item for item in _shown(prints, self.items) if item[0] == "apart"]
        shows = self.items.intersection((*apart, *kill_levels(kills)))
        if shows and trivially_passed(self._spec, vector):
            shows = set()
        if shows:
            self.found.append(_Found(vector, frozenset(shows), one.cost))
        self._failed.update(one.may_show - shows)
        self.items -= shows
        self.items -= {item for item in one.may_show if self._failed[item] >= PATIENCE}


def _among(items: frozenset[Item], one: _Promising) -> frozenset[Item]:
    return one.may_show & items


def _mutants(items: Iterable[Item]) -> set[str]:
    return {name for _, *among in items for name in among}


def _shown(prints: Mapping[str, bytes], wanted: Collection[Item]) -> Iterator[Item]:
    """Which of the wanted items outputs with these fingerprints may settle."""
    for item in wanted:
        if item[0] == "apart":
            if prints.get(item[1]) != prints.get(item[2]):
                yield item
        elif item[1] in prints:
            yield item
