"""A script tried once in a process of its own, which it may crash or hang."""

from __future__ import annotations

import platform
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from conformance.report.visible import visible

MAX_LINES, MAX_BYTES = 12, 4000
"""How much of what a script prints is kept."""


@dataclass(frozen=True)
class Trial:
    """What a script did. ``code`` is its exit code, None where it did not end in time."""

    code: int | None
    seconds: float
    printed: tuple[str, ...]

    @property
    def ending(self) -> str:
        """What came of it, as the end of a sentence that begins with the script."""
        if self.code is None:
            return f"did not end within {self.seconds:g} s"
        if self.code < 0:
            return f"was ended by {_signal(-self.code)}"
        return f"exits with {self.code}" + (", so it passes" if self.code == 0 else "")

    def lines(self) -> tuple[str, ...]:
        """The trial in words, for people who read the script."""
        system = f"{platform.system()} {platform.machine()}"
        versions = f"Python {platform.python_version()}, numpy {version('numpy')}, {system}"
        return (f"Tried with {versions}: it {self.ending}.", *self.printed)


def tried(script: str, seconds: float) -> Trial:
    """Run a script in this environment and folder; one that takes longer is killed.

    Only the beginning of what it prints is read, made safe to look at.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, output = Path(folder) / "script.py", Path(folder) / "output"
        file.write_text(script, encoding="utf-8")
        with output.open("wb") as stream:
            try:
                code = subprocess.run(  # noqa: S603 - the script is ours, and what it calls is asked for
                    [sys.executable, str(file)],
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    timeout=seconds,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = None
        with output.open("rb") as stream:
            text = stream.read(MAX_BYTES).decode("utf-8", errors="replace")
    lines = [visible(line) for line in text.split("\n") if line.strip()]
    more = [f"... and {len(lines) - MAX_LINES} more lines"] if len(lines) > MAX_LINES else []
    return Trial(code, seconds, (*lines[:MAX_LINES], *more))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
