"""Large cases that nobody has published: many channels and images, tens of thousands of elements.

Recorded cases are small. A kernel may be right on them and leave out what lies beyond some channel,
image or element.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice

from conformance.choices import SuiteName
from conformance.core.data import SEPARATOR, patterns_of
from conformance.core.operator import Operator
from conformance.errors import ConformanceError
from conformance.generate.paired_cases import other_data
from conformance.generate.pool import drawn_large, in_type, most_terms
from conformance.model import Case, Vector
from conformance.specification import build, ranks_of

IMAGES, CHANNELS, ELEMENTS = (8, 32), (64, 256), (50_000, 500_000)
"""The fewest and the most."""

RARITY = 20
"""A large case stands before one vector in so many, until there are none left."""

STEPS = 1 << 19
"""Taps or terms of a case at most: it takes about a second to evaluate, a plain kernel some."""

DRAWN = 24
"""Large cases that are drawn for each element type."""


def with_large(
    spec: Operator,
    vectors: Iterable[Vector],
    seed: int,
    suite: str,
    allowed: Callable[[Case], bool] = lambda _: True,
) -> Iterator[Vector]:
    """Yield the vectors of a ``suite``, core or smoke, with large ones among them.

    In core they are of each element type in each rank, in smoke in one rank; those that
    are ``allowed``. ``seed`` decides them and their places.
    """
    chance = random.Random(f"places {seed}")  # noqa: S311 - the seed may be known later
    cases = filter(allowed, large_cases(spec, seed, every_rank=suite != SuiteName.SMOKE))
    for vector in vectors:
        if not chance.randrange(RARITY):
            yield from _built(spec, islice(cases, 1))
        yield vector
    yield from _built(spec, cases)


def _built(spec: Operator, cases: Iterable[Case]) -> Iterator[Vector]:
    for case in cases:
        with suppress(ConformanceError):
            yield build(spec, case)


def large_cases(spec: Operator, seed: int, *, every_rank: bool) -> Iterator[Case]:
    """Yield a large case of each element type, in ``every_rank`` or in one, where one is valid.

    ``seed`` decides them. Their data have nothing in common with those of other seeds. They are
    plain, which is cheap and tells the elements apart.
    """
    chance = random.Random(f"large {seed} {spec.op}")  # noqa: S311 - the seed may be known later
    root = chance.randrange(1 << 32)
    dtypes = next(iter(spec.types.values()))
    ranks = ranks_of(spec)
    for rank in chance.sample(ranks, len(ranks)):
        drawn = drawn_large(spec, root, DRAWN * len(dtypes), rank)
        fitting = [case for case in drawn if ELEMENTS[0] <= most_terms(spec, case) <= STEPS]
        # Loops over the first two dimensions are those whose ends small cases do not reach.
        furthest = sorted(fitting, key=_reach, reverse=True)[:2]
        for case, dtype in zip(cycle(furthest), dtypes, strict=False):
            typed = in_type(spec, other_data(case, root), dtype)
            plain = (patterns[0] for patterns in patterns_of(spec, typed.types))
            yield replace(typed, pattern=SEPARATOR.join(plain))
        if fitting and not every_rank:
            return


def _reach(case: Case) -> float:
    """How far the first two dimensions reach, the one that reaches less."""
    extents = next(iter(case.shapes.values()))[:2]
    if len(extents) < 2:
        return 0
    return min(n / low for n, (low, _) in zip(extents, (IMAGES, CHANNELS), strict=True))
