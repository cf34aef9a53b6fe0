"""``conformance spec``: show, describe and check specifications."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.docs import docs
from conformance.cli.remote_paths import SourcePath
from conformance.errors import EXIT_USAGE, Problem, SpecError, UsageError
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.docs.definition_facts import DefinitionFacts

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
"""The sections of "spec show", in this order."""

SHORT = ("interface", "attributes", "conditions")
"""The sections that are shown by default."""


@spec.command(
    epilog="""
\b
Examples:
  conformance spec show AvgPool-1
      inputs, outputs, attributes and their conditions
  conformance spec show AvgPool-1 --section rules --section edges
      how the output is computed, and what implementations get wrong
  conformance spec show AvgPool-1 --section readings reports/*/run.jsonl
      implementation-defined behaviour, and what each backend does
  conformance spec show specs/MyOp-1.yaml --suite my-suite
      your own operator, with the vectors you generated

  conformance spec show onnx.Conv-22
      an operator that is a definition, as a formula

"conformance spec docs" writes the same as HTML pages, with pictures of windows.
"""
)
@click.argument("op", metavar="OP|FILE")
@click.argument("logs", metavar="[RUN.jsonl]...", nargs=-1, type=SourcePath())
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(SECTIONS),
    metavar="NAME",
    help=f"Only this section: {', '.join(SECTIONS)}; repeatable.",
)
@click.option("--all", "all_of_it", is_flag=True, help="All sections: thousands of lines.")
@click.option("--suite", metavar="DIR|NAME", help="The suite [default: the shipped core suite].")
def show(
    op: str,
    logs: tuple[Path, ...],
    sections: tuple[str, ...],
    all_of_it: bool,
    suite: str | None,
) -> None:
    """Describe an operator, from its specification.

    Prints what a program needs to know: inputs, outputs and attributes with their kinds, and the
    conditions for them. The other sections are rules and errata; implementation-defined behaviour;
    coverage targets (edges), each with its smallest vector; negative tests; and known bugs with
    links to public reports.

    Of a definition in index notation (docs/definitions.md), rules are its formulas.
    """
    from conformance.cli.spec_text import operator_text, section_hints
    from conformance.cli.text import terminal
    from conformance.docs.operator_facts import collect_facts
    from conformance.docs.source import open_source, show_command

    width = min(terminal()["width"], WIDTH)
    source = open_source([op], suite, logs)
    if source.definitions:
        if logs:
            raise UsageError(f"{op} is a definition: run logs say nothing of it yet")
        _show_definition(source.definitions[0], sections, width)
        return
    loaded = source.specs[0]
    facts = collect_facts(loaded, source.suite, source.runs, show_command(suite))
    selected = SECTIONS if all_of_it else sections or (("readings",) if logs else SHORT)
    for line in operator_text(facts, [name for name in SECTIONS if name in selected], width):
        click.echo(line)
    if selected is SHORT:
        for line in section_hints(facts, width):
            click.echo(line)


def _show_definition(facts: DefinitionFacts, sections: Collection[str], width: int) -> None:
    """Print the sections that a definition has, all of them by default."""
    from conformance.cli.definition_text import SECTIONS as OF_DEFINITIONS
    from conformance.cli.definition_text import definition_text

    unknown = [name for name in sections if name not in OF_DEFINITIONS]
    if unknown:
        raise UsageError(
            f"{facts.op} is a definition: it has no section '{unknown[0]}'",
            hint=f"it has {', '.join(OF_DEFINITIONS)}",
        )
    selected = [name for name in OF_DEFINITIONS if not sections or name in sections]
    for line in definition_text(facts, selected, width):
        click.echo(line)


@spec.command(
    epilog="""
\b
Examples:
  conformance spec lint
      the shipped specifications
  conformance spec lint specs/MyOp-1.yaml
      your own, while you write it

Each problem is printed as FILE:LINE:COLUMN with the expected value and a hint, so editors can
jump to it. See docs/spec-format.md for the format. Editors that support JSON Schema
can use conformance/spec/spec.schema.json.
"""
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def lint(ctx: click.Context, files: tuple[Path, ...]) -> None:
    """Check specification FILES [default: all shipped ones].

    Errors are unknown keys and names, invalid expressions and cyclic definitions. It also reports
    what is legal but useless: unused definitions, attributes that no coverage target depends on.

    Cases are drawn to find coverage targets (edges) that no case meets, negative tests that do not
    break what they name, rules whose default decides a result though it is not written, and
    conditions that exclude every case.
    Conditions without a negative test are listed separately, as to do.

    Of a definition in index notation it reports names that nothing speaks of, conditions that no
    drawn case meets, and valid cases whose output has no value.

    For your own files it also prints how many mutants do not apply, and why: some need a name under
    'roles'.

    Exits with 2 if there is any problem. A missing negative test counts as a problem.
    """
    from conformance.resources import directory

    shipped = chain(*(sorted(directory("specs").glob(way)) for way in ("*.yaml", "core/*.yaml")))
    are_clean = [_lint(file) for file in files or shipped]
    if not all(are_clean):
        ctx.exit(EXIT_USAGE)


def _lint(file: Path) -> bool:
    """Print the problems of a specification; return whether there are none.

    For a specification that is not shipped, also print which mutants do not apply.
    """
    from conformance.core.loader import is_defined

    if is_defined(str(file)):
        return _lint_definition(file)
    from conformance.generate.sampled_lint import lint as lint_by_cases
    from conformance.safe_text import wrap
    from conformance.spec.inapplicable import inapplicable_lines
    from conformance.spec.lint import lint as lint_text
    from conformance.spec.lint import untested_conditions
    from conformance.spec.loader import load_spec

    to_do: Mapping[str, Problem] = {}
    mutants: list[str] = []
    problems: tuple[Problem, ...] = ()
    try:
        loaded = load_spec(file)
        unsorted = {*lint_text(loaded), *lint_by_cases(loaded)}
        problems = tuple(sorted(unsorted, key=lambda p: (p.line, p.column, p.message)))
        to_do = untested_conditions(loaded)
        mutants = [] if _is_shipped(file) else [*inapplicable_lines(loaded)]
    except SpecError as error:
        problems += error.problems
    for problem in problems:
        click.echo(str(problem))
    if to_do:
        first, count = next(iter(to_do.values())), len(to_do)
        conditions = "1 condition has" if count == 1 else f"{count} conditions have"
        message = f"to do: {conditions} no negative test: {', '.join(to_do)}"
        hint = "add an entry with 'breaks: NAME' under 'reject' for each"
        click.echo(str(Problem(first.file, first.line, first.column, message, hint=hint)))
    for line in mutants[:1]:
        click.echo(f"{file}: {line}")
    for line in mutants[1:]:
        click.echo("\n".join(wrap(line, WIDTH, " " * 6, " " * 4)))
    counts = [f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"] if problems else []
    counts += [f"{len(to_do)} negative test{'s' if len(to_do) > 1 else ''} to do"] if to_do else []
    if counts:
        click.echo(f"{file}: {', '.join(counts)}")
    else:
        click.echo(
            f"{file}: ok, {len(loaded.edges)} coverage targets, "
            f"{len(loaded.reject)} negative tests, "
            f"{len(loaded.interpretations)} interpretations"
        )
    return not counts


def _lint_definition(file: Path) -> bool:
    """Print the problems of an operator's definition; return whether there are none.

    For one that is not shipped, also print what does not apply: precision tiled, and which mutants
    of the catalogue.
    """
    from conformance.core.catalogue import inapplicable_lines
    from conformance.core.loader import load_operator, unused_names
    from conformance.core.tiled import windowed_sum
    from conformance.generate.definition_lint import lint as lint_by_cases
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
    from conformance.resources import directory

    folders = (directory("specs"), directory("specs") / "core")
    shipped = (folder / file.name for folder in folders)
    return any(path.exists() and path.samefile(file) for path in shipped)
