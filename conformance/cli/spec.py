"""``conformance spec``: look at operator specifications."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.errors import EXIT_USAGE, SpecError

WIDTH = 100
"""Wider lines are hard to read."""


@click.group(
    epilog="""
\b
Examples:
  conformance spec show AvgPool-1     what a specification says
  conformance spec lint               check those that are shipped
"""
)
def spec() -> None:
    """Look at operator specifications."""


SECTIONS = (
    *(
        "interface",
        "attributes",
        "rules",
        "conditions",
        "errata",
        "readings",
        "edges",
        "profiles",
        "reject",
    ),
    "faults",
)
"""What "spec show" can tell, in its order."""


@spec.command(
    epilog="""
\b
Examples:
  conformance spec show AvgPool-1 --section rules --section edges
      how the output comes about, and what implementations get wrong
  conformance spec show AvgPool-1 --section readings reports/*/run.jsonl
      what the document leaves open, and who follows which reading
  conformance spec show specs/MyOp-1.yaml --suite my-suite
      your own operator, with the vectors that you generated

"conformance docs" writes the same as pages, with pictures of windows.
"""
)
@click.argument("op", metavar="OP|FILE")
@click.argument("logs", metavar="[RUN.jsonl]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(SECTIONS),
    metavar="NAME",
    help=f"Only this part, of {', '.join(SECTIONS)}; repeatable.",
)
@click.option("--suite", metavar="DIR|NAME", help="The suite; the shipped core suite if left out.")
def show(op: str, logs: tuple[Path, ...], sections: tuple[str, ...], suite: str | None) -> None:
    """Show what the specification of an operator says.

    Inputs, attributes and rules, errata, what the document leaves open, the edges with the
    smallest vector that shows each, what must be rejected, and known faults with their threads.
    """
    from conformance.cli.spec_text import text
    from conformance.cli.text import terminal
    from conformance.docs.account import account
    from conformance.docs.source import opened, show_command

    source = opened([op], suite, logs)
    loaded = source.specs[0]
    told = account(loaded, source.suite, source.runs, show_command(suite))
    chosen = [name for name in SECTIONS if name in sections or not sections]
    for line in text(told, chosen, min(terminal()["width"], WIDTH)):
        click.echo(line)


@spec.command(
    epilog="""
\b
Examples:
  conformance spec lint
      the specifications that are shipped
  conformance spec lint specs/MyOp-1.yaml
      your own, while you write it

A problem is shown as FILE:LINE:COLUMN with what was expected and a hint, so that
editors can jump to it. docs/spec-format.md explains the format, and
conformance/spec/spec.schema.json completes it in editors that know JSON Schema.
"""
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def lint(ctx: click.Context, files: tuple[Path, ...]) -> None:
    """Check specification FILES, by default all that are shipped.

    Finds what makes a file unusable (unknown keys and names, expressions that make no sense,
    cyclic definitions), and then what is legal but useless: definitions that nothing uses,
    conditions that no must-reject case breaks, attributes that no edge depends on.

    Exits with 2 if there is any problem.
    """
    from conformance.data import directory
    from conformance.spec.lint import lint as lint_spec
    from conformance.spec.loader import load

    failed = False
    for file in files or sorted(directory("specs").glob("*.yaml")):
        try:
            loaded = load(file)
            problems = lint_spec(loaded)
        except SpecError as error:
            problems = error.problems
        for problem in problems:
            click.echo(str(problem))
        if problems:
            failed = True
            click.echo(f"{file}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        else:
            click.echo(
                f"{file}: ok, {len(loaded.edges)} edges, {len(loaded.reject)} must-reject cases, "
                f"{len(loaded.interpretations)} interpretations"
            )
    if failed:
        ctx.exit(EXIT_USAGE)
