"""``conformance spec``: show, describe and check specifications."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.docs import docs
from conformance.errors import EXIT_USAGE, SpecError
from conformance.safe_text import number_of

WIDTH = 100
"""Wider lines are hard to read."""


@click.group(
    epilog="""
\b
Examples:
  conformance spec list               list the operators
  conformance spec show AvgPool-1     describe an operator
  conformance spec docs --out pages   the same as HTML pages
  conformance spec lint               check the shipped specifications
"""
)
def spec() -> None:
    """Show, describe and check operator specifications."""


spec.add_command(docs)


@spec.command(
    "list",
    epilog="""
\b
Example:
  conformance spec list
""",
)
def list_() -> None:
    """List the shipped operators.

    One line for each: its name as --op takes it, its dialect, how many cases the shipped suite has
    of it, and its element types. Where there are no cases, `conformance generate` makes vectors.
    """
    from conformance.specification import shipped_specs
    from conformance.suite.store import open_suite

    counts = open_suite().manifest.counts
    specs = shipped_specs()
    width = max(map(len, specs))
    for op in sorted(specs, key=_sort_key):
        dialect = DIALECTS.get(op.partition(".")[0], "OpenVINO")
        types = " ".join(next(iter(specs[op].types.values())))
        count = counts.get(op)
        cases = f"{count.value + count.reject:5} cases" if count else f"{'no cases':>11}"
        click.echo(f"{op:{width}}  {dialect:8}  {cases}  {types}")


def _sort_key(op: str) -> tuple[bool, str, int]:
    """Return the key that sorts operators of OpenVINO first, then by name and version."""
    name, _, version = op.rpartition("-")
    return name.partition(".")[0] in DIALECTS, name, int(version)


DIALECTS = {"onnx": "ONNX", "torch": "PyTorch"}
"""Dialects by the prefix of an operator's name; operators without a prefix are OpenVINO's."""

SECTIONS = ("interface", "attributes", "rules", "conditions", "errata", "readings", "profiles")
"""The sections of "spec show", in this order."""


@spec.command(
    epilog="""
\b
Examples:
  conformance spec show AvgPool-1
      all that its definition says
  conformance spec show AvgPool-1 --section rules --section readings
      how the output is computed, and where implementations may differ
  conformance spec show my.Operator-1.yaml
      your own operator
  conformance spec show my.Operator-1 --suite my-suite
      an operator as a suite carries it

"conformance spec docs" writes the same as HTML pages.
"""
)
@click.argument("op", metavar="OP|FILE")
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(SECTIONS),
    metavar="NAME",
    help=f"Only this section: {', '.join(SECTIONS)}; repeatable.",
)
@click.option("--suite", metavar="DIR|NAME", help="The suite [default: the shipped core suite].")
def show(op: str, sections: tuple[str, ...], suite: str | None) -> None:
    """Describe an operator, from its definition.

    Prints what a program needs to know: inputs, outputs and attributes with their kinds, formulas,
    and conditions; then errata of the document, implementation-defined behaviour, and restrictions
    that real backends have.
    """
    from conformance.cli.spec_text import operator_text
    from conformance.cli.text import terminal
    from conformance.docs.source import open_operators

    (facts,) = open_operators([op], suite)
    selected = [name for name in SECTIONS if not sections or name in sections]
    for line in operator_text(facts, selected, min(terminal()["width"], WIDTH)):
        click.echo(line)


@spec.command(
    epilog="""
\b
Examples:
  conformance spec lint
      the shipped definitions
  conformance spec lint my.Operator-1.yaml
      your own, while you write it

Each problem is printed as FILE:LINE:COLUMN with the expected value and a hint, so editors can
jump to it. See docs/definitions.md for the format. Editors that support JSON Schema can use
conformance/core/operator.schema.json.
"""
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def lint(ctx: click.Context, files: tuple[Path, ...]) -> None:
    """Check definition FILES [default: all shipped ones].

    Errors are unknown keys and names, invalid expressions and cyclic definitions. It also reports
    names that nothing speaks of and, from drawn cases, conditions that no case meets and valid
    cases whose output has no value.

    For your own files it also prints how many mutants do not apply, and why: some need a name under
    'roles'.

    Exits with 2 if there is any problem.
    """
    from conformance.core.loader import shipped_files

    are_clean = [_lint(file) for file in files or shipped_files()]
    if not all(are_clean):
        ctx.exit(EXIT_USAGE)


def _lint(file: Path) -> bool:
    """Print the problems of a definition; return whether there are none.

    For one that is not shipped, also print what does not apply: precision tiled, and which mutants
    of the catalogue.
    """
    from conformance.core.catalogue import inapplicable_lines
    from conformance.core.loader import load_operator, unused_names
    from conformance.core.tiled import windowed_sum
    from conformance.generate.lint import lint as lint_by_cases
    from conformance.safe_text import wrap

    try:
        operator = load_operator(str(file))
        problems = (*unused_names(str(file)), *lint_by_cases(operator))
    except SpecError as error:
        problems = error.problems
    for problem in problems:
        click.echo(str(problem))
    if problems:
        click.echo(f"{file}: {number_of(len(problems), 'problem')}")
        return False
    names = ", ".join(operator.define)
    click.echo(f"{file}: ok, defines {names} of {', '.join(operator.tensors)}")
    if _is_shipped(file):
        return True
    if not any(windowed_sum(operator, output) for output in operator.outputs):
        click.echo(f"{file}: precision tiled does not apply, no taps are shared by windows")
    lines = [*inapplicable_lines(operator)]
    for line in lines[:1]:
        click.echo(f"{file}: {line}")
    for line in lines[1:]:
        click.echo("\n".join(wrap(line, WIDTH, " " * 6, " " * 4)))
    return True


def _is_shipped(file: Path) -> bool:
    """Return whether an existing file is shipped with the package."""
    from conformance.core.loader import shipped_files

    return any(shipped.samefile(file) for shipped in shipped_files())
