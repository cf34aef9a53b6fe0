"""Progress of long work on standard error, with the estimated time left."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

EVERY = 10.0
"""Seconds between lines where standard error is no terminal, as in a CI log."""

REDRAWN = 0.2
"""Seconds between two looks of the line on a terminal, which ticks while a piece takes long."""

WIDTH = 78


class Progress:
    """Shows ``label 25 % (3 of 12) what, about 1 min 20 s left``.

    On a terminal it is one line, rewritten in place; elsewhere a line every ten seconds, so that
    short work says nothing.
    """

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self._what = ""
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

    def at(self, what: str, number: float, total: int | None = None) -> None:
        """Say that item ``number`` (from 0) of ``total`` is being worked on; a fraction is the
        share of it that is done."""
        self._what, self._done, self.total = what, number, total or self.total

    def open(self, what: str) -> None:
        """Say how work goes on of which nobody knows how long it takes."""
        self._what, self._done, self.total = what, 0, 0

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
        """What there is to say after so many seconds of work."""
        if not self.total:
            return f"{self.label}: {self._what}, {_time(seconds)} so far"[:WIDTH]
        share = self._done / self.total
        text = f"{self.label} {share:4.0%} ({int(self._done)} of {self.total})"
        text += f" {self._what}" if self._what else ""
        if self._done in (0, self.total):  # before there is a rate, and in what comes at the end
            return f"{text}, {_time(seconds)} so far"[:WIDTH]
        return f"{text}, about {_time(seconds / share - seconds)} left"[:WIDTH]

    def _tick(self) -> None:
        while not self._over.wait(REDRAWN if self._terminal else EVERY):
            text = self.line(time.monotonic() - self._began)
            if self._terminal:
                text = "\r" + text.ljust(self._width)
                self._width = len(text) - 1
            else:
                text += "\n"
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except (OSError, ValueError):  # nobody listens any more
                return


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    parts = (f"{minutes} min" if minutes else "", f"{rest} s" if rest or not minutes else "")
    return " ".join(filter(None, parts))
