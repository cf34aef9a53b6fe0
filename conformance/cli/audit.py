"""``conformance suite audit``: the mutation score of a suite."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from conformance.cli.options import cluster_options, ops_option, processes_option
from conformance.cli.partition_options import part_options
from conformance.cli.progress import Progress
from conformance.cli.run_check import evaluate
from conformance.cli.worker_options import WorkerOptions
from conformance.replacement import unused
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.audit.holdout import HeldOutScore
    from conformance.audit.mutant_states import MutantStates
    from conformance.audit.score import MutationScore
    from conformance.backends.capabilities import Capabilities
    from conformance.spec.catalogue import Mutant
    from conformance.suite.store import Suite
    from conformance.suite.survivors import Survivors

EXIT_INCOMPLETE = 1
MAX_LISTED = 12
"""Mutants that are listed of each kind."""

EXAMPLES = """
\b
Examples:
  conformance suite audit
      the shipped suite, every operator
  conformance suite audit --suite smoke --op AvgPool-1 -j 2
      the smoke suite, one operator, in two processes
  conformance suite audit --cluster local:2
      by the workers of a Dask cluster; docs/cluster.md
  conformance suite audit --dtypes f32 --ranks 4
      only the vectors for a backend of f32 images
  conformance suite audit --profile no-dilation --ranks 4
      only the images without dilations
  conformance suite audit --backend torch
      only what this backend declares to support; no score where it
      is not known how many mutants can show in it
  conformance suite audit --verbose
      how many vectors kill each mutant
  conformance suite audit --parts
      the score of each element type and rank
  conformance suite audit --holdout
      would the suite kill mutants it was not selected for?

A mutant is an operator with one thing wrong: a known bug (specs/faults/), a text of its
definition that is replaced, or a code path or a number format that goes wrong. It is killed if
a vector tells its outputs from the correct ones; the mutation score is the share of mutants
that are killed.

Exits with 1 if a mutant that can be killed survives, or if a mutant marked equivalent or
excused is killed after all.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--suite", "name", metavar="DIR|NAME", help="The suite [default: the shipped core suite]."
)
@ops_option
@part_options
@processes_option
@cluster_options
@click.option(
    "--parts",
    is_flag=True,
    help="Add a table with the score of each element type and rank that is selected.",
)
@click.option(
    "--holdout",
    is_flag=True,
    help="Select the suite without one kind of mutants, and score it on that kind; for each kind.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every mutant.")
@click.pass_context
def audit(
    ctx: click.Context,
    name: str | None,
    ops: tuple[str, ...],
    backend: str | None,
    dtypes: tuple[str, ...],
    ranks: tuple[int, ...],
    profile: str | None,
    processes: int,
    cluster: str | None,
    insecure: bool,
    parts: bool,
    holdout: bool,
    verbose: bool,
) -> None:
    """Measure the mutation score of a suite."""
    from conformance.audit import audit_suite
    from conformance.cli.partition_options import (
        capabilities,
        print_partition,
        select_partition,
        undetermined_mutants,
        unkillable_mutants,
    )
    from conformance.suite.store import open_suite

    worker_options = WorkerOptions(processes, cluster, insecure)
    suite = full_suite = open_suite(name)
    selected_ops = audit_suite.select_operators(suite, ops)
    selected = capabilities(backend, dtypes, ranks, profile, suite.specs)
    if selected is not None:
        suite = select_partition(suite, selected_ops, selected)
    audited_ops = [op for op in selected_ops if op in suite.manifest.ops]
    with worker_options.working() as workers, Progress(1, "auditing") as progress:
        evaluate(suite, suite.manifest.of(audited_ops))
        scores = audit_suite.audit(suite, audited_ops, processes=workers, progress=progress.at)
        undetermined_by_op: dict[str, frozenset[str]] = {}
        if selected is not None:
            for index, score in enumerate(scores):
                unkillable = unkillable_mutants(full_suite, score.op, selected)
                score = scores[index] = score.without_mutants(unkillable)
                undetermined_by_op[score.op] = undetermined_mutants(full_suite, score, selected)
    full_suite.manifest.confirm()
    click.echo(f"suite {full_suite.name}, sha256 {full_suite.digest[:16]}")
    if selected is not None:
        remark = "mutants that cannot show in it are not counted"
        print_partition(suite, full_suite, selected_ops, remark)
    for score in scores:
        undetermined = undetermined_by_op.get(score.op, frozenset())
        if undetermined:
            _print_without_share(score, undetermined, backend)
        _print_score(score, verbose, undetermined)
        _print_unseen(full_suite, score)
    complete = all(score.complete for score in scores)
    if parts:
        for score in scores:
            all_states = audit_suite.suite_mutant_states(full_suite, score)
            states = all_states
            if selected is not None:
                states = [*_selected_states(all_states, score.op, selected)]
            _print_partitions(score.op, states, len(all_states) - len(states))
            complete &= all(partition.complete for partition in states)
    if holdout:
        _print_holdout([held for score in scores for held in audit_suite.holdout(suite, score)])
    if not complete:
        ctx.exit(EXIT_INCOMPLETE)


