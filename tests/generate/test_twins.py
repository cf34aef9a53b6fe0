"""Paired cases differ just where a memo does not look, and their results are told apart."""

from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest

from conformance.generate import twins
from conformance.model import Case
from conformance.reference.build import build
from conformance.reference.values import LATE, LOW, ONE, PLACES, data_of, varied
from conformance.spec import loader

SPEC = loader.find_spec("AvgPool-1")


def case(dtype="f32", shape=(2, 3, 200), pattern="normal", seed=7):
    types, shapes = {SPEC.data.type: dtype}, {SPEC.data.name: shape}
    return Case(SPEC.op, types, shapes, {}, pattern=pattern, seed=seed)


def both(plain, kind, place=0):
    return data_of(SPEC, plain)[0].ravel(), data_of(SPEC, varied(plain, kind, place))[0].ravel()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(("kind", "first"), [(LATE, 1050), (ONE, 0)])
def test_one_element_differs_late_or_anywhere(dtype, kind, first):
    places = set()
    for place in range(PLACES):
        before, after = both(case(dtype), kind, place)
        (index,) = np.flatnonzero(before != after)
        assert index >= first
        places.add(index)
    assert len(places) > 4


@pytest.mark.parametrize(
    ("dtype", "narrow"), [("f64", "f4"), ("f32", "bfloat16"), ("f16", "bfloat16")]
)
def test_low_bits_differ_that_the_narrower_type_has_not(dtype, narrow):
    narrower = ml_dtypes.bfloat16 if narrow == "bfloat16" else np.dtype(narrow)
    before, after = both(case(dtype), LOW)
    assert (before != after).mean() > 0.6
    assert (before.astype(narrower) == after.astype(narrower)).all()


def test_the_results_of_paired_cases_are_told_apart():
    plain = build(SPEC, case())
    for kind in (LATE, LOW, ONE):
        assert twins._told_apart(plain, build(SPEC, varied(plain.case, kind)))
    assert not twins._told_apart(plain, plain)


def test_some_differ_in_attributes_alone():
    spec = loader.find_spec("AvgPool-1")
    shapes, types = {spec.data.name: (1, 2, 9)}, {spec.data.type: "f32"}
    common = {"pads_begin": [0], "pads_end": [0], "exclude-pad": False}
    vectors = [
        build(spec, Case(spec.op, types, shapes, {"kernel": [k], "strides": [1], **common}, seed=k))
        for k in (1, 2, 3)
    ]
    found = [two for seed in range(20) for two in twins.with_twins(spec, vectors, seed, "smoke")]
    alone = [
        (a, b)
        for a, b in pairwise(found)
        if a.case.attributes != b.case.attributes and b not in vectors
    ]
    assert len(alone) > 5
    assert all(a.inputs[0].tobytes() == b.inputs[0].tobytes() for a, b in alone)
    assert all(a.answers[0].expected.shape != b.answers[0].expected.shape for a, b in alone)
