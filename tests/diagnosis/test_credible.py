"""Backends with faults that are in no catalogue are said to have none that is."""

from __future__ import annotations

import numpy as np
import pytest
import tiers
from faulty import answered, asked, bank, run, searched, vector

from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.diagnosis.code_path import code_path_of
from conformance.diagnosis.operator_results import OperatorResults
from conformance.dtypes import Array
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.grade.returned import unpack_outputs
from conformance.implementations import implementation_of, subject_of
from conformance.model import FAILED, Case, Result, Status, Vector
from conformance.specification import build, find_spec
from conformance.suite.entries import Entry

ADAPTIVE = "AdaptiveAvgPool-8"


def images(entry: Entry) -> bool:
    return entry.dtype == "f32" and entry.id.split("-")[1].count("x") == 3


def volumes(entry: Entry) -> bool:
    return entry.dtype == "f32" and entry.id.split("-")[1].count("x") == 4


def small(entry: Entry) -> bool:
    return entry.elements < 100 and entry.dtype in ("f16", "f32")


def noise(one: Vector, size: float) -> Array:
    """Numbers in [1 - size, 1 + size], others for each vector."""
    seed = int(one.case.id.rsplit("-", 1)[1], 16)
    shape = one.answers[0].expected.shape
    return 1 + size * np.random.default_rng(seed).uniform(-1, 1, shape)


@pytest.mark.parametrize("size", tiers.first([1e-6, 1e-3]))
def test_noise_is_not_a_poor_accumulator(size: float) -> None:
    """What merely lies in an interval as wide as that of a sum in f16 or bf16 shows nothing."""

    def made(one: Vector, right: list[Array]) -> list[Array]:
        with np.errstate(all="ignore"):
            return [(right[0].astype("f8") * noise(one, size)).astype(right[0].dtype)]

    results = answered(ADAPTIVE, made, small)
    assert sum(result.status in FAILED for result in results) > 50
    assert searched(ADAPTIVE, results) == []


def test_one_failure_of_many_that_agrees_is_a_coincidence() -> None:
    """A zero at random here and there once hits what some shortcut leaves out."""
    fault = next(f for f in bank(ADAPTIVE).values() if f.id == "global-row-tail-lost-8")
    altered = implementation_of(find_spec(ADAPTIVE), fault.change)
    hit = next(e.id for e in asked(ADAPTIVE) if fault.id in e.kills)

    def made(one: Vector, right: list[Array]) -> list[Array]:
        if one.case.id == hit:
            return subject_of(find_spec(ADAPTIVE), one.case, one.inputs).under(altered)
        if right[0].size and noise(one, 1).flat[0] < 0.5:
            right[0].flat[-1] = 17
        return right

    results = answered(ADAPTIVE, made)
    assert sum(result.status in FAILED for result in results) > 20
    assert hit in {result.id for result in results if result.status in FAILED}
    assert searched(ADAPTIVE, results) == []


def test_a_name_that_some_failures_contradict_needs_most_others_explained() -> None:
    """Some of the failures look like another way to lose the end of a row; none is left alone."""
    op, held_out, other = ADAPTIVE, "window-tail-dropped-4", "global-row-tail-lost-4"
    results = list(run(op, [held_out], images))
    failed = [result for result in results if result.status in FAILED]
    altered = implementation_of(find_spec(op), bank(op)[other].change)
    alike = [
        one.id
        for one in failed
        if ObservedVector(
            find_spec(op), vector(one.id), unpack_outputs(one.returned or ()), {}, "must"
        ).agreement(altered, {})
    ]
    assert 4 < len(alike) < len(failed) - 10
    twin = "path.result.k on last axis: left out 4"
    found = searched(op, results, without=[held_out, twin])
    assert other not in {name for one in found for name in one.ids}


def test_one_failure_of_few_that_were_chosen_contradicts_a_name() -> None:
    """In a whole suite it may be of another bug; a search kept it for what it tells."""
    op, fault = ADAPTIVE, bank(ADAPTIVE)["divisor-one-more"]
    results = list(run(op, [fault.id], lambda entry: images(entry) and entry.elements < 64))
    failed = [one for one in results if one.status in FAILED]
    assert len(failed) > 8
    other = next(one for one in failed if "-ramp-" in one.id)
    one = vector(other.id)
    outcome = Outcome(
        Ending.RETURNED, [np.full_like(a.expected, 17, np.float32) for a in one.answers]
    )
    results[results.index(other)] = judge(one, outcome, level="must", precision={})
    assert {fault.id} in [set(one.ids) for one in searched(op, results)]
    assert searched(op, results, chosen=True) == []


def test_what_only_a_refused_name_explained_speaks_against_others() -> None:
    """Of channels in fours the last is not written: each of several names fits a part."""
    op, held_out = "AvgPool-16", "tail-channels-unwritten-4"
    results = list(run(op, [held_out], volumes))
    assert sum(result.status in FAILED for result in results) > 20
    found = searched(op, results, without=[held_out, "path.result.c: zero 4"])
    # Of a single image the last channels are the last planes.
    assert all(name.endswith(" where N == 1") for one in found for name in one.ids)


def test_a_reading_that_level_should_refuses_contradicts_there() -> None:
    spec, fault = find_spec("AvgPool-1"), bank("AvgPool-1")["divisor-clips-overhang"]
    entry = next(e for e in asked("AvgPool-1") if fault.id in e.kills)
    for level, expected in [("must", Agreement.EQUAL), ("should", Agreement.NONE)]:
        observed = ObservedVector(spec, vector(entry.id), None, {}, level)
        assert observed.consistency(implementation_of(spec, fault.change)) is expected


def test_passes_are_asked_where_a_mutant_may_show_recorded_kills_first() -> None:
    spec, mutant = find_spec(ADAPTIVE), bank(ADAPTIVE)["ends-rounded-down"]
    vectors = [build(spec, row(*sizes)) for sizes in ((6, 3), (7, 3), (5, 3))]
    by_id = {one.id: one for one in vectors}
    evidence = OperatorResults(
        spec,
        [Result(one.id, ADAPTIVE, Status.PASS, asked=one.case.request) for one in vectors],
        read=by_id.__getitem__,
        noticed={vectors[1].id: ["another"], vectors[2].id: [mutant.id]},
        precision={},
        level="must",
    )
    _, first, second = by_id  # where the parts are alike, none ends earlier
    assert list(evidence.passed_ids(code_path_of(row(7, 3)), [mutant])) == [second, first]
    assert [one.vector.id for one in evidence.passed(code_path_of(row(7, 3)), [mutant])] == [
        second,
        first,
    ]


def row(size: int, parts: int) -> Case:
    types, operands = {"T": "f32", "T_SHAPE": "i64"}, {"output_size": (parts,)}
    return Case(ADAPTIVE, types, {"data": (1, 1, size)}, {}, operands, pattern="ramp")
