"""Coverage, worked out a second time by code that shares nothing with the package."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiers
from coverage_checker import Facts, Question, Specification, check
from edge_expressions import evaluate, parsed

from conformance.audit.coverage import RankCoverage, coverage
from conformance.resources import directory
from conformance.specification import find_spec
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

OPS = ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
AVG, _, MAX = OPS


def specification(op: str) -> Path:
    return directory("specs") / f"{op}.yaml"


@cache
def shipped(op: str) -> tuple[Any, list[str]]:
    """What the second implementation finds in core; it takes seconds."""
    return check(directory("vectors"), specification(op))


def assert_agreed(suite: Suite, op: str) -> None:
    """Both find the same vectors, edges by element type, and pairs of edges, on each rank."""
    whole = suite.path == directory("vectors").resolve()
    shown, wrong = shipped(op) if whole else check(suite.path, specification(op))
    ranks, problems = coverage(find_spec(op), suite.manifest, suite.vectors([op]))
    assert wrong == []
    assert problems == []
    assert [one.rank for one in ranks] == list(shown)
    for one in ranks:
        second = shown[one.rank]
        assert one.vectors == second.vectors
        assert one.pairs == second.pairs
        assert one.typed == second.typed


class TestTheShippedSuite:
    @pytest.mark.exhaustive
    @pytest.mark.parametrize("op", OPS)
    def test_the_package_finds_the_same(self, op: str) -> None:
        assert_agreed(open_suite(directory("vectors")), op)

    @pytest.mark.parametrize("op", tiers.first(OPS))
    def test_all_is_shown_that_is_not_called_infeasible(self, op: str) -> None:
        """The manifest is read as JSON, so nothing of the package has a say in this."""
        shown, _ = shipped(op)
        known = Specification(specification(op))
        manifest = json.loads((directory("vectors") / "manifest.json").read_text())
        for rank, found in shown.items():
            listed = manifest["strength"][op]["infeasible"].get(str(rank), {})
            infeasible = {
                (first, second)
                for first, by_reason in listed.items()
                for seconds in by_reason.values()
                for second in seconds
                if not second.startswith(("stratum ", "remainder "))
            }
            names = sorted(known.edges)
            assert found.pairs == {(a, b) for a in names for b in names if a <= b} - infeasible
            edges = {name for name in names if (name, name) not in infeasible}
            assert found.typed == {(dtype, edge) for dtype in known.dtypes for edge in edges}


class TestAgreement:
    """On a few vectors, so that a disagreement is seen without the shipped suite."""

    @pytest.mark.parametrize("op", OPS)
    def test_on_some_vectors(self, small_suite: Suite, op: str) -> None:
        assert_agreed(small_suite, op)

    def test_both_notice_an_edge_too_many_and_one_too_few(
        self, small_suite: Suite, tmp_path: Path
    ) -> None:
        first, second = (
            v
            for v in small_suite.vectors(["AdaptiveAvgPool-8"])
            if not v.case.reject and v.case.types["T"] != "f16"
        )
        assert "batch" not in first.edges
        assert len(second.edges) > 1
        spoiled = (
            dataclasses.replace(first, edges=(*first.edges, "batch")),
            dataclasses.replace(second, edges=second.edges[1:]),
        )
        vectors = [(vector, ("core",)) for vector in spoiled]
        suite = write_suite(tmp_path / "suite", vectors, name="wrong", seed=0, versions={})
        ids = [vector.id for vector in spoiled]
        _, wrong = check(suite.path, specification("AdaptiveAvgPool-8"))
        spec = find_spec("AdaptiveAvgPool-8")
        ranks, problems = coverage(spec, suite.manifest, suite.vectors())
        assert wrong == ids
        assert [problem.split(":")[0] for problem in problems] == ids
        assert ("batch", "batch") not in ranks[0].pairs


class TestRankCoverage:
    """Two types and four edges: a and b are shown together, c in f32 alone, d cannot be."""

    ONE = RankCoverage(
        op="Op-1",
        rank=3,
        vectors=2,
        edges=("c", "a", "b", "d"),
        dtypes=("f16", "f32"),
        pairs=frozenset({("a", "a"), ("b", "b"), ("a", "b"), ("c", "c")}),
        typed=frozenset({*((t, e) for t in ("f16", "f32") for e in "ab"), ("f32", "c")}),
        infeasible=frozenset({("d", "d"), ("a", "d"), ("b", "d"), ("c", "d"), ("b", "c")}),
    )

    def test_what_is_missing_is_named(self) -> None:
        assert self.ONE.feasible_edges == ("c", "a", "b")
        assert self.ONE.missing_edges == ()
        assert self.ONE.missing_types == (("f16", "c"),)
        assert self.ONE.feasible_pairs == (("a", "b"), ("a", "c"))
        assert self.ONE.missing_pairs == (("a", "c"),)
        assert self.ONE.disproved == ()
        assert not self.ONE.complete

    def test_it_is_complete_with_what_is_missing(self) -> None:
        full = dataclasses.replace(
            self.ONE, pairs=self.ONE.pairs | {("a", "c")}, typed=self.ONE.typed | {("f16", "c")}
        )
        assert full.complete
        for gone in sorted(full.pairs):
            assert not dataclasses.replace(full, pairs=full.pairs - {gone}).complete
        for lost in sorted(full.typed):
            assert not dataclasses.replace(full, typed=full.typed - {lost}).complete

    def test_a_type_that_cannot_show_an_edge_lacks_nothing(self) -> None:
        """The manifest says so in the same table, the type in the place of the other edge."""
        known = dataclasses.replace(self.ONE, infeasible=self.ONE.infeasible | {("f16", "c")})
        assert known.missing_types == ()
        assert known.infeasible_pairs == self.ONE.infeasible_pairs
        assert len(known.infeasible_pairs) == 4
        shown = dataclasses.replace(known, typed=known.typed | {("f16", "c")})
        assert shown.disproved == (("f16", "c"),)

    def test_a_pair_that_is_shown_is_not_infeasible(self) -> None:
        shown = dataclasses.replace(self.ONE, pairs=self.ONE.pairs | {("b", "c"), ("a", "c")})
        assert shown.disproved == (("b", "c"),)
        assert not dataclasses.replace(shown, typed=self.ONE.typed | {("f16", "c")}).complete


class TestExpressions:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("2 + 3 * size", [8, 17]),
            ("-size % 3", [1, 1]),
            ("ceil_div(size, 4)", [1, 2]),
            ("where(size > 3, size, 0)", [0, 5]),
            ("min(size, 3)", [2, 3]),
            ("min(size) + max(size)", 7),
            ("sum(size) * prod(size)", 70),
            ("count(size > 1)", 2),
            ("any(size > 4) and not all(size > 4)", True),
            ("distinct(size)", True),
            ("1 < size <= 5", [True, True]),
            ("size in [2, 3]", [True, False]),
            ("pattern not in [ramp, steady]", False),
            ("axes > 2 and 1 // 0 > 0", False),
            ("axes == 2 or 1 // 0 > 0", True),
            ("exclude_pad", True),
        ],
    )
    def test_values(self, text: str, value: Any) -> None:
        known = {"size": [2, 5], "axes": 2, "pattern": "ramp", "exclude_pad": True}
        found = evaluate(parsed(text), lambda name: known.get(name, name))
        assert np.array_equal(found, value)

    @pytest.mark.parametrize("text", ["size.shape", "[1]", "lambda: 1", "print(1)", "2 ** 3"])
    def test_what_is_no_expression_of_a_specification_is_not_evaluated(self, text: str) -> None:
        with pytest.raises((AssertionError, KeyError)):
            evaluate(parsed(text), lambda name: name)


class TestFacts:
    """Two windows of three elements that share one, worked out by hand."""

    DATA = np.array([[[np.nan, -0.0, 2.0**-130, 7.0, 7.0]], [[-np.inf, 1.0, np.inf, 0.0, -1.0]]])

    def facts(self) -> Facts:
        case = {
            "attributes": {"index_element_type": "i32"},
            "operands": {"output_size": [2]},
            "types": {"T": "f32", "T_SHAPE": "i64"},
            "pattern": "ramp",
            "inputs": [{"dtype": "f32"}],
        }
        return Facts(Specification(specification(MAX)), Question(case, self.DATA))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("nan_taps", [[[1, 0]], [[0, 0]]]),
            ("neginf_taps", [[[0, 0]], [[1, 0]]]),
            ("posinf_taps", [[[0, 0]], [[1, 1]]]),
            ("subnormal_taps", [[[1, 1]], [[0, 0]]]),
            ("minus_zero_taps", [[[1, 0]], [[0, 0]]]),
            ("maxima", [[[1, 2]], [[1, 1]]]),
            ("on_data", [[[[3, 3]]]]),
            ("start", [[[[0, 2]]]]),
            ("first_max", [[[[2, 3]], [[2, 2]]]]),
            ("last_max", [[[[2, 4]], [[2, 2]]]]),
        ],
    )
    def test_values(self, name: str, value: Any) -> None:
        assert np.array_equal(self.facts()(name), value)

    def test_windows_off_the_data_hold_nothing(self) -> None:
        case = {
            "attributes": {
                "kernel": [2],
                "strides": [2],
                "pads_begin": [2],
                "pads_end": [0],
                "exclude-pad": False,
                "auto_pad": "explicit",
            },
            "operands": {},
            "types": {"T": "f64"},
            "pattern": "ramp",
            "inputs": [{"dtype": "f64"}],
        }
        facts = Facts(Specification(specification(AVG)), Question(case, np.ones((1, 1, 3))))
        assert np.array_equal(facts("start"), [[[[-2, 0]]]])
        assert np.array_equal(facts("on_data"), [[[[0, 2]]]])
        assert np.array_equal(facts("empty"), [[[True, False]]])
        assert not np.any(facts("open"))
