"""``conformance suite``: look at suites of vectors."""

from __future__ import annotations

import click

from conformance.errors import EXIT_USAGE


@click.group(
    epilog="""
\b
Example:
  conformance suite lint     check the suite that is shipped
"""
)
def suite() -> None:
    """Look at suites of vectors."""


@suite.command(
    epilog="""
\b
Examples:
  conformance suite lint
      the suite that is shipped
  conformance suite lint my-suite
      the suite in a folder, for example before you publish it
"""
)
@click.argument("name", metavar="[DIR|NAME]", required=False)
@click.pass_context
def lint(ctx: click.Context, name: str | None) -> None:
    """Check that a suite is whole, and that its vectors are fit to use.

    Reads every file. Beyond what each check refuses (files that are missing, changed or damaged)
    it finds what the published JSON Schemas do not allow, expected values outside of what is
    accepted, readings that change nothing, vectors that ask the same question, and vectors that
    something passes which is no pooling at all (zeros, the input itself, ...) though no edge of
    theirs exempts it.

    Exits with 2 if there is any problem.
    """
    from conformance.audit.vacuity import Gate
    from conformance.suite.lint import lint as lint_suite
    from conformance.suite.store import open_suite

    opened = open_suite(name)
    vacuity = Gate()
    problems = lint_suite(opened, vacuity.look) or vacuity.problems
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"{opened.path}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        ctx.exit(EXIT_USAGE)
    counts = opened.manifest.counts.values()
    click.echo(
        f"{opened.path}: ok, {sum(count.value for count in counts)} value vectors, "
        f"{sum(count.reject for count in counts)} must-reject, "
        f"{len(opened.manifest.withdrawn)} withdrawn, {vacuity.exempt} exempt from the vacuity gate"
    )
