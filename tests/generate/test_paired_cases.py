"""Paired cases differ just where a memo does not look, and their results are told apart."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from conformance.core.data import varied_case
from conformance.core.varied_data import LATE, LOW, ONE, variations_of
from conformance.generate import paired_cases
from conformance.model import Case
from conformance.specification import build, find_spec

AVG = find_spec("AvgPool-1")


def average(dtype="f32", shape=(2, 3, 200), pattern="normal", seed=7):
    axes = len(shape) - 2
    whole = {"kernel": list(shape[2:]), "strides": [1] * axes, "exclude-pad": True}
    attributes = {**whole, "pads_begin": [0] * axes, "pads_end": [0] * axes}
    return Case(AVG.op, {"T": dtype}, {"data": shape}, attributes, pattern=pattern, seed=seed)


@pytest.mark.parametrize("kind", [LATE, LOW, ONE])
def test_the_results_of_paired_cases_are_told_apart(kind):
    """One mean of 600 elements, of which one differs, or all in their last bits."""
    plain = build(AVG, average())
    variations = variations_of(kind)
    assert variations
    for variation in variations:
        other = build(AVG, varied_case(AVG, plain.case, "data", variation))
        assert paired_cases._told_apart(plain, other)
    assert not paired_cases._told_apart(plain, plain)


def test_some_differ_in_one_attribute_alone():
    common = {"pads_begin": [0], "pads_end": [0], "exclude-pad": False}
    shapes = {"data": (1, 2, 9)}
    vectors = [
        build(
            AVG,
            Case(AVG.op, {"T": "f32"}, shapes, {"kernel": [k], "strides": [s], **common}, seed=k),
        )
        for k, s in ((1, 1), (2, 2), (3, 3))
    ]
    alone = [(a, b) for a, b in paired(AVG, vectors, 20) if a.case.attributes != b.case.attributes]
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
def test_each_tensor_differs_in_little(tensor, kind):
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
def test_each_attribute_differs_alone(attribute):
    found = [
        (one, other)
        for one, other in pairs_of_conv()
        if changed(one.case.attributes, other.case.attributes) == (attribute,)
    ]
    assert found
    for one, other in found:
        assert replace(one.case, attributes=other.case.attributes) == other.case


def test_pairs_are_told_apart_by_their_results():
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
