"""``conformance spec``: look at operator specifications."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.errors import EXIT_USAGE, SpecError


@click.group(
    epilog="""
\b
Example:
  conformance spec lint     check the specifications that are shipped
"""
)
def spec() -> None:
    """Look at operator specifications."""


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
