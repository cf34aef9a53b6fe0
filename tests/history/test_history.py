"""What old wheels are known to get wrong, what came of it, and the page that tells it, agree."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import wheels
import would_have
import would_have_table

from conformance.spec.catalogue import mutants_of
from conformance.spec.loader import find_spec
from conformance.suite.store import open_suite

HERE = Path(__file__).parent
EXPECTED = would_have.expectations()
RUNS, DEFECTS = EXPECTED["runs"], EXPECTED["defects"]
UNTUNED = would_have.before()
RESULTS = json.loads((HERE / "results.json").read_text(encoding="utf-8"))


def ident(defect) -> str:
    return f"{defect['run']}: {defect['op']}: {defect['says']}"


def test_there_are_many_and_each_is_its_own():
    assert len(DEFECTS) >= 45
    assert len({ident(one) for one in DEFECTS}) == len(DEFECTS)
    assert len({would_have_table.runtime(one["run"]) for one in DEFECTS}) >= 10


@pytest.mark.parametrize("name", RUNS)
def test_a_run_can_be_made(name):
    run = RUNS[name]
    assert run["environment"] in wheels.environments()
    file, _, object_ = run["backend"].partition(":")
    if object_:
        tree = ast.parse((HERE / "adapters" / file).read_text(encoding="utf-8"))
        assert object_ in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    listed = set(open_suite(None).manifest.ops)
    if run.get("suite") != "recorded":
        assert set(run["ops"]) <= listed


def test_what_was_made_from_these_wheels_is_in_the_catalogue():
    known = {
        fault.id
        for run in RUNS.values()
        for op in run["ops"]
        for fault in mutants_of(find_spec(op))
    }
    assert EXPECTED["made_here"]
    assert set(EXPECTED["made_here"]) <= known


def test_versions_are_pinned():
    for packages in wheels.environments().values():
        assert all("==" in one for one in packages)


@pytest.mark.parametrize("defect", DEFECTS, ids=ident)
def test_an_expectation_is_whole(defect):
    assert defect["op"] in RUNS[defect["run"]]["ops"]
    assert ("thread" in defect) != ("alike" in defect)
    assert defect.get("thread", defect.get("alike")).startswith("https://github.com/")
    assert defect["names"] or "kind" in defect
    assert isinstance(defect["wrong"], str)
    assert any(
        defect["wrong"] in one for one in wheels.environments()[RUNS[defect["run"]]["environment"]]
    )


@pytest.mark.parametrize("op", sorted({one["op"] for one in DEFECTS}))
def test_the_names_are_mutants_of_the_operator(op):
    known = {fault.id for fault in mutants_of(find_spec(op))}
    told = (*DEFECTS, *EXPECTED["besides"])
    expected = {name for one in told if one["op"] == op for name in one["names"]}
    assert expected <= known


@pytest.mark.parametrize("one", EXPECTED["besides"], ids=lambda one: one["op"])
def test_what_is_true_besides_says_why(one):
    assert one["why"]
    assert all(one["op"] in RUNS[name]["ops"] for name in one["runs"])


def test_the_untuned_are_wheels_that_no_other_run_has():
    def wheel(name):
        packages = wheels.environments()[RUNS[name]["environment"]]
        return packages[0]

    tuned = {wheel(name) for name in RUNS if name not in UNTUNED["runs"]}
    assert {wheel(name) for name in UNTUNED["runs"]}.isdisjoint(tuned)
    assert {one["run"] for one in DEFECTS}.isdisjoint(UNTUNED["runs"])


@pytest.mark.parametrize("name", UNTUNED["runs"])
def test_what_was_counted_untuned_is_of_the_same_outputs(name):
    before, now = UNTUNED["runs"][name], RESULTS[name]
    assert before["backend"] == now["backend"]
    assert before["wrong outputs"] == now["wrong outputs"] >= before["named outputs"]


def test_results_are_of_what_is_expected():
    for name, run in RESULTS.items():
        told = [(one["op"], one["says"]) for one in run["defects"]]
        assert told == [(one["op"], one["says"]) for one in DEFECTS if one["run"] == name]
        for one, defect in zip(run["defects"], _of(name), strict=True):
            assert set(one["names"]) <= set(defect["names"])
            assert (one["verdict"] == "right") == bool(one["names"])
            assert (one["verdict"] == "missed") <= (one["vectors"] == 0)


def test_the_readme_is_what_results_say():
    made = would_have_table.readme(EXPECTED, RESULTS, UNTUNED)
    assert (HERE / "README.md").read_text(encoding="utf-8") == made


def _of(name):
    return [one for one in DEFECTS if one["run"] == name]
