"""``conformance suite``: look at suites of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.options import ops_option, processes_option
from conformance.cli.progress import Progress
from conformance.errors import EXIT_USAGE

if TYPE_CHECKING:
    from conformance.suite.store import Suite


@click.group(
    epilog="""
\b
Examples:
  conformance suite lint               check the suite that is shipped
  conformance suite complete --for mylib.py --out mine
                                       add what it lacks for a backend
  conformance suite record my-suite    keep its cases as text
"""
)
def suite() -> None:
    """Check, complete and record suites of vectors."""


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
    theirs exempts it. Of a suite of your own, that its vectors are cases of the specifications that
    it carries. Of the shipped suite, that its manifest is what its recorded cases make.

    Exits with 2 if there is any problem.
    """
    from conformance.audit.vacuity import Gate
    from conformance.suite import derived
    from conformance.suite.lint import lint as lint_suite
    from conformance.suite.store import open_suite

    opened = open_suite(name)
    vacuity = Gate(opened.specs)
    problems = [*(derived.problems(opened.manifest, opened.specs) if name is None else ())]
    problems = [*problems, *lint_suite(opened, vacuity.look)] or vacuity.problems
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


@suite.command(
    epilog="""
\b
Examples:
  conformance generate --op AvgPool-1 --seed 7 --out my-suite
  conformance suite record my-suite
      from now on `conformance generate --op AvgPool-1` makes these vectors
  conformance suite record my-suite --out elsewhere
      write the files into elsewhere/, to look at them first
"""
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@ops_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write cases/ and proofs/ into this folder. Default: the folder of the specifications.",
)
@click.option(
    "--fewest", is_flag=True, help="Leave out the cases that the others make superfluous."
)
@processes_option
def record(
    folder: Path, ops: tuple[str, ...], out: Path | None, fewest: bool, processes: int
) -> None:
    """Record the cases of a suite as text, from which its vectors can be made again.

    For each shipped operator it audits the suite and writes two files: cases/OP.jsonl, one line a
    case, with the known faults that its vector notices at either level, and proofs/OP.json, the
    pairs of edges that are proven impossible. Both are kept in version control.
    """
    from conformance import data
    from conformance.audit.run import audit
    from conformance.generate import recorded
    from conformance.replacement import replacing
    from conformance.suite import cases, proofs
    from conformance.suite.store import open_suite

    opened = open_suite(folder)
    asked = _recordable(opened, ops)
    target = out or data.directory("specs")
    with Progress(1, "auditing") as progress:
        scores = audit(opened, asked, processes=processes, progress=progress.at)
    for score in scores:
        found, proven = recorded.record(opened, score, fewest=fewest)
        for file, content in (
            (target / "cases" / f"{score.op}.jsonl", cases.dump(found)),
            (target / "proofs" / f"{score.op}.json", proofs.dump(proven)),
        ):
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as new:
                new.write_bytes(content)
            click.echo(f"{file}: {len(content):,} bytes")


@suite.command(
    epilog="""
\b
Examples:
  conformance suite complete --for mylib.py --out mine
      the shipped suite, and what it lacks for what mylib declares
  conformance suite complete my-suite --op AvgPool-1 --out better
      after the catalogue has grown: what kills new mutants
\b
Then:
  conformance check --backend mylib.py --suite mine
"""
)
@click.argument("name", metavar="[DIR|NAME]", required=False)
@click.option(
    "--for",
    "backend",
    metavar="NAME|FILE",
    help="Complete what this backend declares to support; without it every part of each operator. "
    "The backend is loaded, not run.",
)
@ops_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    required=True,
    help="The folder of the completed suite; it must be new, empty or a suite.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    default=0,
    show_default=True,
    help="Look for cases with this seed.",
)
@click.option(
    "--smaller",
    is_flag=True,
    help="Add smaller relatives of large vectors, too: `conformance suite record --fewest` keeps "
    "what shows the same in fewer bytes.",
)
@processes_option
def complete(
    name: str | None,
    backend: str | None,
    ops: tuple[str, ...],
    out: Path,
    seed: int,
    smaller: bool,
    processes: int,
) -> None:
    """Add to a suite the vectors that it lacks.

    A vector is added for each mutant that could show in an element type and rank, and that no
    vector kills there; without --for also for each pair of edges, and for each remainder in a
    stratum, that no vector meets. The vectors of the suite stay as they are. Nothing is written
    where it lacks nothing.
    """
    from conformance.cli.completing import completed
    from conformance.suite.store import open_suite

    made = completed(
        open_suite(name), ops, backend, out, processes=processes, seed=seed, smaller=smaller
    )
    if made.path == out.resolve():
        click.echo(f"{made.name}: {len(made)} vectors, in {out}")
        click.echo(f"sha256 {' + '.join(one[:16] for one in made.manifest.digests)}")


def _recordable(opened: Suite, ops: Sequence[str]) -> list[str]:
    """The operators whose cases can be recorded: beside the shipped specification that they are of.

    Raises UsageError for one that is named and is of another specification, and where none is left.
    """
    from conformance.audit.run import operators
    from conformance.errors import UsageError
    from conformance.spec.loader import shipped

    asked = operators(opened, ops)
    own = shipped()
    found = [op for op in asked if op in own and opened.specs.made_from(own[op])]
    if not found or (ops and found != asked):
        others = ", ".join(op for op in asked if op not in found)
        raise UsageError(
            f"{others}: not made from a shipped specification as it is now",
            hint="cases are recorded beside shipped specifications; a suite of your own keeps its "
            "vectors, and carries what they were made from",
        )
    return found
