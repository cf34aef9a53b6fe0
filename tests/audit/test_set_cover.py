"""A cover shows everything that can be shown, and none of its members could be left out."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.audit.set_cover import greedy_cover

Member = tuple[frozenset[int], int]

POOLS = st.lists(
    st.tuples(st.frozensets(st.integers(0, 12), max_size=6), st.integers(1, 50)), max_size=25
)


def chosen(pool: list[Member]) -> list[Member]:
    return greedy_cover(pool, lambda member: member[0], lambda member: member[1])


def shown(members: list[Member]) -> set[int]:
    return {item for items, _ in members for item in items}


@given(POOLS)
def test_everything_is_shown_and_nothing_is_superfluous(pool: list[Member]) -> None:
    found = chosen(pool)
    assert shown(found) == shown(pool)
    for number in range(len(found)):
        assert shown(found[:number] + found[number + 1 :]) < shown(found)


@given(POOLS)
def test_members_keep_their_order(pool: list[Member]) -> None:
    rest = iter(pool)
    assert all(any(member is other for other in rest) for member in chosen(pool))


@given(POOLS, st.randoms(use_true_random=False))
def test_the_order_within_a_set_does_not_matter(pool: list[Member], order: random.Random) -> None:
    def shuffled(member: Member) -> list[int]:
        items = list(member[0])
        order.shuffle(items)
        return items

    assert greedy_cover(pool, shuffled, lambda member: member[1]) == chosen(pool)


@pytest.mark.parametrize(
    ("pool", "found"),
    [
        ([], []),
        ([({}, 1)], []),
        # Two cheap ones rather than one dear one; one dear one rather than three.
        ([({1}, 1), ({2}, 1), ({1, 2}, 5)], [0, 1]),
        ([({1}, 3), ({2}, 3), ({3}, 3), ({1, 2, 3}, 5)], [3]),
        # The first of equal ones.
        ([({1}, 2), ({1}, 2), ({2}, 2), ({2}, 2)], [0, 2]),
        # The largest gain is taken first, and is not needed in the end.
        ([({1, 2, 3, 4}, 4), ({1, 2, 5}, 4), ({3, 4, 6}, 4)], [1, 2]),
    ],
)
def test_small_pools(pool: list[tuple[set[int], int]], found: list[int]) -> None:
    members = [(frozenset(items), cost) for items, cost in pool]
    assert [next(i for i, m in enumerate(members) if m is one) for one in chosen(members)] == found


@given(POOLS)
def test_no_member_alone_could_be_replaced_by_a_cheaper_one(pool: list[Member]) -> None:
    found = chosen(pool)
    for number, (_, cost) in enumerate(found):
        rest = found[:number] + found[number + 1 :]
        needed = shown(pool) - shown(rest)
        assert all(other >= cost for items, other in pool if needed <= items)


@given(POOLS, st.integers(1, 1000))
def test_costs_matter_by_their_proportion_alone(pool: list[Member], factor: int) -> None:
    assert greedy_cover(
        pool, lambda member: member[0], lambda member: factor * member[1]
    ) == chosen(pool)


@given(POOLS, st.integers(1, 20))
def test_a_search_shows_the_same_with_no_more_members(pool: list[Member], tries: int) -> None:
    found = searched(pool, tries)
    assert shown(found) == shown(pool)
    assert price(found) <= price(chosen(pool))
    assert found == searched(pool, tries)


def searched(pool: list[Member], tries: int) -> list[Member]:
    return greedy_cover(pool, lambda member: member[0], lambda member: member[1], tries=tries)


def price(members: list[Member]) -> tuple[int, int]:
    return len(members), sum(cost for _, cost in members)


def test_what_is_started_with_is_taken_first() -> None:
    pool = [frozenset("ab"), frozenset("cd"), frozenset("bc"), frozenset("ad")]
    first = greedy_cover(pool, lambda one: one, lambda _: 1.0)
    other = greedy_cover(pool, lambda one: one, lambda _: 1.0, start=[pool[2]])
    assert first == [pool[0], pool[1]]
    assert other == [pool[2], pool[3]]
