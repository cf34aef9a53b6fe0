"""How strong the evidence of a run is, in each format; and whatever a log makes of it."""

from __future__ import annotations

import re

import pytest
import runs
import sample_runs

from conformance.report import comparison_page, terminal
from conformance.report.matrix import Column, grade_column
from conformance.report.page import render
from conformance.report.registry import FORMATS, report_format
from conformance.report.view import operator_strengths, run_view

measured = sample_runs.measured
WEAK = (
    measured(184),
    measured(100, rank=5),
    measured(241, dtype="f16"),
    measured(60, dtype="f16", rank=3, state="at least", why="x"),
    measured(132, op="AdaptiveAvgPool-8", mutants=132),
)


def weak():
    return runs.run(sample_runs.inconclusive(*WEAK))


def test_by_operator():
    first, second = operator_strengths(weak())
    assert (first.op, first.weakest.part, first.weakest.share) == (
        "AvgPool-1",
        "f32 of rank 5",
        "41.4 %",
    )
    assert len(first.evidence.short) == 2
    assert len(first.evidence.unknown) == 1
    assert first.note == "too few mutants killed: 41.4 % in f32 of rank 5"
    assert second.note == ""


def test_the_terminal_names_the_weakest_first():
    shown = terminal.render(weak())
    assert "AvgPool-1: f32 of rank 5 100/241; f32 of rank 4 184/241" in shown
    assert "INCONCLUSIVE." in shown


def test_a_run_that_is_strong_enough_is_not_told_what_is_weak():
    shown = terminal.render(runs.run(sample_runs.weighed(measured())))
    assert "too few" not in shown


def test_only_a_claim_has_a_strength():
    assert operator_strengths(runs.run(sample_runs.partial())) == ()
    events = sample_runs.failing()
    events[-1] = events[-1] | {"strength": {"bar": 95.0, "parts": [measured()]}}
    assert operator_strengths(runs.run(events)) == ()


def test_a_gate_that_is_not_met_is_red_and_not_yellow():
    shown = run_view(runs.run(runs.lacking(sample_runs.inconclusive())))
    assert (shown.tone, shown.headline) == ("bad", "Gate not met")


def test_a_cell_of_the_matrix():
    column = grade_column(Column(weak()))
    assert (column.tone, column.verdict) == (
        "weak",
        "Inconclusive, strength 41.4 %, unknown in 1 of 5 parts",
    )
    assert column.cells["AvgPool-1"].tone == "weak"
    assert column.cells["AdaptiveAvgPool-8"].tone == "good"


@pytest.mark.parametrize("log", [sample_runs.inconclusive, sample_runs.partial])
def test_the_page_has_the_colours_of_its_verdict(log):
    page = render(runs.run(log()))
    (tone,) = re.findall(r'<section class="verdict (\w+)"', page)
    assert f".{tone} {{ background" in page
    both = comparison_page.render([Column(runs.run(log()))])
    assert f'class="badge {tone}"' in both
    assert f".{tone} {{ background" in both


def test_thousands_of_parts_are_not_all_shown():
    many = [measured(240, rank=rank % 1000) for rank in range(5000)]
    page = render(runs.run(sample_runs.weighed(*many)))
    assert page.count("240 of 241") < 500
    assert "and 4,800 more" in page


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_text_stays_text(name):
    bent = dict.fromkeys(("op", "dtype", "profile", "why"), sample_runs.HOSTILE)
    log = runs.run(sample_runs.inconclusive(measured(9, **bent), measured(9, state="unknown")))
    text = report_format(name).render(log)
    if name in ("html", "junit", "summary"):  # what is markup there
        assert "<script>alert" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
