"""Drawn suites: containers of different vectors, each made by itself, or a clear end."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.generate import drawn
from conformance.generate.claim import Claim
from conformance.generate.drawn import Drawing, pieces
from conformance.model import Case
from conformance.specification import broken_conditions, find_spec, level_of, violations
from conformance.suite.lint import inputs_digest

NOWHERE = Path("nowhere")


def test_a_container_gives_what_is_asked_and_nothing_twice() -> None:
    spec = find_spec("AdaptiveAvgPool-8")
    containers = [list(Drawing(spec, number, 30, 0, NOWHERE).vectors()) for number in (1, 2, 4)]
    every = [vector for own in containers for vector in own]
    assert len(every) == len({vector.id for vector in every}) == 90
    for own in containers:
        assert len({inputs_digest(vector) for vector in own}) == 30
    assert {vector.inputs[0].ndim for vector in every} == {3, 4, 5}
    again = list(Drawing(spec, 2, 30, 0, NOWHERE).vectors())
    assert [vector.id for vector in again] == [vector.id for vector in containers[1]]
    other = list(Drawing(spec, 2, 30, 1, NOWHERE).vectors())
    assert not {vector.id for vector in other} & {vector.id for vector in again}


def test_an_operator_that_refuses_nothing_has_no_empty_container() -> None:
    found = pieces(find_spec("onnx.Tanh-13"), 40, root=0, folder=NOWHERE)
    assert [piece.count for piece in found] == [40]


def test_so_many_vectors_are_containers_and_one_of_negative_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = find_spec("AvgPool-1")
    monkeypatch.setattr(drawn, "MAX_VECTORS", 10)
    found = pieces(spec, 25, root=3, folder=NOWHERE)
    assert [one.count for one in found] == [10, 10, 5, 0]
    assert len({one.file for one in found}) == 4
    rejected = list(found[-1].vectors())
    assert len(rejected) > 20
    for vector in rejected:
        broken = {one.condition for one in violations(spec, vector.case)}
        assert broken == broken_conditions(spec, vector.case) == {vector.case.reject}
        assert vector.level == level_of(spec, vector.case)


def test_only_what_is_claimed_is_drawn() -> None:
    claim = Claim(("f32",), (4,), ("any(strides > 1)",))
    for number in (1, 2):
        one = Drawing(find_spec("AvgPool-1"), number, 20, 0, NOWHERE, claim)
        for vector in one.vectors():
            assert (vector.case.types["T"], vector.inputs[0].ndim) == ("f32", 4)
            assert set(vector.case.attributes["strides"]) == {1}


def test_what_is_claimed_may_depend_on_types_and_inputs() -> None:
    claim = Claim(("f32", "f64"), (4,), ("T == f64 and any(strides > 1)", "has(B)"))
    drawing = Drawing(find_spec("onnx.Conv-22"), 1, 20, 0, NOWHERE, claim)
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
    def nothing(*_: object, **__: object) -> list[Case]:
        return []

    monkeypatch.setattr(drawn, "draw_cases", nothing)
    with pytest.raises(UsageError, match="no 5 different vectors on one rank: only 0 were found"):
        list(Drawing(find_spec("AvgPool-1"), 1, 5, 0, NOWHERE).vectors())
