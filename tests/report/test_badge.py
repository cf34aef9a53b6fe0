from __future__ import annotations

import json

import pytest
import runs
import sample_runs
from hypothesis import given

from conformance.report.ci.badge import render


def badge(log):
    return json.loads(render(log))


def test_all_of_it():
    assert badge(runs.run(sample_runs.weighed(sample_runs.measured()))) == {
        "schemaVersion": 1,
        "label": "conformance",
        "message": "conformant, 180 of 200, strength 99.5 %",
        "color": "brightgreen",
    }


UNKNOWN = sample_runs.measured(0, mutants=0, state="unknown", why="fewer than 20 mutants can show")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), "strength unknown"),
        ((UNKNOWN,), "strength unknown"),
        ((sample_runs.measured(), UNKNOWN), "strength 99.5 %, unknown in 1 of 2 parts"),
        # A right backend whose vectors are few for what it does not claim is not told off.
        ((sample_runs.measured(9, state="at least", why="x"),), "strength unknown"),
    ],
)
def test_what_is_unknown_is_a_duller_green(parts, message):
    strength = {"bar": 0.0, "parts": list(parts)}  # with another bar the run is inconclusive
    shown = badge(runs.run(sample_runs.weighed(strength=strength)))
    assert (shown["message"], shown["color"]) == (f"conformant, 180 of 200, {message}", "green")


def test_too_little_evidence_is_yellow():
    shown = badge(runs.run(sample_runs.inconclusive()))
    assert shown["color"] == "yellow"
    assert shown["message"] == "inconclusive, 180 of 200, strength 76.3 %"


def test_a_part_of_a_suite_is_grey():
    shown = badge(runs.run(sample_runs.partial()))
    assert (shown["message"], shown["color"]) == ("no failures, 180 of 200", "lightgrey")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("failing", "not conformant, 339 of 400"),
        ("nothing graded", "no values graded, 0 of 30"),
        ("interrupted", "interrupted, 36 of 120"),
        ("cut short", "cut short, 180 of 200"),
        ("a result is missing", "inconsistent log, 179 of 200"),
    ],
)
def test_anything_else_is_red(kind, message):
    shown = badge(runs.run(runs.RED[kind]()))
    assert (shown["message"], shown["color"]) == (message, "red")


def test_an_exit_code_that_is_not_0_is_red():
    assert badge(runs.run(runs.RED["exit code 1"]()))["color"] == "red"


def test_known_failures_are_orange():
    shown = badge(runs.all_known())
    assert shown["color"] == "orange"
    assert shown["message"].endswith(", 339 of 400")


@runs.FEW
@given(log=runs.hostile_runs())
def test_no_text_of_a_backend_is_in_it(log):
    shown = badge(log)
    assert set(shown) == {"schemaVersion", "label", "message", "color"}
    assert len(shown["message"]) < 60
