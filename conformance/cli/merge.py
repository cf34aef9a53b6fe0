"""``conformance merge``: merge the logs of all shards into one run."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.formats import clear, page, write
from conformance.cli.remote_paths import SourcePath, TargetPath
from conformance.cli.run_check import LOG, exit_code, write_log
from conformance.errors import UsageError

EXAMPLES = """
\b
Examples:
  conformance check --backend mylib --shard 1/2 --out out/1
  conformance check --backend mylib --shard 2/2 --out out/2
      each on its own machine; a single shard makes no claim
  conformance merge out/*/run.jsonl --out out/all
      join them into one run, with a log, a page and a claim
\b
Exit codes: 0 conformant; 1 not conformant, or nothing graded; 2 a shard is
missing, duplicated, incomplete or from another run, or a log is damaged;
4 inconclusive, as in conformance check.
"""


@click.command(epilog=EXAMPLES)
@click.argument("logs", metavar="RUN.jsonl...", nargs=-1, required=True, type=SourcePath())
@click.option(
    "--out",
    required=True,
    type=TargetPath(),
    metavar="DIR",
    help="Write the merged run log and its page into this folder.",
)
@click.option(
    "--suite",
    metavar="DIR|NAME",
    help="The suite of the run [default: the shipped suite that the logs name].",
)
@click.pass_context
def merge(ctx: click.Context, logs: tuple[Path, ...], out: Path, suite: str | None) -> None:
    """Merge the run logs of all shards into one run.

    The result is the same as that of a run without shards: verdict, findings, counts and claim.
    """
    from conformance import api
    from conformance.cli.text import terminal
    from conformance.report.terminal import summary

    for log in logs:
        if (out / LOG).exists() and log.exists() and log.samefile(out / LOG):
            raise UsageError(
                f"{log}: the merged log would replace the log of a shard",
                hint="choose another folder with --out",
            )
    run = api.merge(logs, suite)
    report_targets = (page(out, "--out"),)
    clear(report_targets)
    write_log(run.log, out)
    try:
        write(run.log, report_targets)
    finally:  # the summary is printed even if a file cannot be written
        click.echo(f"log: {out / LOG}", err=True)
        click.echo(summary(run.log, **terminal()))
    ctx.exit(exit_code(run))
