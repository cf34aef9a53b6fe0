"""A long run has its vectors on pages beside the report."""

from __future__ import annotations

import itertools

import pytest
import sample_runs
from click.testing import CliRunner
from pages import Page, check_safe, check_structure
from runs import run

from conformance.cli.report import report
from conformance.log.reader import read
from conformance.model import FAILED
from conformance.report.html import pages, render
from conformance.report.registry import remove_beside, write_format, write_report
from conformance.report.vector_table import MAX_ROWS, address, addressable, is_sheet, sheet_name

SIZE = 2 * MAX_ROWS + 5


@pytest.fixture(scope="module")
def long_run():
    return run(sample_runs.failing(SIZE))


def test_a_short_run_is_one_page():
    short = run(sample_runs.failing(400))
    assert pages(short, "x.html") == {"x.html": render(short)}


def test_every_vector_is_on_one_of_the_pages(long_run):
    found = pages(long_run, "index.html")
    names = [sheet_name("index", n) for n in (1, 2, 3)]
    assert list(found) == [*names, "index.html"]
    rows = []
    for name in names:
        page = check_safe(found[name])
        check_structure(found[name])
        assert {"href": "./index.html"} in page.all("a")
        rows += [a["id"].removeprefix("vector=") for a in page.all("tr") if "id" in a]
        assert len(found[name]) < 2_000_000
    assert rows == sorted(result.id for result in long_run.results)


def test_the_report_has_what_failed_and_links_to_all(long_run):
    text = pages(long_run, "index.html")["index.html"]
    page = check_safe(text)
    assert len(text) < 2_000_000
    links = [a for a in page.all("a") if "data-first" in a]
    assert [a["href"] for a in links] == [f"./{sheet_name('index', n)}" for n in (1, 2, 3)]
    ranges = [(a["data-first"], a["data-last"]) for a in links]
    assert all(first <= last for first, last in ranges)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ranges))
    failed = {result.id for result in long_run.results if result.status in FAILED}
    assert {a["id"].removeprefix("vector=") for a in page.all("tr") if "id" in a} == failed


def test_on_standard_output_all_is_one_page(long_run):
    page = Page(render(long_run))
    assert sum("id" in a for a in page.all("tr")) == SIZE


class TestFiles:
    def test_go_with_the_report(self, long_run, tmp_path):
        (tmp_path / "index-vectors-x.html").write_text("mine")
        write_report(long_run, tmp_path)
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            *(sheet_name("index", n) for n in (1, 2, 3)),
            "index-vectors-x.html",
            "index.html",
        ]
        write_report(run(sample_runs.failing(400)), tmp_path)
        assert {p.name for p in tmp_path.iterdir()} == {"index-vectors-x.html", "index.html"}
        write_report(long_run, tmp_path)
        remove_beside(tmp_path / "index.html", "html")
        assert {p.name for p in tmp_path.iterdir()} == {"index-vectors-x.html", "index.html"}

    def test_take_the_name_of_the_file(self, long_run, tmp_path):
        write_format(long_run, tmp_path / "a b#.html", "html")
        page = Page((tmp_path / "a b#.html").read_text("utf-8"))
        link = next(a["href"] for a in page.all("a") if "data-first" in a)
        assert link == "./a%20b%23-vectors-1.html"
        assert (tmp_path / "a b#-vectors-1.html").exists()

    def test_by_command(self, tmp_path):
        log = sample_runs.write(tmp_path / "run.jsonl", sample_runs.failing(SIZE))
        for more in ((), ("--format", f"html={tmp_path / 'other.html'}")):
            assert CliRunner().invoke(report, [str(log), *more]).exit_code == 0
        whole = read(log)
        for name in ("index", "other"):
            for file, text in pages(whole, f"{name}.html").items():
                assert (tmp_path / file).read_text("utf-8") == text


def test_names():
    assert is_sheet(sheet_name("a.b", 12), "a.b")
    assert not is_sheet("a.b-vectors-0.html", "a.b")
    assert not is_sheet("aXb-vectors-1.html", "a.b")
    assert address("javascript:x\udcff.html") == "./javascript%3Ax%FF.html"
    assert addressable("f32-1x1-ramp-0a1b2c3d")
    assert not any(addressable(text) for text in ("", 'a"b', "a b", "ä", "x" * 300))
