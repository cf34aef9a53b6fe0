"""Progress of long work on standard error, with the estimated time left."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

LINE_SECONDS = 10.0
"""Seconds between lines if standard error is no terminal, as in a CI log."""

REDRAW_SECONDS = 0.2
"""Seconds until the line on a terminal is drawn again, with a new estimate."""

WIDTH = 78


class Progress:
    """A progress line: ``label 25 % (3 of 12) item, about 1 min 20 s left``.

    On a terminal it is a single line, rewritten in place; elsewhere a line every ten seconds, so
    that short work prints nothing.
    """

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self._item = ""
        self._done = 0.0
        self._terminal = sys.stderr.isatty()
        self._width = 0
        self._over = threading.Event()
        self._began = time.monotonic()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Progress:
        self._began = time.monotonic()
        self._ticker.start()
        return self

    def at(self, item: str, done: float, total: int | None = None) -> None:
        """Set the item in work and how many of ``total`` are done.

        A fraction is the share of this item that is done.
        """
        self._item, self._done, self.total = item, done, total or self.total

    def open(self, text: str) -> None:
        """Set the text for work of unknown length."""
        self._item, self._done, self.total = text, 0, 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._ticker.join()
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def line(self, seconds: float) -> str:
        """Return the line after so many seconds of work."""
        if not self.total:
            return f"{self.label}: {self._item}, {_time(seconds)} so far"[:WIDTH]
        share = self._done / self.total
        text = f"{self.label} {share:4.0%} ({int(self._done)} of {self.total})"
        text += f" {self._item}" if self._item else ""
        if self._done in (0, self.total):  # no rate yet, or the work after the last item
            return f"{text}, {_time(seconds)} so far"[:WIDTH]
        return f"{text}, about {_time(seconds / share - seconds)} left"[:WIDTH]

    def _tick(self) -> None:
        while not self._over.wait(REDRAW_SECONDS if self._terminal else LINE_SECONDS):
            text = self.line(time.monotonic() - self._began)
            if self._terminal:
                text = "\r" + text.ljust(self._width)
                self._width = len(text) - 1
            else:
                text += "\n"
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except (OSError, ValueError):  # standard error is closed
                return


def _time(seconds: float) -> str:
    minutes, remaining = divmod(round(seconds), 60)
    texts = (
        f"{minutes} min" if minutes else "",
        f"{remaining} s" if remaining or not minutes else "",
    )
    return " ".join(filter(None, texts))
