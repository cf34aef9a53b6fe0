"""Runs independent tasks in several processes, here or elsewhere, with results in order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from multiprocessing.connection import Connection, wait
from typing import Protocol, TypeVar

from conformance.errors import UsageError

Result = TypeVar("Result", covariant=True)
Progress = Callable[[str, float, int], None]
"""Told what is worked on, how many pieces are done, parts of pieces included, and of how many."""
Saying = Callable[[str, float], None]
"""Told what a task does, and which share of it is done."""

_say: Saying | None = None
"""Where a task that is done in this process says how far it is."""


class Task(Protocol[Result]):
    """One piece of work, which can be sent to another process; its result depends on it alone."""

    @property
    def label(self) -> str: ...

    def run(self) -> Result: ...


class Workers(Protocol):
    """Processes that do tasks, here or on other machines."""

    @property
    def count(self) -> int: ...

    def run(
        self,
        work: Iterable[Task[Result]],
        *,
        progress: Progress,
        total: int,
        ahead: int | None = None,
    ) -> Generator[Result, None, None]:
        """As :func:`run` does."""
        ...


def step(what: str, share: float) -> None:
    """Say of the task that is being done in this process what it does now, and which share of it,
    0 to 1, is done. Nobody listens to a worker of a cluster."""
    if _say is not None:
        _say(what, share)


@contextmanager
def _saying(say: Saying) -> Iterator[None]:
    global _say
    before, _say = _say, say
    try:
        yield
    finally:
        _say = before


def run(
    work: Iterable[Task[Result]],
    *,
    processes: int | Workers,
    progress: Progress,
    total: int,
    ahead: int | None = None,
) -> Generator[Result, None, None]:
    """The results of all tasks in their order, whatever the number of processes.

    ``processes`` are started here, or are workers that are there. ``work`` may be endless: tasks
    are taken as they are needed, at most ``ahead`` beyond the one whose result is waited for (all
    at once, if None), so that what is done and not yet wanted stays bounded. ``total`` is told to
    ``progress``. Raises UsageError if a process ends before its work is done.
    """
    if not isinstance(processes, int):
        yield from processes.run(work, progress=progress, total=total, ahead=ahead)
        return
    if processes <= 1:
        for number, one in enumerate(work):
            progress(one.label, number, total)
            with _saying(partial(_told, progress, one.label, number, total)):
                result = one.run()
            yield result
        return
    context = multiprocessing.get_context("spawn")
    heard, told = context.Pipe(duplex=False)
    labels: list[str] = []
    with (
        _listening(heard, told, labels, progress, total) as ordered,
        ProcessPoolExecutor(
            processes, mp_context=context, initializer=_prepare, initargs=(told,)
        ) as executor,
    ):

        def begin(task: Task[Result], _place: str) -> Callable[[], Result]:
            labels.append(task.label)
            with _explained(task):
                future = executor.submit(_do, task, len(labels) - 1)

            def end() -> Result:
                with _explained(task):
                    return future.result()

            return end

        try:
            yield from in_order(work, begin, progress=ordered, total=total, ahead=ahead)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in context.active_children():
                process.terminate()
            raise


def _told(progress: Progress, label: str, number: int, total: int, what: str, share: float) -> None:
    progress(f"{label}: {what}", number + share, total)


@contextmanager
def _listening(
    heard: Connection, told: Connection, labels: Sequence[str], progress: Progress, total: int
) -> Iterator[Progress]:
    """While it lasts, ``progress`` is told what tasks of other processes say, and how much all of
    them have done together: one that is waited for may be the last to end.

    ``heard`` ends when this process and all others have closed ``told``, however they end.
    """
    shares: dict[int, float] = {}

    def listen() -> None:
        try:
            while True:
                number, what, share = heard.recv()
                shares[number] = share
                if what:
                    progress(f"{labels[number]}: {what}", sum(shares.values()), total)
        except (EOFError, OSError):
            return

    def ordered(label: str, number: float, of: int) -> None:
        progress(label, max(number, sum(list(shares.values()))), of)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield ordered
    finally:
        told.close()
        listener.join(timeout=1)


def in_order(
    work: Iterable[Task[Result]],
    begin: Callable[[Task[Result], str], Callable[[], Result]],
    *,
    progress: Progress,
    total: int,
    ahead: int | None,
) -> Generator[Result, None, None]:
    """The results of tasks that ``begin`` starts; what it returns waits for one.

    It is also told which task it is, in words. The rest is as in :func:`run`.
    """
    waiting: deque[tuple[str, Callable[[], Result]]] = deque()
    tasks = enumerate(work, 1)
    for number in count():
        for place, task in islice(tasks, None if ahead is None else ahead + 1 - len(waiting)):
            words = f"{task.label}, piece {place} of {max(place, total)}"
            waiting.append((task.label, begin(task, words)))
        if not waiting:
            return
        label, end = waiting.popleft()
        progress(label, number, total)
        yield end()


def number_of(processes: int | Workers) -> int:
    """How many processes there are."""
    return processes if isinstance(processes, int) else processes.count


@contextmanager
def _explained(task: Task[object]) -> Iterator[None]:
    """What a process that ended costs, as an error."""
    try:
        yield
    except BrokenProcessPool as error:
        raise UsageError(
            f"a process ended while it worked on {task.label}",
            hint="it may have run out of memory; ask for fewer processes",
        ) from error


def seldom_collect() -> None:
    """Look for garbage less often: nearly all that a task holds it keeps until it is done."""
    gc.set_threshold(20_000)


SAID = 200
"""Characters of what a task says, at most: a pipe takes short messages whole, so that processes
need no lock, which one that is killed would never give back."""

_told_to: Connection | None = None
"""In a worker process: where tasks say how far they are."""


def _do(task: Task[Result], number: int) -> Result:
    """Do a task in a worker process, and say how far it is."""
    told = _told_to
    assert told is not None

    def say(what: str, share: float) -> None:
        told.send((number, what[:SAID], share))

    with _saying(say):
        result = task.run()
    say("", 1.0)
    return result


def _prepare(told: Connection) -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the first one, and end with it.

    A signal that nobody handles ends the first process without a word to the others. What tasks say
    of themselves goes to ``told``.
    """
    global _told_to
    _told_to = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seldom_collect()
    parent = multiprocessing.parent_process()
    assert parent is not None

    def outlive_nobody() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=outlive_nobody, daemon=True).start()
