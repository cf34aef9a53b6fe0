"""Draws batches of cases of an operator within a declared subset, small first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import prod
from random import Random

import numpy as np

from conformance.core.negative import negative_tests
from conformance.core.operator import Operator
from conformance.core.targets import reported_names, targets_of
from conformance.fuzz.guidance import Guidance, Rows
from conformance.generate.cases import draw_cases
from conformance.generate.claim import Claim
from conformance.generate.pool import drawn_large, drawn_pool
from conformance.model import Case

CANDIDATES_PER_CASE = 6
"""Cases from which each case of a batch is chosen."""

CASES_PER_NEGATIVE = 12
"""One case in so many is a negative test."""

LIMITS = (32, 64, 128, 512, 64, 2048, 128, 64, 512, 64, 256, 1 << 15)
"""Elements of the inputs of a case of a batch, at most, one batch after the other.

Batches of LARGE and more also get a case of tens of thousands.
"""

LARGE = 2048
"""A limit from which a batch has a larger case, too."""

MAX_COVERING_ELEMENTS = 8192
"""Elements of a case that may cover something new, where the batch has smaller ones."""

MAX_BATCH_ELEMENTS = 30_000
"""Elements of the cases of a batch, at most."""

FREE_ELEMENTS = 200
"""Elements that hardly matter, when possible coverage is weighed against size."""

SEEDS = 1 << 32


class Batches:
    """An endless supply of batches, decided by ``root`` and by what was covered meanwhile.

    Args:
        claim: the declared element types and ranks.
        is_allowed: returns whether a case is of the declared subset.
    """

    def __init__(
        self,
        operator: Operator,
        claim: Claim,
        is_allowed: Callable[[Case], bool],
        root: int,
        level: str,
    ) -> None:
        self.operator, self._claim, self._is_allowed = operator, claim, is_allowed
        self._root, self._level = root, level
        self.number = 0
        self.origins: dict[str, tuple[Case, partial[Case | None]]] = {}
        """By negative test of the last batch: its valid case, and how it is made of one."""

    def batch(self, count: int, guidance: Guidance) -> list[Case]:
        """Draw at most ``count`` cases, and a large one in some batches.

        Half of them are random, half for uncovered pairs and mutants, a few are negative tests.
        """
        chance = Random(f"{self._root}/{self.operator.op}/{self.number}/fuzz")  # noqa: S311
        limit = LIMITS[self.number % len(LIMITS)]
        self.number += 1
        negative_count = count // CASES_PER_NEGATIVE
        cases = self._candidates(CANDIDATES_PER_CASE * count, limit, chance)
        sizes = np.array([_elements(case) for case in cases], np.int64)
        rows = [
            *self._most_useful(cases, sizes, guidance)[: count // 4],
            *guidance.killing_rows(cases, sizes)[: count // 4],
            *np.flatnonzero(sizes <= limit),
        ]
        batch: list[Case] = []
        elements = 0
        for row in dict.fromkeys(map(int, rows)):
            elements += int(sizes[row])
            if elements > MAX_BATCH_ELEMENTS or len(batch) == count - negative_count:
                break
            batch.append(cases[row])
        if limit >= LARGE:
            batch += self._allowed(drawn_large(self.operator, chance.randrange(SEEDS), 1))
        batch += self._negative(batch, negative_count, chance)
        return list({case.id: case for case in batch}.values())

    def _candidates(self, count: int, limit: int, chance: Random) -> list[Case]:
        """Return cases in random order: near to what people run, and anything that is declared."""
        near = drawn_pool(self.operator, chance.randrange(SEEDS), count // 2)
        claim, seed = self._claim, chance.randrange(SEEDS)
        anything = draw_cases(
            self.operator, count // 2, seed=seed, dtypes=claim.dtypes, ranks=claim.ranks
        )
        largest = max(limit, MAX_COVERING_ELEMENTS)
        cases = [c for c in self._allowed((*near, *anything)) if _elements(c) <= largest]
        chance.shuffle(cases)
        return cases

    def _allowed(self, cases: Iterable[Case]) -> Iterator[Case]:
        return filter(self._is_allowed, cases)

    def _most_useful(self, cases: Sequence[Case], sizes: Rows, guidance: Guidance) -> list[int]:
        """Return the cases that may cover new pairs of targets, most for their size first."""
        pairs = [
            guidance.new_pairs(reported_names(targets_of(self.operator, case)), case.rank)
            for case in cases
        ]
        gain = np.array(pairs) / (FREE_ELEMENTS + sizes)
        return [int(row) for row in np.argsort(-gain, kind="stable") if pairs[row]]

    def _negative(self, valid: Sequence[Case], count: int, chance: Random) -> list[Case]:
        """Make negative tests from some of the cases."""
        made: list[Case] = []
        self.origins = {}
        for origin in chance.sample(valid, min(count, len(valid))):
            tests = self._tests_of(origin)
            if tests:
                test = chance.choice(tests)
                remake = partial(self._remade, test.reject)
                self.origins[test.id] = origin, remake
                made.append(test)
        return made

    def _tests_of(self, valid: Case) -> list[Case]:
        return [
            test.case
            for test in negative_tests(self.operator, [valid])
            if self._level in ("should", test.level) and test.case.dtype in self._claim.dtypes
        ]

    def _remade(self, condition: str | None, valid: Case) -> Case | None:
        """Make the negative test of a condition from a valid case, if possible."""
        return next((test for test in self._tests_of(valid) if test.reject == condition), None)


def _elements(case: Case) -> int:
    """Return the elements of all inputs."""
    return sum(map(prod, case.shapes.values()))
