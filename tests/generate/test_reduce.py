"""Vectors that others make superfluous are left out, and nothing else is lost."""

from __future__ import annotations

from itertools import chain, combinations
from math import ceil

import pytest

from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import mutant_states
from conformance.audit.partitions import partitions_of_rank
from conformance.audit.score import MutationScore
from conformance.generate.candidates import any_case
from conformance.generate.pairs import Effort
from conformance.generate.reduce import reduced
from conformance.generate.suites import twins, with_twins
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec.catalogue import mutants_of
from conformance.spec.loader import find_spec

Kills = dict[str, tuple[Kill, ...]]
SPEC = find_spec("AdaptiveMaxPool-8")
CATALOGUE = mutants_of(SPEC)


@pytest.fixture(scope="module")
def drawn(exhaustive: bool) -> tuple[list[Vector], Kills]:
    groups = any_case(SPEC, [], root=0, effort=Effort(base=60, aimed=1))
    cases = list(chain.from_iterable(groups))
    cases = cases[:: 1 if exhaustive else 4]
    vectors = with_twins(SPEC, (build(SPEC, case) for case in cases))
    kills = MutantRunner(SPEC, CATALOGUE).all_kills(vectors)
    return vectors, dict(zip((vector.id for vector in vectors), kills, strict=True))


@pytest.fixture(scope="module")
def few(drawn: tuple[list[Vector], Kills]) -> list[Vector]:
    return reduced(SPEC, CATALOGUE, *drawn)


def test_far_fewer_are_left_in_their_order(
    drawn: tuple[list[Vector], Kills], few: list[Vector]
) -> None:
    # Of so few drawn cases, in thirteen patterns, many are the only one that shows something.
    assert len(few) < 0.7 * len(drawn[0])
    ids = [vector.id for vector in few]
    assert ids == [vector.id for vector in drawn[0] if vector.id in ids]


def test_they_show_the_same_pairs_and_edges(
    drawn: tuple[list[Vector], Kills], few: list[Vector]
) -> None:
    def shown(vectors: list[Vector]) -> set[tuple[object, ...]]:
        of_type = {(v.case.types["T"], v.inputs[0].ndim, edge) for v in vectors for edge in v.edges}
        pairs = {
            (v.inputs[0].ndim, pair)
            for v in vectors
            if v.case.types["T"] == "f32"
            for pair in combinations(v.edges, 2)
        }
        return of_type | pairs

    assert shown(few) == shown(drawn[0])


def test_they_kill_the_same_in_each_part(
    drawn: tuple[list[Vector], Kills], few: list[Vector]
) -> None:
    vectors, kills = drawn

    def found(some: list[Vector]) -> list[object]:
        own = {vector.id: kills[vector.id] for vector in some}
        return list(
            mutant_states(SPEC, CATALOGUE, {vector.id: vector.case for vector in some}, own, {})
        )

    assert found(few) == found(vectors)
    assert len(found(few)) == sum(1 for rank in SPEC.ranks for _ in partitions_of_rank(SPEC, rank))


def test_no_mutants_are_alike_that_were_told_apart(
    drawn: tuple[list[Vector], Kills], few: list[Vector]
) -> None:
    kills = drawn[1]
    before = MutationScore(SPEC.op, CATALOGUE, kills).indistinguishable
    after = MutationScore(SPEC.op, CATALOGUE, {v.id: kills[v.id] for v in few}).indistinguishable
    assert set(map(frozenset, after)) == set(map(frozenset, before))


def test_twins_stay_together(drawn: tuple[list[Vector], Kills], few: list[Vector]) -> None:
    kept, known = {vector.id for vector in few}, {vector.id for vector in drawn[0]}
    for vector in few:
        assert {case.id for case in twins(SPEC, vector.case)} & known <= kept


def test_of_padded_vectors_enough_stay_that_most_backends_can_run() -> None:
    spec = find_spec("AvgPool-1")

    def padded(size: int, pad: int, kernel: int, seed: int) -> Vector:
        attributes = {
            "strides": [1],
            "kernel": [kernel],
            "pads_begin": [pad],
            "pads_end": [0],
            "exclude-pad": True,
        }
        shapes = {"data": (1, 1, size)}
        return build(
            spec, Case(spec.op, {"T": "f32"}, shapes, attributes, pattern="normal", seed=seed)
        )

    outside = [padded(size, 3, 3, 0) for size in (4, 8, 16, 32)]
    inside = [padded(9, 1, 3, seed) for seed in range(40)]
    few = reduced(spec, (), [*outside, *inside], {v.id: () for v in (*outside, *inside)})
    rare = sum(vector in outside for vector in few)
    assert rare > 1
    assert len(few) == ceil(rare / 0.4)
