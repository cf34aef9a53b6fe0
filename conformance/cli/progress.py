"""Progress on long work: one line on standard error, only where a person is watching."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """Shows ``label 3/12 what`` and rewrites it in place; silent unless stderr is a terminal."""

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self._shown = sys.stderr.isatty()
        self._last = 0.0
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def at(self, what: str, number: int, total: int | None = None) -> None:
        """Say that item ``number`` (from 0) of ``total`` is being worked on."""
        now = time.monotonic()
        if not self._shown or now - self._last < 0.05:
            return
        self._last = now
        text = f"{self.label} {number + 1}/{total or self.total} {what}"[:78]
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
