"""``conformance suite``: check, measure, complete, record and pack suites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.audit import audit
from conformance.cli.coverage import coverage
from conformance.cli.options import env_option, ops_option, partition_options, processes_option
from conformance.cli.remote_paths import SuitePath, TargetPath
from conformance.cli.replace_suite import force_option, keep_another
from conformance.cli.run_check import evaluate
from conformance.errors import EXIT_USAGE
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.suite.store import Suite


@click.group(
    epilog="""
\b
Examples:
  conformance suite lint               check the shipped suite
  conformance suite audit              how many mutants it kills
  conformance suite coverage           which pairs of targets it covers
  conformance suite complete --for mylib.py --out mine
                                       add the vectors that a backend needs
  conformance suite record my-suite    write its cases as text
  conformance suite pack my-suite --out packed
                                       a thousand vectors to a file
"""
)
def suite() -> None:
    """Check, measure, complete, record and pack suites of vectors."""


suite.add_command(audit)
suite.add_command(coverage)


@suite.command(
    epilog="""
\b
Examples:
  conformance suite lint
      the shipped suite
  conformance suite lint my-suite
      your own suite, for example before you publish it
"""
)
@click.argument("name", metavar="[DIR|NAME]", required=False)
@click.pass_context
def lint(ctx: click.Context, name: str | None) -> None:
    """Check that a suite is complete and valid.

    Every file is read. Besides missing, changed or damaged files, it finds violations of the
    published JSON Schemas, expected values outside their accepted interval, interpretations that
    change nothing, duplicate vectors, and operators of which a trivial implementation (all zeros,
    identity, ...) would pass all value vectors. For your own suite it checks that the vectors are
    cases of the specifications it carries; for the shipped suite, that what is recorded of each
    operator is of its specification, and consistent.

    Exits with 2 if there is any problem.
    """
    from conformance.audit.trivial_implementations import TrivialPassReport
    from conformance.suite.lint import lint as lint_suite
    from conformance.suite.manifest_check import manifest_problems
    from conformance.suite.store import open_suite

    opened = open_suite(name)
    evaluate(opened, opened.manifest.listed)
    trivial_passes = TrivialPassReport()
    problems = [*(manifest_problems() if name is None else ())]
    problems += lint_suite(opened, trivial_passes.check)
    problems = problems or [*trivial_passes.problems]
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"{opened.path}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        ctx.exit(EXIT_USAGE)
    counts = opened.manifest.counts.values()
    click.echo(
        f"{opened.path}: ok, {sum(count.value for count in counts)} value vectors, "
        f"{sum(count.reject for count in counts)} negative tests, "
        f"{len(opened.manifest.withdrawn)} withdrawn"
    )


@suite.command(
    epilog="""
\b
Examples:
  conformance generate --op AvgPool-1 --seed 7 --out my-suite
  conformance suite record my-suite
      now `conformance generate --op AvgPool-1` makes these vectors
  conformance suite record my-suite --out elsewhere
      write the files into elsewhere/, to inspect them first
"""
)
@click.argument("folder", metavar="DIR", type=SuitePath())
@ops_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write cases/ into this folder. Default: the folder of the specifications.",
)
def record(folder: Path, ops: tuple[str, ...], out: Path | None) -> None:
    """Record the cases of a suite as text, for version control.

    The vectors can be generated again from the recorded cases. For each shipped operator it writes
    the file cases/OP.jsonl, one case per line with the mutants that its vector kills at either
    level, as the suite says.
    """
    from conformance import resources
    from conformance.generate import recorded
    from conformance.replacement import replacing
    from conformance.suite.recorded_cases import encode_recorded_cases
    from conformance.suite.store import open_suite

    opened = open_suite(folder)
    recordable_ops = _recordable(opened, ops)
    target = (out or resources.directory("specs")) / "cases"
    contents = {
        target / f"{op}.jsonl": encode_recorded_cases(recorded.record(opened, op))
        for op in recordable_ops
    }
    target.mkdir(parents=True, exist_ok=True)
    for file, content in contents.items():
        with replacing(file) as new:
            new.write_bytes(content)
        click.echo(f"{file}: {len(content):,} bytes")


@suite.command(
    epilog="""
