"""``conformance report``: a run again, from its log alone, or several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.formats import format_option, targets, write
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
      write comparison.html: verdicts, counts and readings side by side

A page made from a log is the same whenever it is made. The exit code tells whether
the report was made; the verdict of a run is in the report. A log that was cut short
or contradicts itself is shown as far as it goes, and then the exit code is 2. Runs
of different suites are not comparable, which is an error.
"""


@click.command(epilog=EXAMPLES)
@click.argument(
    "logs", metavar="RUN.jsonl...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the page; that of the (first) log, if not given.",
)
@click.option(
    "--findings",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Print at most so many findings; the page has them all.",
)
@format_option("the folder of the log, or --out", "; the page and the summary, if not given")
def report(
    logs: tuple[Path, ...], out: Path | None, findings: int, formats: tuple[str, ...]
) -> None:
    """Show a run again, or several side by side, from logs alone.

    Of one run the page and the summary, of several one page that compares them.
    """
    from conformance.log.reader import read

    folder = out or logs[0].parent
    if len(logs) > 1:
        if formats:
            raise UsageError(
                "--format shows one run, and several logs are given",
                hint="leave it out for a page that compares them, or name one log",
            )
        runs = [read(log) for log in logs]
        _compare(runs, folder)
    else:
        wanted = targets(formats, folder, log=logs[0])
        runs = [read(logs[0])]
        if wanted:
            write(runs[0], wanted)
        else:
            _show(runs[0], folder, findings)
    for log, run in zip(logs, runs, strict=True):
        if run.verdict in ("cut short", "inconsistent"):
            raise LogError(
                f"{log}: the log is {run.verdict}, so the run has no verdict",
                hint="go on with a run that was cut short with conformance check --resume",
            )


def _show(run: RunLog, folder: Path, findings: int) -> None:
    from conformance.cli.text import terminal
    from conformance.report.registry import write_report
    from conformance.report.terminal import summary

    try:
        page = write_report(run, folder, hint="name another folder: --out DIR")
        click.echo(f"wrote {page}", err=True)
    finally:  # whatever cannot be written, the run is told
        click.echo(summary(run, **terminal(), limit=findings))


def _compare(runs: list[RunLog], folder: Path) -> None:
    from conformance.report import comparison_html
    from conformance.report.lines import one_line
    from conformance.report.matrix import Column, heading
    from conformance.report.registry import write_text
    from conformance.report.view import view

    text = comparison_html.render([Column(run) for run in runs])
    try:
        path = folder / comparison_html.FILE
        write_text(path, text, hint="name another folder: --out DIR")
        click.echo(f"wrote {path}", err=True)
    finally:
        for run in runs:
            shown = view(run)
            click.echo(one_line(f"{heading(run)}: {shown.headline}. {shown.sentence}"))
