"""Several runs on one page: what is shown, and when it is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import diagnosed
import pytest
import sample_runs
from click.testing import CliRunner
from hypothesis import given
from pages import Page, check_safe, check_structure
from runs import FEW, hostile_runs, run

from conformance.cli.report import report
from conformance.errors import LogError, UsageError
from conformance.log.reader import read
from conformance.report import comparison_page
from conformance.report.comparison import cause_identity
from conformance.report.comparison_page import FILE, arrange_side_by_side
from conformance.report.matrix import Column


def render(runs):
    return comparison_page.render([Column(one) for one in runs])


@pytest.fixture(scope="module")
def runs():
    return [read(diagnosed.SAMPLES / name / "run.jsonl.gz") for name in ("openvino", "torch")]


@pytest.fixture(scope="module")
def page(runs):
    text = render(runs)
    check_safe(text)
    return check_structure(text)


class TestTwoBackends:
    @pytest.mark.parametrize(
        "part",
        [
            "2 runs compared",
            "openvino 2026.4.1 Not conformant 4386 of 5513 vectors passed",
            "torch 2.13.0+cpu Not conformant 3483 of 4309 vectors passed",
            "1. openvino 2026.4.1 2. torch 2.13.0+cpu",
            "890 passed as specified 9 passed by an allowed interpretation 73 failed 16 skipped",
            "Borders of adaptive windows are quotients in float32 2 operators, 61 vectors none",
            "divisor of a window that overruns counted padding differ the whole kernel",
            "bf16 none none",
            "How they differ",
            "In torch 2.13.0+cpu only: f16 and bf16 are added in f16 and bf16",
            "Fails in torch 2.13.0+cpu only: 24",
            "Fails in openvino 2026.4.1 only: 208",
            "Of 2,254 vectors in both runs, 482 pass in openvino 2026.4.1 and not in torch",
            "backend, name openvino torch",
        ],
    )
    def test_says(self, page, part):
        assert part in page.text

    def test_counts_are_those_of_each_run(self, runs):
        found = arrange_side_by_side([Column(one) for one in runs])
        for op, rows in found.operators.items():
            for row, one in zip(rows, runs, strict=True):
                assert (row and row.tally) == one.tallies.get(op)

    def test_a_cause_of_new_and_of_known_failures_is_one(self, runs):
        log = runs[0]
        half = {result.id for result in log.results[::2]}
        results = tuple(
            replace(one, known="known.yaml:3") if one.id in half and one.kind else one
            for one in log.results
        )
        findings = [
            replace(finding, ids=ids, smallest=ids[0])
            for finding in log.findings
            for keep in (half.__contains__, lambda name: name not in half)
            if (ids := tuple(filter(keep, finding.ids)))
        ]
        both = replace(log, results=results, findings=tuple(findings))
        assert {cause.known for cause in both.causes} == {False, True}
        vectors = {}
        for cause in both.causes:
            vectors.setdefault(cause_identity(cause), set()).update(cause.vectors)
        assert len(vectors) < len(both.causes)
        found = arrange_side_by_side([Column(both)])
        sizes = [row.values[0].rpartition(", ")[2] for row in found.causes]
        counts = [f"{len(some):,} vector{'s' * (len(some) != 1)}" for some in vectors.values()]
        assert sizes == counts
        for (titles,) in found.cause_titles.values():
            assert len(set(titles)) == len(titles)

    def test_same_logs_same_bytes(self, runs):
        assert render(runs) == render(runs)


class TestWhatIsSaid:
    def test_of_three_nothing_about_changes(self, runs):
        text = render([*runs, runs[0]])
        assert "3 runs compared" in text
        assert "What changed" not in text

    def test_runs_judged_differently(self):
        one, other = run(sample_runs.passing()), run(sample_runs.passing())
        other.header["options"]["level"] = "should"
        assert "differ in level or precision" in render([one, other])
        assert "differ in level or precision" not in render([one, one])

    def test_a_run_that_is_cut_short_is_loud(self):
        short = run(sample_runs.passing()[:-1])
        text = render([run(sample_runs.passing()), short])
        assert '<span class="badge bad">Cut short</span>' in text
        assert "Changes are not shown, since not every run is complete." in text

    def test_runs_without_a_common_vector(self):
        one = run(sample_runs.passing())
        renamed = tuple(replace(r, id=f"other-{r.id}") for r in one.results)
        footer = {**one.footer, "readings": []}
        other = replace(one, results=renamed, footer=footer)
        assert "Changes are not shown: the runs have no vector" in render([one, other])

    def test_an_operator_that_one_run_did_not_ask(self):
        one, other = run(sample_runs.passing()), run(sample_runs.passing())
        other.header["suite"]["by_op"] = {
            op: counts for op, counts in other.header["suite"]["by_op"].items() if op != "AvgPool-1"
        }
        other = replace(other, results=tuple(r for r in other.results if r.op != "AvgPool-1"))
        assert "not tested" in render([one, other])

    def test_other_suites_are_not_comparable(self):
        one, other = run(sample_runs.passing()), run(sample_runs.passing())
        other.header["suite"] |= {"digest": "f" * 64}
        with pytest.raises(LogError, match="not comparable"):
            render([one, other])

    @FEW
    @given(hostile_runs(), hostile_runs())
    def test_hostile_text_stays_text(self, one, other):
        other.header["suite"]["digest"] = one.header["suite"]["digest"]
        check_safe(render([one, other]))


class TestCommand:
    def write(self, folder: Path, name: str, events=None) -> str:
        return str(sample_runs.write(folder / name / "run.jsonl", events or sample_runs.failing()))

    def test_writes_one_page_and_a_line_a_run(self, tmp_path):
        logs = [self.write(tmp_path, name) for name in ("a", "b", "c")]
        ran = CliRunner().invoke(report, [*logs, "--out", str(tmp_path / "out")])
        assert ran.exit_code == 0
        assert [p.name for p in (tmp_path / "out").iterdir()] == [FILE]
        assert ran.stderr == f"wrote {tmp_path / 'out' / FILE}\n"
        assert ran.stdout.count("example 2.4.1: Not conformant. ") == 3

    def links(self, page):
        return [a["href"] for a in Page(page.read_text("utf-8")).all("a") if "#" not in a["href"]]

    def test_links_to_the_pages_that_are_beside_the_logs(self, tmp_path):
        names = ("a", "b", '"50 %#?"')
        logs = [self.write(tmp_path / "runs", name) for name in names]
        for name in ("a", '"50 %#?"'):
            (tmp_path / "runs" / name / "index.html").touch()
        ran = CliRunner().invoke(report, [*logs, "--out", str(tmp_path / "out")])
        assert ran.exit_code == 0
        page = tmp_path / "out" / FILE
        check_safe(page.read_text("utf-8"))
        assert self.links(page) == [
            "./../runs/a/index.html",
            "./../runs/%2250%20%25%23%3F%22/index.html",
        ]

    def test_a_page_beside_logs_with_names_of_their_own_may_be_of_either(self, tmp_path):
        events = sample_runs.failing()
        logs = [str(sample_runs.write(tmp_path / f"{name}.jsonl", events)) for name in "ab"]
        (tmp_path / "index.html").touch()
        assert CliRunner().invoke(report, logs).exit_code == 0
        assert self.links(tmp_path / FILE) == []

    def test_without_out_it_stands_beside_the_first_log(self, tmp_path):
        logs = [self.write(tmp_path, name) for name in ("a", "b")]
        assert CliRunner().invoke(report, logs).exit_code == 0
        assert (tmp_path / "a" / FILE).exists()

    def test_formats_are_of_one_run(self, tmp_path):
        logs = [self.write(tmp_path, name) for name in ("a", "b")]
        ran = CliRunner().invoke(report, [*logs, "--format", "junit"])
        assert isinstance(ran.exception, UsageError)

    def test_a_log_that_is_cut_short_is_shown_and_an_error(self, tmp_path):
        logs = [self.write(tmp_path, "a"), self.write(tmp_path, "b", sample_runs.passing()[:-1])]
        ran = CliRunner().invoke(report, logs)
        assert isinstance(ran.exception, LogError)
        assert "Cut short" in (tmp_path / "a" / FILE).read_text("utf-8")
