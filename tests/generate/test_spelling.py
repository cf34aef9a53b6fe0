"""Attributes with a default are left out of some cases; given, they mean the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import tiers

from conformance.core.operator import Attribute, Operator
from conformance.generate.cases import draw_cases
from conformance.model import Case
from conformance.specification import attributes_left_out, binding_of, build, find_spec

SPECS = [
    find_spec(op)
    for op in ("AvgPool-1", "AdaptiveMaxPool-8", "MaxPool-14", "torch.avg_pool-2", "onnx.Conv-22")
]
OPTIONAL = [
    (spec, attribute)
    for spec in SPECS
    for attribute in spec.attributes.values()
    if attribute.default is not None
]
IN_SMOKE = [(spec, one) for spec, one in OPTIONAL if spec.op in tiers.NEWEST]


def name(value: Operator | Attribute) -> str:
    return value.op if isinstance(value, Operator) else value.spelling


EACH = pytest.mark.parametrize("spec", SPECS, ids=name)


@cache
def many(spec: Operator) -> list[Case]:
    return draw_cases(spec, 400, seed=3)


@pytest.mark.parametrize(
    ("spec", "attribute"), tiers.sweep(OPTIONAL, lambda _, one: [one.spelling, one.type]), ids=name
)
def test_some_cases_leave_it_out_and_some_give_it(spec: Operator, attribute: Attribute) -> None:
    out = [case for case in many(spec) if attribute.spelling not in case.attributes]
    # A list is mostly of the wrong length where it is given, and such a case is not valid.
    assert 0.05 < len(out) / len(many(spec)) < (0.99 if attribute.list else 0.8)


@pytest.mark.parametrize(("spec", "attribute"), IN_SMOKE, ids=name)
def test_smoke_has_a_vector_without_it(spec: Operator, attribute: Attribute) -> None:
    given = [v.case.attributes for v in tiers.smoke().vectors([spec.op]) if v.answers]
    assert any(attribute.spelling not in attributes for attributes in given)


def in_full(spec: Operator, case: Case) -> dict[str, Any]:
    """The attributes of a case with the defaults of those that it does not give."""
    axes = len(binding_of(spec, case).value("size"))
    return dict(case.attributes) | {
        one.spelling: [one.default] * axes if one.per else one.default
        for one in spec.attributes.values()
        if one.spelling in attributes_left_out(spec, case)
    }


@EACH
def test_a_case_means_the_same_in_full(spec: Operator) -> None:
    for case in draw_cases(spec, 25, seed=4):
        full = replace(case, attributes=in_full(spec, case))
        assert full.attributes.keys() >= {
            one.spelling for one in spec.attributes.values() if one.default is not None
        }
        assert attributes_left_out(spec, full) == ()
        vectors = build(spec, case), build(spec, full)
        for one, other in zip(*(vector.answers for vector in vectors), strict=True):
            assert one.expected.shape == other.expected.shape
            assert one.expected.tobytes() == other.expected.tobytes()
            if one.lo is not None and other.lo is not None:
                assert one.lo.tobytes() == other.lo.tobytes()


@EACH
def test_what_has_no_default_is_always_given(spec: Operator) -> None:
    required = {one.spelling for one in spec.attributes.values() if one.default is None}
    assert all(required <= case.attributes.keys() for case in many(spec))
