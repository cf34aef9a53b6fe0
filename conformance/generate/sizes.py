"""Large cases: sizes at which real kernels take another path, with attributes that people run.

It knows no operator. The attributes are those of small cases that were selected before, the
plainest first, so they are legal and within what most backends declare; the sizes are a table. The
data are distinct integers, as far as the type has so many, so that an element that is lost,
repeated or misplaced shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import prod

from conformance.audit.trivial_implementations import trivially_passed
from conformance.errors import ConformanceError
from conformance.model import Case
from conformance.reference import evaluate
from conformance.reference.build import build
from conformance.reference.values import data_of, operands_of
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations

SIZES: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((1, 2, 1100), (1, 319, 9), (1, 287, 49), (1, 1, 5000), (9, 3, 37), (33, 1, 17)),
    4: (
        *((1, 319, 5, 5), (9, 5, 9, 9), (1, 287, 7, 7), (33, 1, 7, 7), (1, 2, 3, 1100)),
        *((2, 67, 11, 19), (1, 1, 224, 224), (1, 1, 264, 264), (65537, 1, 1, 2)),
    ),
    5: (
        *((1, 319, 2, 3, 3), (9, 2, 4, 5, 5), (1, 287, 3, 4, 4), (33, 1, 3, 3, 3)),
        (1, 2, 9, 40, 40),
    ),
}
"""By rank, those first that all types get: rows of more than 64 and 1,024, images beyond blocks of
8 and 32 and beyond 65,536, channels beyond 256 with a rest of 31 by 32, planes of more than 65,536
elements."""

WHOLE = {(1, 287, 49), (1, 287, 7, 7), (1, 287, 3, 4, 4)}
"""Sizes whose planes give as few results as possible, each from many elements."""

LONG = 1024
"""Results of a row that are to be exceeded where the data have longer rows."""

FEW = 3
"""How many of them the types other than f32 get, for each rank."""

BEYOND = 2**31
"""A number that many attributes allow, and that does not fit i32."""

MOST = 70_000
"""Results of a case: each costs tens of microseconds to bound."""

COMMON = "f32"
PATTERN, SEED = "ramp", 43
USUAL = 7
PLAIN = 6
"""How many attributes of small cases take turns."""


def large_cases(spec: OpSpec, small: Sequence[Case]) -> Iterator[Case]:
    """The large cases of an operator, with the attributes of ``small`` cases that are valid."""
    for dtype in spec.types[spec.data.type]:
        for rank in sorted({spec.rank_of(case) for case in small}):
            there = [
                case
                for case in small
                if case.types[spec.data.type] == dtype and spec.rank_of(case) == rank
            ]
            plainest = _plainest(spec, there)
            if not plainest:
                continue
            sizes = SIZES.get(rank, ())
            for number, shape in enumerate(sizes if dtype == COMMON else sizes[:FEW]):
                yield from _of_shape(spec, plainest, shape, number)
            if dtype == COMMON:
                yield from _beyond(spec, plainest)


def _plainest(spec: OpSpec, cases: Sequence[Case]) -> list[Case]:
    """The cases with the fewest attributes given, each with other attributes; larger results
    first."""
    named = spec.data.name
    told: dict[str, Case] = {}
    for case in sorted(cases, key=lambda one: (_oddity(one), -prod(one.shapes[named]), one.id)):
        told.setdefault(
            repr((sorted(case.attributes.items()), sorted(case.operands.items()))), case
        )
    return list(told.values())[: 4 * PLAIN]


def _oddity(case: Case) -> tuple[int, int]:
    """How many attributes a case gives; how much their numbers differ along a list, and from the
    small ones that people use."""
    values = [*case.attributes.values(), *case.operands.values()]
    lists = [[one] if not isinstance(one, list | tuple) else list(one) for one in values]
    numbers = [[one for one in some if type(one) is int] for some in lists]
    return len(values), sum(
        len({*some}) - 1 + sum(max(0, one - USUAL) for one in some) for some in numbers if some
    )


def _of_shape(
    spec: OpSpec, plainest: Sequence[Case], shape: tuple[int, ...], number: int
) -> Iterator[Case]:
    """The case of one shape: with the first attributes, from one turn on, that leave much of it (of
    rows longer than LONG as many results), or very little where it is one of WHOLE, and whose
    values no trivial implementation gives."""
    row = shape[-1]
    much = prod(shape) // 5 if row <= LONG else prod(shape) // row * (LONG + 1)
    turned = [*plainest[number % PLAIN :], *plainest[: number % PLAIN]]
    resized = filter(None, (_resized(spec, case, shape) for case in turned))
    sized = [(size, case) for case in resized if 0 < (size := _results(spec, case)) <= MOST]
    sized.sort(key=lambda at: at[0] if shape in WHOLE else -min(at[0], much))
    fit = (case for _, case in sized if not trivially_passed(spec, build(spec, case)))
    yield from islice(fit, 1)


def _resized(spec: OpSpec, case: Case, shape: tuple[int, ...]) -> Case | None:
    """A case with data of another shape; None where it is not valid."""
    shapes = {name: shape if name == spec.data.name else own for name, own in case.shapes.items()}
    made = replace(case, shapes=shapes, pattern=PATTERN, seed=SEED)
    return None if list(violations(spec, made)) else made


def _results(spec: OpSpec, case: Case) -> int:
    """How many elements the first result has; 0 where it cannot be evaluated."""
    inputs = [*data_of(spec, case), *operands_of(spec, case)]
    try:
        return int(evaluate(spec, inputs, case.attributes)[0].size)
    except ConformanceError:
        return 0


def _beyond(spec: OpSpec, plainest: Sequence[Case]) -> Iterator[Case]:
    """Small cases with a number that does not fit i32, in each attribute that allows it."""
    # Beside a word, such as a mode of padding, the document may leave open what a number means.
    wordless = (
        one for one in plainest if not any(isinstance(v, str) for v in one.attributes.values())
    )
    plain = list(wordless)[:PLAIN]
    for name in dict.fromkeys(name for case in plain for name in case.attributes):
        made = next(filter(None, (_beyond_in(spec, one, name) for one in plain)), None)
        if made is not None:
            yield made


def _beyond_in(spec: OpSpec, case: Case, name: str) -> Case | None:
    """A case whose attribute is a list of that number; None where it is not valid.

    A number that stands alone may be an exponent, and such a power is not computed.
    """
    before = case.attributes.get(name)
    if not isinstance(before, list) or not before or any(type(one) is not int for one in before):
        return None
    attributes = {**case.attributes, name: [BEYOND] * len(before)}
    made = replace(case, attributes=attributes, pattern=PATTERN, seed=SEED)
    if list(violations(spec, made)) or not _results(spec, made):
        return None
    return None if trivially_passed(spec, build(spec, made)) else made