def _print_without_share(
    score: MutationScore, undetermined: Collection[str], backend: str | None
) -> None:
    """Print kills without their share, since the number of killable mutants is unknown."""
    counted = [mutant for mutant in score.counted if mutant.id not in undetermined]
    must = [mutant for mutant in counted if not mutant.excused_by]
    at_must = sum(bool(score.kill_counts_at_must[mutant.id]) for mutant in must)
    click.echo(f"{score.op}: {len(counted)} mutants killed at level should")
    click.echo(
        f"    {at_must} at level must; allowed interpretations excuse {len(counted) - len(must)} "
        "more"
    )
    click.echo(
        f"    no score: {len(undetermined)} survived, and it is not known whether they can show in "
        "this part"
    )
    if backend is not None:
        click.echo("    to search for vectors that kill them:")
        click.echo(
            f"conformance suite complete --for {shlex.quote(backend)} --op {score.op} "
            f"--out {unused('mine')}"
        )


def _print_score(score: MutationScore, verbose: bool, undetermined: Collection[str]) -> None:
    """Print the details of a score, and the score itself if no mutant is undetermined."""
    counted = len(score.counted)
    killed = counted - len(score.missed)
    must = counted - len(score.excused)
    at_must = must - len(score.missed_at_must)
    excused = len(score.excused)
    if not undetermined:
        click.echo(f"{score.op}: {_share(killed, counted)} mutants killed at level should")
        click.echo(
            f"    {_share(at_must, must)} at level must; allowed interpretations excuse {excused} "
            "more"
        )
    click.echo(f"    {len(score.equivalent)} equivalent: no case can kill them")
    survivors = {mutant.id for mutant in score.missed} | {*undetermined}
    only_at_must = [mutant for mutant in score.missed_at_must if mutant.id not in survivors]
    for label, mutants in (
        ("survived", score.missed),
        ("survived at level must", only_at_must),
        ("marked equivalent, but killed", score.wrongly_equivalent),
        ("marked excused, but killed at level must", score.wrongly_excused),
    ):
        _list(label, mutants)
    for group in score.indistinguishable:
        click.echo(f"    not told apart by any vector: {', '.join(group)}")
    if verbose:
        for mutant in score.mutants:
            count = score.kill_counts[mutant.id]
            text = f"equivalent: {mutant.equivalent}" if mutant.equivalent else mutant.description
            click.echo(f"    {count:5} {mutant.id}: {text}")


def _print_unseen(suite: Suite, score: MutationScore) -> None:
    """List the mutants that are not counted because no case of any part was seen to kill them."""
    from conformance.suite.unreachable import Unreachable

    parts = suite.manifest.strength.get(score.op, Unreachable()).parts
    unseen_somewhere = {name for each in parts.survivors.values() for name in each.unseen}
    names = sorted(parts.never_killed & unseen_somewhere)
    unseen = [name for name in names if not score.kill_counts[name]]
    if unseen:
        count = number_of(len(unseen), "mutant")
        click.echo(f"    {count} not seen to show, and not counted: {', '.join(unseen)}")


def _list(label: str, mutants: Sequence[Mutant]) -> None:
    for mutant in mutants[:MAX_LISTED]:
        click.echo(f"    {label}: {mutant.id}: {mutant.description}")
    if len(mutants) > MAX_LISTED:
        click.echo(f"    {label}: {len(mutants) - MAX_LISTED} more")


def _share(count: int, total: int) -> str:
    return f"{count} of {total} ({100 * count / total:.1f}%)" if total else "0 of 0"


def _selected_states(
    all_states: Iterable[MutantStates], op: str, selected: Capabilities
) -> Iterator[MutantStates]:
    """Yield the states in partitions that are selected: the others have no vectors."""
    for states in all_states:
        if selected.declares(op, states.partition.dtype, states.partition.rank):
            yield states


def _print_partitions(op: str, all_states: Sequence[MutantStates], left_out: int) -> None:
    """Print a line for each partition, and its undetermined mutants."""
    remark = f" ({left_out} parts of other types and ranks left out)" if left_out else ""
    click.echo(f"{op}, each part alone{remark}:")
    width = max(len(str(states.partition)) for states in all_states)
    for states in all_states:
        survivors, counted = states.survivors, states.counted
        killed = counted - len(survivors.undetermined)
        score = f"{100 * killed / counted:.1f} %" if counted else "none"
        click.echo(
            f"    {states.partition!s:{width}}  {score:>7}  {killed:3} of {counted:3} killed,"
            f" {len(survivors.stated):2} stated, {len(survivors.excused):2} excused at must"
        )
        for label, names in (
            ("undetermined", survivors.undetermined),
            *((why, _with_reason(survivors, why)) for why in sorted({*survivors.unseen.values()})),
            ("marked as impossible to kill, but killed", states.refuted),
        ):
            if names:
                click.echo(f"        {label}: {', '.join(sorted(names))}")


def _with_reason(survivors: Survivors, reason: str) -> list[str]:
    return [name for name, why in survivors.stated.items() if why == reason]


def _print_holdout(scores: Sequence[HeldOutScore]) -> None:
    for suite in dict.fromkeys(held.suite for held in scores):
        of_suite = [held for held in scores if held.suite == suite]
        total = _share(sum(h.killed for h in of_suite), sum(h.mutants for h in of_suite))
        click.echo(f"hold-out, {suite}: {total} held-out mutants killed")
        for held in of_suite:
            missed = f"; survived: {', '.join(held.missed)}" if held.missed else ""
            share = _share(held.killed, held.mutants)
            click.echo(
                f"    {held.op:18} without {held.kind:17} {held.vectors:4} vectors, {share}{missed}"
            )
