"""The smallest conjunction that tells failing from passing vectors, beside a search of them all."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.diagnosis.conditions import (
    MAX_CONDITIONS,
    Condition,
    Separation,
    _tail,
    find_separation,
)
from conformance.diagnosis.wording import describe_conditions
from conformance.model import Result, Status

EDGES = tuple("abcdef")


def results(rows: list[frozenset[str]], status: Status) -> list[Result]:
    return [
        Result(f"{status}-{i}", "AvgPool-1", status, edges=tuple(sorted(row)), dtype="f32", rank=3)
        for i, row in enumerate(rows)
    ]


def meets(row: frozenset[str], conditions: tuple[Condition, ...]) -> bool:
    features = {*row, "f32", "rank 3"}
    return all((one.feature in features) == one.holds for one in conditions)


ROWS = st.lists(st.frozensets(st.sampled_from(EDGES)), min_size=2, max_size=8)


@given(ROWS, ROWS)
def test_what_is_said_is_true_and_no_shorter_conjunction_is_exact(
    failed: list[frozenset[str]], passed: list[frozenset[str]]
) -> None:
    found = find_separation(results(failed, Status.FAIL), results(passed, Status.PASS))
    every = [Condition(edge, holds) for edge in EDGES for holds in (True, False)]
    most = min(MAX_CONDITIONS, len(failed) - 1)
    exact = [
        some
        for some in chain.from_iterable(combinations(every, n) for n in range(1, most + 1))
        if all(meets(row, some) for row in failed)
        and not any(meets(row, some) for row in passed)
        and sum(not one.holds for one in some) <= 1
    ]
    if found is None:
        assert not exact
        return
    assert all(meets(row, found.conditions) for row in failed)
    assert found.meet == sum(meets(row, found.conditions) for row in passed)
    assert (found.failing, found.passing) == (len(failed), len(passed))
    assert found.exact == bool(exact)
    if exact:
        assert len(found.conditions) == min(map(len, exact))


def test_an_edge_and_what_is_lacking_beside_it() -> None:
    failed = results([frozenset("ab"), frozenset("abc")] * 2, Status.FAIL)
    passed = results([frozenset("a"), frozenset("b"), frozenset("abd")], Status.PASS)
    conditions = (Condition("a"), Condition("b"), Condition("d", holds=False))
    assert find_separation(failed, passed) == Separation(conditions, 4, 0, 3)


@pytest.mark.parametrize(
    ("passing_count", "lacking"), [(1, ()), (3, (Condition("d", holds=False),))]
)
def test_a_condition_that_drops_so_few_vectors_may_be_chance(
    passing_count: int, lacking: tuple[Condition, ...]
) -> None:
    """Of 100 vectors 10 fail, all with a; of those that pass a few have it, beside d."""
    failed = results([frozenset("a")] * 10, Status.FAIL)
    hidden = [frozenset("ad")] * passing_count
    passed = results([*hidden, *[frozenset("bc")] * (90 - passing_count)], Status.PASS)
    met_count = 0 if lacking else passing_count
    conditions = (Condition("a"), *lacking)
    assert find_separation(failed, passed) == Separation(conditions, 10, met_count, 90)


def test_an_attribute_that_failing_vectors_leave_out() -> None:
    alike = [frozenset("a")] * 3
    failed = [replace(one, left_out=("dilations",)) for one in results(alike, Status.FAIL)]
    passed = results(alike, Status.PASS)
    found = Separation((Condition("dilations omitted"),), 3, 0, 3)
    assert find_separation(failed, passed) == found
    told = describe_conditions(found, None, rejected=False, by_chance=False)
    assert told["sentence"] == "Fails whenever dilations is omitted."


def test_what_may_be_coincidence_is_called_so() -> None:
    found = Separation((Condition("a"), Condition("b", holds=False)), 2, 0, 2)
    told = describe_conditions(found, None, rejected=False, by_chance=True)
    assert told["sentence"] == "All have a and not b; may be coincidence."


@pytest.mark.parametrize(
    ("met_count", "sentence"),
    [
        (3, "Fails on vectors with a, though not on all of them."),
        (4, "All have a, but so do 4 passing vectors."),
    ],
)
def test_what_most_vectors_that_have_it_fail_on_is_a_condition_of_failing(
    met_count: int, sentence: str
) -> None:
    separation = Separation((Condition("a"),), 7, met_count, 90)
    described = describe_conditions(separation, None, rejected=False, by_chance=False)
    assert described["sentence"] == sentence


def test_one_failure_is_no_pattern_and_without_passes_there_is_nothing_to_tell() -> None:
    failed = results([frozenset("a"), frozenset("a")], Status.FAIL)
    passed = results([frozenset("b")], Status.PASS)
    assert find_separation(failed[:1], passed) is None
    assert find_separation(failed, []) is None
    assert find_separation(failed, passed) is not None


def test_conditions_that_most_passing_vectors_meet_too_are_not_told() -> None:
    failed = results([frozenset("a")] * 3, Status.FAIL)
    passed = results([frozenset("a")] * 5 + [frozenset("b")] * 5, Status.PASS)
    assert find_separation(failed, passed) is None


def test_conditions_that_were_picked_for_a_few_of_many_failures_may_be_chance() -> None:
    """Of 69 vectors 19 fail, those with c; 5 of these are told apart by i, which 6 vectors have."""
    lost = [frozenset("ci")] * 5 + [frozenset("c")] * 14
    failed = results(lost, Status.FAIL)
    passed = results([frozenset({f"other-{i}"}) for i in range(50)], Status.PASS)
    picked = Separation((Condition("i"),), 5, 0, 50)
    assert picked.by_chance(failed, passed)
    whole = Separation((Condition("c"),), 19, 0, 50)
    assert not whole.by_chance(failed, passed)


def test_two_failures_of_two_vectors_are_no_chance_among_many_but_are_among_few() -> None:
    failed = results([frozenset("a")] * 2, Status.FAIL)
    both = [results([frozenset("bc")] * many, Status.PASS) for many in (5, 500)]
    told = [find_separation(failed, passed) for passed in both]
    assert [one and one.by_chance(failed, some) for one, some in zip(told, both, strict=True)] == [
        True,
        False,
    ]


@given(*[st.integers(0, 9)] * 4)
def test_the_chance_is_that_of_all_ways_to_fail(
    there: int, meet: int, more: int, rest: int
) -> None:
    """Vectors that fail at random, drawn in every way from those that meet conditions or not."""
    failing, passing = there + more, meet + rest
    every, having = failing + passing, there + meet
    ways = sum(
        comb(having, some) * comb(every - having, failing - some)
        for some in range(there, min(having, failing) + 1)
    )
    assert _tail(there, meet, failing, passing) == pytest.approx(ways / comb(every, failing))
