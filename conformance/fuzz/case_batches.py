"""Draws batches of cases of one operator and rank within a declared subset, small first."""

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

CANDIDATES_PER_CASE = 6
"""Cases from which each case of a batch is chosen."""

CASES_PER_STRETCHED = 6
"""One drawn case in so many is made longer on some side than specifications draw."""

LIMITS = (32, 64, 128, 512, 64, 2048, 128, 64, 512, 64, 256, 1 << 15)
"""Elements of the data of a case of a batch, at most, one batch after the other.

Batches of LARGE and more also get a case of tens of thousands.
"""

MAX_COVERING_ELEMENTS = 8192
"""Elements of a case that may cover something new, where the batch has smaller ones."""

LARGE = 2048
"""A limit from which some of the largest cases are taken, and a larger one."""

MAX_BATCH_ELEMENTS = 30_000
"""Elements of the random cases of a batch, at most, and of the others."""

FREE_ELEMENTS = 200
"""Elements that hardly matter, when possible coverage is weighed against size."""

MAX_PARENTS = 300
"""Cases that covered something new, of which children are made."""

Rows = NDArray[np.int64]

CASES_PER_NEGATIVE = 12
"""One case in so many is a negative test."""


class Batches:
    """An endless supply of batches, decided by ``root`` and by what was covered meanwhile.

    Args:
        spec: the declared subset of the operator.
        full_spec: all of it.
    """

    def __init__(self, spec: OpSpec, full_spec: OpSpec, rank: int, root: int, level: str) -> None:
        self.spec, self.full_spec, self.rank, self.root = spec, full_spec, rank, root
        self.number = 0
        self._coverage = Sight(spec, rank)
        self._parents: list[Case] = []
        self.origins: dict[str, tuple[Case, partial[Case | None]]] = {}
        """By negative test of the last batch: its valid case, and how it is made of one."""
        aims = spec.profiles[0].aims if spec.profiles else ()
        self._within: Sequence[Aim] = aims or ({},)
        self._negative_entries = [
            entry
            for entry in full_spec.reject
            if entry.rank is None
            and (not entry.ranks or rank in entry.ranks)
            and level in ("should", entry.level)
        ]

    def batch(self, count: int, guidance: Guidance) -> list[Case]:
        """Draw at most ``count`` cases.

        Half of them are random, half for uncovered pairs and mutants, a few are negative tests.
        """
        root = f"{self.root}/{self.spec.op}/{self.rank}/{self.number}/fuzz"
        chance = Chance(root)
        candidates = self._candidates(CANDIDATES_PER_CASE * count, chance)
        negative = count // CASES_PER_NEGATIVE if self._negative_entries else 0
        count -= negative
        limit = LIMITS[self.number % len(LIMITS)]
        self.number += 1
        size = candidates.table.elements()
        order = np.argsort(chance.below(1 << 40, len(candidates)), kind="stable")
        eligible = order[size[order] <= max(limit, MAX_COVERING_ELEMENTS)]
        cases = [case_of(candidates.table, int(row)) for row in eligible]
        elements = size[eligible]
        new_pairs = guidance.new_pairs(candidates.take(eligible), self.rank)
        best = np.argsort(-new_pairs / (FREE_ELEMENTS + elements), kind="stable")
        chosen = np.union1d(
            _affordable(best[new_pairs[best] > 0], elements, count // 4),
            _affordable(guidance.killing_rows(cases, elements), elements, count // 4),
        ).astype(np.int64)
        small = np.flatnonzero(elements <= limit)
        random_rows = np.setdiff1d(small, chosen)  # in their random order
        if limit >= LARGE:
            by_size = random_rows[np.argsort(-elements[random_rows], kind="stable")]
            largest = by_size[: len(by_size) // 8]
            random_rows = np.concatenate([largest[::2], np.setdiff1d(random_rows, largest[::2])])
        random_rows = _affordable(random_rows, elements, count - len(chosen))
        chosen_cases = [cases[row] for row in (*random_rows, *chosen)]
        if limit >= LARGE:
            chosen_cases += self._large(root)
        negative_tests = self._negative(chosen_cases, negative, chance) if chosen_cases else ()
        return list({case.id: case for case in (*chosen_cases, *negative_tests)}.values())

    def _large(self, root: str) -> Iterator[Case]:
        """Yield a case of tens of thousands of elements, if one is valid."""
        chance = random.Random(root)  # noqa: S311 - the same with the same seed
        dtype = chance.choice(self.spec.types[self.spec.data.type])
        yield from filter(None, [large_case(self.spec, self.rank, dtype, chance)])

    def learn(self, cases: Sequence[Case]) -> None:
        """Use cases that covered something new as parents of others."""
        self._parents = [*self._parents, *cases][-MAX_PARENTS:]

    def _candidates(self, count: int, chance: Chance) -> Seen:
        # Each batch has a root of its own, and so does every rank of an operator.
        root = int(chance.below(1 << 31, 1)[0])
        drawn = draw_fast(self.spec, self.rank, count, root=root, within=self._within)
        table = table_of(self.spec, list(self._stretched(drawn, chance)), self.rank)
        covered = [self._coverage.look(table)]
        if len(self._parents) > 1:
            covered.append(self._coverage.look(self._children(count // 2, chance)))
        return together(covered)

    def _children(self, count: int, chance: Chance) -> Table:
        a, b = (chance.below(len(self._parents), count) for _ in range(2))
        parents = table_of(self.spec, self._parents, self.rank)
        children = crossed(parents, a, b, chance, freely=self.number % 2 > 0)
        return replace(children, seeds=chance.below(1 << 16, count))

    def _stretched(self, cases: Sequence[Case], chance: Chance) -> Iterator[Case]:
        """Yield the cases, some of them longer on one side, up to several hundred elements."""
        name = self.spec.data.name
        chosen = chance.one_in(CASES_PER_STRETCHED, len(cases))
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
        """Yield negative tests that are made from some of the cases."""
        self.origins = {}
        starts, entries = (
            chance.below(max(1, n), count) for n in (len(valid), len(self._negative_entries))
        )
        for start, entry in zip(starts, entries, strict=True):
            origin = valid[int(start)]
            remake = partial(_negative_test, self.full_spec, self._negative_entries[int(entry)])
            test = remake(origin)
            if test is not None:
                self.origins[test.id] = (origin, remake)
                yield test


def _affordable(rows: Rows, size: Rows, count: int) -> Rows:
    """Return the first rows whose cases are together not too large, at least one."""
    rows = rows[:count]
    fit = np.cumsum(size[rows]) <= MAX_BATCH_ELEMENTS
    fit[:1] = True
    return rows[fit]


def _negative_test(spec: OpSpec, entry: NegativeTest, valid: Case) -> Case | None:
    """Make the negative test of an entry from a valid case, if possible."""
    try:
        return breaking(spec, entry, valid)
    except (ConformanceError, ValueError, IndexError):
        return None  # another case than the entry is meant for
