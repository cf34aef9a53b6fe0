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
"""Called with the task in work, how many tasks are done, with fractions, and their total."""
StepReport = Callable[[str, float], None]
"""Called with the step that a task is in, and the share of the task, 0 to 1, that is done."""

_report_step: StepReport | None = None
"""Where a task that runs in this process reports its steps."""


class Task(Protocol[Result]):
    """A piece of work that can be sent to another process; its result depends on it alone."""

    @property
    def label(self) -> str: ...

    def run(self) -> Result: ...


class Workers(Protocol):
    """Processes that run tasks, here or on other machines."""

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
        """Run tasks as :func:`run` does."""
        ...


def step(text: str, share: float) -> None:
    """Report the step of this process's task, and the share that is done.

    The share is 0 to 1. Steps of a worker of a cluster are not shown.
    """
    if _report_step is not None:
        _report_step(text, share)


@contextmanager
def _reporting(report_step: StepReport) -> Iterator[None]:
    global _report_step
    before, _report_step = _report_step, report_step
    try:
        yield
    finally:
        _report_step = before


def run(
    work: Iterable[Task[Result]],
    *,
    processes: int | Workers,
    progress: Progress,
    total: int,
    ahead: int | None = None,
) -> Generator[Result, None, None]:
    """Yield the results of all tasks in their order, whatever the number of processes.

    ``processes`` are started here, or are workers that exist already. ``work`` may be endless:
    tasks are taken as they are needed, at most ``ahead`` beyond the task whose result is waited for
    (all at once, if None), so that the number of results that wait stays bounded. ``progress`` is
    called with ``total``. Raises UsageError if a process ends before its work is done.
    """
    if not isinstance(processes, int):
        yield from processes.run(work, progress=progress, total=total, ahead=ahead)
        return
    if processes <= 1:
        for index, task in enumerate(work):
            progress(task.label, index, total)
            with _reporting(partial(_show_step, progress, task.label, index, total)):
                result = task.run()
            yield result
        return
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    labels: list[str] = []
    with (
        _listening(receiver, sender, labels, progress, total) as ordered,
        ProcessPoolExecutor(
            processes, mp_context=context, initializer=_prepare, initargs=(sender,)
        ) as executor,
    ):

        def begin(task: Task[Result], _position: str) -> Callable[[], Result]:
            labels.append(task.label)
            with _death_explained(task):
                future = executor.submit(_run_task, task, len(labels) - 1)

            def end() -> Result:
                with _death_explained(task):
                    return future.result()

            return end

        try:
            yield from in_order(work, begin, progress=ordered, total=total, ahead=ahead)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in context.active_children():
                process.terminate()
            raise


def _show_step(
    progress: Progress, label: str, index: int, total: int, text: str, share: float
) -> None:
    progress(f"{label}: {text}", index + share, total)


@contextmanager
def _listening(
    receiver: Connection, sender: Connection, labels: Sequence[str], progress: Progress, total: int
) -> Iterator[Progress]:
    """Pass the steps of tasks in other processes to ``progress``, with the sum of all shares.

    The sum, since the task that is waited for may be the last to end. ``receiver`` ends when this
    process and all others have closed ``sender``, however they end.
    """
    shares: dict[int, float] = {}

    def listen() -> None:
        try:
            while True:
                index, text, share = receiver.recv()
                shares[index] = share
                if text:
                    progress(f"{labels[index]}: {text}", sum(shares.values()), total)
        except (EOFError, OSError):
            return

    def ordered(label: str, done: float, total: int) -> None:
        progress(label, max(done, sum(list(shares.values()))), total)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield ordered
    finally:
        sender.close()
        listener.join(timeout=1)


def in_order(
    work: Iterable[Task[Result]],
    begin: Callable[[Task[Result], str], Callable[[], Result]],
    *,
    progress: Progress,
    total: int,
    ahead: int | None,
) -> Generator[Result, None, None]:
    """Yield the results of tasks in their order, as :func:`run` does.

    ``begin`` starts a task, given also which task it is, in words; the function that it returns
    waits for the result.
    """
    waiting: deque[tuple[str, Callable[[], Result]]] = deque()
    tasks = enumerate(work, 1)
    for done in count():
        for position, task in islice(tasks, None if ahead is None else ahead + 1 - len(waiting)):
            text = f"{task.label}, piece {position} of {max(position, total)}"
            waiting.append((task.label, begin(task, text)))
        if not waiting:
            return
        label, end = waiting.popleft()
        progress(label, done, total)
        yield end()


def number_of(processes: int | Workers) -> int:
    """Return the number of processes."""
    return processes if isinstance(processes, int) else processes.count


@contextmanager
def _death_explained(task: Task[object]) -> Iterator[None]:
    """Raise the death of a process as a UsageError that names its task."""
    try:
        yield
    except BrokenProcessPool as error:
        raise UsageError(
            f"a process ended while it worked on {task.label}",
            hint="it may have run out of memory; ask for fewer processes",
        ) from error


def seldom_collect() -> None:
    """Collect garbage less often: a task needs most of its objects until its end."""
    gc.set_threshold(20_000)


MAX_STEP_TEXT = 200
"""Characters of a step. A pipe takes short messages at once, so that processes need no lock, which
a killed process would never release."""

_step_sender: Connection | None = None
"""In a worker process: where tasks report their steps."""


def _run_task(task: Task[Result], index: int) -> Result:
    """Run a task in a worker process, and report its steps."""
    sender = _step_sender
    assert sender is not None

    def report_step(text: str, share: float) -> None:
        sender.send((index, text[:MAX_STEP_TEXT], share))

    with _reporting(report_step):
        result = task.run()
    report_step("", 1.0)
    return result


def _prepare(step_sender: Connection) -> None:
    """Leave Ctrl-C to the first process, and end with it.

    Ctrl-C reaches every process of a terminal. A signal that nobody handles ends the first process
    without a word to the others. Tasks report their steps to ``step_sender``.
    """
    global _step_sender
    _step_sender = step_sender
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seldom_collect()
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
