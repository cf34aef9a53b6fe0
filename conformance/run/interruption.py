"""Ctrl-C during a run: it ends the vector that runs, and the run still says what it found."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stopped(Exception):
    """The results end here, since the user wants it so."""


class Interruption:
    """Whether the user asked to stop.

    Between backend calls the wish is only noted, so that no line of a log is cut in two; during
    a call it is raised as KeyboardInterrupt at once, and so is a second one at any time.
    """

    def __init__(self) -> None:
        self.requested = False
        self._in_backend = False

    def stop_if_requested(self) -> None:
        """Raise :class:`Stopped` for a wish that was only noted."""
        if self.requested:
            raise Stopped

    @contextmanager
    def backend_runs(self) -> Iterator[None]:
        """The time in which KeyboardInterrupt may be raised."""
        self._in_backend = True
        try:
            yield
        finally:
            self._in_backend = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take over SIGINT; outside the main thread, where Python allows none, do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, *_signal: object) -> None:
        again, self.requested = self.requested, True
        if self._in_backend or again:
            raise KeyboardInterrupt
