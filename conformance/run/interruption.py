"""Signal handling: an interrupted run still reports, then the host program decides.

Signals belong to the program that calls this package. A call takes them over while it runs, so that
no line of a log is cut in two, and hands each on when it has ended.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from conformance.errors import EXIT_INTERRUPTED, EXIT_SIGNAL, Interrupted

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, termination by a system or a CI job, and the end of the terminal."""


class Stopped(Exception):
    """The results end here, since the run was interrupted."""


@contextmanager
def handled(handler: Callable[..., None]) -> Iterator[dict[int, Any]]:
    """Let ``handler`` take these signals, and give the handlers that it stands in for.

    Outside the main thread, where Python allows no handlers, nothing is taken. A signal that is
    ignored stays so: ``nohup`` asks for that.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [signal.Signals[name] for name in SIGNALS if hasattr(signal, name)]
        now = {number: signal.getsignal(number) for number in numbers}
        # None is a handler that Python did not set, and could not set again.
        before = {n: old for n, old in now.items() if old not in (signal.SIG_IGN, None)}
    try:
        for number in before:
            signal.signal(number, handler)
        yield before
    finally:
        for number, old in before.items():
            signal.signal(number, old)


class Interruption:
    """Whether somebody asked one call to stop, and what becomes of the signal afterwards.

    Between backend calls a signal is only noted; during a call of the backend it is raised as
    :class:`Interrupted` at once, and so is a second one at any time. ``noted`` are those that
    came; ``run`` is what the call found, for those who catch the exception. Outside the main thread
    no signal can be noted: there a Ctrl-C that the main thread did not handle asks to stop.
    """

    def __init__(self) -> None:
        self.run: Any = None
        self.noted: list[int] = []
        self._in_backend = False
        self._unhandled = _unhandled()

    @property
    def requested(self) -> bool:
        """Whether the call is to end."""
        now = _unhandled()
        return bool(self.noted) or (
            now is not self._unhandled and isinstance(now, KeyboardInterrupt)
        )

    @property
    def exit_code(self) -> int:
        """What a shell reports for the signal that came first."""
        return EXIT_SIGNAL + self.noted[0] if self.noted else EXIT_INTERRUPTED

    def stop_if_requested(self) -> None:
        """Raise :class:`Stopped` for a wish that was only noted."""
        if self.requested:
            raise Stopped

    @contextmanager
    def backend_runs(self) -> Iterator[None]:
        """Allow :class:`Interrupted` to be raised within this context."""
        self._in_backend = True
        try:
            yield
        finally:
            self._in_backend = False

    @contextmanager
    def backend_ends(self) -> Iterator[None]:
        """Raise :class:`Stopped` upon an interruption within this context, that of the results."""
        try:
            with self.backend_runs():
                yield
        except KeyboardInterrupt:
            raise Stopped from None

    @contextmanager
    def backend_responds(self) -> Iterator[None]:
        """Enclose a call, which does not begin if a stop was requested before."""
        self.stop_if_requested()
        with self.backend_ends():
            yield

    def note(self, number: int, *_frame: object) -> None:
        """Handle a signal.

        Raises:
            Interrupted: the interruption may not wait.
        """
        self.noted.append(number)
        if self._in_backend or len(self.noted) > 1:
            raise Interrupted(number)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take signals over, and hand on each that came once the old handlers are back.

        A handler of the host is called once, with the host's default action for the others: so
        Ctrl-C raises KeyboardInterrupt, and SIGTERM ends the process. A host whose handler just
        returns goes on with what the call returns; where the call was cut short before it had
        something to return, :class:`Interrupted` is raised.
        """
        with ExitStack() as after, handled(self.note) as before:
            after.callback(self._hand_on, before)
            yield

    def _hand_on(self, handlers: dict[int, Any]) -> None:
        with ExitStack() as all_of_them:  # a handler that raises keeps no other from its signal
            for number in reversed(dict.fromkeys(self.noted)):
                all_of_them.callback(self._deliver, number, handlers[number])

    def _deliver(self, number: int, handler: Any) -> None:
        if handler is signal.SIG_DFL:
            signal.raise_signal(number)
            raise SystemExit(EXIT_SIGNAL + number)  # the first process of a container survives it
        try:
            handler(number, inspect.currentframe())
        except KeyboardInterrupt as stopped:
            raise self.with_run(stopped) from None

    def with_run(self, stopped: KeyboardInterrupt) -> KeyboardInterrupt:
        """Attach the unfinished run to the exception as its attribute ``run``.

        It stays of its class: Python ends a process as SIGINT would for no subclass.
        """
        stopped.run = self.run  # type: ignore[attr-defined]
        return stopped


def _unhandled() -> object:
    """The exception that the main thread last ended with, which Python keeps when it prints it."""
    return getattr(sys, "last_value", None)