\b
Examples:
  conformance suite complete --for mylib.py --out mine
      the shipped suite, plus the vectors that it lacks for mylib
  conformance suite complete --for mylib.py --dtypes f32 --ranks 4 --out mine
      only those of images in f32
  conformance suite complete my-suite --op AvgPool-1 --out better
      add vectors that kill new mutants of the catalogue
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
    help="Complete the suite for what this backend declares to support [default: every part of "
    "each operator]. The backend is imported but not run.",
)
@env_option
@ops_option
@partition_options
@click.option(
    "--out",
    type=TargetPath(new=True),
    metavar="DIR",
    required=True,
    help="Write the completed suite into this folder; it must be new, empty or a suite.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    default=0,
    show_default=True,
    help="Search for cases with this seed.",
)
@force_option
@processes_option
def complete(
    name: str | None,
    backend: str | None,
    env: str | None,
    ops: tuple[str, ...],
    dtypes: tuple[str, ...],
    ranks: tuple[int, ...],
    out: Path,
    seed: int,
    force: bool,
    processes: int,
) -> None:
    """Add the vectors that a suite lacks.

    It adds a vector for each mutant that survives in an element type and rank, if any of 5,000
    fresh cases kills it there: the smallest that does. Of other mutants the suite states the number
    of cases that do not kill them, so that a check with it has a strength. Existing vectors do not
    change. Nothing is written if there is neither a vector nor such a statement to add.
    """
    from conformance.cli.complete_suite import complete_suite
    from conformance.run.partition_filter import PartitionFilter
    from conformance.suite.store import open_suite

    base = open_suite(name)
    _keep_another(base, out, force)
    written = complete_suite(
        base,
        ops,
        backend,
        out,
        processes=processes,
        seed=seed,
        env=env,
        partitions=PartitionFilter.of(dtypes, ranks),
    )
    if written is base:
        click.echo(f"nothing written: {base.name} has all vectors and states its strength")
    else:
        if len(written) == len(base):
            click.echo("no vector to add; written with the mutants that can show, for its strength")
        click.echo(f"{written.name}: {number_of(len(written), 'vector')}, in {out}")
        click.echo(f"sha256 {' + '.join(digest[:16] for digest in written.manifest.digests)}")


OUT = click.option(
    "--out",
    type=TargetPath(new=True),
    metavar="DIR",
    required=True,
    help="Write the suite into this folder; it must be new, empty or a suite.",
)


@suite.command(
    epilog="""
\b
Examples:
  conformance suite pack my-suite --out packed
  conformance check --backend numpy --suite packed
      all commands accept packed suites
"""
)
@click.argument("name", metavar="[DIR|NAME]", required=False)
@OUT
@force_option
def pack(name: str | None, out: Path, force: bool) -> None:
    """Pack a suite: about a thousand vectors to a file.

    The vectors and the digest of the suite stay the same. A packed suite may be of any size: its
    containers are read one at a time. They are zip files of vector files.
    """
    from conformance.suite.packing import pack_suite
    from conformance.suite.store import open_suite

    base = open_suite(name)
    _keep_another(base, out, force)
    evaluate(base, base.manifest.listed)
    _print_written(pack_suite(base, out), out)


@suite.command(
    epilog="""
\b
Example:
  conformance suite unpack packed --out my-suite
"""
)
@click.argument("folder", metavar="DIR", type=SuitePath())
@OUT
@force_option
def unpack(folder: Path, out: Path, force: bool) -> None:
    """Unpack a packed suite: one file per vector."""
    from conformance.suite.packing import unpack_suite
    from conformance.suite.store import open_suite

    base = open_suite(folder)
    _keep_another(base, out, force)
    _print_written(unpack_suite(base, out), out)


def _keep_another(base: Suite, out: Path, force: bool) -> None:
    """Refuse to replace a suite that was not written from the same ``base``."""
    keep_another(out, base.name, base.manifest.seed, base.manifest.strength, force=force)


def _print_written(written: Suite, out: Path) -> None:
    click.echo(
        f"{written.name}: {number_of(len(written), 'vector')} in "
        f"{number_of(len(written.manifest.files), 'file')}, in {out}"
    )
    click.echo(f"sha256 {written.digest}")


def _recordable(opened: Suite, ops: Sequence[str]) -> list[str]:
    """Return the operators whose cases are of the shipped specifications.

    Only these can be recorded. Raises UsageError for a named operator of another specification, and
    if none is left.
    """
    from conformance.audit.audit_suite import select_operators
    from conformance.errors import UsageError
    from conformance.specification import shipped_specs

    selected_ops = select_operators(opened, ops)
    shipped = shipped_specs()
    recordable = [
        op for op in selected_ops if op in shipped and opened.specs.made_from(shipped[op])
    ]
    if not recordable or (ops and recordable != selected_ops):
        refused = ", ".join(op for op in selected_ops if op not in recordable)
        raise UsageError(
            f"{refused}: not made from a shipped specification as it is now",
            hint="cases are recorded beside shipped specifications; a suite of your own keeps its "
            "vectors, and carries what they were made from",
        )
    return recordable
