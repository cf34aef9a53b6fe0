"""``conformance compare``: two runs side by side."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.remote_paths import SourcePath
from conformance.errors import EXIT_NOT_CONFORMANT, EXIT_OK

EXAMPLES = """
\b
Examples:
  conformance compare before/run.jsonl after/run.jsonl
      what a change to the backend fixed and broke
  conformance compare main.jsonl branch.jsonl --limit 1000
      list up to 1,000 vectors of each kind of change

For two different backends, the output lists what fails in one only and what fails in both. A
warning comes first if the suite, options, processor or threads differ. Both logs must be
complete. Merge the shards of a run first ("conformance merge"); otherwise only the same shard
of two runs can be compared.

\b
Exit codes: 0 nothing broken; 1 a vector that passes in the first run fails or
is unsupported in the second; 2 the logs cannot be compared.
"""


@click.command(epilog=EXAMPLES)
@click.argument("old", metavar="OLD.jsonl", type=SourcePath())
@click.argument("new", metavar="NEW.jsonl", type=SourcePath())
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Print at most N vectors of each kind of change.",
)
@click.pass_context
def compare(ctx: click.Context, old: Path, new: Path, limit: int) -> None:
    """Compare two runs: fixed causes and new causes."""
    from conformance.cli.text import terminal
    from conformance.log.reader import read_whole
    from conformance.report.comparison import compare_runs
    from conformance.report.comparison_terminal import comparison_text

    comparison = compare_runs(read_whole(old), read_whole(new))
    click.echo(comparison_text(comparison, **terminal(), limit=limit))
    ctx.exit(EXIT_NOT_CONFORMANT if comparison.is_worse else EXIT_OK)
