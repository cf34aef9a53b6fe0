"""Drawn suites: containers of different vectors, each made by itself, or a clear end."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from conformance.audit.coverage import covered_targets
from conformance.core.loader import load_operator
from conformance.errors import UsageError
from conformance.generate import drawn
from conformance.generate.drawn import Drawing, pieces
from conformance.generate.narrow import Claim
from conformance.generate.reject import reject_cases
from conformance.model import Case, Vector
from conformance.spec.loader import find_spec
from conformance.spec.strata import REMAINDER, STRATUM, Strata, strata_of
from conformance.suite.lint import inputs_digest

NOWHERE = Path("nowhere")


def test_a_container_gives_what_is_asked_and_nothing_twice() -> None:
    spec = find_spec("AdaptiveAvgPool-8")
    containers = [list(Drawing(spec, number, 30, 0, NOWHERE).vectors()) for number in (1, 2, 4)]
    every = [vector for own in containers for vector in own]
    assert len(every) == len({vector.id for vector in every}) == 90
    for own in containers:
        assert len({inputs_digest(vector) for vector in own}) == 30
    assert {vector.inputs[0].ndim for vector in containers[0]} == {4}
    again = list(Drawing(spec, 2, 30, 0, NOWHERE).vectors())
    assert [vector.id for vector in again] == [vector.id for vector in containers[1]]
    other = list(Drawing(spec, 2, 30, 1, NOWHERE).vectors())
    assert not {vector.id for vector in other} & {vector.id for vector in again}


def test_so_many_vectors_are_containers_and_one_of_negative_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = find_spec("AvgPool-1")
    monkeypatch.setattr(drawn, "MAX_VECTORS", 10)
    found = pieces(spec, 25, root=3, folder=NOWHERE)
    assert [one.count for one in found] == [10, 10, 5, 0]
    assert len({one.file for one in found}) == 4
    rejected = list(found[-1].vectors())
    assert [v.case for v in rejected] == [case for case, _ in reject_cases(spec, root=3)]


def test_only_what_is_claimed_is_drawn() -> None:
    claim = Claim(("f32",), (4,), ("any(strides > 1)",))
    for number in (1, 2):
        one = Drawing(find_spec("AvgPool-1"), number, 20, 0, NOWHERE, claim)
        for vector in one.vectors():
            assert (vector.case.types["T"], vector.inputs[0].ndim) == ("f32", 4)
            assert set(vector.case.attributes["strides"]) == {1}


def test_only_what_is_claimed_of_a_definition_is_drawn() -> None:
    claim = Claim(("f32", "f64"), (4,), ("T == f64 and any(strides > 1)", "has(B)"))
    drawing = Drawing(load_operator("onnx.Conv-22"), 1, 20, 0, NOWHERE, claim)
    cases = [vector.case for vector in drawing.vectors()]
    assert len(cases) == 20
    assert {case.dtype for case in cases} == {"f32", "f64"}
    assert all("B" not in case.shapes for case in cases)
    for case in cases:
        strides = case.attributes.get("strides", [1])
        assert case.dtype == "f32" or set(strides) == {1}


def test_an_operator_with_too_few_cases_is_an_error_and_no_endless_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(*_: object) -> list[Case]:
        return []

    monkeypatch.setattr(drawn, "sound", nothing)
    with pytest.raises(UsageError, match="no 5 different vectors on one rank: only 0 were found"):
        list(Drawing(find_spec("AvgPool-1"), 1, 5, 0, NOWHERE).vectors())


def test_it_meets_remainders_in_strata_and_others_in_each_piece(
    monkeypatch: pytest.MonkeyPatch, exhaustive: bool
) -> None:
    """Of a piece on rank 4: more than where nothing is drawn in strata."""
    spec = find_spec("AvgPool-1")
    of_images = [number for number in range(9) if spec.ranks[number % len(spec.ranks)] == 4]
    one, *others = (
        _met(list(Drawing(spec, number, 200, 0, NOWHERE).vectors()))
        for number in of_images[: 2 if exhaustive else 1]
    )
    monkeypatch.setattr(Strata, "aims", lambda *_: [])
    without = _met(list(Drawing(spec, of_images[0], 200, 0, NOWHERE).vectors()))
    assert len(one) > 1.2 * len(without)
    for another in others:
        assert one - another
        assert another - one


def _met(vectors: list[Vector]) -> set[tuple[str, str]]:
    """The pairs of stratum and remainder that some vectors of rank 4 meet."""
    strata = strata_of(find_spec(vectors[0].case.op))
    of_strata = replace(strata.whole, edges=strata.all)
    return {
        pair
        for names in covered_targets(of_strata, 4, vectors)
        for pair in combinations(sorted(names), 2)
        if pair[0].startswith(REMAINDER) and pair[1].startswith(STRATUM)
    }
