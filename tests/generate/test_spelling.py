"""Attributes with a default are spelled out about half of the time; they mean the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiers

from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.reference.build import build
from conformance.spec.case_table import table_of
from conformance.spec.default_attributes import with_defaults, without_defaults
from conformance.spec.loader import find_spec
from conformance.spec.model import OpSpec, Quantity

# Spelling is one mechanism: two operators show it, one with a default per axis, and one with a
# default that is another attribute.
SPECS = [
    *map(find_spec, ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8", "MaxPool-14")),
    find_spec("torch.avg_pool-2"),
]
OPTIONAL = [(spec, quantity) for spec in SPECS for quantity in spec.attributes if quantity.default]
SMOKE = tiers.smoke()
IN_SMOKE = [(spec, quantity) for spec, quantity in OPTIONAL if spec.op in SMOKE.manifest.ops]


def test_there_are_optional_attributes() -> None:
    assert {quantity.name for _, quantity in OPTIONAL} >= {"auto_pad", "index_element_type"}


def name(value: OpSpec | Quantity) -> str:
    return value.op if isinstance(value, OpSpec) else value.name


@cache
def many(spec: OpSpec) -> list[Case]:
    return draw(spec, 4, 400, root=3)


@pytest.mark.parametrize(
    ("spec", "quantity"), tiers.sweep(OPTIONAL, lambda _, one: [one.name, one.type]), ids=name
)
def test_half_of_the_cases_with_the_default_leave_it_out(spec: OpSpec, quantity: Quantity) -> None:
    drawn = many(spec)
    out = [case for case in drawn if quantity.name not in case.attributes]
    given = [case.attributes for case in drawn if quantity.name in case.attributes]
    spelt = [attributes for attributes in given if quantity.of(attributes, 2) == quantity.of({}, 2)]
    # Small values are drawn with small seeds, which spell out, more often than by chance.
    assert 0.15 < len(out) / (len(out) + len(spelt)) < 0.7


@pytest.mark.parametrize(("spec", "quantity"), IN_SMOKE, ids=name)
def test_smoke_has_a_vector_without_it(spec: OpSpec, quantity: Quantity) -> None:
    given = [v.case.attributes for v in SMOKE.vectors([spec.op]) if v.answers]
    assert any(quantity.name not in attributes for attributes in given)


def all_that_may_be_given(spec: OpSpec, values: dict[str, Any]) -> dict[str, Any]:
    """Attributes as the document writes them, but for defaults that it does not let be given."""
    written: dict[str, Any] = {}
    for quantity in spec.attributes:
        value = values[quantity.key]
        absent = [quantity.default] * len(value) if quantity.per_axis else quantity.default
        if quantity.may_be_given(values) or value != absent:
            written = quantity.put(written, values[quantity.key])
    return written


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_case_means_the_same_in_full(spec: OpSpec) -> None:
    for case in draw(spec, 3, 40, root=4):
        full = replace(case, attributes=without_defaults(spec, with_defaults(spec, case), 0))
        assert full.attributes == all_that_may_be_given(spec, with_defaults(spec, case))
        for one, other in zip(build(spec, case).answers, build(spec, full).answers, strict=True):
            np.testing.assert_array_equal(one.expected, other.expected)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_what_has_no_default_or_another_value_is_always_given(spec: OpSpec) -> None:
    # Two axes, of which one alone may have the default.
    for case in draw(spec, 4, 40, root=5):
        full = with_defaults(spec, case)
        for seed in (*range(8), (1 << len(spec.attributes)) - 1):  # the last leaves out all it may
            given = without_defaults(spec, full, seed)
            assert with_defaults(spec, replace(case, attributes=given)) == full
            left = {q.name for q in spec.attributes} - given.keys()
            assert left <= {q.name for q in spec.attributes if not q.required}
        assert without_defaults(spec, full, 0) == all_that_may_be_given(spec, full)


def test_what_is_as_another_attribute_is_left_out_where_it_is() -> None:
    spec = find_spec("torch.avg_pool-2")
    (place,) = (i for i, one in enumerate(spec.attributes) if one.name == "stride")
    drawn = [with_defaults(spec, case) for case in draw(spec, 3, 200, root=8)]
    alike = [values for values in drawn if values["strides"] == values["kernel"]]
    assert 5 < len(alike) < len(drawn)
    for values in drawn:
        assert ("stride" in without_defaults(spec, values, 1 << place)) == (values not in alike)
        assert without_defaults(spec, values, 0)["stride"] == values["strides"]
        assert ("divisor_override" in without_defaults(spec, values, 0)) == bool(
            values["divisor_override"]
        )


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_child_has_an_attribute_from_a_parent_that_leaves_it_out(spec: OpSpec) -> None:
    chance = Chance("parents")
    drawn = draw(spec, 4, 40, root=6)
    table = table_of(spec, drawn, 4)
    a, b = (chance.below(len(drawn), 40) for _ in range(2))
    children = crossed(table, a, b, chance)
    for row, both in enumerate(zip(a, b, strict=True)):
        child = with_defaults(spec, case_of(children, row))
        parents = [with_defaults(spec, drawn[parent]) for parent in both]
        for quantity in spec.attributes:
            if not quantity.per_axis:
                assert child[quantity.key] in [parent[quantity.key] for parent in parents]
