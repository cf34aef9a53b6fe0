"""Crossing, the pool, and condensing: children join what parents show, and nothing is lost."""

from __future__ import annotations

import copy
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest

from conformance.audit.set_cover import greedy_cover_rows
from conformance.families.pooling.windows import WindowEnvironment
from conformance.generate.chance import Chance
from conformance.generate.condense import asked, breed, choose
from conformance.generate.crossing import case_of, crossed
from conformance.generate.looking import MAX_ELEMENTS, MAX_TAPS, Sight
from conformance.generate.pairs import SMOKE, Effort, Pool
from conformance.generate.pool import draw
from conformance.generate.settle import settle
from conformance.model import Case
from conformance.reference import facts
from conformance.reference.build import edges_of
from conformance.reference.values import data_of
from conformance.spec.case_table import table_of
from conformance.spec.default_attributes import with_defaults
from conformance.spec.loader import find_spec
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations

AVG, MAX = find_spec("AvgPool-1"), find_spec("AdaptiveMaxPool-8")


@pytest.mark.parametrize("op", ["AvgPool-1", "AdaptiveMaxPool-8", "torch.max_pool-2"])
def test_a_table_gives_its_cases_back(op: str) -> None:
    spec = find_spec(op)
    for rank in spec.ranks:
        cases = draw(spec, rank, 40, root=7)
        table = table_of(spec, cases, rank)
        assert [case_of(table, row) for row in range(len(table))] == cases


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("op", [AVG.op, MAX.op])
def test_every_part_of_a_child_is_that_of_a_parent(op: str, rank: int) -> None:
    spec, chance = find_spec(op), Chance("parts")
    cases = draw(spec, rank, 30, root=7)
    a, b = (chance.below(len(cases), 60) for _ in range(2))
    children = crossed(table_of(spec, cases, rank), a, b, chance)
    for row, (one, other) in enumerate(zip(a, b, strict=True)):
        child, parents = case_of(children, row), (cases[one], cases[other])
        assert (child.pattern, child.seed, child.types) in (
            (parent.pattern, parent.seed, parent.types) for parent in parents
        )
        assert child.shapes["data"][:2] in [parent.shapes["data"][:2] for parent in parents]
        per_axis = {q.key for q in spec.attributes if q.per_axis}
        given = with_defaults(spec, child)
        single = {name: v for name, v in given.items() if name not in per_axis}
        assert any(single.items() <= with_defaults(spec, parent).items() for parent in parents)
        known = [on_axis(p, axis, per_axis) for p in parents for axis in range(rank - 2)]
        assert all(on_axis(child, axis, per_axis) in known for axis in range(rank - 2))


def on_axis(case: Case, axis: int, per_axis: set[str]) -> tuple[Any, ...]:
    """All that a case says of one axis."""
    return (
        case.shapes["data"][axis + 2],
        *(case.attributes[name][axis] for name in sorted(per_axis)),
        *(value[axis] for value in case.operands.values()),
    )


def test_freely_crossed_children_differ_from_both_parents_in_one_number() -> None:
    cases = draw(AVG, 3, 30, root=7)
    same = np.zeros(400, np.int64)
    children = crossed(table_of(AVG, cases, 3), same, same, Chance("alone"), freely=True)
    changed = 0
    for row in range(len(children)):
        child = with_defaults(AVG, case_of(children, row))
        child["size"] = case_of(children, row).shapes["data"][2:]
        own = {**with_defaults(AVG, cases[0]), "size": cases[0].shapes["data"][2:]}
        differing = [name for name in own if child[name] != own[name]]
        assert len(differing) <= 1
        changed += len(differing)
    assert changed > 150


def sized(spec: OpSpec, case: Case) -> bool:
    """Whether the data and the output are neither empty nor too large, and their windows too."""
    shape = case.shapes["data"]
    env = WindowEnvironment(spec, case)
    outputs = prod(shape[:2]) * prod(env.out)
    if not (prod(shape) and 0 < outputs <= MAX_ELEMENTS >= prod(shape)):
        return False
    taps = prod(int(env.along("taps", axis).sum()) for axis in range(len(shape) - 2))
    return prod(shape[:2]) * taps <= MAX_TAPS


