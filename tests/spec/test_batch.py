"""Thousands of cases at once give what each gives alone, or are left for that."""

from __future__ import annotations

import os

import numpy as np
import pytest
from batch_against_single import cases, disagreements

from conformance.errors import EvaluationError
from conformance.families.pooling.many import WindowBatch
from conformance.spec.batch import Batch
from conformance.spec.batch_values import Bools, Value, number
from conformance.spec.case_table import joined, table_of
from conformance.spec.expressions import Kind, compile_expression
from conformance.spec.loader import find_spec, shipped_specs
from conformance.spec.model import OpSpec
from conformance.spec.validity import valid, violations

COUNT = int(os.environ.get("CONFORMANCE_BATCH_CASES", "60"))
"""Cases of each operator, over all its ranks; 10,000 of them take an hour."""

FEW = 6
"""Cases where not everything is asked for, all on one rank: on each in turn."""

SPECS = list(shipped_specs().values())


@pytest.mark.parametrize(("turn", "spec"), list(enumerate(SPECS)), ids=repr)
def test_every_expression_of_every_specification(spec: OpSpec, turn: int, exhaustive: bool) -> None:
    ranks = spec.ranks if exhaustive else (spec.ranks[turn % len(spec.ranks)],)
    count = -(-(COUNT if exhaustive else FEW) // len(ranks))
    for rank in ranks:
        looked_at = cases(spec, rank, count)
        wrong, compared, unsettled = disagreements(spec, rank, looked_at, with_data=count // 2)
        assert not wrong, "\n".join(wrong[:5])
        assert compared > unsettled


@pytest.mark.parametrize("spec", SPECS[::3], ids=repr)
def test_what_is_settled_of_validity_is_right(spec: OpSpec, exhaustive: bool) -> None:
    looked_at = cases(spec, spec.ranks[0], 300 if exhaustive else 60)
    table = table_of(spec, looked_at, spec.ranks[0])
    sound, unsettled = valid(table, WindowBatch(table))
    assert np.count_nonzero(unsettled) < len(looked_at) / 3
    for case, holds, open_ in zip(looked_at, sound, unsettled, strict=True):
        if not open_:
            try:
                broken = violations(spec, case)
            except EvaluationError:
                broken = ("no value",)
            assert holds == (not broken), case


SCOPE = {"a": Kind("int"), "b": Kind("int"), "k": Kind("int", per_axis=True), "axis": Kind("int")}


def evaluated(text: str, **columns: list[int]) -> tuple[Value, Bools]:
    """A condition or number over as many cases as the columns have, of two axes."""
    known: dict[str, Value] = {
        name: tuple(number(np.array(axis)) for axis in values)
        if isinstance(values[0], list)
        else number(np.array(values))
        for name, values in columns.items()
    }
    return Batch(len(columns["a"]), 2, known, {}).evaluate(compile_expression(text, SCOPE))


class TestWhatIsUnsettled:
    def test_a_division_by_zero_only_where_it_is_asked(self) -> None:
        _, unsettled = evaluated("b == 0 or a // b > 1", a=[4, 4, 4], b=[0, 1, 4])
        assert unsettled.tolist() == [False, False, False]
        _, unsettled = evaluated("where(a > 0, 7 % b, 7 // a)", a=[0, 1, 1], b=[0, 0, 2])
        assert unsettled.tolist() == [True, True, False]

    def test_numbers_beyond_what_is_exact(self) -> None:
        big = 1 << 61
        value, unsettled = evaluated("a * b - 1", a=[big, 3, -big], b=[4, 5, 1])
        assert unsettled.tolist() == [True, False, False]
        assert value.array[1:].tolist() == [14, -big - 1]

    def test_numbers_whose_bounds_alone_are_large(self) -> None:
        value, unsettled = evaluated("a * b", a=[1 << 40, 1, 2], b=[1, 1 << 40, 3])
        assert not unsettled.any()
        assert value.array.tolist() == [1 << 40, 1 << 40, 6]

    def test_an_axis_that_is_not_there(self) -> None:
        value, unsettled = evaluated("entry(k, a)", k=[[5, 6, 7], [8, 9, 10]], a=[0, 1, 2])
        assert unsettled.tolist() == [False, False, True]
        assert value.array[:2].tolist() == [5, 9]


def test_tables_are_taken_apart_and_joined() -> None:
    spec = find_spec("AdaptiveMaxPool-8")
    looked_at = cases(spec, 4, 40)
    table = table_of(spec, looked_at, 4)
    parts = [table.take(np.arange(len(table)) % 2 == odd) for odd in (0, 1)]
    again = joined(parts)
    order = np.argsort(np.r_[0 : len(table) : 2, 1 : len(table) : 2], kind="stable")
    for key, column in table.columns.items():
        assert np.array_equal(again.columns[key][..., order], column)
    assert np.array_equal(again.odd[order], table.odd)
