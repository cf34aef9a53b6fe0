"""``conformance report``: a run again, from its log alone."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.formats import format_option, targets, write
from conformance.errors import LogError

EXAMPLES = """
\b
Examples:
  conformance report reports/torch/run.jsonl
      write index.html beside the log, and print the summary
  conformance report run.jsonl --out elsewhere --findings 100
      write the page into another folder, and print up to 100 findings
  conformance report run.jsonl --format junit --format github
      write junit.xml beside the log, and print annotations for GitHub Actions

A page made from a log is the same whenever it is made. The exit code tells whether the
report was made; the verdict of the run is in the report. A log that was cut short or
contradicts itself is shown as far as it goes, and then the exit code is 2.
"""


@click.command(epilog=EXAMPLES)
@click.argument("log", metavar="RUN.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the page; the log's own, if not given.",
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
def report(log: Path, out: Path | None, findings: int, formats: tuple[str, ...]) -> None:
    """Show a run again: its page and its summary, from its log alone."""
    from conformance.cli.text import terminal
    from conformance.log.reader import read
    from conformance.report.registry import write_report
    from conformance.report.terminal import summary

    wanted = targets(formats, out or log.parent, log=log)
    run = read(log)
    if wanted:
        write(run, wanted)
    else:
        try:
            page = write_report(run, out or log.parent, hint="name another folder: --out DIR")
            click.echo(f"wrote {page}", err=True)
        finally:  # whatever cannot be written, the run is told
            click.echo(summary(run, **terminal(), limit=findings))
    if run.verdict in ("cut short", "inconsistent"):
        raise LogError(
            f"{log}: the log is {run.verdict}, so the run has no verdict",
            hint="go on with a run that was cut short with conformance check --resume",
        )
