"""Runs independent tasks in several processes, here or elsewhere, with results in order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import count, islice
from multiprocessing.connection import wait
from typing import Protocol, TypeVar

from conformance.errors import UsageError

Result = TypeVar("Result", covariant=True)
Progress = Callable[[str, int, int], None]
"""Told what is worked on, how many pieces are done, and of how many."""


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
            yield one.run()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_prepare) as executor:

        def begin(task: Task[Result], _place: str) -> Callable[[], Result]:
            with _explained(task):
                future = executor.submit(task.run)

            def end() -> Result:
                with _explained(task):
                    return future.result()

            return end

        try:
            yield from in_order(work, begin, progress=progress, total=total, ahead=ahead)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in context.active_children():
                process.terminate()
            raise


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


def _prepare() -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the first one, and end with it.

    A signal that nobody handles ends the first process without a word to the others.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seldom_collect()
    parent = multiprocessing.parent_process()
    assert parent is not None

    def outlive_nobody() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=outlive_nobody, daemon=True).start()
