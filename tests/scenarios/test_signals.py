"""A check that is asked to end by a signal says what it found, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest
import tiers

from conformance.log.reader import read

if sys.platform == "win32":
    pytest.skip("POSIX signals", allow_module_level=True)

BACKEND = """
import os, pathlib, subprocess, sys, time
from conformance.backends.reference import Reference

here = pathlib.Path(__file__).parent
if (here / "hang").exists():
    (here / "loading").write_text("")
    time.sleep(600)

class Slow(Reference):
    asked = set()  # what is wrong is asked twice

    def run(self, *question):
        self.asked.add(repr(question))
        if len(self.asked) == 3:
            word = [sys.executable, "-c", "import time; time.sleep(600)"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            started = [
                subprocess.Popen(word, start_new_session=apart, **quiet) for apart in (False, True)
            ]
            told = here / "told"
            told.write_text(" ".join(str(n) for n in (os.getpid(), *(p.pid for p in started))))
            told.rename(here / "pids")
            time.sleep(600)
        return [output + 1 for output in super().run(*question)]
"""


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def start(small_suite: Any, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    (tmp_path / "slow.py").write_text(BACKEND)

    def begin(*more: str, ignore: str = "") -> subprocess.Popen[str]:
        first = f"import signal; signal.signal(signal.{ignore}, signal.SIG_IGN)" if ignore else ""
        text = f"{first}\nfrom conformance.cli import main; main()"
        words = ("--suite", small_suite.path, "--backend", "slow.py:Slow", "--out", "out")
        return subprocess.Popen(
            [sys.executable, "-c", text, "check", *words, *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )

    return begin


@pytest.fixture
def pids(tmp_path: Path) -> Any:
    """Waits for the third vector; a process that survives is ended after the test."""
    found: list[int] = []

    def wait() -> list[int]:
        until((tmp_path / "pids").exists)
        found.extend(int(pid) for pid in (tmp_path / "pids").read_text().split())
        return found

    yield wait
    for pid in found:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("name", "executor"),
    tiers.sweep(
        product(["SIGTERM", "SIGHUP", "SIGINT"], ["process", "inline"]),
        lambda name, executor: [executor, name == "SIGINT"],
    ),
)
def test_the_run_says_what_it_found(
    start: Any, pids: Any, tmp_path: Path, name: str, executor: str
) -> None:
    number = signal.Signals[name]
    process = start("--executor", executor)
    worker, child, daemon = pids()
    log = tmp_path / "out" / "run.jsonl"
    if executor == "inline":
        until(lambda: log.read_bytes().count(b"\n") == 3)
    else:  # what is wrong is called again, which waits for the vector that hangs
        time.sleep(1)
    done = 2 if executor == "inline" else 1
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    told = f"Interrupted after {done} of 8 vectors; {done} failed so far."
    assert told in " ".join(stdout.split())
    assert "to resume: run the same command with --resume" in stderr
    run = read(log)
    assert run.footer is not None
    assert run.footer["interrupted"] is True
    assert run.footer["exit_code"] == 128 + number
    assert run.problems == ()
    assert len(run.results) == done
    assert run.findings
    assert (tmp_path / "out" / "index.html").exists()
    if executor == "process":
        until(lambda: not alive(worker) and not alive(child))
        assert alive(daemon)  # as the document says


def test_while_the_backend_is_loaded_the_check_just_ends(start: Any, tmp_path: Path) -> None:
    (tmp_path / "hang").write_text("")
    process = start("--executor", "process")
    until((tmp_path / "loading").exists)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 143
    assert stderr.splitlines() == ["interrupted"]
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
def test_one_that_is_ignored_stays_so(start: Any, pids: Any) -> None:
    process = start(ignore="SIGHUP")
    pids()
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
