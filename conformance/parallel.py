"""Runs independent tasks in several processes, with results in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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


def run(
    work: Iterable[Task[Result]],
    *,
    processes: int,
    progress: Progress,
    total: int,
    ahead: int | None = None,
) -> Generator[Result, None, None]:
    """The results of all tasks in their order, whatever the number of processes.

    ``work`` may be endless: tasks are taken as they are needed, at most ``ahead`` beyond the one
    whose result is waited for (all at once, if None), so that what is done and not yet wanted
    stays bounded. ``total`` is told to ``progress``. Raises UsageError if a process ends before
    its work is done.
    """
    if processes <= 1:
        for number, one in enumerate(work):
            progress(one.label, number, total)
            yield one.run()
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[tuple[Task[Result], Future[Result]]] = deque()
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_prepare) as executor:
        tasks = iter(work)
        task: Task[Result] | None = None
        try:
            for number in count():
                for task in islice(tasks, None if ahead is None else ahead + 1 - len(waiting)):
                    waiting.append((task, executor.submit(task.run)))
                if not waiting:
                    return
                task, future = waiting.popleft()
                progress(task.label, number, total)
                yield future.result()
        except BrokenProcessPool as error:
            raise UsageError(
                f"a process ended while it worked on {task.label if task else 'nothing'}",
                hint="it may have run out of memory; ask for fewer processes",
            ) from error
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in context.active_children():
                process.terminate()
            raise


def _prepare() -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the first one, and end with it.

    A signal that nobody handles ends the first process without a word to the others.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def outlive_nobody() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=outlive_nobody, daemon=True).start()
