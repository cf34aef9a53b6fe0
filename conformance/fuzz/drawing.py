"""Draws cases of one operator on one rank within what a backend claims, small ones first."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from conformance.errors import ConformanceError
from conformance.fuzz.guidance import Guidance
from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.large import large_case
from conformance.generate.looking import Seen, Sight, together
from conformance.generate.pool import draw_fast
from conformance.generate.reject import breaking
from conformance.generate.strategies import Aim
from conformance.model import Case
from conformance.spec.case_environment import resized
from conformance.spec.case_table import Table, table_of
from conformance.spec.model import NegativeTest, OpSpec

CHOICE = 6
"""Cases among which each one of a batch is chosen."""

STRETCHED = 6
"""One drawn case in so many is made longer on some side than specifications draw."""

LIMITS = (32, 64, 128, 512, 64, 2048, 128, 64, 512, 64, 256, 1 << 15)
"""Elements of the data of a case of a batch, at most, one batch after the other; those of
LARGE and more get one case of tens of thousands besides."""

ROOM = 8192
"""Elements of one that may cover something new, at most, where the batch has smaller ones."""

LARGE = 2048
"""With such a limit some of the largest cases are taken, and a larger one, with others any."""

TOGETHER = 30_000
"""Elements of the cases of a batch that are chosen at random, at most, and of the others."""

FREE = 200
"""Elements that hardly matter, when what a case may cover is weighed against its size."""

PARENTS = 300
"""Cases that covered something new, of which children are made, at most."""

Rows = NDArray[np.int64]

NEGATIVE = 12
"""One case in so many is a negative test."""


class Batches:
    """An endless supply of batches; ``root`` and what was covered meanwhile decide on them.

    ``spec`` is the operator as far as it is claimed, ``whole`` all of it.
    """

    def __init__(self, spec: OpSpec, whole: OpSpec, rank: int, root: int, level: str) -> None:
        self.spec, self.whole, self.rank, self.root = spec, whole, rank, root
        self.number = 0
        self._sight = Sight(spec, rank)
        self._parents: list[Case] = []
        self.origins: dict[str, tuple[Case, partial[Case | None]]] = {}
        """For each negative test of the last batch its valid case, and how it is made of one."""
        aims = spec.profiles[0].aims if spec.profiles else ()
        self._within: Sequence[Aim] = aims or ({},)
        self._broken = [
            entry
            for entry in whole.reject
            if entry.rank is None
            and (not entry.ranks or rank in entry.ranks)
            and level in ("should", entry.level)
        ]

    def batch(self, count: int, guidance: Guidance) -> list[Case]:
        """So many cases at most: half of them at random, half for what nothing covers yet, and a
        few negative tests."""
        root = f"{self.root}/{self.spec.op}/{self.rank}/{self.number}/fuzz"
        chance = Chance(root)
        seen = self._candidates(CHOICE * count, chance)
        negative = count // NEGATIVE if self._broken else 0
        count -= negative
        limit = LIMITS[self.number % len(LIMITS)]
        self.number += 1
        size = seen.table.elements()
        order = np.argsort(chance.below(1 << 40, len(seen)), kind="stable")
        room = order[size[order] <= max(limit, ROOM)]
        cases = [case_of(seen.table, int(row)) for row in room]
        elements = size[room]
        news = guidance.new_pairs(seen.take(room), self.rank)
        best = np.argsort(-news / (FREE + elements), kind="stable")
        chosen = np.union1d(
            _affordable(best[news[best] > 0], elements, count // 4),
            _affordable(guidance.killers(cases, elements), elements, count // 4),
        ).astype(np.int64)
        rest = np.setdiff1d(np.flatnonzero(elements <= limit), chosen)  # in their random order
        if limit >= LARGE:
            largest = rest[np.argsort(-elements[rest], kind="stable")][: len(rest) // 8]
            rest = np.concatenate([largest[::2], np.setdiff1d(rest, largest[::2])])
        rest = _affordable(rest, elements, count - len(chosen))
        found = [cases[row] for row in (*rest, *chosen)]
        if limit >= LARGE:
            found += self._large(root)
        made = self._negative(found, negative, chance) if found else ()
        return list({case.id: case for case in (*found, *made)}.values())

    def _large(self, root: str) -> Iterator[Case]:
        """A case of tens of thousands of elements, if one is valid."""
        chance = random.Random(root)  # noqa: S311 - the same with the same seed
        dtype = chance.choice(self.spec.types[self.spec.data.type])
        yield from filter(None, [large_case(self.spec, self.rank, dtype, chance)])

    def learn(self, cases: Sequence[Case]) -> None:
        """Take cases that covered something new as parents of others."""
        self._parents = [*self._parents, *cases][-PARENTS:]

    def _candidates(self, count: int, chance: Chance) -> Seen:
        # Each batch has a root of its own, and so does every rank of an operator.
        root = int(chance.below(1 << 31, 1)[0])
        drawn = draw_fast(self.spec, self.rank, count, root=root, within=self._within)
        table = table_of(self.spec, list(self._stretched(drawn, chance)), self.rank)
        seen = [self._sight.look(table)]
        if len(self._parents) > 1:
            seen.append(self._sight.look(self._children(count // 2, chance)))
        return together(seen)

    def _children(self, count: int, chance: Chance) -> Table:
        a, b = (chance.below(len(self._parents), count) for _ in range(2))
        parents = table_of(self.spec, self._parents, self.rank)
        found = crossed(parents, a, b, chance, freely=self.number % 2 > 0)
        return replace(found, seeds=chance.below(1 << 16, count))

    def _stretched(self, cases: Sequence[Case], chance: Chance) -> Iterator[Case]:
        """The cases, some of them longer on one side, up to several hundred elements."""
        name = self.spec.data.name
        chosen = chance.one_in(STRETCHED, len(cases))
        sides, doublings = chance.below(self.rank, len(cases)), chance.below(9, len(cases))
        extra = chance.below(1 << 20, len(cases))
        for number, case in enumerate(cases):
            if not chosen[number]:
                yield case
                continue
            shape = list(case.shapes[name])
            longest = 2 << int(doublings[number])
            shape[int(sides[number])] = 1 + int(extra[number]) % longest
            yield resized(self.spec, case, tuple(shape))

    def _negative(self, valid: Sequence[Case], count: int, chance: Chance) -> Iterator[Case]:
        """Negative tests that are made from some of the cases."""
        self.origins = {}
        starts, entries = (chance.below(max(1, n), count) for n in (len(valid), len(self._broken)))
        for start, entry in zip(starts, entries, strict=True):
            origin = valid[int(start)]
            remake = partial(_broken, self.whole, self._broken[int(entry)])
            made = remake(origin)
            if made is not None:
                self.origins[made.id] = (origin, remake)
                yield made


def _affordable(rows: Rows, size: Rows, count: int) -> Rows:
    """The first of some cases, which together are not too large; one at least."""
    rows = rows[:count]
    fit = np.cumsum(size[rows]) <= TOGETHER
    fit[:1] = True
    return rows[fit]


def _broken(spec: OpSpec, entry: NegativeTest, valid: Case) -> Case | None:
    """The negative test that an entry makes of a valid case, if it makes one."""
    try:
        return breaking(spec, entry, valid)
    except (ConformanceError, ValueError, IndexError):
        return None  # another case than the entry is meant for
