"""Outputs agree with the mutants that gave them, and vectors kill what they tell apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.audit.kills import MutantRunner
from conformance.core.data import inputs_of
from conformance.core.loader import load_operator
from conformance.core.mutants import mutants_of
from conformance.core.subject import Subject
from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.dtypes import Array
from conformance.implementations import (
    implementation_of,
    may_be_together,
    subject_of,
)
from conformance.model import Answer, Case, Vector

CONV = load_operator("onnx.Conv-22")
BANK = {mutant.id: mutant for mutant in mutants_of(CONV)}
DILATION = "define.Y.with.x: k * dilations => k"
BIAS = "define.Y.finish: total + B[filter] => total"
ATTRIBUTES = {"dilations": [2, 1], "pads": [1, 1, 1, 1]}
SHAPES = {"X": (1, 2, 7, 6), "W": (3, 2, 3, 2), "B": (3,)}
CASE = Case(
    CONV.op, {"T": "f32"}, SHAPES, ATTRIBUTES, {}, pattern="fractions+fractions+fractions", seed=2
)


def vector() -> Vector:
    inputs = tuple(a for a in inputs_of(CONV, CASE) if a is not None)
    here = Subject(CONV, CASE, inputs)
    (interval,) = here.intervals("standard")
    (rounded,) = here.outputs
    answer = Answer("Y", "f32", rounded.astype("f8"), rounded, interval.lo, interval.hi)
    return Vector("v-1", CASE, "must", (), "", "", inputs, (answer,))


def observed(outputs: list[Array]) -> ObservedVector:
    return ObservedVector(CONV, vector(), tuple(outputs), {"f32": "standard"}, "must")


def given(*mutants: str) -> list[Array]:
    implementation = implementation_of(CONV, *(BANK[id].change for id in mutants))
    return subject_of(CONV, CASE, vector().inputs).under(implementation)


@pytest.mark.parametrize("mutant", [DILATION, BIAS, "row-tail-dropped-4", "machine: sums in bf16"])
def test_outputs_agree_with_the_mutant_that_gave_them(mutant: str) -> None:
    failure = observed(given(mutant))
    equal = {
        id
        for id in (DILATION, BIAS, mutant)
        if failure.agreement(implementation_of(CONV, BANK[id].change), {}) is Agreement.EQUAL
    }
    assert equal == {mutant}


def test_outputs_near_those_of_a_mutant_are_within() -> None:
    outputs = [np.nextafter(output, np.float32(np.inf)) for output in given(DILATION)]
    implementation = implementation_of(CONV, BANK[DILATION].change)
    assert observed(outputs).agreement(implementation, {}) is Agreement.WITHIN
    assert observed([output + 1 for output in outputs]).agreement(implementation, {}) == 0


def test_what_passed_is_contradicted_by_mutants_that_are_far_from_it() -> None:
    passed = ObservedVector(CONV, vector(), None, {"f32": "standard"}, "must")
    for mutant in (DILATION, BIAS):
        assert passed.consistency(implementation_of(CONV, BANK[mutant].change)) is Agreement.NONE
    tiny = replace(
        BANK[BIAS].change,
        edits=(("define.Y.finish", "total + B[filter]", "total * (1 + 2 ** -24) + B[filter]"),),
    )
    assert passed.consistency(implementation_of(CONV, tiny)) is not Agreement.NONE


def test_two_mutants_together() -> None:
    both = implementation_of(CONV, BANK[DILATION].change).beside(BANK[BIAS].change)
    assert both is not None
    assert observed(given(DILATION, BIAS)).agreement(both, {}) is Agreement.EQUAL
    assert may_be_together(CONV, BANK[DILATION].change, BANK[BIAS].change)
    assert not may_be_together(CONV, BANK[DILATION].change, BANK[DILATION].change)


def test_a_vector_kills_what_is_outside_of_its_intervals() -> None:
    mutants = [BANK[DILATION], BANK[BIAS], BANK["attributes.strides: ignored"]]
    runner = MutantRunner(CONV, mutants)
    assert [kill.mutant for kill in runner.kills(vector())] == [DILATION, BIAS]
    undilated = replace(CASE, attributes={"pads": [1, 1, 1, 1]})
    assert runner.may_differ([CASE]).tolist() == [[True, True, False]]
    assert runner.may_differ([undilated]).tolist() == [[False, True, False]]
