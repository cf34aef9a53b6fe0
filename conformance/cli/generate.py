"""``conformance generate``: from specifications to a suite of vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from conformance.cli.progress import Progress

EXAMPLES = """
\b
Examples:
  conformance generate --out my-suite
      all shipped operators, the core suite, into ./my-suite
  conformance generate --op AvgPool-1 --suite smoke --out quick
      one operator, only the few vectors that show each edge once
  conformance generate --op specs/MyPool-1.yaml --out my-suite
      an operator of your own, from its specification
  conformance generate --out my-suite -j 2 --seed 7
      other vectors, made by two processes
\b
Then:
  conformance check --suite my-suite --backend numpy

The same specifications, seed and versions give the same bytes, with any number of
processes. The folder is replaced as a whole when everything is ready: an interrupted
run leaves the old suite as it was.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="OP",
    help="Only this operator, or a specification file; repeatable.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    default=Path("vectors"),
    show_default=True,
    help="The folder of the suite; it must be new, empty or a suite.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    default=0,
    show_default=True,
    help="Another seed draws other vectors.",
)
@click.option(
    "--suite",
    type=click.Choice(["smoke", "core"]),
    default="core",
    show_default=True,
    help="core: every edge on every rank and element type. smoke: every edge once.",
)
@click.option(
    "-j",
    "processes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Work in so many processes.",
)
def generate(ops: tuple[str, ...], out: Path, seed: int, suite: str, processes: int) -> None:
    """Generate a suite of test vectors from the operators' specifications."""
    from conformance.generate import plan
    from conformance.suite.manifest import Count
    from conformance.suite.writer import check_target, write_suite

    sources = _sources(ops)
    check_target(out)
    began = time.perf_counter()
    work = plan.tasks(list(sources.values()), root=seed)
    with Progress(len(work), "generating") as progress:
        done = list(plan.run(work, processes=processes, progress=progress.at))
    vectors = [vector for selection in done for vector in selection.vectors]
    uncovered = [gap for selection in done for gap in selection.uncovered]
    belongs = plan.suites_of(vectors)
    written = write_suite(
        out,
        ((vector, belongs[vector.id]) for vector in vectors if suite in belongs[vector.id]),
        name=suite,
        seed=seed,
        versions=plan.versions(),
        uncovered=uncovered,
    )
    seconds = time.perf_counter() - began
    size = sum(entry.bytes for entry in written.manifest.listed)
    click.echo(f"{suite}: {len(written)} vectors, {size / 1e6:.2f} MB, in {out}")
    for op in sources:
        count = written.manifest.counts.get(op, Count(0, 0))
        click.echo(f"  {op:20} {count.value:4} value vectors, {count.reject:3} must-reject")
    if uncovered:
        click.echo(f"  {len(uncovered)} combinations of edge, rank and element type have no case;")
        click.echo("  manifest.json lists them under 'uncovered'.")
    rate = len(vectors) / seconds
    click.echo(f"{seconds:.1f} s ({rate:.0f} vectors a second), sha256 {written.digest[:16]}")


def _sources(ops: Sequence[str]) -> dict[str, str]:
    """By operator, the name or file that its specification is found by; none means all shipped."""
    from conformance.errors import UsageError
    from conformance.spec import loader

    found: dict[str, str] = {}
    for source in ops or loader.shipped():
        op = loader.find(source).op
        if found.setdefault(op, source) != source:
            raise UsageError(
                f"{found[op]} and {source} both specify {op}", hint="leave one of them out"
            )
    return found
