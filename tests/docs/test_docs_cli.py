"""``conformance spec docs``: whole runs, on shipped operators and on one of a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.core.loader import shipped_names


def docs(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["spec", "docs", *map(str, arguments)])


def test_pages_of_the_shipped_operators(tmp_path: Path) -> None:
    made = docs("--out", tmp_path / "pages")
    assert made.exit_code == 0, made.output
    assert made.stdout == ""
    ops = shipped_names()
    assert f"{len(ops)} operator pages" in made.stderr
    names = {"index.html", *(f"{op}.html" for op in ops)}
    assert tiny.content(tmp_path / "pages").keys() == names


def test_again_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        assert docs("--out", tmp_path / name, "--op", "AvgPool-1").exit_code == 0
    assert tiny.content(tmp_path / "one") == tiny.content(tmp_path / "other")


def test_a_folder_keeps_what_else_it_has(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert docs("--out", tmp_path, "--op", "AvgPool-1").exit_code == 0
    assert sorted(tiny.content(tmp_path)) == ["AvgPool-1.html", "index.html", "notes.txt"]


def test_operators_by_name_and_by_file(tmp_path: Path) -> None:
    file = tiny.write(tmp_path)
    made = docs("--out", tmp_path / "pages", "--op", file, "--op", "MatMul-1")
    assert made.exit_code == 0, made.output
    assert "and 2 operator pages" in made.output
    pages = {name: text.decode() for name, text in tiny.content(tmp_path / "pages").items()}
    assert pages.keys() == {"MatMul-1.html", "Tiny-1.html", "index.html"}
    assert "The mean of each pair of neighbours." in pages["Tiny-1.html"]
    assert "./MatMul-1.html" in pages["index.html"]
    assert "./Tiny-1.html" in pages["index.html"]


def test_the_operators_of_a_suite_are_as_it_carries_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.draw_few(monkeypatch)
    file = tiny.write(tmp_path)
    words = ["generate", "--op", str(file), "--suite", "smoke", "--out", str(tmp_path / "suite")]
    assert CliRunner().invoke(main, words).exit_code == 0
    file.unlink()
    made = docs("--out", tmp_path / "pages", "--suite", tmp_path / "suite")
    assert made.exit_code == 0, made.output
    assert sorted(tiny.content(tmp_path / "pages")) == ["Tiny-1.html", "index.html"]


def test_markup_in_a_specification_is_text(tmp_path: Path) -> None:
    bad = tiny.TEXT.replace("The mean of each pair", "<script>alert(1)</script>")
    bad = bad.replace("https://example.org/tiny", "javascript:alert(1)")
    assert docs("--out", tmp_path, "--op", tiny.write(tmp_path, bad)).exit_code == 0
    page = (tmp_path / "Tiny-1.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert 'href="javascript' not in page


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--op", "AvgPol-1"], "there is no operator 'AvgPol-1'", "did you mean"),
        (["--op", "none.yaml"], "none.yaml: no such file", ""),
        (["--suite", "no-such-suite"], "no suite and no folder", "shipped suites are"),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    made = docs("--out", tmp_path / "pages", *arguments)
    assert made.exit_code == 2
    assert message in made.stderr
    assert hint in made.stderr
    assert not (tmp_path / "pages").exists()


def test_two_specifications_of_one_page_are_refused(tmp_path: Path) -> None:
    file = tiny.write(tmp_path, tiny.TEXT.replace("op: Tiny-1", "op: avgpool-1"))
    made = docs("--out", tmp_path / "pages", "--op", "AvgPool-1", "--op", file)
    assert made.exit_code == 2
    assert "both specify" in made.stderr
    twice = docs("--out", tmp_path / "pages", "--op", "AvgPool-1", "--op", "AvgPool-1")
    assert twice.exit_code == 0


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("a file")
    assert docs("--out", tmp_path / "pages", "--op", "AvgPool-1").exit_code == 2
    (tmp_path / "folder" / "index.html").mkdir(parents=True)
    made = docs("--out", tmp_path / "folder", "--op", "AvgPool-1")
    assert made.exit_code == 2
    assert "the file cannot be written" in made.stderr
