"""``conformance coverage``: which edges and pairs of edges a suite shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from conformance.cli.progress import Progress

if TYPE_CHECKING:
    from conformance.audit.coverage import RankCoverage
    from conformance.suite.strength import Pair

EXIT_INCOMPLETE = 1
SHOWN = 12

EXAMPLES = """
\b
Examples:
  conformance coverage
      the shipped suite, every operator and rank
  conformance coverage --op AvgPool-1 --why
      also what contradicts the pairs of edges that cannot be

Every edge is evaluated anew from the inputs and attributes of the vectors; what the
manifest says is not believed, but for the pairs that it calls infeasible. Exits with 1
if an edge or a pair is not shown that is not proven infeasible.
"""


@click.command(epilog=EXAMPLES)
@click.option("--suite", "name", metavar="DIR|NAME", help="A suite; by default the shipped one.")
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="OP",
    help="Only this operator, or those of a pattern: 'onnx.*'; repeatable.",
)
@click.option("--why", is_flag=True, help="Say what contradicts infeasible pairs, by reason.")
@click.pass_context
def coverage(ctx: click.Context, name: str | None, ops: tuple[str, ...], why: bool) -> None:
    """Measure a suite: which edges and pairs of edges it shows."""
    from conformance.audit.coverage import coverage as measure
    from conformance.audit.run import operators
    from conformance.spec.loader import find
    from conformance.suite.store import open_suite

    suite = open_suite(name)
    click.echo(f"suite {suite.name}, sha256 {suite.digest[:16]}")
    click.echo("operator                rank  vectors      edges            pairs   infeasible")
    complete = True
    asked = operators(suite, ops)
    with Progress(len(asked), "measuring") as progress:
        for number, op in enumerate(asked):
            progress.at(op, number)
            ranks, wrong = measure(find(op), suite.manifest, suite.vectors([op]))
            for one in ranks:
                _tell(one)
                complete &= one.complete
            for problem in wrong:
                click.echo(f"    {problem}")
            complete &= not wrong
            if why and op in suite.manifest.strength:
                _tell_reasons(suite.manifest.strength[op].infeasible)
    if not complete:
        ctx.exit(EXIT_INCOMPLETE)


def _tell(one: RankCoverage) -> None:
    edges, pairs = len(one.feasible_edges), len(one.feasible_pairs)
    shown_edges = edges - len(one.missing_edges)
    shown_pairs = pairs - len(one.missing_pairs)
    click.echo(
        f"{one.op:22} {one.rank:5} {one.vectors:8} {shown_edges:4} of {edges:3}"
        f" {shown_pairs:6} of {pairs:5} {len(one.infeasible_pairs):12}"
    )
    lines = [f"edge not shown: {edge}" for edge in one.missing_edges]
    lines += [f"not shown in {dtype}: {edge}" for dtype, edge in one.missing_types]
    lines += [f"pair not shown: {a} with {b}" for a, b in one.missing_pairs]
    lines += [f"called infeasible, but shown: {a} with {b}" for a, b in one.disproved]
    for line in lines[:SHOWN]:
        click.echo(f"    {line}")
    if len(lines) > SHOWN:
        click.echo(f"    and {len(lines) - SHOWN} more")


def _tell_reasons(infeasible: Mapping[int, Mapping[Pair, tuple[str, ...]]]) -> None:
    from collections import Counter

    for rank, pairs in infeasible.items():
        reasons = Counter(", ".join(uses) or "the edges themselves" for uses in pairs.values())
        for reason, count in reasons.most_common():
            click.echo(f"    rank {rank}: {count:5} contradicted by {reason}")
