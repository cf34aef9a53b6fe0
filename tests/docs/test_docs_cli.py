"""``conformance spec docs``: whole runs, on shipped operators and on one of a user's own."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import sample_runs
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.core.loader import shipped_names
from conformance.spec.loader import shipped_specs
from conformance.suite.store import Suite

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "reports" / "sample" / "torch" / "run.jsonl.gz"


def docs(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["spec", "docs", *map(str, arguments)])


@pytest.mark.exhaustive
def test_pages_of_the_shipped_operators(
    tmp_path: Path, small_suite: Suite, exhaustive: bool
) -> None:
    suite = () if exhaustive else ("--suite", small_suite.path)
    found = docs("--out", tmp_path / "pages", SAMPLE, *suite)
    assert found.exit_code == 0, found.output
    assert found.stdout == ""
    ops = (*shipped_specs(), *shipped_names())
    assert f"{len(ops)} operator pages" in found.stderr
    names = {"index.html", *(f"{op}.html" for op in ops)}
    assert tiny.content(tmp_path / "pages").keys() == names
    assert "torch 2.13.0" in (tmp_path / "pages" / "AvgPool-1.html").read_text("utf-8")


def test_again_gives_the_same_bytes(tmp_path: Path, small_suite: Suite) -> None:
    arguments = ("--op", "AvgPool-1", "--suite", small_suite.path, SAMPLE)
    for name in ("one", "other"):
        assert docs("--out", tmp_path / name, *arguments).exit_code == 0
    assert tiny.content(tmp_path / "one") == tiny.content(tmp_path / "other")


def test_a_folder_keeps_what_else_it_has(tmp_path: Path, small_suite: Suite) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert docs("--out", tmp_path, "--op", "AvgPool-1", "--suite", small_suite.path).exit_code == 0
    assert sorted(tiny.content(tmp_path)) == ["AvgPool-1.html", "index.html", "notes.txt"]


def test_an_operator_of_ones_own(tmp_path: Path, small_suite: Suite) -> None:
    file = tiny.write(tmp_path)
    found = docs("--out", tmp_path / "pages", "--op", file, "--suite", small_suite.path)
    assert found.exit_code == 0, found.output
    page = (tmp_path / "pages" / "Tiny-1.html").read_text("utf-8")
    assert "The mean of each pair of neighbours." in page
    assert "Windows lie apart." in page


def test_markup_in_a_specification_is_text(tmp_path: Path) -> None:
    bad = tiny.TEXT.replace("Windows lie apart.", "<script>alert(1)</script>")
    bad = bad.replace("https://example.org/tiny", "javascript:alert(1)")
    assert docs("--out", tmp_path, "--op", tiny.write(tmp_path, bad)).exit_code == 0
    page = (tmp_path / "Tiny-1.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert 'href="javascript' not in page


def test_a_hostile_log_is_read(tmp_path: Path, small_suite: Suite) -> None:
    log = sample_runs.write(tmp_path / "run.jsonl", sample_runs.hostile())
    arguments = ("--op", "AvgPool-1", "--suite", small_suite.path, log)
    found = docs("--out", tmp_path / "pages", *arguments)
    assert found.exit_code == 0, found.output
    for content in tiny.content(tmp_path / "pages").values():
        assert b"<script" not in content
        assert b"\x1b" not in content


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--op", "AvgPol-1"], "there is no operator 'AvgPol-1'", "did you mean"),
        (["--op", "none.yaml"], "none.yaml: no such file", ""),
        (["--suite", "no-such-suite"], "no suite and no folder", "shipped suites are"),
        (["none.jsonl"], "none.jsonl: the run log cannot be read", "conformance check writes"),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    found = docs("--out", tmp_path / "pages", *arguments)
    assert found.exit_code == 2
    assert message in found.stderr
    assert hint in found.stderr
    assert not (tmp_path / "pages").exists()


def test_a_log_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    lines = gzip.decompress(SAMPLE.read_bytes()).decode("ascii").splitlines(keepends=True)
    log = tmp_path / "run.jsonl"
    log.write_text("".join(lines[:-1]), "ascii")
    found = docs("--out", tmp_path / "pages", log)
    assert found.exit_code == 2
    assert "not that of a whole run" in found.stderr
    assert not (tmp_path / "pages").exists()


def test_two_specifications_of_one_page_are_refused(tmp_path: Path, small_suite: Suite) -> None:
    file = tiny.write(tmp_path, tiny.TEXT.replace("op: Tiny-1", "op: avgpool-1"))
    found = docs("--out", tmp_path / "pages", "--op", "AvgPool-1", "--op", file)
    assert found.exit_code == 2
    assert "both specify" in found.stderr
    twice = ("--op", "AvgPool-1", "--op", "AvgPool-1", "--suite", small_suite.path)
    again = docs("--out", tmp_path / "pages", *twice)
    assert again.exit_code == 0


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, small_suite: Suite) -> None:
    words = ("--op", "AvgPool-1", "--suite", small_suite.path)
    (tmp_path / "pages").write_text("a file")
    found = docs("--out", tmp_path / "pages", *words)
    assert found.exit_code == 2
    (tmp_path / "folder" / "index.html").mkdir(parents=True)
    found = docs("--out", tmp_path / "folder", *words)
    assert found.exit_code == 2
    assert "the file cannot be written" in found.stderr
