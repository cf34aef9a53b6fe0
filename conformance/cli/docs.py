"""``conformance spec docs``: HTML pages that describe operators."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.progress import Progress
from conformance.cli.remote_paths import SourcePath

EXAMPLES = """
\b
Examples:
  conformance spec docs --out pages
      a page for each shipped operator, and an index
  conformance spec docs --out pages reports/*/run.jsonl
      the same, with what these backends do where the document is silent
  conformance spec docs --out pages --suite my-suite
      the operators of your own suite, from the specifications it carries
  conformance spec docs --out pages --op specs/MyOp-1.yaml
      your own operator, before it has vectors

The pages open from disk, without scripts or network access. The same input gives the same
bytes. "conformance spec show" prints the same in the terminal.
"""


@click.command(epilog=EXAMPLES)
@click.argument("logs", metavar="[RUN.jsonl]...", nargs=-1, type=SourcePath())
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
    help="The suite whose operators get pages [default: the shipped core suite].",
)
def docs(logs: tuple[Path, ...], out: Path, ops: tuple[str, ...], suite: str | None) -> None:
    """Write HTML pages that describe operators.

    For authors of kernels and specifications: attributes, shapes, rules and errata;
    implementation-defined behaviour, with the interpretation of each backend; coverage targets,
    with a picture and vectors; negative tests; and known bugs of implementations. Of definitions in
    index notation (docs/definitions.md): interface, formulas, conditions.
    """
    from conformance.docs.html import definition_page, file_name, index_page, operator_page
    from conformance.docs.operator_facts import collect_facts
    from conformance.docs.source import open_source, show_command
    from conformance.report.registry import write_text

    source = open_source(ops, suite, logs)
    all_facts = []
    with Progress(len(source.specs), "writing") as progress:
        for number, spec in enumerate(source.specs):
            progress.at(spec.op, number)
            facts = collect_facts(spec, source.suite, source.runs, show_command(suite))
            all_facts.append(facts)
            write_text(out / file_name(spec.op), operator_page(facts))
    for definition in source.definitions:
        write_text(out / file_name(definition.op), definition_page(definition))
    text = index_page(all_facts, source.runs, source.suite.manifest.name, source.definitions)
    index = write_text(out / "index.html", text)
    click.echo(
        f"wrote {index}, and {len(all_facts) + len(source.definitions)} operator pages", err=True
    )
