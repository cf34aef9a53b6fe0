"""Runs one check for a command: writes the log, shows progress, resumes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.formats import Target, clear, take_stdout, write
from conformance.cli.progress import Progress
from conformance.cli.streams import kept_clean
from conformance.errors import EXIT_DEFECT, UsageError

if TYPE_CHECKING:
    from conformance.api import Run
    from conformance.check_options import CheckOptions
    from conformance.log.reader import Unfinished
    from conformance.log.run_log import RunLog
    from conformance.log.writer import LogWriter
    from conformance.parallel import Workers
    from conformance.run.engine import Event
    from conformance.run.executor import Executor
    from conformance.suite.entries import Entry
    from conformance.suite.evaluation import Work
    from conformance.suite.store import Suite

LOG = "run.jsonl"

MAX_PROCESSES = 8


def run_check(
    suite: str | None,
    backend: str | Executor,
    options: CheckOptions,
    *,
    out: Path | None,
    reports: Sequence[Target],
    resume: bool = False,
    workers: Workers | None = None,
    kept: Path | None = None,
) -> Run:
    """Run :func:`conformance.api.check` for a command, with progress.

    Args:
        out: the folder of the run log; None writes none.
        reports: what is written after the run. Those of an earlier run are removed as soon as this
            one begins.
        resume: whether to resume the run whose log is in ``out``.
        workers: the workers of a cluster, which run the check in shards.
        kept: as in :func:`conformance.api.check`, which says what is raised, too.
    """
    from conformance import api

    if workers is not None:
        assert isinstance(backend, str)
        return _run_on_cluster(suite, backend, options, workers, out, reports, resume)
    earlier = _earlier_run(out) if resume else None
    with kept_clean(), ExitStack() as stack:
        try:
            run = api.check(
                suite,
                backend,
                **vars(options),
                kept=kept,
                work=work(stack),
                earlier=None if earlier is None else earlier.run,
                on_event=_Watch(stack, out, reports, earlier).see,
            )
        except KeyboardInterrupt as interrupt:
            interrupted_run: Run | None = getattr(interrupt, "run", None)
            if interrupted_run is None:
                raise
            run = interrupted_run
    if earlier is not None and earlier.run.complete:
        click.echo("nothing to resume: the run is complete", err=True)
    return run


def evaluate(suite: Suite, entries: Iterable[Entry]) -> None:
    """Evaluate recorded cases that are not in the cache, before a command begins with them."""
    with ExitStack() as stack:
        suite.ready(entries, work(stack))


def work(stack: ExitStack, label: str = "evaluating") -> Work:
    """Return how a command evaluates recorded cases: in processes, with progress.

    Args:
        stack: closes what is left of the progress.
    """
    from conformance.suite.evaluation import Work

    progress_shown: list[Progress] = []
    progress_stack = stack.enter_context(ExitStack())

    def show_progress(what: str, done: float, total: int) -> None:
        if not progress_shown:
            progress_shown.append(progress_stack.enter_context(Progress(total, label)))
        progress_shown[0].at(what, done, total)
        if done == total:
            progress_stack.close()
            progress_shown.clear()

    return Work(processes(), lambda text: click.echo(text, err=True), show_progress)


def processes() -> int:
    """Count the processes that evaluate cases: the cores, few enough for the memory."""
    return max(1, min(os.cpu_count() or 1, MAX_PROCESSES))


def _run_on_cluster(
    suite: str | None,
    backend: str,
    options: CheckOptions,
    workers: Workers,
    out: Path | None,
    reports: Sequence[Target],
    resume: bool,
) -> Run:
    """Run the check in shards on a cluster, and write the log when the last of them is done."""
    from conformance.cli.run_shards import remove_shards, run_shards

    if resume and out is None:
        raise _no_folder()
    try:
        run = run_shards(suite, backend, options, workers, out=out, resume=resume)
    except KeyboardInterrupt:
        if out is not None:
            click.echo("to resume: run the same command with --resume", err=True)
        raise
    clear(reports)
    if out is not None:
        write_log(run.log, out)
        remove_shards(out)
    return run


def write_reports(run: Run, reports: Sequence[Target], out: Path | None) -> None:
    """Write the reports of a run, and print its summary.

    It is printed whether or not they can be written.
    """
    from conformance.cli.text import terminal
    from conformance.report.terminal import summary

    try:
        write(run.log, reports)
    finally:
        if out is not None:
            click.echo(f"log: {out / LOG}", err=True)
        click.echo(summary(run.log, **terminal()), err=take_stdout(reports))


def write_log(run: RunLog, out: Path) -> None:
    """Write a log completely or not at all.

    Until it is complete the folder has the log of an earlier run.

    Raises:
        LogError: it cannot be written.
    """
    from conformance.errors import LogError
    from conformance.log.writer import LogWriter
    from conformance.replacement import replacing

    try:
        out.mkdir(parents=True, exist_ok=True)
        with replacing(out / LOG) as new, LogWriter(new) as writer:
            for event in (run.header, *run.results, *run.findings, run.footer):
                assert event is not None  # of a run that has ended
                writer.write(event)
    except OSError as error:
        raise LogError(
            f"{out / LOG}: the run log cannot be written: {error.strerror or error}",
            hint="choose a folder that you may write to, with room on its disk",
        ) from error


def exit_code(run: Run) -> int:
    """Return the exit code of a command after a run."""
    return EXIT_DEFECT if run.log.problems else int(run.footer["exit_code"])


def _earlier_run(out: Path | None) -> Unfinished | None:
    """Read the run log that ``--resume`` continues, if there is one."""
    from conformance.log.reader import read_unfinished

    if out is None:
        raise _no_folder()
    earlier = read_unfinished(out / LOG)
    if earlier is None:
        click.echo(f"nothing to resume in {out}: starting a new run", err=True)
    elif not earlier.run.complete:
        done, total = len(earlier.run.results), earlier.run.header["suite"]["vectors"]
        click.echo(f"resuming {out / LOG}: {done} of {total} vectors are done", err=True)
    return earlier


def _no_folder() -> UsageError:
    return UsageError(
        "--resume needs --out, the folder with the run log",
        hint="add --out DIR, the folder of the interrupted run",
    )


class _Watch:
    """A watcher of events: it writes the run log, if there is a folder, and shows progress.

    ``stack`` closes both.
    """

    def __init__(
        self,
        stack: ExitStack,
        out: Path | None,
        reports: Sequence[Target],
        earlier: Unfinished | None,
    ) -> None:
        self._stack = stack
        self._out = out
        self._reports = reports
        self._earlier = earlier
        self._writer: LogWriter | None = None
        self._done = self._failed = self._total = 0

    def see(self, event: Event) -> None:
        """Take one event of the run."""
        from conformance.model import Finding, Result, Status

        if isinstance(event, Result):
            self._progress.at(f"{self._failed} failed  {event.op}", self._done)
            self._done += 1
            self._failed += event.status in (Status.FAIL, Status.ERROR)
            if self._done == self._total:
                self._progress.at(f"{self._failed} failed, looking for causes", self._done)
        elif not isinstance(event, Finding) and event["event"] == "header":
            self._total = event["suite"]["vectors"]
            self._begin(self._total)
        if self._writer is not None:
            self._writer.write(event)

    def _begin(self, total: int) -> None:
        """Open the log, now that the header shows that the options can be obeyed.

        The files of an earlier run must never be beside the log of this one, so they are removed
        before the log's first line; but not before it is this process that writes the log.
        """
        from conformance.log.writer import LogWriter

        if self._out is not None:
            log = LogWriter(self._out / LOG, earlier=self._earlier)
            self._writer = self._stack.enter_context(log)
        clear(self._reports)
        self._progress = self._stack.enter_context(Progress(total, "checking"))
