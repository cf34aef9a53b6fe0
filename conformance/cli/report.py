"""``conformance report``: reports from run logs, or several runs side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from conformance.cli.formats import format_option, targets, write
from conformance.cli.remote_paths import SourcePath, TargetPath, is_sent, refuse_fetched
from conformance.cli.run_check import LOG
from conformance.errors import LogError, UsageError

if TYPE_CHECKING:
    from conformance.log.run_log import RunLog

EXAMPLES = """
\b
Examples:
  conformance report reports/torch/run.jsonl
      write index.html beside the log, and print the summary
  conformance report run.jsonl --out elsewhere --findings 100
      write the page into another folder, and print up to 100 findings
  conformance report run.jsonl --format junit --format github
      write junit.xml beside the log, and print annotations for GitHub Actions
  conformance report reports/*/run.jsonl --out reports
      write comparison.html: the runs side by side, with links to their pages

The same log always gives the same page. The exit code says whether the report was made; the
verdict of the run is in the report. An incomplete or inconsistent log is shown as far as
possible, with exit code 2. Runs of different suites cannot be compared.
"""


@click.command(epilog=EXAMPLES)
@click.argument("logs", metavar="RUN.jsonl...", nargs=-1, required=True, type=SourcePath())
@click.option(
    "--out",
    type=TargetPath(),
    metavar="DIR",
    help="Write the page into this folder [default: the folder of the first log].",
)
@click.option(
    "--findings",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Print at most N findings; the page has all of them.",
)
@format_option("the folder of the log, or --out", " [default: the page and the summary]")
def report(
    logs: tuple[Path, ...], out: Path | None, findings: int, formats: tuple[str, ...]
) -> None:
    """Make the report of a run, or a comparison of several, from run logs.

    One log gives a page and a summary. Several logs give one page that compares them.
    """
    from conformance.log.reader import read

    if out is None:
        refuse_fetched(logs[0], "--out")
    folder = out or logs[0].parent
    if len(logs) > 1:
        if formats:
            raise UsageError(
                "--format works on one run, but several logs are given",
                hint="leave it out to compare the runs, or name one log",
            )
        runs = [read(log) for log in logs]
        _compare(runs, [_page(log, folder) for log in logs], folder)
    else:
        report_targets = targets(formats, folder, log=logs[0])
        runs = [read(logs[0])]
        if report_targets:
            write(runs[0], report_targets)
        else:
            _write_page(runs[0], folder, findings)
    for log, run in zip(logs, runs, strict=True):
        if run.verdict.is_of_readers:
            raise LogError(
                f"{log}: the log is {run.verdict}, so the run has no verdict",
                hint="resume an interrupted run with conformance check --resume",
            )


def _write_page(run: RunLog, folder: Path, findings: int) -> None:
    from conformance.cli.text import terminal
    from conformance.report.registry import write_report
    from conformance.report.terminal import summary

    try:
        page = write_report(run, folder, hint="name another folder: --out DIR")
        click.echo(f"wrote {page}", err=True)
    finally:  # the summary is printed even if the page cannot be written
        click.echo(summary(run, **terminal(), limit=findings))


def _page(log: Path, folder: Path) -> str:
    """Return the address of a run's page from another page in this folder, or an empty text."""
    from conformance.report.page import FILE

    page = log.parent / FILE
    # A page beside several logs with names of their own may be that of any of them.
    if log.name != LOG or not page.is_file() or is_sent(folder):
        return ""
    try:
        relative = Path(os.path.relpath(page.resolve(), folder.resolve()))
    except ValueError:  # another drive
        return ""
    return f"./{quote(os.fsencode(relative.as_posix()))}"


def _compare(runs: list[RunLog], pages: list[str], folder: Path) -> None:
    from conformance.report import comparison_page
    from conformance.report.matrix import Column, run_heading
    from conformance.report.registry import write_text
    from conformance.report.view import run_view
    from conformance.safe_text import one_line

    columns = [Column(run, page=page) for run, page in zip(runs, pages, strict=True)]
    text = comparison_page.render(columns)
    try:
        path = folder / comparison_page.FILE
        write_text(path, text, hint="name another folder: --out DIR")
        click.echo(f"wrote {path}", err=True)
    finally:
        for run in runs:
            view = run_view(run)
            click.echo(one_line(f"{run_heading(run)}: {view.headline}. {view.full_sentence}"))
