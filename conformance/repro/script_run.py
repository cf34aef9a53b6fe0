"""Runs a script once in a separate process, to record what happens."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from conformance.run.process import DYING
from conformance.safe_text import visible

PATIENCE = 30.0
"""Seconds that a Python may take to tell its versions."""

_VERSIONS = (
    "import platform; from importlib.metadata import version; "
    "print(platform.python_version()); print(version('numpy'))"
)
MAX_LINES, MAX_BYTES = 12, 4000
"""How much of what a script prints is kept."""


@dataclass(frozen=True)
class Trial:
    """What a script did. ``code`` is its exit code, None where it did not end in time.

    ``printed`` is the beginning of what it printed, ``last`` the end.
    """

    code: int | None
    seconds: float
    printed: tuple[str, ...]
    last: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """What came of it, as the end of a sentence that begins with the script."""
        if self.code is None:
            return f"did not end within {self.seconds:g} s"
        if self.code < 0:
            return f"was ended by {_signal(-self.code)}"
        return f"exits with {self.code}" + (", so it passes" if self.code == 0 else "")

    def lines(self, where: str) -> tuple[str, ...]:
        """The trial in words, for people who read the script; ``where`` are :func:`versions`."""
        return (f"Run with {where}: it {self.ending}.", *self.printed)


def versions(python: Path | None = None) -> str:
    """What a script is run with: Python and numpy, of this environment or another's."""
    python_version, numpy = platform.python_version(), version("numpy")
    if python is not None:
        told = run_apart(["-c", _VERSIONS], PATIENCE, str(python)).printed
        python_version, numpy = told if len(told) == 2 else ("of another environment", "unknown")
    return f"Python {python_version}, numpy {numpy}, {platform.system()} {platform.machine()}"


def tried(script: str, seconds: float, python: Path | None = None) -> Trial:
    """Run a script in this environment, or with another ``python``; see :func:`run_apart`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.py"
        file.write_text(script, encoding="utf-8")
        return run_apart([str(file)], seconds, None if python is None else str(python))


def run_apart(arguments: Sequence[str], seconds: float, python: str | None = None) -> Trial:
    """Run this Python, or ``python``, in a process of its own; one that takes longer is killed.

    What it started, and left in its process group, is ended with it. Only the beginning
    and the end of what it prints are read, made safe to look at.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - this Python, and what is run is asked for
            [python or sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(seconds)
        finally:
            _end(process)
        output.seek(0)
        lines = _lines(output.read(MAX_BYTES))
        output.seek(max(0, output.seek(0, os.SEEK_END) - MAX_BYTES))
        last = _lines(output.read(MAX_BYTES))
    more = [f"... and {len(lines) - MAX_LINES} more lines"] if len(lines) > MAX_LINES else []
    return Trial(code, seconds, (*lines[:MAX_LINES], *more), tuple(last))


def _lines(printed: bytes) -> list[str]:
    text = printed.decode("utf-8", errors="replace")
    return [visible(line) for line in text.split("\n") if line.strip()]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, and all in its group where the system has such."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(DYING)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
