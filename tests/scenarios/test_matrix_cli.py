"""``conformance matrix``: several backends at once, each where it lives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import venvs
from click.testing import CliRunner

from conformance.cli import main
from conformance.cli.matrix_backends import MatrixBackend, parse_matrix_backends
from conformance.errors import UsageError
from conformance.log.reader import read

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on POSIX")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with two environments, ``old`` and ``new``, one without numpy, and a backend."""
    folder = tmp_path_factory.mktemp("home")
    venvs.make(folder / "old", version="0.9", returned="[o + 1 for o in outputs]")
    venvs.make(folder / "new", version="1.0")
    venvs.make(folder / "bare", lent=())
    venvs.adapter(folder)
    return folder


@pytest.fixture
def matrix(home, small_suite, tmp_path, monkeypatch):
    """Runs ``conformance matrix`` on the small suite, in the folder with the environments."""
    monkeypatch.chdir(home)

    def run(*backends, more=(), out=tmp_path / "out"):
        words = ["matrix", "--suite", str(small_suite.path), "--out", str(out), *more]
        for backend in backends:
            words += ["--backend", backend]
        return CliRunner().invoke(main, words)

    return run


OLD, NEW = "old=tiny_backend.py@old", "new=tiny_backend.py:Tiny@new"


class TestVersions:
    def test_the_terminal_has_a_block_each_and_the_worst_decides(self, matrix, tmp_path):
        """Each has its log and its page, and all of them a page and a table."""
        shown, out = matrix(OLD, NEW, "numpy"), tmp_path / "out"
        assert shown.exit_code == 1
        blocks = shown.stdout.strip().split("\n\n")
        assert [block.split("\n")[0] for block in blocks] == [
            "old: tiny 0.9: NOT CONFORMANT",
            "new: tiny 1.0: CONFORMANT, STRENGTH 100 %",
            f"numpy {np.__version__}: CONFORMANT, STRENGTH 100 %",
        ]
        lines = [" ".join(line.split()) for block in blocks[:2] for line in block.split("\n")]
        assert "AvgPool-1 1/2 Wrong values, not explained" in lines
        assert "AdaptiveMaxPool-8 unsupported" in lines

        assert sorted(p.name for p in out.iterdir()) == [
            *("comparison.html", "matrix.md", "new", "numpy", "old", "scoreboard.html"),
        ]
        logs = {name: read(out / name / "run.jsonl") for name in ("old", "new", "numpy")}
        assert {name: log.header["options"]["env"] for name, log in logs.items()} == {
            "old": "old",
            "new": "new",
            "numpy": None,
        }
        assert {log.header["options"]["executor"] for log in logs.values()} == {"process"}
        assert all((out / name / "index.html").exists() for name in logs)

        page = (out / "comparison.html").read_text("utf-8")
        assert "3 runs compared" in page
        assert 'href="./old/index.html">old: tiny 0.9</a>' in page
        board = (out / "scoreboard.html").read_text("utf-8")
        assert 'href="./old/index.html">old: tiny 0.9</a>' in board
        table = (out / "matrix.md").read_text("utf-8").splitlines()
        assert table[0].startswith("| operator | old: tiny 0.9 | new: tiny 1.0 | numpy ")
        row = next(line for line in table if line.startswith("| AdaptiveAvgPool-8 "))
        assert row.count("✅ 4/4") == 2
        assert "❌ 1/4" in row

    def test_all_conformant(self, matrix):
        assert matrix(NEW, "numpy").exit_code == 0


class TestWhatIsNotRun:
    @pytest.mark.parametrize("position", [0, 1])
    def test_the_others_go_on(self, matrix, tmp_path, position):
        words = ["numpy"]
        words.insert(position, "bare=numpy@bare")
        shown = matrix(*words)
        assert shown.exit_code == 2
        assert "bare: NOT RUN\n  in bare: there is no numpy and no ml_dtypes" in shown.stdout
        assert ": CONFORMANT" in shown.stdout
        assert "pip install numpy ml_dtypes" in shown.stderr
        page = (tmp_path / "out" / "comparison.html").read_text("utf-8")
        assert "1 run compared" in page
        assert "1 backend was not run" in page
        assert "| not run |" in (tmp_path / "out" / "matrix.md").read_text("utf-8")

    def test_none_could_be_run(self, matrix, tmp_path):
        matrix("numpy")
        shown = matrix("bare=numpy@bare", "unknown")
        assert shown.exit_code == 2
        assert "no backend is called 'unknown'" in shown.stdout
        assert not (tmp_path / "out" / "comparison.html").exists()
        assert "**Not run**" not in (tmp_path / "out" / "matrix.md").read_text("utf-8")

    @pytest.mark.exhaustive
    def test_one_that_crashes_on_every_vector(self, matrix, home):
        (home / "dead.py").write_text("import os\ndef run(*question):\n    os.abort()\n")
        shown = matrix("dead=dead.py@new", NEW)
        assert shown.exit_code == 1
        assert "NOT CONFORMANT" in shown.stdout
        assert "new: tiny 1.0: CONFORMANT" in shown.stdout


