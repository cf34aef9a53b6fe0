"""A program that grades several backends in a loop, and is asked to end by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import tiers

if sys.platform == "win32":
    pytest.skip("POSIX signals", allow_module_level=True)

BACKEND = """
import os, pathlib, time
from conformance.backends.reference import Reference

here = pathlib.Path(__file__).parent

class Slow(Reference):
    asked = 0

    def run(self, *question):
        Slow.asked += 1
        if Slow.asked == 3:
            (here / "told").write_text(str(os.getpid()))
            (here / "told").rename(here / "pid")
            time.sleep(SECONDS)
        return super().run(*question)
"""

HOST = """
import signal, sys, threading, time
import conformance
from slow import Slow

suite, executor, host, where = sys.argv[1:]
backend = "slow.py:Slow" if executor == "process" else Slow()

def say(*words):
    print(*words, flush=True)

def own(number, frame):
    say("handler", number)
    if host == "exits":
        sys.exit(9)

if host != "default":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, own)

def seen(event):
    if isinstance(event, dict) and event["event"] == "footer":
        say("footer", event["interrupted"])

def work():
    for number in range(4):
        say("call", number)
        try:
            run = conformance.check(suite, backend, executor=executor, on_event=seen)
        except KeyboardInterrupt as stopped:
            say("raised", type(stopped).__name__, len(stopped.run.results))
            raise
        say("returned", run.footer["interrupted"])
        if run.footer["interrupted"]:
            return

if where == "main":
    work()
else:
    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():  # Ctrl-C in join() makes some Pythons forget the thread
        time.sleep(0.02)
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
def signalled(small_suite: Any, tmp_path: Path) -> Any:
    """Starts the program, sends it a signal inside a backend call, and gives its exit status and
    what it said once all of it is gone."""
    pids: list[int] = []

    def start(
        name: str, executor: str, host: str, where: str = "main", seconds: float = 600
    ) -> tuple[int, list[str]]:
        (tmp_path / "slow.py").write_text(BACKEND.replace("SECONDS", str(seconds)))
        (tmp_path / "host.py").write_text(HOST)
        process = subprocess.Popen(
            [sys.executable, "host.py", str(small_suite.path), executor, host, where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        until((tmp_path / "pid").exists)
        pids.extend((process.pid, int((tmp_path / "pid").read_text())))
        process.send_signal(signal.Signals[name])
        stdout, _ = process.communicate(timeout=60)
        until(lambda: not any(map(alive, pids)))
        return process.returncode, stdout.splitlines()

    yield start
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("executor", ["inline", "process"])
class TestInTheMainThread:
    def test_ctrl_c_is_raised_with_what_was_found(self, signalled: Any, executor: str) -> None:
        status, said = signalled("SIGINT", executor, "default")
        assert status == -signal.SIGINT
        assert said[:2] == ["call 0", "footer True"]
        assert said[2].startswith("raised KeyboardInterrupt ")
        assert len(said) == 3

    def test_sigterm_ends_the_program(self, signalled: Any, executor: str) -> None:
        status, said = signalled("SIGTERM", executor, "default")
        assert status == -signal.SIGTERM
        assert said == ["call 0", "footer True"]

    @pytest.mark.parametrize("name", tiers.first(["SIGTERM", "SIGINT"]))
    def test_its_own_handler_is_called_once_and_ends_it(
        self, signalled: Any, executor: str, name: str
    ) -> None:
        status, said = signalled(name, executor, "exits")
        assert status == 9
        assert said == ["call 0", "footer True", f"handler {signal.Signals[name]}"]

    @pytest.mark.parametrize("name", tiers.first(["SIGINT", "SIGTERM"]))
    def test_its_own_handler_is_called_once_and_it_goes_on(
        self, signalled: Any, executor: str, name: str
    ) -> None:
        status, said = signalled(name, executor, "goes on")
        assert status == 0
        handled = f"handler {signal.Signals[name]}"
        assert said == ["call 0", "footer True", handled, "returned True"]


class TestInAnotherThread:
    def test_ctrl_c_ends_the_call_in_a_process(self, signalled: Any) -> None:
        status, said = signalled("SIGINT", "process", "default", "thread")
        assert status == -signal.SIGINT
        assert said[:2] == ["call 0", "footer True"]
        assert said[2].startswith("raised KeyboardInterrupt ")
        assert len(said) == 3

    def test_ctrl_c_ends_the_call_inline_once_the_backend_returns(self, signalled: Any) -> None:
        status, said = signalled("SIGINT", "inline", "default", "thread", seconds=1)
        assert status == -signal.SIGINT
        assert said == ["call 0", "footer True", "raised KeyboardInterrupt 3"]

    @pytest.mark.parametrize("executor", ["inline", "process"])
    def test_sigterm_ends_the_program(self, signalled: Any, executor: str) -> None:
        status, said = signalled("SIGTERM", executor, "default", "thread")
        assert status == -signal.SIGTERM
        assert said == ["call 0"]

    @pytest.mark.parametrize("executor", tiers.first(["inline", "process"]))
    def test_its_own_handler_is_called_once(self, signalled: Any, executor: str) -> None:
        status, said = signalled("SIGTERM", executor, "goes on", "thread", seconds=1)
        assert status == 0
        handled = f"handler {signal.SIGTERM}"
        assert [line for line in said if line.startswith("handler")] == [handled]
        assert said[-2:] == ["footer False", "returned False"]
