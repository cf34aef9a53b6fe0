"""Paired cases: vectors followed by others that are nearly the same question.

The two are asked one after the other, and their data often lie at the same address. So a backend
that recognises its input, by shape, address, samples of its data, the first bytes, a rounded copy,
or by the data without the attributes, gives the first one's result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from conformance.choices import SuiteName
from conformance.errors import ConformanceError
from conformance.generate.looking import askable
from conformance.generate.strategies import SEEDS
from conformance.model import OPEN_BIT, Answer, Case, Vector
from conformance.reference.build import build
from conformance.reference.values import LATE, LOW, ONE, PLACES, varied
from conformance.spec.model import OpSpec

RARITY = {"core": 4, SuiteName.SMOKE: 1}
"""One value vector in so many is followed by another one of the same shapes."""

MANY, MOST = 8, 6
"""One vector in so many of these is followed by up to so many, against a backend that counts."""

TRIED = 6
"""How many cases of one kind are tried, until one has another result."""

LONG = 1 << 10
"""Bytes of data that a backend may take for all."""

APART = 1 << 34
"""Between the numbers of two rounds of data; those of one are below."""


def other_data(case: Case, number: int) -> Case:
    """The case with the data of another seed; one for each ``number``."""
    return replace(case, seed=case.seed % SEEDS + (1 + number) * SEEDS)


def with_twins(spec: OpSpec, vectors: Sequence[Vector], seed: int, suite: str) -> list[Vector]:
    """The vectors of a ``suite``, core or smoke, in another order, some followed by paired cases.

    These have other data, or the same but for one element, for one late in the array, for low bits,
    or the same data and other attributes. ``seed`` is below 2**33; it decides the order, which
    vectors have paired cases, and their data.
    """
    chance = random.Random(seed)  # noqa: S311 - whoever knows the seed may know the order
    order = list(vectors)
    chance.shuffle(order)
    there = {vector.id for vector in vectors}
    near = _Near(spec, chance, order)
    found: list[Vector] = []
    for vector in order:
        found.append(vector)
        if vector.case.reject is not None or chance.randrange(RARITY[suite]):
            continue
        several = 1 if chance.randrange(MANY) else chance.randint(2, MOST)
        for number in range(several):
            twin = near.to(found[-1], 2 * seed + 1 + number * APART)
            if twin is not None and twin.id not in there:
                there.add(twin.id)
                found.append(twin)
    return found


class _Near:
    """Finds paired cases whose results are told from those of the first."""

    def __init__(self, spec: OpSpec, chance: random.Random, vectors: Sequence[Vector]) -> None:
        self.spec, self.chance = spec, chance
        self._asked: dict[int, list[Case]] = {}
        for case in (one.case for one in vectors if one.case.reject is None):
            self._asked.setdefault(self._rank(case), []).append(case)
        self._kinds: Mapping[str, Callable[[Case], Iterator[Case]]] = {
            "late": lambda case: self._places(case, LATE),
            "low": lambda case: iter([varied(case, LOW)]),
            "one": lambda case: self._places(case, ONE),
            "attributes": self._attributes,
            "other": lambda _: iter(()),
        }

    def to(self, vector: Vector, number: int) -> Vector | None:
        """A paired case of a vector; with the data of ``number`` if no nearer one is found."""
        kind = self.chance.choice([*self._kinds, "low"])  # which bf16 data have not
        if vector.inputs[0].nbytes > LONG and self.chance.randrange(2):
            kind = "late"  # the few long ones alone have something beyond what a memo looks at
        for case in self._kinds[kind](vector.case):
            twin = self._built(case, vector)
            if twin is not None and _told_apart(vector, twin):
                return twin
        twin = self._built(other_data(vector.case, number), vector)
        return None if twin is None or _same_inputs(vector, twin) else twin

    def _rank(self, case: Case) -> int:
        return len(case.shapes[self.spec.data.name])

    def _places(self, case: Case, kind: int) -> Iterator[Case]:
        for place in self.chance.sample(range(PLACES), TRIED):
            yield varied(case, kind, place)

    def _attributes(self, case: Case) -> Iterator[Case]:
        """The same data with the attributes and operands of other vectors."""
        others = self._asked[self._rank(case)]
        for other in self.chance.sample(others, min(len(others), 4 * TRIED)):
            new = replace(case, attributes=other.attributes, operands=other.operands)
            if new.id != case.id and askable(self.spec, new):
                yield new

    def _built(self, case: Case, beside: Vector) -> Vector | None:
        try:
            return build(self.spec, case, beside.level)
        except ConformanceError:
            return None


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
    if given.rounded is None or wanted.rounded is None:
        if given.choices is not None or wanted.choices is not None:
            return np.bool_(False)
        return given.expected != wanted.expected
    low, high = (one.astype(np.float64) for one in wanted.interval("standard"))
    value = given.rounded.astype(np.float64)
    unspecified = np.uint8(0) if wanted.open is None else wanted.open & OPEN_BIT["standard"]
    inside = ((low <= value) & (value <= high)) | np.isnan(low)
    return (unspecified == 0) & ~inside
