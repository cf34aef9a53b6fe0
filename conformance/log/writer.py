"""Writes a run log, one flushed line per event, or appends to one that was cut short."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from conformance.errors import LogError
from conformance.log.encoding import Event, encode
from conformance.log.events import as_event
from conformance.log.reader import Unfinished
from conformance.model import Finding, Result

_BODY = ("header", "result", "finding")
_MAY_FOLLOW: dict[str, tuple[str | None, ...]] = {
    "header": (None,),
    "result": _BODY,
    "finding": _BODY,
    "footer": _BODY,
}


class LogWriter:
    """A run log that is being written; a context manager.

    Lines go straight to the file that people will look for, and each is flushed: a run that is
    killed leaves every result it had. What makes that safe is the footer, which is written last
    and holds the verdict: a log without it is *cut short* and never shown as green.

    ``earlier`` is what the file holds of a run that goes on. Its header and results stay where
    they are, byte for byte; only what comes after them (half a line, findings and a footer of an
    interrupted run) is cut off, and events that the file has are not written again. Entering
    takes the file and leaves it as it is; what is to go goes when the header is written.

    Raises :class:`LogError` where the file cannot be written, another process is writing it or
    has changed it, and ValueError for events out of order (one header first, one footer last).
    """

    def __init__(self, path: str | os.PathLike[str], *, earlier: Unfinished | None = None) -> None:
        self.path = Path(path)
        self._earlier = earlier
        self._held = (
            {(result.op, result.id) for result in earlier.run.results} if earlier else set()
        )
        self._file: BinaryIO | None = None
        self._last: str | None = None

    def __enter__(self) -> LogWriter:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
            self._take(self._file)
        except OSError as error:
            self.__exit__(None, None, None)
            raise self._failed(error) from error
        except LogError:
            self.__exit__(None, None, None)
            raise
        return self

    def _take(self, file: BinaryIO) -> None:
        """Make sure that nobody else writes the file, or has written it since it was read."""
        if not locked(file):
            raise LogError(
                f"{self.path}: another process is writing this run log",
                hint="wait until it is done, or choose another folder",
            )
        if self._earlier is not None and os.fstat(file.fileno()).st_size != self._earlier.size:
            raise LogError(
                f"{self.path}: the run log has changed since it was read", hint="try again"
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            # Every line was flushed, so closing can only repeat an error that was raised before.
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def write(self, item: Event | Result | Finding) -> None:
        """Append one event and flush it; after a footer also force it to the disk."""
        if self._file is None:
            raise ValueError("the run log is not open")
        if isinstance(item, Result) and (item.op, item.id) in self._held:
            return
        event = as_event(item)
        name = event["event"]
        if self._last not in _MAY_FOLLOW[name]:
            raise ValueError(f"a {name} cannot come after {self._last or 'nothing'}")
        line = encode(event).encode("ascii")
        try:
            if name == "header":
                self._file.truncate(0 if self._earlier is None else self._earlier.end)
            if name != "header" or self._earlier is None:
                self._file.write(line)
            self._file.flush()
            if name == "footer":
                os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from error
        self._last = name

    def _failed(self, error: OSError) -> LogError:
        return LogError(
            f"{self.path}: the run log cannot be written: {error.strerror or error}",
            hint="choose a folder that you may write to, with room on its disk",
        )


def locked(file: BinaryIO) -> bool:
    """Take the file for this process; False where another process has it.

    It is free again when the file is closed, or this process ends, however it ends. True also
    where a file system knows no locks, and on Windows.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        # Not flock: the processes that a run starts would hold on to it after the run was killed.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True