class TestOptions:
    def test_they_hold_for_each(self, matrix, tmp_path):
        more = [
            "--op",
            "AvgPool-1",
            "--level",
            "should",
            "-j",
            "2",
            "--timeout",
            "7",
            "--precision",
            "native",
            "--repeat",
            "2",
            "--memory",
            "4G",
        ]
        matrix(NEW, "numpy", more=more)
        for name in ("new", "numpy"):
            log = read(tmp_path / "out" / name / "run.jsonl")
            asked = log.header["options"]
            assert asked["ops"] == ["AvgPool-1"]
            assert (asked["level"], asked["jobs"], asked["timeout"]) == ("should", 2, 7)
            assert (asked["repeat"], asked["memory"]) == (2, 4 << 30)
            assert set(asked["precision"].values()) == {"native"}
            assert {one.op for one in log.results} == {"AvgPool-1"}

    def test_a_filter_that_matches_nothing_is_wrong_usage(self, matrix):
        shown = matrix("numpy", more=["--op", "Unknown-1"])
        assert shown.exit_code == 2
        assert shown.stdout == ""

    @pytest.mark.exhaustive
    def test_what_was_complete_is_not_asked_again(self, matrix, tmp_path):
        matrix(OLD, NEW)
        logs = [tmp_path / "out" / name / "run.jsonl" for name in ("old", "new")]
        whole = [log.read_bytes() for log in logs]
        lines = whole[1].splitlines(keepends=True)
        logs[1].write_bytes(b"".join(lines[:4]))
        shown = matrix(OLD, NEW, more=["--resume"])
        assert shown.exit_code == 1
        assert "nothing to resume: the run is complete" in shown.stderr
        assert "3 of 8 vectors are done" in shown.stderr
        assert logs[0].read_bytes() == whole[0]
        results = [json.loads(line)["id"] for line in logs[1].read_text().splitlines()[1:9]]
        assert results == [json.loads(line)["id"] for line in lines[1:9]]
        assert logs[1].read_bytes().startswith(b"".join(lines[:4]))


class TestNames:
    @pytest.mark.parametrize(
        ("word", "label", "backend", "env"),
        [
            ("numpy", "numpy", "numpy", None),
            ("numpy@v", "numpy", "numpy", "v"),
            ("a.b-1=path/to/file.py:Mine", "a.b-1", "path/to/file.py:Mine", None),
            ("a=b.c:D@v", "a", "b.c:D", "v"),
            ("a=numpy@v/python@3.11", "a", "numpy", "v/python@3.11"),
        ],
    )
    def test_parts(self, word, label, backend, env, monkeypatch):
        monkeypatch.setattr("conformance.run.worker_python.python_of", str)
        assert parse_matrix_backends([word]) == (MatrixBackend(label, backend, env),)

    @pytest.mark.parametrize(
        "word",
        [
            "",
            "=numpy",
            "a=",
            "a=@v",
            "@v",
            "numpy@",
            "a/b.py",
            "b.c:D",
            "..=numpy",
            ".=numpy",
            "a b=numpy",
            "matrix.md=numpy",
            "Comparison.html=numpy",
            "x" * 61 + "=numpy",
            "\u202e=numpy",
            "a\nb=numpy",
            "numpy@nowhere",
            "numpy@a\0b",
            "é=numpy",
        ],
    )
    def test_what_is_none(self, word):
        with pytest.raises(UsageError) as caught:
            parse_matrix_backends([word])
        assert caught.value.hint
        assert str(caught.value).replace("\n", "").isprintable()

    @pytest.mark.parametrize("words", [("numpy", "numpy"), ("a=numpy", "A=torch")])
    def test_a_label_is_given_once(self, words):
        with pytest.raises(UsageError, match="label of another"):
            parse_matrix_backends(words)

    def test_nothing_runs_before_all_is_known(self, matrix, tmp_path):
        shown = matrix("numpy", "gone=numpy@gone")
        assert shown.exit_code == 2
        assert "there is no environment gone" in shown.stderr
        assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(matrix, tmp_path):
    (tmp_path / "out").write_text("a file")
    shown = matrix("numpy")
    assert shown.exit_code == 2


def test_what_an_earlier_matrix_said_goes(matrix, tmp_path):
    (tmp_path / "out" / "comparison.html").mkdir(parents=True)
    shown = matrix("numpy")
    assert shown.exit_code == 2
    assert "cannot be replaced" in shown.stderr


SLOW = """
import pathlib, time
from conformance.backends.numpy import NumPy

class Slow(NumPy):
    asked = 0

    def run(self, *question):
        self.asked += 1
        if self.asked == 3:
            pathlib.Path("asked").touch()
            time.sleep(600)
        return super().run(*question)
"""
LOADS = "import pathlib, time\npathlib.Path('asked').touch()\ntime.sleep(600)\n"


@pytest.mark.parametrize("text", [SLOW, LOADS], ids=["asked", "loaded"])
def test_ctrl_c_leaves_what_there_is(home, small_suite, tmp_path, text):
    (tmp_path / "slow.py").write_text(text)
    words = ["matrix", "--suite", str(small_suite.path), "--out", "out"]
    for backend in ("numpy", "slow=slow.py:Slow", f"tiny={home}/tiny_backend.py@{home}/new"):
        words += ["--backend", backend]
    process = subprocess.Popen(
        [sys.executable, "-c", "from conformance.cli import main; main()", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    log = tmp_path / "out" / "slow" / "run.jsonl"
    lines = 3 if text == SLOW else 0  # the worker is ahead of the log
    while not (tmp_path / "asked").exists() or (lines and log.read_bytes().count(b"\n") < lines):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "tiny: NOT RUN\n  The matrix was interrupted before" in stdout
    assert ": CONFORMANT" in stdout
    if text == SLOW:
        run = read(log)
        assert run.verdict == "interrupted"
        assert len(run.results) == 2
        assert "slow: numpy" in stdout
        assert "INTERRUPTED" in stdout
    assert "was not run" in (tmp_path / "out" / "matrix.md").read_text("utf-8")
    runs = "2 runs" if text == SLOW else "1 run"
    assert f"{runs} compared" in (tmp_path / "out" / "comparison.html").read_text("utf-8")
