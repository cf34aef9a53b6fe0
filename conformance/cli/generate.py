"""``conformance generate``: from specifications to a suite of vectors."""

from __future__ import annotations

import time
from collections.abc import Iterator
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
      another draw, in two processes; the same seed always gives the same bytes

The folder is replaced as a whole when everything is ready, so an interrupted run
leaves the old suite as it was. Then: conformance check --suite my-suite --backend numpy
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
    default=Path("vectors"),
    show_default=True,
    help="The folder of the suite; it must be new, empty or a suite.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
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
    from conformance.model import Vector
    from conformance.spec import loader
    from conformance.suite.manifest import Uncovered
    from conformance.suite.writer import check_target, write_suite

    asked = list(ops) or list(loader.shipped())
    names = [loader.find(op).op for op in asked]
    check_target(out)
    began = time.perf_counter()
    work = plan.tasks(asked, root=seed)
    vectors: list[Vector] = []
    uncovered: list[Uncovered] = []
    with Progress(len(work), "generating") as progress:
        for selection in plan.run(work, processes=processes, progress=progress.at):
            vectors += selection.vectors
            uncovered += selection.uncovered
    belongs = plan.suites_of(vectors)

    def entries() -> Iterator[tuple[Vector, tuple[str, ...]]]:
        for vector in vectors:
            suites = belongs[vector.id]
            if suite in suites:
                yield vector, suites

    written = write_suite(
        out,
        entries(),
        name=suite,
        seed=seed,
        versions=plan.versions(),
        uncovered=uncovered,
    )
    size = sum(entry.bytes for entry in written.manifest.listed)
    seconds = time.perf_counter() - began
    click.echo(f"{suite}: {len(written)} vectors, {size / 1e6:.2f} MB, in {out}")
    for op in names:
        count = written.manifest.counts[op]
        click.echo(f"  {op:20} {count.value:4} value vectors, {count.reject:3} must-reject")
    if uncovered:
        click.echo(f"  {len(uncovered)} edges were met by no case of their rank and element type;")
        click.echo("  manifest.json lists them under 'uncovered'.")
    rate = len(vectors) / seconds
    click.echo(f"{seconds:.1f} s ({rate:.0f} vectors a second), sha256 {written.digest[:16]}")
