"""``conformance compare``: two runs side by side."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.errors import EXIT_NOT_CONFORMANT, EXIT_OK

EXAMPLES = """
\b
Examples:
  conformance compare before/run.jsonl after/run.jsonl
      what a change of the backend fixed, and what it broke
  conformance compare main.jsonl branch.jsonl --limit 1000
      up to 1,000 vectors of each kind of change

Two backends are told as such: what fails in one only, and what in both. Where suite,
options, processor or threads differ, that is said first. Both logs must be whole: one
that was cut short is refused. Logs of shards are joined with conformance merge first;
only the same shard of two runs can be compared as it is.

\b
Exit codes: 0 nothing broken; 1 something that passes in the first run fails
or is unsupported in the second; 2 logs that cannot be compared.
"""


@click.command(epilog=EXAMPLES)
@click.argument("old", metavar="OLD.jsonl", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Print at most so many vectors of each kind of change.",
)
@click.pass_context
def compare(ctx: click.Context, old: Path, new: Path, limit: int) -> None:
    """Compare two runs: which causes are fixed, and which are new."""
    from conformance.cli.text import terminal
    from conformance.log.reader import read_whole
    from conformance.report import comparison
    from conformance.report.comparison_terminal import text

    compared = comparison.compare(read_whole(old), read_whole(new))
    click.echo(text(compared, **terminal(), limit=limit))
    ctx.exit(EXIT_NOT_CONFORMANT if compared.worse else EXIT_OK)