@pytest.mark.parametrize("op", ["AvgPool-1", "torch.max_pool-2"])
def test_what_is_seen_of_children_is_so(op: str) -> None:
    """Those that are kept are valid, and show what they are said to show; the others are not."""
    spec, chance = find_spec(op), Chance(op)
    cases = draw(spec, 4, 60, root=9)
    parents = [chance.below(len(cases), 500) for _ in range(2)]
    children = crossed(table_of(spec, cases, 4), *parents, chance, freely=True)
    sight = Sight(spec, 4)
    seen = sight.look(children, patiently=True)
    exact = sight.settle(seen, np.arange(len(seen)))
    assert exact.settled.all()
    kept = {case_of(seen.table, row).id for row in range(len(seen))}
    for row in range(0, len(children), 3):
        case = case_of(children, row)
        fit = min(case.shapes["data"]) >= 0 and not violations(spec, case) and sized(spec, case)
        if case.id not in kept:
            assert not fit or np.all(facts(spec, case, data_of(spec, case))["open"])
        else:
            assert fit
    for row in range(0, len(exact), 3):
        case = case_of(exact.table, row)
        shown = {sight.edges[n] for n in np.flatnonzero(exact.shows[row, :-1])}
        assert shown == set(edges_of(spec, case, data_of(spec, case)))


@pytest.fixture(scope="module")
def filled() -> Pool:
    found = Pool(MAX, 3, 1, Effort(base=150, aimed=1))
    found.fill()
    return found


@pytest.fixture
def pool(filled: Pool) -> Pool:
    """A pool of its own for each test: they change it."""
    return copy.deepcopy(filled)


class TestBreed:
    def test_nothing_shown_is_lost_and_fewer_cases_show_it(self, pool: Pool) -> None:
        before = pool.pairs.copy()
        count = len(choose(pool))
        breed(pool, 2, 2000)
        assert (before <= pool.pairs).all()
        assert not any(violations(MAX, case) for case in pool.cases())
        # Of the items that were shown before, fewer cases now show all.
        first, second = np.triu_indices(len(pool.edges), 1)
        needed = before[first, second]
        shows = pool.shows[:, first[needed]] & pool.shows[:, second[needed]]
        fewer = greedy_cover_rows(shows, pool.seen.cost)
        assert shows[fewer].any(axis=0).all()
        assert len(fewer) < count

    def test_the_same_pool_gives_the_same_children(self, pool: Pool) -> None:
        other = Pool(MAX, 3, 1, Effort(base=150, aimed=1))
        other.fill()
        for one in (pool, other):
            breed(one, 1, 500)
        assert list(pool.cases()) == list(other.cases())

    def test_a_cover_of_one_case_has_no_children(self, pool: Pool) -> None:
        pool.ban(range(1, len(pool)))
        pool.reopen()
        breed(pool, 3, 50)
        assert len(pool) == 1


class TestPool:
    def test_what_is_banned_is_not_taken_again(self, pool: Pool) -> None:
        case, count = pool.case(0), len(pool)
        pool.add([case])
        assert len(pool) == count
        pool.ban([0])
        pool.add([case])
        assert case not in pool.cases()

    def test_reopening_counts_anew(self, pool: Pool) -> None:
        assert not pool.reopen()
        items = asked(pool)
        rare = int(np.flatnonzero(items[:, items.sum(axis=0) == 1].any(axis=1))[0])
        pool.ban([rare])
        assert pool.reopen()
        assert not pool.reopen()

    def test_empty_and_large_cases_are_not_kept(self, pool: Pool) -> None:
        case, count = pool.case(0), len(pool)
        for size in ((1, 1, 0), (0, 1, 4), (1, 1, MAX_ELEMENTS + 1)):
            pool.add([replace(case, shapes={"data": size})])
        assert len(pool) == count

    def test_without_pairs_edges_alone_are_sought(self) -> None:
        found = Pool(MAX, 3, 1, SMOKE)
        found.fill()
        settle(found)
        assert found.missing() == []
        chosen = choose(found)
        for edge, shown in zip(found.edges, found.shows[chosen].any(axis=0), strict=True):
            assert shown != ((edge, edge) in found.infeasible)
        assert len(chosen) < 25
