"""Backends of operators with several outputs that have a bug in one of them alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from faulty import answered, bank, searched, vector

from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.wording import describe_mutants
from conformance.dtypes import Array
from conformance.grade.returned import unpack_outputs
from conformance.implementations import implementation_of, subject_of
from conformance.model import FAILED, Result, Vector
from conformance.specification import find_spec
from conformance.suite.entries import Entry

OP = "AdaptiveMaxPool-8"
BOTH = "even-split-if-first-axis-divides"
"""A mutant that changes values and indices, and that none is like which changes values alone."""


def images(entry: Entry, dtypes: Sequence[str] = ("f32",)) -> bool:
    """Vectors of images, of f32 if nothing else is said."""
    return entry.dtype in dtypes and entry.id.split("-")[1].count("x") == 3


@pytest.fixture(scope="module", params=[0, 1], ids=["values", "indices"])
def run(request: pytest.FixtureRequest) -> tuple[int, list[Result], list[Explanation]]:
    """What a backend is told that has the mutant in one output."""
    altered = implementation_of(find_spec(OP), bank(OP)[BOTH].change)
    wrong: int = request.param

    def made(one: Vector, right: list[Array]) -> list[Array]:
        given = subject_of(find_spec(OP), one.case, one.inputs).under(altered)[wrong]
        return [given if number == wrong else own for number, own in enumerate(right)]

    results = answered(OP, made, images)
    return wrong, results, searched(OP, results)


def test_it_is_named_and_where_it_is(run: tuple[int, list[Result], list[Explanation]]) -> None:
    wrong, results, found = run
    failed = {result.id for result in results if result.status in FAILED}
    assert len(failed) > 10
    named = [one for one in found if any(fault.id == BOTH for fault in one.mutants)]
    told = {vector for one in named for vector in one.agreements}
    assert told == failed
    (name,) = {name for one in named for name in one.outputs}
    assert name == ("result", "indices")[wrong]
    assert any(f"Only in the {name}" in describe_mutants(one)["sentence"] for one in named)


def test_outputs_that_are_right_are_no_part_of_it(
    run: tuple[int, list[Result], list[Explanation]],
) -> None:
    wrong, results, _ = run
    altered = implementation_of(find_spec(OP), bank(OP)[BOTH].change)
    failed = next(result for result in results if result.status in FAILED)
    outputs = unpack_outputs(failed.returned or ())
    asked = ObservedVector(find_spec(OP), vector(failed.id), outputs, {}, "must")
    assert asked.wrong_outputs == {wrong}
    assert asked.wrong_outputs_only is not None
    assert asked.wrong_outputs_only.agreement(altered, {}) is Agreement.EQUAL
    assert asked.wrong_outputs_only.wrong_outputs_only is None


def test_noise_in_one_output_has_no_name() -> None:
    def made(one: Vector, right: list[Array]) -> list[Array]:
        indices = right[1]
        if indices.size:
            indices.flat[-1] = (indices.flat[-1] * 7 + 3) % max(1, one.inputs[0].size)
        return right

    results = answered(OP, made, images)
    assert sum(result.status in FAILED for result in results) > 20
    assert searched(OP, results) == []


def test_what_explains_the_least_of_it_has_no_name() -> None:
    """Values of f16 that look like a known bug, beside as many of f32 that look like none."""
    altered = implementation_of(find_spec(OP), bank(OP)[BOTH].change)

    def made(one: Vector, right: list[Array]) -> list[Array]:
        if one.answers[0].expected.dtype.itemsize == 2:
            return [subject_of(find_spec(OP), one.case, one.inputs).under(altered)[0], right[1]]
        return [values if at else values + values.dtype.type(17) for at, values in enumerate(right)]

    results = answered(OP, made, lambda e: images(e, ("f16", "f32")) and e.elements < 60)
    failed = [result.dtype for result in results if result.status in FAILED]
    assert 1 < failed.count("f16") < failed.count("f32")
    assert searched(OP, results) == []
