"""``conformance docs``: pages about operators."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.progress import Progress

EXAMPLES = """
\b
Examples:
  conformance docs --out pages
      a page for each shipped operator, and an index
  conformance docs --out pages reports/*/run.jsonl
      the same, with what these backends do where a document is silent
  conformance docs --out pages --suite my-suite
      the operators of your own suite, by the specifications that it carries
  conformance docs --out pages --op specs/MyOp-1.yaml
      an operator of your own, before there are vectors

The pages open from disk, need no script and make no request. The same input gives
the same bytes. "conformance spec show" tells the same in the terminal.
"""


@click.command(epilog=EXAMPLES)
@click.argument("logs", metavar="[RUN.jsonl]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the pages, made where missing.",
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
    help="The suite, whose operators get pages; the shipped core suite if left out.",
)
def docs(logs: tuple[Path, ...], out: Path, ops: tuple[str, ...], suite: str | None) -> None:
    """Write pages about operators: what each specification says, with pictures.

    For whoever writes a kernel or a specification: attributes, shapes and rules, errata, what the
    document leaves open and who follows which reading, every edge with a window and vectors that
    show it, what must be rejected, and the faults that implementations are known to have.
    """
    from conformance.docs.account import account
    from conformance.docs.html import file_name, index_page, operator_page
    from conformance.docs.source import opened, show_command
    from conformance.report.registry import write_text

    source = opened(ops, suite, logs)
    accounts = []
    with Progress(len(source.specs), "writing") as progress:
        for number, spec in enumerate(source.specs):
            progress.at(spec.op, number)
            told = account(spec, source.suite, source.runs, show_command(suite))
            accounts.append(told)
            write_text(out / file_name(spec.op), operator_page(told))
    index = write_text(
        out / "index.html", index_page(accounts, source.runs, source.suite.manifest.name)
    )
    click.echo(f"wrote {index}, and {len(accounts)} operator pages", err=True)
