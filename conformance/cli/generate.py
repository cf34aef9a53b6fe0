"""``conformance generate``: from specifications to a suite of vectors."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.progress import Progress

if TYPE_CHECKING:
    from conformance.model import Vector
    from conformance.suite.store import Suite

EXAMPLES = """
\b
Examples:
  conformance generate --out my-suite
      all shipped operators, the core suite, into ./my-suite
  conformance generate --op AvgPool-1 --suite smoke --out quick
      one operator, only the few vectors of each edge and each known fault
  conformance generate --op 'onnx.*-22' --out newest -j 2
      the newest operators of ONNX
  conformance generate --op specs/MyPool-1.yaml --out my-suite
      an operator of your own, from its specification
  conformance generate --out my-suite -j 2 --seed 7
      other vectors, made by two processes
  conformance generate --suite full --count 50000 --op AvgPool-1 --out full
      core and 50,000 vectors more
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
    help="Only this operator, those of a pattern, or a specification file; repeatable.",
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
    type=click.Choice(["smoke", "core", "full"]),
    default="core",
    show_default=True,
    help="smoke: every edge and every known fault. core: every pair of edges on every rank, "
    "every edge in every element type. full: core and many more.",
)
@click.option(
    "--count",
    type=click.IntRange(1, 10_000_000),
    default=20_000,
    show_default=True,
    metavar="N",
    help="How many value vectors of each operator the full suite has beyond core.",
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
def generate(
    ops: tuple[str, ...], out: Path, seed: int, suite: str, count: int, processes: int
) -> None:
    """Generate a suite of test vectors from the operators' specifications."""
    from conformance.generate import plan
    from conformance.generate.suites import versions
    from conformance.suite.writer import check_target, write_suite

    sources = _sources(ops)
    check_target(out)
    began = time.perf_counter()
    with Progress(1, "generating") as progress:
        made = list(
            plan.make(
                list(sources.values()),
                root=seed,
                processes=processes,
                progress=progress.at,
                suite=suite,
            )
        )
        vectors: Iterable[tuple[Vector, tuple[str, ...]]] = (
            (vector, one.suites[vector.id])
            for one in made
            for vector in one.vectors
            if suite != "smoke" or "smoke" in one.suites[vector.id]
        )
        if suite == "full":
            vectors = plan.full(
                made, sources, count, root=seed, processes=processes, progress=progress.at
            )
        written = write_suite(
            out,
            vectors,
            name=suite,
            seed=seed,
            versions=versions(),
            kills={i: killed for one in made for i, killed in one.kills.items()},
            strength={one.op: one.strength for one in made},
            uncovered=[gap for one in made for gap in one.uncovered],
        )
    _tell(written, suite, out, time.perf_counter() - began)


def _tell(written: Suite, suite: str, out: Path, seconds: float) -> None:
    from conformance.suite.manifest import Count

    manifest = written.manifest
    size = sum(entry.bytes for entry in manifest.listed)
    click.echo(f"{suite}: {len(written)} vectors, {size / 1e6:.2f} MB, in {out}")
    for op in manifest.strength:
        count = manifest.counts.get(op, Count(0, 0))
        click.echo(f"  {op:20} {count.value:5} value vectors, {count.reject:3} must-reject")
    if manifest.uncovered:
        click.echo(
            f"  {len(manifest.uncovered)} edges or pairs of edges have neither a case nor a proof"
        )
        click.echo("  that there is none; manifest.json lists them under 'uncovered'.")
        if "z3-solver" not in manifest.versions:
            click.echo("  Proofs need z3: pip install 'opconform[generate]'.")
    rate = len(written) / seconds
    click.echo(f"{seconds:.1f} s ({rate:.0f} vectors a second), sha256 {written.digest[:16]}")


def _sources(ops: Sequence[str]) -> dict[str, str]:
    """By operator, the name or file that its specification is found by; none means all shipped."""
    from conformance.errors import UsageError
    from conformance.spec import loader

    found: dict[str, str] = {}
    shipped = loader.shipped()
    named = (fnmatch.filter(shipped, one) or [one] for one in ops)
    for source in chain.from_iterable(named) if ops else shipped:
        op = loader.find(source).op
        if found.setdefault(op, source) != source:
            raise UsageError(
                f"{found[op]} and {source} both specify {op}", hint="leave one of them out"
            )
    return found
