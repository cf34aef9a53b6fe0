"""Other data in the same memory: vectors followed by others of the same shapes.

The two are asked one after the other, and their data often lie at the same address. So a backend
that recognises its input by shape or address gives the first one's result.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from conformance.errors import ConformanceError
from conformance.generate.build import build
from conformance.generate.strategies import SEEDS
from conformance.model import Case, Vector
from conformance.spec.model import OpSpec
from conformance.verdict import SMOKE

RARITY = {"core": 4, SMOKE: 1}
"""One value vector in so many is followed by another one of the same shapes and other data."""

MANY, MOST = 8, 6
"""One vector in so many of these is followed by up to so many, against a backend that counts."""

APART = 1 << 34
"""Between the numbers of two rounds of data; those of one are below."""


def other_data(case: Case, number: int) -> Case:
    """The case with the data of another seed; one for each ``number``."""
    return replace(case, seed=case.seed % SEEDS + (1 + number) * SEEDS)


def with_twins(spec: OpSpec, vectors: Sequence[Vector], seed: int, suite: str) -> list[Vector]:
    """The vectors of a ``suite``, core or smoke, in another order, some followed by twins.

    ``seed`` is below 2**33; it decides the order, which vectors have twins, and their data.
    """
    chance = random.Random(seed)  # noqa: S311 - whoever knows the seed may know the order
    order = list(vectors)
    chance.shuffle(order)
    there = {vector.id for vector in vectors}
    found: list[Vector] = []
    for vector in order:
        found.append(vector)
        if vector.case.reject is not None or chance.randrange(RARITY[suite]):
            continue
        several = 1 if chance.randrange(MANY) else chance.randint(2, MOST)
        for number in range(several):
            twin = _twin(spec, found[-1], 2 * seed + 1 + number * APART)
            if twin is not None and twin.id not in there:
                there.add(twin.id)
                found.append(twin)
    return found


def _twin(spec: OpSpec, vector: Vector, number: int) -> Vector | None:
    """The vector with other data; None where these are the same, as with every seed of zeros."""
    case = other_data(vector.case, number)
    try:
        twin = build(spec, case, vector.level)
    except ConformanceError:
        return None
    same = all(a.tobytes() == b.tobytes() for a, b in zip(twin.inputs, vector.inputs, strict=True))
    return None if same else twin
