"""Steps at which a process that writes files can die, counted; for use in a forked process."""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

KILLED = 77

EVENTS = {
    *("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.link"),
    *("os.symlink", "tempfile.mkstemp"),
}


class Steps:
    """Ends this process at step ``last``, as a kill would: nothing is flushed or cleaned up.

    Steps are taken before a file is opened for writing, renamed, removed or forced to the disk,
    before each write, and once more when half of what is written is in the file. Only what lies
    below ``folder`` counts.
    """

    def __init__(self, last: int, folder: Path) -> None:
        self.last = last
        self.folder = str(folder)
        self.taken = 0

    def watch(self) -> None:
        """Count from now on, for the rest of this process's life."""
        sys.addaudithook(self._heard)
        opened = io.open

        def opening(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            stream = opened(file, mode, *more, **named)
            writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
            return _Stream(stream, self) if writes and self._counts(stream.name) else stream

        io.open = builtins.open = opening  # type: ignore[assignment]
        forced = os.fsync

        def forcing(descriptor: int) -> None:
            self.take()
            forced(descriptor)

        os.fsync = forcing

    def take(self, before_the_end: Callable[[], object] = lambda: None) -> None:
        self.taken += 1
        if self.taken == self.last:
            before_the_end()
            os._exit(KILLED)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) and self._counts(path):
                self.take()
        elif event in EVENTS and any(map(self._counts, arguments)):
            self.take()

    def _counts(self, path: object) -> bool:
        if isinstance(path, int):  # a file that was opened by its descriptor
            return path > 2
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.folder)


class _Stream:
    """An open file that counts what is written to it."""

    def __init__(self, stream: Any, steps: Steps) -> None:
        self._stream = stream
        self._steps = steps

    def write(self, data: Any) -> int:
        def half() -> None:
            self._stream.write(data[: len(data) // 2])
            self._stream.flush()

        self._steps.take()
        self._steps.take(half)
        return int(self._stream.write(data))

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> _Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.__exit__(*error)
