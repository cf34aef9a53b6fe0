"""``conformance suite coverage``: coverage targets of a suite, and pairs of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from conformance.cli.options import ops_option
from conformance.cli.partition_options import part_options
from conformance.cli.progress import Progress
from conformance.cli.run_check import evaluate

if TYPE_CHECKING:
    from conformance.core.operator import Operator
    from conformance.generate.claim import Claim
    from conformance.model import Vector

EXIT_INCOMPLETE = 1
MAX_LISTED = 12
"""Lines that are listed of an operator and rank."""

EXAMPLES = """
\b
Examples:
  conformance suite coverage
      the shipped suite, every operator and rank
  conformance suite coverage --suite my-suite --op AvgPool-1
      one operator of a suite of your own
  conformance suite coverage --dtypes f32 --profile small-pads
      only vectors for a backend of this type with such pads

A coverage target (an "edge") is a condition on a case that implementations often get wrong.
Targets follow from the definition and from each case, so there is no list of all of them. A
suite is compared with cases that are drawn here: each target and each pair that any vector or
any of these cases meets is counted. Targets are computed again from the inputs and attributes of
the vectors. Exits with 1 if a drawn case meets a target that no vector does, or if a vector
lists others than its own.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--suite", "name", metavar="DIR|NAME", help="The suite [default: the shipped core suite]."
)
@ops_option
@part_options
@click.pass_context
def coverage(
    ctx: click.Context,
    name: str | None,
    ops: tuple[str, ...],
    backend: str | None,
    dtypes: tuple[str, ...],
    ranks: tuple[int, ...],
    profile: str | None,
) -> None:
    """Measure which coverage targets a suite covers, and which pairs of them."""
    from conformance.audit.audit_suite import select_operators
    from conformance.backends.supported_subsets import supported_subsets
    from conformance.cli.partition_options import capabilities, print_partition, select_partition
    from conformance.generate.coverage import POOL
    from conformance.suite.store import open_suite

    full_suite = suite = open_suite(name)
    selected_ops = select_operators(suite, ops)
    selected = capabilities(backend, dtypes, ranks, profile, suite.specs)
    subsets = None
    if selected is not None:
        suite = select_partition(suite, selected_ops, selected)
        subsets = supported_subsets(selected, {op: suite.specs[op] for op in selected_ops})
    full_suite.manifest.confirm()
    click.echo(f"suite {full_suite.name}, sha256 {full_suite.digest[:16]}")
    if selected is not None:
        print_partition(suite, full_suite, selected_ops, "some pairs cannot be covered in it")
    click.echo("operator                rank  vectors    targets            pairs")
    complete = True
    measured_ops = [op for op in selected_ops if op in suite.manifest.ops]
    evaluate(suite, suite.manifest.of(measured_ops))
    with Progress(len(measured_ops), "measuring") as progress:
        for index, op in enumerate(measured_ops):
            progress.at(op, index)
            vectors = suite.vectors([op], answers=False)
            subset = None if subsets is None else subsets[op]
            complete &= _print_coverage(suite.specs[op], vectors, subset)
    click.echo(f"of: targets and pairs that {POOL} drawn cases cover, and those of the suite")
    if not complete:
        ctx.exit(EXIT_INCOMPLETE)


def _print_coverage(spec: Operator, vectors: Iterable[Vector], subset: Claim | None) -> bool:
    """Print the coverage of an operator on each rank; return whether no target is missing."""
    from conformance.generate.claim import claimed
    from conformance.generate.coverage import coverage_of_definition

    is_claimed = (lambda _case: True) if subset is None else claimed(spec, subset)
    coverage_by_rank, problems = coverage_of_definition(spec, vectors, is_claimed)
    for rank in coverage_by_rank:
        targets, pairs = rank.targets | rank.drawn_targets, rank.pairs | rank.drawn_pairs
        click.echo(
            f"{rank.op:22} {rank.rank:5} {rank.vectors:8} {len(rank.targets):4} of {len(targets):3}"
            f" {len(rank.pairs):6} of {len(pairs):5}"
        )
        _list([f"target not covered: {target}" for target in rank.missing_targets])
    _list(problems)
    return not problems and not any(rank.missing_targets for rank in coverage_by_rank)


def _list(lines: Sequence[str]) -> None:
    for line in lines[:MAX_LISTED]:
        click.echo(f"    {line}")
    if len(lines) > MAX_LISTED:
        click.echo(f"    and {len(lines) - MAX_LISTED} more")
