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

MOST_PROCESSES = 8


def checked(
    suite: str | None,
    backend: str | Executor,
    options: CheckOptions,
    *,
    report: Path | None,
    wanted: Sequence[Target],
    resume: bool = False,
    workers: Workers | None = None,
    kept: Path | None = None,
) -> Run:
    """Run :func:`conformance.api.check` with these options; its log goes into ``report``.

    With ``resume`` it resumes the run whose log is there. ``workers`` of a cluster do it in shards.
    The files ``wanted`` of an earlier run are removed as soon as this one begins. Raises what it
    raises.
    """
    from conformance import api

    if workers is not None:
        assert isinstance(backend, str)
        return _merged(suite, backend, options, workers, report, wanted, resume)
    earlier = _earlier(report) if resume else None
    with kept_clean(), ExitStack() as stack:
        try:
            run = api.check(
                suite,
                backend,
                **vars(options),
                kept=kept,
                work=work(stack),
                earlier=None if earlier is None else earlier.run,
                on_event=_Watch(stack, report, wanted, earlier).see,
            )
        except KeyboardInterrupt as stopped:
            found: Run | None = getattr(stopped, "run", None)
            if found is None:
                raise
            run = found
    if earlier is not None and earlier.run.complete:
        click.echo("nothing to resume: the run is complete", err=True)
    return run


def evaluate(suite: Suite, entries: Iterable[Entry]) -> None:
    """Evaluate recorded cases that are not at hand, before a command begins with them."""
    with ExitStack() as stack:
        suite.ready(entries, work(stack))


def work(stack: ExitStack, label: str = "evaluating") -> Work:
    """How a command evaluates recorded cases: beside itself, with progress that ends with
    ``stack``."""
    from conformance.suite.evaluation import Work

    shown: list[Progress] = []
    own = stack.enter_context(ExitStack())

    def progress(what: str, done: float, total: int) -> None:
        if not shown:
            shown.append(own.enter_context(Progress(total, label)))
        shown[0].at(what, done, total)
        if done == total:
            own.close()
            shown.clear()

    return Work(processes(), lambda text: click.echo(text, err=True), progress)


def processes() -> int:
    """How many processes evaluate cases: the cores of this machine, few enough for its memory."""
    return max(1, min(os.cpu_count() or 1, MOST_PROCESSES))


def _merged(
    suite: str | None,
    backend: str,
    options: CheckOptions,
    workers: Workers,
    report: Path | None,
    wanted: Sequence[Target],
    resume: bool,
) -> Run:
    """The same from shards on a cluster; the log is there when the last of them is."""
    from conformance.cli.clustered import clustered, forget

    if resume and report is None:
        raise _nowhere()
    try:
        run = clustered(suite, backend, options, workers, report=report, resume=resume)
    except KeyboardInterrupt:
        if report is not None:
            click.echo("to resume: run the same command with --resume", err=True)
        raise
    clear(wanted)
    if report is not None:
        write_log(run.log, report)
        forget(report)
    return run


def conclude(run: Run, wanted: Sequence[Target], report: Path | None) -> None:
    """Write the reports of a run, and tell its summary whether or not they can be written."""
    from conformance.cli.text import terminal
    from conformance.report.terminal import summary

    try:
        write(run.log, wanted)
    finally:
        if report is not None:
            click.echo(f"log: {report / LOG}", err=True)
        click.echo(summary(run.log, **terminal()), err=take_stdout(wanted))


def write_log(run: RunLog, out: Path) -> None:
    """The log appears whole or not at all: until then the folder has that of an earlier run."""
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
    """What a command ends with after a run."""
    return EXIT_DEFECT if run.log.problems else int(run.footer["exit_code"])


def _earlier(report: Path | None) -> Unfinished | None:
    """The run log that ``--resume`` goes on with, if there is one."""
    from conformance.log.reader import read_unfinished

    if report is None:
        raise _nowhere()
    earlier = read_unfinished(report / LOG)
    if earlier is None:
        click.echo(f"nothing to resume in {report}: starting a new run", err=True)
    elif not earlier.run.complete:
        there, of = len(earlier.run.results), earlier.run.header["suite"]["vectors"]
        click.echo(f"resuming {report / LOG}: {there} of {of} vectors are done", err=True)
    return earlier


def _nowhere() -> UsageError:
    return UsageError(
        "--resume needs --out, the folder with the run log",
        hint="add --out DIR, the folder of the interrupted run",
    )


class _Watch:
    """Writes the run log, if one is wanted, and shows progress; resources close with ``stack``."""

    def __init__(
        self,
        stack: ExitStack,
        report: Path | None,
        wanted: Sequence[Target],
        earlier: Unfinished | None,
    ) -> None:
        self._stack = stack
        self._report = report
        self._wanted = wanted
        self._earlier = earlier
        self._writer: LogWriter | None = None
        self._done = self._wrong = self._total = 0

    def see(self, event: Event) -> None:
        """Take one event of the run."""
        from conformance.model import Finding, Result, Status

        if isinstance(event, Result):
            self._progress.at(f"{self._wrong} failed  {event.op}", self._done)
            self._done += 1
            self._wrong += event.status in (Status.FAIL, Status.ERROR)
            if self._done == self._total:
                self._progress.at(f"{self._wrong} failed, looking for causes", self._done)
        elif not isinstance(event, Finding) and event["event"] == "header":
            self._total = event["suite"]["vectors"]
            self._begin(self._total)
        if self._writer is not None:
            self._writer.write(event)

    def _begin(self, total: int) -> None:
        """Open the log only now: the header comes when the question has turned out sound.

        The files of an earlier run must never stand beside the log of this one, so they go before
        the log's first line; but not before it is this process that writes the log.
        """
        from conformance.log.writer import LogWriter

        if self._report is not None:
            log = LogWriter(self._report / LOG, earlier=self._earlier)
            self._writer = self._stack.enter_context(log)
        clear(self._wanted)
        self._progress = self._stack.enter_context(Progress(total, "checking"))
