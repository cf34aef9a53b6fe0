"""The plan of a suite, and what it made of the shipped one."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.generate import plan
from conformance.generate.build import build, describe
from conformance.generate.reject import reject_cases
from conformance.model import Case, Vector
from conformance.spec.loader import find, shipped
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations
from conformance.suite.store import Suite, open_suite

MAX = find("AdaptiveMaxPool-8")
FEW = plan.Effort(base=60, aimed=4, missing=4)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return open_suite()


class TestTheShippedSuite:
    def test_ids_are_those_of_the_cases(self, suite: Suite) -> None:
        for vector in suite.vectors():
            assert vector.case.id == vector.id

    def test_cases_are_valid_or_break_the_condition_they_name(self, suite: Suite) -> None:
        for vector in suite.vectors():
            spec = find(vector.case.op)
            broken = [violation.condition for violation in violations(spec, vector.case)]
            name = vector.case.reject
            assert broken == [one.breaks for one in spec.reject if one.name == name], vector.id

    @pytest.mark.parametrize("spec", shipped().values(), ids=repr)
    def test_every_edge_is_shown_on_every_rank_and_type(self, suite: Suite, spec: OpSpec) -> None:
        """But for edges that compare axes, where there is one axis alone."""
        shown = {
            (vector.inputs[0].ndim, vector.case.types["T"], edge)
            for vector in suite.vectors([spec.op])
            for edge in vector.edges
        }
        asked = {
            (rank, dtype, edge.name)
            for rank in spec.ranks
            for dtype in spec.types["T"]
            for edge in spec.edges
        }
        missing = asked - shown
        listed = {
            (gap.rank, gap.dtype, gap.edge) for gap in suite.manifest.uncovered if gap.op == spec.op
        }
        assert missing == listed
        assert {rank for rank, _, _ in missing} <= {3}
        for _, _, name in missing:
            edge = next(edge for edge in spec.edges if edge.name == name)
            assert "axes > 1" in edge.when.text or name in NEED_TWO_AXES

    def test_smoke_shows_each_edge_and_each_refusal_once(self, suite: Suite) -> None:
        core, smoke = suite.manifest, suite.manifest.subset("smoke")
        assert {name: shown.keys() for name, shown in core.edges.items()} == {
            name: shown.keys() for name, shown in smoke.edges.items()
        }
        refused = [(entry.op, entry.reject) for entry in smoke.vectors if entry.reject]
        assert len(set(refused)) == len(refused)
        assert set(refused) == {(entry.op, entry.reject) for entry in core.vectors if entry.reject}
        assert len(smoke.vectors) < len(core.vectors) / 5


# Their predicates speak of two axes in other words than "axes > 1".
NEED_TWO_AXES = {"tie-across-rows", "overrun-beside-pads"}


class TestTwins:
    CASE = Case(
        op=MAX.op,
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, 4)},
        attributes={"index_element_type": "i32"},
        operands={"output_size": (2,)},
    )

    def test_a_case_is_asked_with_each_value(self) -> None:
        twins = plan.twins(MAX, self.CASE)
        assert [one.attributes["index_element_type"] for one in twins] == ["i64", "i32"]
        assert all(
            dataclasses.replace(one, attributes=self.CASE.attributes) == self.CASE for one in twins
        )

    def test_an_operator_without_them_has_the_case_alone(self) -> None:
        case = Case("AvgPool-1", {"T": "f32"}, {"data": (1, 1, 4)}, {"auto_pad": "valid"})
        assert plan.twins(find("AvgPool-1"), case) == [case]

    def test_both_are_in_the_shipped_suite(self, suite: Suite) -> None:
        asked = [
            dataclasses.replace(vector.case, attributes={})
            for vector in suite.vectors([MAX.op])
            if vector.case.reject is None
        ]
        kinds = [vector.case.attributes["index_element_type"] for vector in suite.vectors([MAX.op])]
        assert kinds.count("i64") > 100
        assert all(asked.count(case) == 2 for case in asked)


class TestRun:
    def test_a_task_is_a_rank_or_the_refusals(self) -> None:
        work = plan.tasks(["AvgPool-1", MAX.op], root=3)
        assert [(task.op, task.rank) for task in work] == [
            (op, rank) for op in ("AvgPool-1", MAX.op) for rank in (3, 4, 5, 0)
        ]
        assert {task.root for task in work} == {3}

    def test_results_come_in_order_and_progress_is_told(self) -> None:
        work = [plan.Task("AdaptiveAvgPool-8", rank, 0, FEW) for rank in (3, 0)]
        told: list[tuple[str, int, int]] = []
        first, second = plan.run(work, processes=1, progress=lambda *what: told.append(what))
        assert told == [("AdaptiveAvgPool-8 rank 3", 0, 2), ("AdaptiveAvgPool-8 rejects", 1, 2)]
        assert {vector.inputs[0].ndim for vector in first.vectors} == {3}
        assert all(vector.case.reject for vector in second.vectors)
        assert second.uncovered == ()

    def test_what_no_case_shows_is_listed_for_each_type(self) -> None:
        (found,) = plan.run(
            [plan.Task("AdaptiveAvgPool-8", 3, 0, FEW)], processes=1, progress=lambda *_: None
        )
        listed = {(gap.edge, gap.dtype) for gap in found.uncovered}
        shown = {(edge, v.case.types["T"]) for v in found.vectors for edge in v.edges}
        spec = find("AdaptiveAvgPool-8")
        assert listed | shown == {(e.name, t) for e in spec.edges for t in spec.types["T"]}
        assert not listed & shown
        assert ("differs-on-every-axis", "f64") in listed


class TestBuild:
    def test_a_refusal_has_no_answers_and_says_why(self) -> None:
        case, level = reject_cases(MAX, root=0)[0]
        vector = build(MAX, case, level)
        assert vector.answers == ()
        assert vector.edges == ()
        assert "must be rejected: " + MAX.reject[0].why in vector.description

    def test_a_description_names_all_that_is_given(self) -> None:
        vector: Vector = build(MAX, TestTwins.CASE)
        assert vector.description == (
            "AdaptiveMaxPool-8 of f32 1x1x4 (ramp), output_size 2, index_element_type i32."
        )
        assert describe(MAX, TestTwins.CASE) + "." == vector.description
