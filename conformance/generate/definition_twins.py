"""Paired cases of a definition: the same shapes and attributes with other data.

A backend that recognises an input by its shape, or by where it lies, gives the first one's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from conformance.core.operator import Operator
from conformance.generate.twins import RARITY, other_data
from conformance.model import Case, Vector
from conformance.specification import build


def reseeded(case: Case, seed: int) -> Case:
    """Return a case with data that nobody who does not know ``seed`` has seen."""
    return other_data(case, 2 * seed)


def with_other_data(
    operator: Operator, vectors: Sequence[Vector], seed: int, suite: str
) -> Iterator[Vector]:
    """Yield the vectors of a ``suite``, core or smoke, in another order, some with a paired case.

    ``seed`` is below 2**33; it decides the order, which vectors have paired cases, and their data.
    """
    chance = Random(seed)  # noqa: S311 - whoever knows the seed may know the order
    order = list(range(len(vectors)))
    chance.shuffle(order)
    for number in order:
        vector = vectors[number]
        yield vector
        if vector.case.reject is None and not chance.randrange(RARITY[suite]):
            paired = build(operator, other_data(vector.case, 2 * seed + 1), vector.level)
            if _differ(vector, paired):
                yield paired


def _differ(first: Vector, second: Vector) -> bool:
    """Return whether two vectors of one shape have other inputs."""
    return any(a.tobytes() != b.tobytes() for a, b in zip(first.inputs, second.inputs, strict=True))
