"""``conformance check``: grade a backend."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.formats import (
    Target,
    clear,
    format_option,
    page,
    take_stdout,
    targets,
    write,
)
from conformance.cli.options import (
    CHECK_LEVEL,
    CHECK_PRECISION,
    env_option,
    process_options,
    question_options,
    repeat_option,
    selection_options,
)
from conformance.cli.progress import Progress
from conformance.cli.streams import kept_clean
from conformance.errors import EXIT_DEFECT, UsageError

if TYPE_CHECKING:
    from conformance.log.reader import Unfinished
    from conformance.log.writer import LogWriter
    from conformance.run.engine import Event

LOG = "run.jsonl"

EXAMPLES = """
\b
Examples:
  conformance check --backend openvino
      everything in the shipped suite
  conformance check --backend path/to/mylib.py:MyLib --report reports/mylib
      your own backend, with a run log and an HTML page
  conformance check --backend numpy --op AvgPool-1 --level should
      one operator, allowing only the specification's own reading
  conformance check --backend torch --precision f16=native,bf16=native
      accumulation in f16 and bf16 is good enough, the rest at standard
  conformance check --backend numpy --only f32-1x1x2 --only 1a2b3c4d
      the vectors whose id begins, or ends, like one of these
  conformance check --backend mylib -j 4 --timeout 5 --memory 2G
      in four processes; what hangs or takes too much is an error
  conformance check --backend onnxruntime --env venvs/ort-1.14
      as it is installed in that virtual environment: another version of it
  conformance check --backend mylib --known-failures known.yaml --strict
      a gate that fails on new failures only: conformance baseline --help
  conformance check --backend torch --report out --format junit --format sarif
      for CI, out/junit.xml and out/conformance.sarif too
  conformance check --backend numpy --report out --resume
      go on where a run that was killed or interrupted left out/run.jsonl
  conformance check --backend numpy --report out/3 --shard 3/8
      one of eight parts, for a machine of its own; then: conformance merge
\b
A backend is a name (conformance backends), a package.module:object, in the
current folder or installed, or a path/to/file.py:object. The object is a
function run(op, inputs, attributes), or a class or instance with name,
version and such a method.
\b
Exit codes: 0 conformant, or known failures alone; 1 new failures, something
required unsupported, or nothing graded; 2 wrong usage; 3 a defect in this
tool; 130 interrupted, by SIGTERM 143, by SIGHUP 129, with a report.
"""


@click.command(epilog=EXAMPLES)
@click.option("--backend", required=True, metavar="NAME", help="What to grade; see below.")
@env_option
@selection_options
@question_options(CHECK_LEVEL, CHECK_PRECISION)
@click.option(
    "--executor",
    type=click.Choice(["process", "inline"]),
    help="process: the backend runs in processes of its own, so that a crash or a hang loses one "
    "vector. inline: in this one. Default: process, but inline for numpy and reference.",
)
@process_options
@repeat_option
@click.option(
    "--known-failures",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Failures that this YAML file names do not fail the run; it still is not conformant.",
)
@click.option(
    "--require",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fail if something that this YAML file lists is not supported.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Fail if known failures are out of date: they pass, match nothing or have expired.",
)
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a run log and an HTML page into this folder.",
)
@format_option("the --report folder")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the run log in the --report folder: its results are kept, and not asked "
    "again. Begins anew where there is none.",
)
@click.option(
    "--shard",
    metavar="K/N",
    help="Only part K of N, which makes no claim; `conformance merge` joins the parts.",
)
@click.option(
    "--shuffle",
    type=click.IntRange(0, 2**32 - 1),
    metavar="SEED",
    help="Ask in another order; a verdict that changes with it depends on the order.",
)
@click.pass_context
def check(
    ctx: click.Context,
    backend: str,
    env: str | None,
    ops: tuple[str, ...],
    suite: str | None,
    only: tuple[str, ...],
    level: str,
    precision: str,
    executor: str | None,
    jobs: int | None,
    timeout: float | None,
    memory: str | None,
    repeat: int,
    known_failures: Path | None,
    require: Path | None,
    strict: bool,
    report: Path | None,
    formats: tuple[str, ...],
    resume: bool,
    shard: str | None,
    shuffle: int | None,
) -> None:
    """Grade a backend on a suite of vectors."""
    from conformance import api
    from conformance.cli.text import terminal
    from conformance.report.terminal import summary

    wanted = targets(formats, report, log=report and report / LOG)
    if report is not None:
        wanted = (page(report, "--report"), *wanted)
    earlier = _earlier(report) if resume else None
    with kept_clean(), ExitStack() as stack:
        run = api.check(
            suite,
            backend,
            ops=ops or None,
            only=only,
            level=level,
            precision=precision,
            executor=executor,
            jobs=jobs,
            timeout=timeout,
            memory=memory,
            env=env,
            repeat=repeat,
            known_failures=known_failures,
            require=require,
            strict=strict,
            shuffle=shuffle,
            shard=shard,
            earlier=None if earlier is None else earlier.run,
            on_event=_Watch(stack, report, wanted, earlier).see,
        )
    if earlier is not None and earlier.run.complete:
        click.echo("nothing to resume: the run is complete", err=True)
    try:
        write(run.log, wanted)
    finally:  # whatever cannot be written, the run is told
        if report is not None:
            click.echo(f"log: {report / LOG}", err=True)
        click.echo(summary(run.log, **terminal()), err=take_stdout(wanted))
        if report is not None and run.footer["interrupted"]:
            click.echo("to go on: the same command with --resume", err=True)
    ctx.exit(EXIT_DEFECT if run.log.problems else run.footer["exit_code"])


def _earlier(report: Path | None) -> Unfinished | None:
    """The run log that ``--resume`` goes on with, if there is one."""
    from conformance.log.reader import read_unfinished

    if report is None:
        raise UsageError(
            "--resume goes on with the run log of a report folder, and none is given",
            hint="add --report DIR, the folder of the run that was cut short",
        )
    earlier = read_unfinished(report / LOG)
    if earlier is None:
        click.echo(f"nothing to resume in {report}: the run begins", err=True)
    elif not earlier.run.complete:
        there, of = len(earlier.run.results), earlier.run.header["suite"]["vectors"]
        click.echo(f"resuming {report / LOG}: {there} of {of} vectors are done", err=True)
    return earlier


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
        self._done = self._wrong = 0

    def see(self, event: Event) -> None:
        """Take one event of the run."""
        from conformance.model import Finding, Result, Status

        if isinstance(event, Result):
            self._progress.at(f"{self._wrong} failed  {event.op}", self._done)
            self._done += 1
            self._wrong += event.status in (Status.FAIL, Status.ERROR)
        elif not isinstance(event, Finding) and event["event"] == "header":
            self._begin(event["suite"]["vectors"])
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
