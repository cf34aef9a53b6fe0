"""Attributes with a default are spelled out about half of the time; they mean the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiers

from conformance.generate.build import build
from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.pool import draw
from conformance.generate.spelling import in_full, spelled
from conformance.spec.loader import find
from conformance.spec.model import OpSpec, Quantity
from conformance.spec.table import table_of

# Spelling is one mechanism: three operators show it, and one with a default per axis.
SPECS = [find(op) for op in ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8", "MaxPool-14")]
OPTIONAL = [(spec, quantity) for spec in SPECS for quantity in spec.attributes if quantity.default]
SMOKE = tiers.smoke()
IN_SMOKE = [(spec, quantity) for spec, quantity in OPTIONAL if spec.op in SMOKE.manifest.ops]


def test_there_are_optional_attributes() -> None:
    assert {quantity.name for _, quantity in OPTIONAL} >= {"auto_pad", "index_element_type"}


def name(value: OpSpec | Quantity) -> str:
    return value.op if isinstance(value, OpSpec) else value.name


@pytest.mark.parametrize(
    ("spec", "quantity"), tiers.sweep(OPTIONAL, lambda _, one: [one.name, one.type]), ids=name
)
def test_half_of_the_cases_with_the_default_leave_it_out(spec: OpSpec, quantity: Quantity) -> None:
    drawn = draw(spec, 4, 400, root=3)
    out = [case for case in drawn if quantity.name not in case.attributes]
    given = [case.attributes for case in drawn if quantity.name in case.attributes]
    spelt = [attributes for attributes in given if quantity.of(attributes, 2) == quantity.of({}, 2)]
    # Small values are drawn with small seeds, which spell out, more often than by chance.
    assert 0.2 < len(out) / (len(out) + len(spelt)) < 0.7


@pytest.mark.parametrize(("spec", "quantity"), IN_SMOKE, ids=name)
def test_smoke_has_a_vector_without_it(spec: OpSpec, quantity: Quantity) -> None:
    given = [v.case.attributes for v in SMOKE.vectors([spec.op]) if v.answers]
    assert any(quantity.name not in attributes for attributes in given)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_case_means_the_same_in_full(spec: OpSpec) -> None:
    for case in draw(spec, 3, 40, root=4):
        full = replace(case, attributes=spelled(spec, in_full(spec, case), 0))
        assert full.attributes.keys() == {quantity.name for quantity in spec.attributes}
        for one, other in zip(build(spec, case).answers, build(spec, full).answers, strict=True):
            np.testing.assert_array_equal(one.expected, other.expected)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_what_has_no_default_or_another_value_is_always_given(spec: OpSpec) -> None:
    # Two axes, of which one alone may have the default.
    for case in draw(spec, 4, 40, root=5):
        full = in_full(spec, case)
        for seed in (*range(8), (1 << len(spec.attributes)) - 1):  # the last leaves out all it may
            given = spelled(spec, full, seed)
            assert in_full(spec, replace(case, attributes=given)) == full
            left = full.keys() - given.keys()
            assert left <= {q.name for q in spec.attributes if q.default is not None}
        written = {
            quantity.name: quantity.write(full[quantity.name]) for quantity in spec.attributes
        }
        assert spelled(spec, full, 0) == written


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_child_has_an_attribute_from_a_parent_that_leaves_it_out(spec: OpSpec) -> None:
    chance = Chance("parents")
    drawn = draw(spec, 4, 40, root=6)
    table = table_of(spec, drawn, 2)
    a, b = (chance.below(len(drawn), 40) for _ in range(2))
    children = crossed(table, a, b, chance)
    for row, both in enumerate(zip(a, b, strict=True)):
        child = in_full(spec, case_of(children, row))
        parents = [in_full(spec, drawn[parent]) for parent in both]
        for quantity in spec.attributes:
            if not quantity.per_axis:
                assert child[quantity.name] in [parent[quantity.name] for parent in parents]
