"""``conformance spec docs``: HTML pages that describe operators."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.progress import Progress
from conformance.safe_text import number_of

EXAMPLES = """
\b
Examples:
  conformance spec docs --out pages
      a page for each shipped operator, and an index
  conformance spec docs --out pages --suite my-suite
      the operators of your own suite, from the definitions it carries
  conformance spec docs --out pages --op my.Operator-1.yaml
      your own operator

The pages open from disk, without scripts or network access. The same input gives the same
bytes. "conformance spec show" prints the same in the terminal.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the pages into this folder; it is created if missing.",
)
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="OP",
    help="Only this operator, of the suite or shipped, or a specification file; repeatable.",
)
@click.option(
    "--suite",
    metavar="DIR|NAME",
    help="The suite whose operators get pages [default: all shipped operators].",
)
def docs(out: Path, ops: tuple[str, ...], suite: str | None) -> None:
    """Write HTML pages that describe operators.

    For authors of kernels and definitions: interface, attributes, formulas, conditions, errata and
    implementation-defined behaviour.
    """
    from conformance.docs.html import file_name, index_page, operator_page
    from conformance.docs.source import open_operators
    from conformance.report.registry import write_text

    operators = open_operators(ops, suite)
    with Progress(len(operators), "writing") as progress:
        for number, facts in enumerate(operators):
            progress.at(facts.op, number)
            write_text(out / file_name(facts.op), operator_page(facts))
    index = write_text(out / "index.html", index_page(operators))
    click.echo(f"wrote {index}, and {number_of(len(operators), 'operator page')}", err=True)
