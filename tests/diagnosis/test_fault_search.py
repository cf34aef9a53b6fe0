"""Backends that are made of faults are said to have these, and no others."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiers
import yaml
from faulty import SHIPPED, answered, asked, bank, explained, run, says_all, searched, vector
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.catalogue import catalogue_mutants
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.operator_results import MAX_COMPARED_FAILURES
from conformance.dtypes import Array
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import FAILED, Result, Status, Vector
from conformance.specification import find_spec
from conformance.suite.entries import Entry

COMPOSITES = yaml.safe_load(Path(__file__).with_name("composites.yaml").read_text())["backends"]


@st.deferred
def some_fault() -> st.SearchStrategy[tuple[str, str]]:
    """Any fault of the catalogue that a vector can show, with its operator."""
    return st.sampled_from(SHIPPED.manifest.ops).flatmap(of_operator)


def of_operator(op: str) -> st.SearchStrategy[tuple[str, str]]:
    faults = [
        (op, fault.id)
        for fault in catalogue_mutants(find_spec(op))
        if not fault.equivalent and not fault.excused_by and fault.id in noticed(op)
    ]
    return st.sampled_from(faults) if faults else st.nothing()


@cache
def noticed(op: str) -> frozenset[str]:
    return frozenset().union(*(entry.kills for entry in filter(says_all, asked(op))))


def alike(op: str, fault: str) -> frozenset[str]:
    """The faults that no vector of the suite tells from one, by its audit."""
    groups = SHIPPED.manifest.strength[op].indistinguishable
    return frozenset({fault}).union(*(group for group in groups if fault in group))


def named(found: Explanation, op: str, faults: list[str]) -> bool:
    """Whether an explanation, or one as good, names nothing but some of the faults."""
    allowed = frozenset().union(*(alike(op, fault) for fault in faults))
    return any(
        all(one.id in allowed for one in some) for some in (found.mutants, *found.alternatives)
    )


def small(entry: Entry) -> bool:
    """Whether a vector has data of rank 3, of a type with fractions or a small one without."""
    return entry.dtype in ("f32", "i8") and entry.id.split("-")[1].count("x") == 2


def check(op: str, faults: list[str]) -> list[Explanation]:
    results, found = explained(op, faults)
    failed = {result.id for result in results if result.status in FAILED}
    told = {result.id for result in results if result.returned is not None}
    assert failed
    agreeing = {vector for one in found for vector in one.agreements}
    assert agreeing <= told
    assert len(agreeing) == min(MAX_COMPARED_FAILURES, len(told))
    for one in found:
        assert named(one, op, faults), (one.ids, faults)
    for fault in faults:
        seen = product(*((one.mutants, *one.alternatives) for one in found))
        assert any(
            alike(op, fault) & {f.id for group in choice for f in group} for choice in seen
        ), fault
    for one in found:
        assert one.failing <= len(told)
        assert one.passing + len(failed) <= len(results)
    return found


@settings(max_examples=tiers.examples(12, few=3), deadline=None)
@given(some_fault)
def test_a_single_fault_is_always_named(chosen: tuple[str, str]) -> None:
    op, fault = chosen
    (found,) = check(op, [fault])
    assert len(found.mutants) == 1
    assert found.is_everywhere


@pytest.mark.parametrize(
    "one",
    tiers.sweep(COMPOSITES, lambda one: [one["op"], len(one["faults"])]),
    ids=lambda one: f"{one['op']}:{'+'.join(one['faults'])}",
)
def test_composite_backends(one: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if "open" in one:
        request.applymarker(pytest.mark.xfail(reason=one["open"], strict=True))
    check(one["op"], one["faults"])


def test_a_fault_that_shows_beside_another_alone_is_named_with_a_third() -> None:
    """ONNX Runtime's search for a maximum: its start shows only where its position does, too."""
    op = "onnx.MaxPool-22"
    faults = [
        "index-before-first-of-each-axis",
        "search-begins-at-lowest",
        "same-forgets-dilations",
    ]
    results = list(run(op, faults, small))
    found = searched(op, results)
    assert {f.id for one in found for f in one.mutants} == set(faults)
    assert set(faults) in [set(one.ids) for one in found]
    failed = {result.id for result in results if result.status in FAILED}
    assert {vector for one in found for vector in one.agreements} == failed


def test_that_two_known_faults_meet_once_is_no_coincidence() -> None:
    """One failure is named by both, beside an unexplained one; by what is not known it is not."""
    op, faults = "onnx.MaxPool-22", ["index-before-first-of-each-axis", "same-forgets-dilations"]
    results = list(run(op, faults, small))
    first, *more = next(one for one in searched(op, results) if len(one.ids) == 2).agreements
    right = next(one for one in results if one.status is Status.PASS and one.size > 100)
    results = [one for one in results if one.id not in (*more, right.id)]
    results.append(wrong(right.id))

    def both(some: Iterable[Result]) -> set[frozenset[str]]:
        return {frozenset(one.ids) for one in searched(op, list(some)) if first in one.agreements}

    assert both(results) == {frozenset(faults)}
    lone = [one for one in results if one.status is Status.PASS or one.id in (first, right.id)]
    assert both(lone) == set()


def wrong(vector_id: str) -> Result:
    """A failure that no fault explains."""
    one = vector(vector_id)
    outputs = [np.full_like(answer.expected, 17) for answer in one.answers]
    return judge(one, Outcome(Ending.RETURNED, outputs), level="must", precision={})


@pytest.mark.exhaustive
def test_faults_that_would_depend_on_each_other_are_not_tried_together() -> None:
    """Where windows start may be taken from how many there are, or the other way round."""
    spec, fault = (
        find_spec("onnx.AveragePool-22"),
        bank("onnx.AveragePool-22")["overhang-split-between-ends"],
    )
    altered = implementation_of(spec, fault.change)

    def made(one: Vector, right: list[Array]) -> list[Array]:
        outputs = subject_of(spec, one.case, one.inputs).under(altered)
        if one.case.types["T"] == "f64":  # what nothing explains alone is sought in pairs
            outputs[0] = outputs[0] + 17
        return outputs

    found = searched(spec.op, answered(spec.op, made))
    assert {one.ids for one in found} == {(fault.id,)}


def test_nothing_is_said_of_a_backend_without_failures() -> None:
    excused = next(fault for fault in bank("AvgPool-1").values() if fault.excused_by)
    results, found = explained("AvgPool-1", [excused.id])
    assert not [result for result in results if result.status in FAILED]
    assert found == []
