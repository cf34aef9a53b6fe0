"""Known failures stand apart from new ones, and a gate is shown as what it is."""

from __future__ import annotations

import sample_runs
from pages import vectors

from conformance.log.reader import read
from conformance.report.page import render
from conformance.report.terminal import summary
from conformance.report.view import run_view


def run_of(tmp_path, events):
    return read(sample_runs.write(tmp_path / "run.jsonl", events))


def test_new_findings_come_first_and_known_ones_apart(tmp_path):
    run = run_of(tmp_path, sample_runs.gated())
    shown = run_view(run)
    assert [one.cause.known for one in shown.causes] == [False, False, True]
    text = summary(run)
    new, rest = text.split("Known failures (10 vectors)")
    assert "New causes (2), worst first" in new
    assert "ceil-overrun: 10 of 14" not in text
    assert "  2. " in new
    assert "known.yaml:3  AvgPool-1, edge ceil-overrun, kind value (10 vectors)" in rest
    flat = " ".join(rest.split())
    assert "rounding up was never built; https://example.org/issues/12; until 2027-03-31" in flat
    assert "Known failures out of date (1)" in rest
    assert "Required, but not supported (1 of 2)" in rest


def test_the_page_has_the_same(tmp_path):
    page = render(run_of(tmp_path, sample_runs.gated()))
    new, gate = page.split('<h2 id="gate">')
    assert ">New causes</h2>" in new
    assert "ceil-overrun: 10 of 14" not in new
    assert "Known causes, 1 in all" in gate
    assert "ceil-overrun: 10 of 14" in gate
    assert "rounding up was never built; https://example.org/issues/12; until 2027-03-31" in gate
    told = vectors(page)
    marks = [told["names"][row["k"]] for row in told["rows"] if "k" in row]
    assert marks == ["known.yaml:3"] * 10


def test_without_a_gate_nothing_is_said_of_one(tmp_path):
    run = run_of(tmp_path, sample_runs.failing())
    assert "nown failures" not in summary(run)
    assert 'href="#gate"' not in render(run)


def test_an_entry_out_of_date_comes_before_those_in_order(tmp_path):
    page = render(run_of(tmp_path, sample_runs.gated()))
    assert page.index("known.yaml:9") < page.index('<th scope="row">known.yaml:3')


def test_many_entries_are_counted_on_the_terminal(tmp_path):
    events = sample_runs.gated()
    stale = [sample_runs.known_failure(f"k:{n}", problems=["x"]) for n in range(40)]
    events[-1]["known_failures"] += stale
    text = summary(run_of(tmp_path, events))
    assert "Known failures out of date (41)" in text
    assert "  and 31 more" in text
