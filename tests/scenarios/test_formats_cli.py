"""``--format`` on whole runs: where files go, and what is on standard output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.log.reader import read
from conformance.report.registry import FORMATS, report_format

WRONG = """
from conformance.backends.reference import Reference

class Wrong(Reference):
    name = "wrong"
    def run(self, op, inputs, attributes):
        return [output + 1 for output in super().run(op, inputs, attributes)]
"""


@pytest.fixture
def run(small_suite, monkeypatch):
    """Runs ``conformance`` in this process; a check is of the small suite."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def run(command, *arguments):
        here = ["--suite", str(small_suite.path), "--executor", "inline"]
        more = here if command == "check" else []
        return CliRunner().invoke(main, [command, *more, *map(str, arguments)])

    return run


@pytest.fixture
def wrong(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    return f"{file}:Wrong"


def words(names):
    return [word for name in names for word in ("--format", name)]


class TestCheck:
    def test_every_format_goes_into_the_folder(self, run, wrong, tmp_path):
        out = tmp_path / "out"
        names = [name for name in FORMATS if name != "github"]
        shown = run("check", "--backend", wrong, "--out", out, *words(names))
        assert shown.exit_code == 1
        log = read(out / "run.jsonl")
        for name in names:
            chosen = report_format(name)
            assert (out / chosen.FILE).read_text("utf-8") == chosen.render(log)
            assert f"{name}: {out / chosen.FILE}" in shown.stderr
        assert shown.stdout.splitlines()[-1] == log.footer["claim"]

    def test_a_file_of_ones_own_needs_no_folder(self, run, tmp_path):
        file = tmp_path / "deep" / "x.xml"
        shown = run("check", "--backend", "reference", f"--format=junit={file}")
        assert shown.exit_code == 0
        root = ET.fromstring(file.read_text("utf-8"))
        assert len(root.findall(".//testcase")) == 8
        assert {path.name for path in tmp_path.iterdir()} == {"deep"}

    def test_standard_output_is_for_the_format_alone(self, run, wrong):
        shown = run("check", "--backend", wrong, "--format", "json=-")
        assert shown.exit_code == 1
        assert json.loads(shown.stdout)["verdict"] == "not conformant"
        assert "NOT CONFORMANT" in shown.stderr

    def test_annotations_go_to_standard_output(self, run, wrong):
        shown = run("check", "--backend", wrong, "--format", "github")
        assert shown.exit_code == 1
        assert all(line.startswith("::") for line in shown.stdout.splitlines())
        assert "::error " in shown.stdout

    def test_the_summary_of_a_step_is_appended_to(self, run, monkeypatch, tmp_path):
        file = tmp_path / "step"
        file.write_text("before\n")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
        assert run("check", "--backend", "reference", "--format", "summary").exit_code == 0
        assert file.read_text("utf-8").startswith("before\n## ✅ Conformant: reference")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["junitt"], "unknown report format 'junitt'"),
            (["junit"], "has no folder to write into"),
            (["summary"], "has no folder to write into"),
            (["junit="], "names no file"),
            (["github", "json=-"], "taken by github"),
            (["json=a", "junit=./a"], "taken by json"),
        ],
    )
    def test_what_cannot_be_written_is_refused_before_the_run(
        self, run, tmp_path, arguments, words
    ):
        shown = run("check", "--backend", "missing.py:X", *(f"--format={a}" for a in arguments))
        assert shown.exit_code == 2
        assert words in shown.stderr
        assert "hint: " in shown.stderr
        assert "missing.py" not in shown.stderr

    def test_the_log_is_never_overwritten(self, run, tmp_path):
        log = tmp_path / "run.jsonl"
        shown = run("check", "--backend", "reference", "--out", tmp_path, f"--format=json={log}")
        assert shown.exit_code == 2
        assert "taken by the run log" in shown.stderr

    def test_a_place_that_cannot_be_written(self, run, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        shown = run("check", "--backend", "reference", f"--format=json={tmp_path}/file/x.json")
        assert shown.exit_code == 2
        assert "cannot be written" in shown.stderr
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
        shown = run("check", "--backend", "reference", "--format=summary")
        assert shown.exit_code == 2
        assert "GITHUB_STEP_SUMMARY" in shown.stderr

    def test_a_link_to_itself_stays(self, run, tmp_path):
        loop = tmp_path / "loop.json"
        loop.symlink_to(loop)
        shown = run("check", "--backend", "reference", "--format", f"json={loop}")
        assert shown.exit_code == 2
        assert "Too many levels of symbolic links" in shown.stderr
        assert loop.is_symlink()

    @pytest.mark.exhaustive
    def test_a_run_that_dies_leaves_no_earlier_success(self, run, small_suite, tmp_path):
        """Files of an earlier run must not stand beside the log of one that was killed."""
        report, own = tmp_path / "report", tmp_path / "own.xml"
        formats = words(["sarif", f"junit={own}"])
        assert run("check", "--backend", "reference", "--out", report, *formats).exit_code == 0
        assert own.exists()
        dying = tmp_path / "dying.py"
        dying.write_text("def run(op, inputs, attributes):\n    __import__('os')._exit(0)\n")
        killed = subprocess.run(
            [
                *(sys.executable, "-c", "from conformance.cli import main; main()", "check"),
                *("--suite", small_suite.path, "--out", report, *formats),
                *("--backend", f"{dying}:run"),
            ],
            capture_output=True,
            check=False,
        )
        # (An executor that survives this backend writes the files anew, and says what happened.)
        if killed.returncode == 0:
            assert [file.name for file in report.iterdir()] == ["run.jsonl"]
            assert not own.exists()
        else:
            assert "<error" in own.read_text("utf-8")


@pytest.fixture(scope="module")
def first(small_suite, tmp_path_factory):
    """The report of one check, for all."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "wrong.py").write_text(WRONG)
    words = ["--suite", str(small_suite.path), "--backend", f"{folder / 'wrong.py'}:Wrong"]
    words += ["--executor", "inline", "--out", str(folder / "out")]
    CliRunner().invoke(main, ["check", *words])
    return folder / "out"


class TestReport:
    @pytest.fixture
    def log(self, first, tmp_path):
        return shutil.copytree(first, tmp_path / "out") / "run.jsonl"

    def test_formats_go_beside_the_log_or_into_out(self, run, log, tmp_path):
        page = log.parent / "index.html"
        page.unlink()
        shown = run("report", log, "--format", "junit")
        assert shown.exit_code == 0
        assert (log.parent / "junit.xml").exists()
        assert not page.exists()
        run("report", log, "--out", tmp_path / "there", "--format", "badge")
        assert [file.name for file in (tmp_path / "there").iterdir()] == ["badge.json"]

    def test_standard_output_is_for_the_format_alone(self, run, log):
        shown = run("report", log, "--format", "sarif=-")
        assert json.loads(shown.stdout)["version"] == "2.1.0"

    def test_the_same_as_of_the_check(self, run, wrong, tmp_path):
        files = {name: tmp_path / name for name in FORMATS}
        formats = words(f"{name}={file}" for name, file in files.items())
        run("check", "--backend", wrong, "--out", tmp_path / "out", *formats)
        before = {name: file.read_bytes() for name, file in files.items()}
        assert run("report", tmp_path / "out" / "run.jsonl", *formats).exit_code == 0
        assert {name: file.read_bytes() for name, file in files.items()} == before

    def test_a_log_that_was_cut_short_is_red(self, run, log):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:2]))
        assert run("report", log, *words(["junit", "badge"])).exit_code == 2
        junit = ET.fromstring((log.parent / "junit.xml").read_text("utf-8"))
        assert "Cut short" in junit.find(".//error").get("message")
        assert json.loads((log.parent / "badge.json").read_text())["color"] == "red"

    def test_the_log_is_never_overwritten(self, run, log):
        before = log.read_bytes()
        shown = run("report", log, "--format", f"json={os.path.relpath(log)}")
        assert shown.exit_code == 2
        assert log.read_bytes() == before


@pytest.mark.parametrize("command", ["check", "report"])
def test_help_names_every_format(command):
    text = " ".join(CliRunner().invoke(main, [command, "--help"]).stdout.split())
    formats = text[text.index("--format NAME[=FILE]") :]
    assert [name for name in FORMATS if name not in formats] == []
