"""Runs a script once in a separate process, and records the result."""

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

VERSION_SECONDS = 30.0
"""Seconds that a Python may take to print its versions."""

_VERSIONS = (
    "import platform; from importlib.metadata import version; "
    "print(platform.python_version()); print(version('numpy'))"
)
MAX_LINES, MAX_BYTES = 12, 4000
"""How much of what a script prints is kept."""


@dataclass(frozen=True)
class ScriptRun:
    """A run of a script.

    Attributes:
        code: its exit code; None if it did not end in time.
        printed: the beginning of its output.
        last: the end of its output.
    """

    code: int | None
    seconds: float
    printed: tuple[str, ...]
    last: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """The end of a sentence on the run that begins with the script."""
        if self.code is None:
            return f"did not end within {self.seconds:g} s"
        if self.code < 0:
            return f"was ended by {_signal(-self.code)}"
        return f"exits with {self.code}" + (", so it passes" if self.code == 0 else "")

    def lines(self, where: str) -> tuple[str, ...]:
        """Return the run in words for readers of the script; ``where`` are :func:`versions`."""
        return (f"Run with {where}: it {self.ending}.", *self.printed)


def versions(python: Path | None = None) -> str:
    """Return Python and numpy versions, of this environment or another."""
    python_version, numpy = platform.python_version(), version("numpy")
    if python is not None:
        printed = run_python(["-c", _VERSIONS], VERSION_SECONDS, str(python)).printed
        python_version, numpy = (
            printed if len(printed) == 2 else ("of another environment", "unknown")
        )
    return f"Python {python_version}, numpy {numpy}, {platform.system()} {platform.machine()}"


def run_script(script: str, seconds: float, python: Path | None = None) -> ScriptRun:
    """Run a script in this environment, or with another ``python``; see :func:`run_python`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.py"
        file.write_text(script, encoding="utf-8")
        return run_python([str(file)], seconds, None if python is None else str(python))


def run_python(arguments: Sequence[str], seconds: float, python: str | None = None) -> ScriptRun:
    """Run this Python, or ``python``, in a process of its own, killed after some seconds.

    Processes that it started, and left in its process group, are ended with it. Only the beginning
    and the end of what it prints are read, made safe to display.
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
    surplus = [f"... and {len(lines) - MAX_LINES} more lines"] if len(lines) > MAX_LINES else []
    return ScriptRun(code, seconds, (*lines[:MAX_LINES], *surplus), tuple(last))


def _lines(printed: bytes) -> list[str]:
    text = printed.decode("utf-8", errors="replace")
    return [visible(line) for line in text.split("\n") if line.strip()]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, and all in its group where the system has groups."""
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
