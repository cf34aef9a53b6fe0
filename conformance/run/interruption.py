"""Ctrl-C during a run, and what else asks it to end: the run still says what it found."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conformance.errors import EXIT_INTERRUPTED, Interrupted

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, the end that a system or a CI job asks for, and the end of the terminal."""


class Stopped(Exception):
    """The results end here, since the user wants it so."""


class Interruption:
    """Whether somebody asked to stop.

    Between backend calls the wish is only noted, so that no line of a log is cut in two; during
    a call it is raised as :class:`Interrupted` at once, and so is a second one at any time.
    ``exit_code`` tells which signal came first.
    """

    def __init__(self) -> None:
        self.requested = False
        self.exit_code = EXIT_INTERRUPTED
        self._in_backend = False

    def stop_if_requested(self) -> None:
        """Raise :class:`Stopped` for a wish that was only noted."""
        if self.requested:
            raise Stopped

    @contextmanager
    def backend_runs(self) -> Iterator[None]:
        """The time in which :class:`Interrupted` may be raised."""
        self._in_backend = True
        try:
            yield
        finally:
            self._in_backend = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take over these signals; outside the main thread, where Python allows none, do nothing.

        One that is ignored stays so: ``nohup`` asks for that.
        """
        before: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            numbers = [signal.Signals[name] for name in SIGNALS if hasattr(signal, name)]
            before = {number: signal.getsignal(number) for number in numbers}
            # None is a handler that Python did not set, and could not set again.
            before = {n: now for n, now in before.items() if now not in (signal.SIG_IGN, None)}
        try:
            for number in before:
                signal.signal(number, self._note)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, *_frame: object) -> None:
        error = Interrupted(number)
        again, self.requested = self.requested, True
        if not again:
            self.exit_code = error.exit_code
        if self._in_backend or again:
            raise error
