"""Standard output that is full, closed, or a backend's too; and too few file descriptors."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiers

from conformance.log.reader import read

if not Path("/dev/full").exists():
    pytest.skip("a system with /dev/full", allow_module_level=True)

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]

NOISY = """
import ctypes, os, subprocess, sys
from conformance.backends.reference import Reference

print("printed at import")
subprocess.run(["echo", "said by a child"])

class Noisy(Reference):
    def run(self, *question):
        print("printed in a call")
        os.write(1, b"written past Python\\n")
        print("kept", end="", file=sys.__stdout__)
        ctypes.CDLL(None).puts(b"put by a library")
        return super().run(*question)
"""


@pytest.fixture
def shell(small_suite: Any, tmp_path: Path) -> Shell:
    """Runs a line of shell in which ``check`` is a check of the small suite."""
    # With that variable C's streams keep nothing either, so there is nothing to get wrong.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        tool = (sys.executable, "-c", "from conformance.cli import main; main()")
        words = (*tool, "check", "--suite", str(small_suite.path))
        functions = (
            f'conformance() {{ {shlex.join(tool)} "$@"; }}\ncheck() {{ {shlex.join(words)} "$@"; }}'
        )
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{functions}\n{line}"],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=environment,
            check=False,
        )

    return run


class TestFull:
    @pytest.mark.parametrize(
        "line",
        tiers.sweep(
            [
                "check --backend numpy --out out > /dev/full 2>&1",
                "check --backend nosuch 2> /dev/full",
                "conformance backends > /dev/full",
                "check --backend numpy > /dev/full",
                "check --backend numpy --format json=- > /dev/full",
                "check --backend numpy --out out > /dev/full",
                "check --backend numpy --out out 2> /dev/full",
                "conformance --help > /dev/full",
                "conformance check --help > /dev/full",
            ],
            lambda line: [line.split()[0], line.split()[-1], line.split()[-2]],
        ),
    )
    def test_is_an_error_and_no_defect(self, shell: Shell, line: str) -> None:
        shown = shell(line)
        assert shown.returncode == 2
        assert "Traceback" not in shown.stderr
        assert "defect" not in shown.stderr
        if "2>" not in line:
            assert "error: standard output or error cannot be written: No space" in shown.stderr
            assert "hint: " in shown.stderr

    def test_the_log_is_whole_all_the_same(self, shell: Shell, tmp_path: Path) -> None:
        shell("check --backend numpy --out out > /dev/full")
        assert read(tmp_path / "out" / "run.jsonl").verdict == "conformant"
        assert (tmp_path / "out" / "index.html").exists()


class TestClosed:
    @pytest.mark.parametrize(
        ("executor", "closed"),
        [("inline", ">&-"), ("process", "<&-"), ("process", "<&- >&- 2>&-")],
    )
    def test_no_file_takes_its_place(
        self, shell: Shell, tmp_path: Path, closed: str, executor: str
    ) -> None:
        (tmp_path / "noisy.py").write_text(NOISY)
        shown = shell(f"check --backend noisy.py --executor {executor} --out out {closed}")
        assert shown.returncode == 0, shown.stderr
        log = tmp_path / "out" / "run.jsonl"
        assert read(log).verdict == "conformant"
        assert "printed" not in log.read_text()

    def test_a_reader_that_stops(self, shell: Shell, tmp_path: Path) -> None:
        shown = shell("check --backend numpy --out out --format json=- | head -c 1")
        assert shown.returncode in (0, 141)
        assert "Traceback" not in shown.stderr
        assert "defect" not in shown.stderr
        assert read(tmp_path / "out" / "run.jsonl").verdict == "conformant"


class TestShared:
    def test_what_a_backend_prints_stays_out_of_a_format(
        self, shell: Shell, tmp_path: Path
    ) -> None:
        (tmp_path / "noisy.py").write_text(NOISY)
        shown = shell("check --backend noisy.py --executor inline --format json=-")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["verdict"] == "conformant"
        said = ("printed at import", "said by a child", "printed in a call", "written past", "kept")
        said += ("put by a library",)
        assert all(text in shown.stderr for text in said)

    def test_in_a_process_of_its_own_nobody_hears_it(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "noisy.py").write_text(NOISY)
        shown = shell("check --backend noisy.py --format json=-")
        assert json.loads(shown.stdout)["verdict"] == "conformant"
        assert "print" not in shown.stderr


class TestDescriptors:
    def test_too_few_for_so_many_processes(self, shell: Shell) -> None:
        shown = shell("ulimit -n 20; check --backend numpy -j 8 --out out")
        assert shown.returncode == 2
        assert shown.stderr.splitlines() == [
            "error: 8 worker processes take 44 file descriptors, and 20 are allowed",
            "  hint: allow more with ulimit -n 1024, or use fewer processes",
        ]

    def test_just_enough_is_enough(self, shell: Shell, tmp_path: Path) -> None:
        shown = shell("ulimit -n 29; check --backend numpy -j 3 --out out")
        assert shown.returncode == 0, shown.stderr
        assert read(tmp_path / "out" / "run.jsonl").verdict == "conformant"

    @pytest.mark.parametrize("allowed", tiers.first([8, 5, 11, 14]))
    def test_too_few_for_anything(self, shell: Shell, allowed: int) -> None:
        shown = shell(f"ulimit -n {allowed}; check --backend numpy --out out")
        assert shown.returncode in (0, 2), shown.stderr
        assert "defect" not in shown.stderr
        assert os.linesep in shown.stderr


class TestReports:
    """A file that cannot be written hides nothing else."""

    def test_a_page_that_cannot_be_written(self, shell: Shell, tmp_path: Path) -> None:
        # A folder may always be made, and never be replaced by a file.
        (tmp_path / "page.py").write_text(
            "import pathlib\n"
            "from conformance.backends.reference import Reference\n"
            "class Page(Reference):\n"
            "    def run(self, *question):\n"
            "        pathlib.Path('out/index.html').mkdir(exist_ok=True)\n"
            "        pathlib.Path('junit.xml').mkdir(exist_ok=True)\n"
            "        return super().run(*question)\n"
        )
        shown = shell("check --backend page.py --out out --format junit=junit.xml --format badge")
        assert shown.returncode == 2
        assert "CONFORMANT. " in shown.stdout
        assert "error: out/index.html: " in shown.stderr
        assert "--out DIR" in shown.stderr
        assert "error: junit.xml: " in shown.stderr
        assert "--format junit=FILE" in shown.stderr
        assert "Traceback" not in shown.stderr
        assert (tmp_path / "out" / "badge.json").exists()
        assert read(tmp_path / "out" / "run.jsonl").verdict == "conformant"
