"""Writes a run log, one flushed line an event."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import TextIO

from conformance.errors import LogError
from conformance.log.encoding import Event, encode
from conformance.log.events import as_event
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

    Raises :class:`LogError` where the file cannot be written, and ValueError for events out of
    order (one header first, one footer last).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file: TextIO | None = None
        self._last: str | None = None

    def __enter__(self) -> LogWriter:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="ascii", newline="\n")
        except OSError as error:
            raise self._failed(error) from error
        return self

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
        event = as_event(item)
        name = event["event"]
        if self._last not in _MAY_FOLLOW[name]:
            raise ValueError(f"a {name} cannot come after {self._last or 'nothing'}")
        line = encode(event)
        try:
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
