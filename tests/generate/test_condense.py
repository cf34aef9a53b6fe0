"""Condensing: children join what their parents show, and nothing that was shown is lost."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest

from conformance.audit.cover import cover
from conformance.generate.condense import breed, choose, cross
from conformance.generate.pairs import Effort, Pool
from conformance.generate.pool import draw
from conformance.generate.spelling import in_full
from conformance.model import Case
from conformance.spec.loader import find
from conformance.spec.validity import violations

AVG, MAX = find("AvgPool-1"), find("AdaptiveMaxPool-8")


def drawn(op: str, rank: int) -> list[Case]:
    return draw(find(op), rank, 30, root=7)


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("op", [AVG.op, MAX.op])
def test_every_part_of_a_child_is_that_of_a_parent(op: str, rank: int) -> None:
    spec, chance = find(op), random.Random(3)
    cases = drawn(op, rank)
    for _ in range(60):
        a, b = chance.sample(cases, 2)
        child = cross(spec, a, b, chance)
        assert child.op == op
        assert (child.pattern, child.seed, child.types) in (
            (one.pattern, one.seed, one.types) for one in (a, b)
        )
        assert child.shapes["data"][:2] in (a.shapes["data"][:2], b.shapes["data"][:2])
        per_axis = {q.name for q in spec.attributes if q.per_axis}
        given = in_full(spec, child)
        single = {name: v for name, v in given.items() if name not in per_axis}
        assert any(single.items() <= in_full(spec, one).items() for one in (a, b))
        for axis in range(rank - 2):
            assert on_axis(child, axis, per_axis) in [on_axis(x, axis, per_axis) for x in (a, b)]


def on_axis(case: Case, axis: int, per_axis: set[str]) -> tuple[Any, ...]:
    """All that a case says of one axis."""
    return (
        case.shapes["data"][axis + 2],
        *(case.attributes[name][axis] for name in sorted(per_axis)),
        *(value[axis] for value in case.operands.values()),
    )


def test_a_case_with_itself_is_itself() -> None:
    for case in drawn(AVG.op, 4):
        assert cross(AVG, case, case, random.Random(0)) == case


@pytest.fixture
def pool() -> Pool:
    found = Pool(MAX, 3, 1, Effort(base=150, aimed=1))
    found.fill()
    return found


class TestBreed:
    def test_nothing_shown_is_lost_and_fewer_cases_show_it(self, pool: Pool) -> None:
        shown, typed = set(pool.shown), set(pool.typed)
        before = {item for one in choose(pool) for item in one.items}
        count = len(choose(pool))
        breed(pool, 2, 300)
        assert shown <= pool.shown
        assert typed <= pool.typed
        bred = list(pool.candidates.values())
        fewer = cover(bred, lambda one: before.intersection(one.items), lambda one: one.cost)
        assert before <= {item for one in fewer for item in one.items}
        assert len(fewer) < count
        assert all(not violations(MAX, one.case) for one in bred)

    def test_the_same_pool_gives_the_same_children(self, pool: Pool) -> None:
        other = Pool(MAX, 3, 1, Effort(base=150, aimed=1))
        other.fill()
        for one in (pool, other):
            breed(one, 1, 100)
        assert list(pool.candidates) == list(other.candidates)

    def test_a_cover_of_one_case_has_no_children(self, pool: Pool) -> None:
        (first, *rest) = pool.candidates
        for name in rest:
            pool.ban(name)
        breed(pool, 3, 50)
        assert list(pool.candidates) == [first]


class TestPool:
    def test_what_is_banned_is_not_taken_again(self, pool: Pool) -> None:
        one = next(iter(pool.candidates.values()))
        assert pool.add(one.case) is one
        pool.ban(one.case.id)
        assert pool.add(one.case) is None
        assert one.case.id not in pool.candidates

    def test_reopening_counts_anew(self, pool: Pool) -> None:
        assert not pool.reopen()
        rare = next(
            one
            for one in pool.candidates.values()
            if any(
                sum(item in other.items for other in pool.candidates.values()) == 1
                for item in list(one.items)[:40]
            )
        )
        pool.ban(rare.case.id)
        assert pool.reopen()
        assert not pool.reopen()

    def test_empty_and_large_cases_are_not_kept(self, pool: Pool) -> None:
        case = next(iter(pool.candidates.values())).case
        for size in ((1, 1, 0), (0, 1, 4), (1, 1, 40_000)):
            assert pool.add(dataclasses.replace(case, shapes={"data": size})) is None
