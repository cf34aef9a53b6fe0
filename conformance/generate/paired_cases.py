"""Paired cases: vectors followed by others that are nearly the same question.

The two are asked one after the other, and their data often lie at the same address. So a backend
that recognises its input, by shape, address, samples of its data, the first bytes, a sum, a rounded
copy, some of the tensors, or by the data without an attribute, gives the first one's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from random import Random
from typing import Any, TypeVar

import numpy as np

from conformance.choices import SuiteName
from conformance.core.data import varied_case
from conformance.core.operator import Operator
from conformance.core.varied_data import LATE, LOW, ONE, SWAP, variations_of
from conformance.errors import ConformanceError
from conformance.generate.bounds import can_evaluate
from conformance.generate.cases import SEEDS
from conformance.model import OPEN_BIT, Answer, Case, Vector
from conformance.specification import build

T = TypeVar("T")

RARITY = {"core": 4, SuiteName.SMOKE: 1}
"""One value vector in so many is followed by another one of the same shapes."""

MANY, MOST = 8, 6
"""One vector in so many of these is followed by up to so many, against a backend that counts."""

TRIED = 6
"""How many cases of one kind are tried, until one has another result."""

OTHERS = 40
"""How many other cases are looked at for values of attributes."""

LONG = 1 << 10
"""Bytes of data that a backend may take for all."""

APART = 1 << 34
"""Between the numbers of two rounds of data; those of one are below."""

ATTRIBUTE, OTHER = "attribute", "other"
KINDS = (LATE, LOW, LOW, ONE, SWAP, ATTRIBUTE, ATTRIBUTE, OTHER)
"""The kinds of paired cases; twice what is not found for each: bf16 data have no low bits."""


def other_data(case: Case, number: int) -> Case:
    """Return the case with the data of another seed; one for each ``number``."""
    return replace(case, seed=case.seed % SEEDS + (1 + number) * SEEDS)


def with_paired_cases(
    spec: Operator, vectors: Sequence[Vector], seed: int, suite: str
) -> Iterator[Vector]:
    """Yield the vectors of a ``suite``, core or smoke, in another order, some with paired cases.

    These have other data, or the same but for an element, for low bits or for the order, or the
    same data and another value of one attribute. ``seed`` is below 2**33; it decides the order,
    which vectors have paired cases, and their data.
    """
    chance = Random(seed)  # noqa: S311 - whoever knows the seed may know the order
    order = list(range(len(vectors)))
    chance.shuffle(order)
    cases = [vector.case for vector in vectors]
    there = {case.id for case in cases}
    near = _Near(spec, chance, [case for case in cases if case.reject is None])
    for index in order:
        vector = vectors[index]
        yield vector
        if vector.case.reject is not None or chance.randrange(RARITY[suite]):
            continue
        several = 1 if chance.randrange(MANY) else chance.randint(2, MOST)
        for number in range(several):
            paired = near.to(vector, 2 * seed + 1 + number * APART)
            if paired is not None and paired.id not in there:
                there.add(paired.id)
                yield paired


class _Near:
    """Finds paired cases whose results are told from those of the first."""

    def __init__(self, spec: Operator, chance: Random, cases: Sequence[Case]) -> None:
        self.spec, self.chance = spec, chance
        self._by_rank: dict[int, list[Case]] = {}
        for case in cases:
            self._by_rank.setdefault(case.rank, []).append(case)

    def to(self, vector: Vector, number: int) -> Vector | None:
        """A paired case of a vector; with the data of ``number`` if no nearer one is found."""
        kind = self.chance.choice(KINDS)
        sizes = {n: a.nbytes for n, a in zip(vector.names, vector.inputs, strict=True)}
        tensors = [n for n in vector.case.shapes if n not in vector.case.operands]
        if any(sizes[name] > LONG for name in tensors) and self.chance.randrange(2):
            # The few long ones alone have something beyond what a memo looks at.
            kind, tensors = LATE, [name for name in tensors if sizes[name] > LONG]
        for case in islice(self._cases(kind, vector.case, tensors), TRIED):
            paired = self._built(case, vector)
            if paired is not None and _told_apart(vector, paired):
                return paired
        paired = self._built(other_data(vector.case, number), vector)
        return None if paired is None or _same_inputs(vector, paired) else paired

    def _cases(self, kind: str, case: Case, tensors: Sequence[str]) -> Iterator[Case]:
        """The cases of a kind that are near to one, in any order."""
        if kind == ATTRIBUTE:
            yield from self._with_another_attribute(case)
        elif kind != OTHER:
            for variation in self._shuffled(variations_of(kind)):
                for tensor in self._shuffled(tensors):
                    yield varied_case(self.spec, case, tensor, variation)

    def _with_another_attribute(self, case: Case) -> Iterator[Case]:
        """The same data, with the value that an attribute or an operand has in another case.

        Each has its turn, before the first gets yet another value.
        """
        alike = self._by_rank[case.rank]
        others = self.chance.sample(alike, min(len(alike), OTHERS))
        changes = [
            [_changed(case, field, name, getattr(other, field).get(name)) for other in others]
            for field in ("attributes", "operands")
            for name in {n: None for other in [case, *others] for n in getattr(other, field)}
        ]
        seen = {case.id}
        for near in chain(*zip(*self._shuffled(changes), strict=True)):
            if near.id not in seen and can_evaluate(self.spec, near):
                yield near
            seen.add(near.id)

    def _shuffled(self, items: Sequence[T]) -> list[T]:
        return self.chance.sample(items, len(items))

    def _built(self, case: Case, beside: Vector) -> Vector | None:
        try:
            return build(self.spec, case, beside.level)
        except ConformanceError:
            return None


def _changed(case: Case, field: str, name: str, value: Any) -> Case:
    """A case with another value of an attribute or an operand, which is left out if None."""
    given = {key: own for key, own in getattr(case, field).items() if key != name}
    if value is not None:
        given[name] = value
    changes: dict[str, Any] = {field: given}
    return replace(case, **changes)


def _same_inputs(one: Vector, other: Vector) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one.inputs, other.inputs, strict=True))


def _told_apart(first: Vector, second: Vector) -> bool:
    """Whether the results of the first vector are wrong for the second."""
    return any(
        a.expected.shape != b.expected.shape or bool(np.any(_outside(a, b)))
        for a, b in zip(first.answers, second.answers, strict=True)
    )


def _outside(given: Answer, wanted: Answer) -> np.ndarray | np.bool_:
    """Which elements of one answer another one does not accept."""
    unspecified = np.uint8(0) if wanted.open is None else wanted.open & OPEN_BIT["standard"]
    if given.choices is not None or wanted.choices is not None:
        return np.bool_(False)
    if given.rounded is None or wanted.rounded is None:
        return (unspecified == 0) & (given.expected != wanted.expected)
    low, high = (one.astype(np.float64) for one in wanted.interval("standard"))
    value = given.rounded.astype(np.float64)
    inside = ((low <= value) & (value <= high)) | np.isnan(low)
    return (unspecified == 0) & ~inside
