"""What old wheels are known to get wrong, what came of it, and the page that tells it, agree."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import wheels
import would_have
import would_have_table

from conformance.specification import find_spec, mutants_of
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


def test_each_run_can_be_made():
    listed = set(open_suite(None).manifest.ops)
    for name, run in RUNS.items():
        assert run["environment"] in wheels.environments(), name
        file, _, object_ = run["backend"].partition(":")
        if object_:
            tree = ast.parse((HERE / "adapters" / file).read_text(encoding="utf-8"))
            classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
            assert object_ in classes, name
        if run.get("suite") != "recorded":
            assert set(run["ops"]) <= listed, name


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


def test_each_expectation_is_whole():
    for defect in DEFECTS:
        run = RUNS[defect["run"]]
        assert defect["op"] in run["ops"], defect
        assert ("thread" in defect) != ("alike" in defect), defect
        thread = defect.get("thread", defect.get("alike"))
        assert thread.startswith("https://github.com/"), defect
        assert defect["names"] or "kind" in defect, defect
        packages = wheels.environments()[run["environment"]]
        assert any(defect["wrong"] in package for package in packages), defect


def test_the_names_are_mutants_of_the_operator():
    for entry in (*DEFECTS, *EXPECTED["besides"]):
        mutants = {mutant.id for mutant in mutants_of(find_spec(entry["op"]))}
        assert set(entry["names"]) <= mutants, entry


def test_what_is_true_besides_says_why():
    for entry in EXPECTED["besides"]:
        assert entry["why"], entry
        assert all(entry["op"] in RUNS[name]["ops"] for name in entry["runs"]), entry


def test_the_untuned_are_wheels_that_no_other_run_has():
    def wheel(name):
        packages = wheels.environments()[RUNS[name]["environment"]]
        return packages[0]

    tuned = {wheel(name) for name in RUNS if name not in UNTUNED["runs"]}
    assert {wheel(name) for name in UNTUNED["runs"]}.isdisjoint(tuned)
    assert {one["run"] for one in DEFECTS}.isdisjoint(UNTUNED["runs"])


def test_what_was_counted_untuned_is_of_the_same_outputs():
    for name, before in UNTUNED["runs"].items():
        now = RESULTS[name]
        assert before["backend"] == now["backend"], name
        assert before["wrong outputs"] == now["wrong outputs"] >= before["named outputs"], name


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
