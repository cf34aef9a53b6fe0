"""Paired cases differ just where a memo does not look, and their results are told apart."""

from dataclasses import replace
from functools import cache

import ml_dtypes
import numpy as np
import pytest

from conformance.generate import paired_cases
from conformance.model import Case
from conformance.reference.values import LATE, LOW, ONE, PLACES, data_of, varied
from conformance.spec import loader
from conformance.specification import build, find_spec

SPEC = loader.find_spec("AvgPool-1")


def case(dtype="f32", shape=(2, 3, 200), pattern="normal", seed=7):
    types, shapes, axes = {SPEC.data.type: dtype}, {SPEC.data.name: shape}, len(shape) - 2
    whole = {"kernel": list(shape[2:]), "strides": [1] * axes, "exclude-pad": True}
    attributes = {**whole, "pads_begin": [0] * axes, "pads_end": [0] * axes}
    return Case(SPEC.op, types, shapes, attributes, pattern=pattern, seed=seed)


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
        assert paired_cases._told_apart(plain, build(SPEC, varied(plain.case, kind)))
    assert not paired_cases._told_apart(plain, plain)


def test_some_differ_in_one_attribute_alone():
    spec = loader.find_spec("AvgPool-1")
    shapes, types = {spec.data.name: (1, 2, 9)}, {spec.data.type: "f32"}
    common = {"pads_begin": [0], "pads_end": [0], "exclude-pad": False}
    vectors = [
        build(spec, Case(spec.op, types, shapes, {"kernel": [k], "strides": [s], **common}, seed=k))
        for k, s in ((1, 1), (2, 2), (3, 3))
    ]
    alone = [(a, b) for a, b in paired(spec, vectors, 20) if a.case.attributes != b.case.attributes]
    assert len(alone) > 5
    assert all(a.inputs[0].tobytes() == b.inputs[0].tobytes() for a, b in alone)
    assert all(paired_cases._told_apart(a, b) for a, b in alone)
    assert {changed(a.case.attributes, b.case.attributes) for a, b in alone} == {
        ("kernel",),
        ("strides",),
    }


CONV = find_spec("onnx.Conv-22")


@cache
def pairs_of_conv():
    """Paired cases of a convolution with all its inputs, beside others of other attributes."""
    shapes = {"X": (1, 2, 300), "W": (2, 2, 3), "B": (2,)}
    vectors = [
        build(CONV, Case(CONV.op, {"T": "f32"}, shapes, attributes, {}, "+".join(patterns), 3))
        for attributes in ({}, {"strides": [2]}, {"dilations": [3]}, {"pads": [1, 2]})
        for patterns in (["fractions"] * 3, ["whole"] * 3)
    ]
    return list(paired(CONV, vectors, 30))


@pytest.mark.parametrize("tensor", [0, 1, 2])
@pytest.mark.parametrize("kind", ["one", "late", "swap", "low"])
def test_each_tensor_of_a_definition_differs_in_little(tensor, kind):
    found = []
    for one, other in pairs_of_conv():
        same = [a.tobytes() == b.tobytes() for a, b in zip(one.inputs, other.inputs, strict=True)]
        if kind in other.case.pattern.split("+")[tensor] and same.count(False) == 1:
            found.append((one.inputs[tensor].ravel(), other.inputs[tensor].ravel()))
            assert not same[tensor]
    assert found
    for before, after in found:
        places = np.flatnonzero(before != after)
        assert len(places) == {"swap": 2, "low": len(places)}.get(kind, 1)
        if kind == "late":
            assert places[0] >= before.size * 7 // 8


@pytest.mark.parametrize("attribute", ["strides", "dilations", "pads"])
def test_each_attribute_of_a_definition_differs_alone(attribute):
    found = [
        (one, other)
        for one, other in pairs_of_conv()
        if changed(one.case.attributes, other.case.attributes) == (attribute,)
    ]
    assert found
    for one, other in found:
        assert replace(one.case, attributes=other.case.attributes) == other.case


def test_pairs_of_a_definition_are_told_apart_by_their_results():
    assert all(paired_cases._told_apart(one, other) for one, other in pairs_of_conv())


def test_an_operand_that_decides_the_shape_differs_alone():
    spec = find_spec("ConvolutionBackpropData-1")
    attributes = {"strides": [1], "dilations": [1], "pads_begin": [0], "pads_end": [0]}
    case = Case(
        spec.op,
        {"T": "f32", "T_IND": "i64"},
        {"X": (1, 2, 5), "W": (2, 3, 3)},
        {**attributes, "auto_pad": "same_upper"},
        {"output_shape": (5,)},
        "whole+whole",
        3,
    )
    vectors = [build(spec, replace(case, operands={"output_shape": (n,)}, seed=n)) for n in (5, 6)]
    found = [
        (one, other)
        for one, other in paired(spec, vectors, 20)
        if one.case.operands != other.case.operands
    ]
    assert found
    assert all(
        replace(one.case, operands=other.case.operands) == other.case for one, other in found
    )


def test_a_seed_decides_pairs_and_order():
    vectors = [one for one, _ in pairs_of_conv()][:4]
    first, again, other = (
        [v.id for v in paired_cases.with_paired_cases(CONV, vectors, seed, "smoke")]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert {v.id for v in vectors} <= {*first}


def paired(spec, vectors, seeds):
    """Vectors with those that they are followed by, by some seeds."""
    there = {vector.id for vector in vectors}
    for seed in range(seeds):
        for vector in paired_cases.with_paired_cases(spec, vectors, seed, "smoke"):
            if vector.id in there:
                first = vector
            else:
                yield first, vector


def changed(one, other):
    return tuple(sorted(n for n in {*one, *other} if one.get(n) != other.get(n)))
