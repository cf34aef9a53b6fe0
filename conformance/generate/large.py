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
from math import prod

from conformance.choices import SuiteName
from conformance.core.data import SEPARATOR, patterns_of
from conformance.core.operator import Operator
from conformance.errors import ConformanceError
from conformance.generate.definition_pool import drawn_large, in_type, most_terms
from conformance.generate.paired_cases import other_data
from conformance.generate.pool import draw_fast
from conformance.generate.strategies import SEEDS
from conformance.model import Case, Vector
from conformance.reference.batches import batch_of
from conformance.spec.case_environment import resized
from conformance.spec.case_table import table_of
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations
from conformance.specification import Specification, build, ranks_of

IMAGES, CHANNELS, ELEMENTS = (8, 32), (64, 256), (50_000, 500_000)
"""The fewest and the most."""

RARITY = 20
"""A large case stands before one vector in so many, until there are none left."""

TRIED = 60
"""Cases that are drawn for a type and a rank, until one is valid in a large shape."""

STEPS = 1 << 19
"""Taps or terms of a case at most: it takes about a second to evaluate, a plain kernel some."""

DRAWN = 24
"""Large cases of a definition that are drawn for each element type."""

PATTERNS = ("normal", "ramp")
"""Data that tell the elements apart."""


def with_large(
    spec: Specification,
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


def _built(spec: Specification, cases: Iterable[Case]) -> Iterator[Vector]:
    for case in cases:
        with suppress(ConformanceError):
            yield build(spec, case)


def askable_large(spec: OpSpec, case: Case) -> bool:
    """Whether a large case from outside can be evaluated: it is valid, and within the bounds."""
    try:
        rank = spec.rank_of(case)
        known = case.reject is None and case.pattern in spec.data.patterns
        return known and not violations(spec, case) and _cheap(spec, case, rank)
    except (ConformanceError, ValueError, TypeError, KeyError, IndexError):
        return False


def large_cases(spec: Specification, seed: int, *, every_rank: bool) -> Iterator[Case]:
    """Yield a large case of each element type, in ``every_rank`` or in one, where one is valid.

    ``seed`` decides them. Their data have nothing in common with those of other seeds.
    """
    chance = random.Random(f"large {seed} {spec.op}")  # noqa: S311 - the seed may be known later
    if isinstance(spec, Operator):
        yield from _large_of_definition(spec, chance, every_rank=every_rank)
        return
    ranks = list(spec.ranks)
    for dtype in spec.types[spec.data.type]:
        for rank in ranks if every_rank else chance.sample(ranks, 1):
            yield from filter(None, [large_case(spec, rank, dtype, chance)])


def _large_of_definition(
    operator: Operator, chance: random.Random, *, every_rank: bool
) -> Iterator[Case]:
    """Yield large cases with plain data, which are cheap and tell the elements apart."""
    root = chance.randrange(1 << 32)
    dtypes = next(iter(operator.types.values()))
    ranks = ranks_of(operator)
    for rank in chance.sample(ranks, len(ranks)):
        drawn = drawn_large(operator, root, DRAWN * len(dtypes), rank)
        fitting = [case for case in drawn if ELEMENTS[0] <= most_terms(operator, case) <= STEPS]
        # Loops over the first two dimensions are those whose ends small cases do not reach.
        furthest = sorted(fitting, key=_reach, reverse=True)[:2]
        for case, dtype in zip(cycle(furthest), dtypes, strict=False):
            typed = in_type(operator, other_data(case, root), dtype)
            plain = (patterns[0] for patterns in patterns_of(operator, typed.types))
            yield replace(typed, pattern=SEPARATOR.join(plain))
        if fitting and not every_rank:
            return


def _reach(case: Case) -> float:
    """How far the first two dimensions reach, the one that reaches less."""
    extents = next(iter(case.shapes.values()))[:2]
    if len(extents) < 2:
        return 0
    return min(n / low for n, (low, _) in zip(extents, (IMAGES, CHANNELS), strict=True))


def large_case(spec: OpSpec, rank: int, dtype: str, chance: random.Random) -> Case | None:
    """A large case of a type and a rank; None where none is found to be valid."""
    return next(_candidates(spec, rank, dtype, chance), None)


def _candidates(spec: OpSpec, rank: int, dtype: str, chance: random.Random) -> Iterator[Case]:
    root = chance.randrange(1 << 32)
    patterns = [one for one in PATTERNS if one in spec.data.patterns]
    for drawn in draw_fast(spec, rank, TRIED, root=root):
        types = {**drawn.types, spec.data.type: dtype}
        pattern = chance.choice(patterns) if patterns else drawn.pattern
        number = (1 + root) * SEEDS + drawn.seed % SEEDS
        case = replace(drawn, types=types, pattern=pattern, seed=number)
        try:
            case = resized(spec, case, _shape(rank, chance))
            if not violations(spec, case) and _cheap(spec, case, rank):
                yield case
        except (ConformanceError, ValueError, TypeError, IndexError):
            continue  # what was drawn does not fit a large shape


def _shape(rank: int, chance: random.Random) -> tuple[int, ...]:
    """Images, channels, and axes that differ from each other."""
    images, channels = chance.randint(*IMAGES), chance.randint(*CHANNELS)
    low, high = ELEMENTS
    wanted = low * (high / low) ** (chance.random() ** 2)  # most of them nearer to the fewest
    axes: list[int] = []
    for left in range(rank - 2, 0, -1):
        rest = max(1.0, wanted / (images * channels * prod(axes)))
        size = rest ** (1 / left) * (chance.uniform(0.6, 1.6) if left > 1 else 1)
        axes.append(max(1, -int(-size // 1)))
    return (images, channels, *axes)


def _cheap(spec: OpSpec, case: Case, rank: int) -> bool:
    """Whether a case is within the bounds, and evaluated in about a second."""
    batch = batch_of(table_of(spec, [case], rank))
    elements = prod(case.shapes[spec.data.name])
    low, high = ELEMENTS
    fits = low <= elements <= high and batch.smallest[0] > 0 and batch.largest[0] <= high
    return bool(fits and batch.steps[0] <= STEPS)
