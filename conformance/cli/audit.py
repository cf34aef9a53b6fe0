"""``conformance suite audit``: the mutation score of a suite."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from conformance.cli.crew import Crew
from conformance.cli.options import cluster_options, ops_option, processes_option
from conformance.cli.part import part_options
from conformance.cli.progress import Progress
from conformance.cli.run_check import evaluate
from conformance.replacement import unused

if TYPE_CHECKING:
    from conformance.audit.holdout import HeldOutScore
    from conformance.audit.mutant_states import MutantStates
    from conformance.audit.score import MutationScore
    from conformance.backends.capabilities import Capabilities
    from conformance.spec.catalogue import Mutant

EXIT_INCOMPLETE = 1
SHOWN = 12

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
      the score of each element type, rank and profile
  conformance suite audit --holdout
      would the suite kill mutants it was not selected for?
  conformance suite audit --draw 5000
      search for cases that kill mutants marked equivalent

A mutant is a specification in which one rule is replaced by a known bug. It is killed if a
vector tells its outputs from the correct ones; the mutation score is the share of mutants
that are killed. The mutants are those that the suite was made from (for the shipped suite,
specs/faults/).

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
    help="Add a table with the score of each element type, rank and profile that is selected.",
)
@click.option(
    "--holdout",
    is_flag=True,
    help="Select the suite without one kind of mutants, and score it on that kind; for each kind.",
)
@click.option(
    "--draw",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Run each mutant marked equivalent on N random cases, and in each part those marked as "
    "impossible to kill there.",
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
    draw: int,
    verbose: bool,
) -> None:
    """Measure the mutation score of a suite."""
    from conformance.audit import audit_suite
    from conformance.cli.part import capabilities, never, open_question, part, tell_part
    from conformance.generate.attack import refuted
    from conformance.generate.disprover import settled
    from conformance.suite.store import open_suite

    crew = Crew(processes, cluster, insecure)
    suite = open_suite(name)
    asked = audit_suite.select_operators(suite, ops)
    claimed = capabilities(backend, dtypes, ranks, profile, suite.specs)
    whole = suite
    if claimed is not None:
        suite = part(suite, asked, claimed)
    there = [op for op in asked if op in suite.manifest.ops]
    evaluate(suite, suite.manifest.of(there))
    with crew.working() as workers, Progress(1, "auditing") as progress:
        scores = audit_suite.audit(suite, there, processes=workers, progress=progress.at)
        unknown: dict[str, frozenset[str]] = {}
        if claimed is not None:
            scores = [score.without_mutants(never(whole, score.op, claimed)) for score in scores]
            for number, score in enumerate(scores):
                proven, unknown[score.op] = open_question(whole, score, claimed)
                scores[number] = score.without_mutants(proven)
        shown = (
            {
                op: list(
                    refuted(
                        suite.specs[op],
                        suite.specs.faults(op),
                        draw,
                        processes=workers,
                        progress=progress.at,
                    )
                )
                for op in there
            }
            if draw
            else {}
        )
    whole.manifest.confirm()
    click.echo(f"suite {whole.name}, sha256 {whole.digest[:16]}")
    if claimed is not None:
        tell_part(suite, whole, asked, "mutants that cannot show in it are not counted")
    for score in scores:
        if open_ := unknown.get(score.op):
            _tell_open(score, open_, backend)
        _tell(score, verbose, open_=open_ or frozenset())
        for line in shown.get(score.op, ()):
            click.echo(f"    {line}")
    complete = all(score.complete for score in scores) and not any(shown.values())
    if parts:
        for score in scores:
            spec = suite.specs[score.op]
            every = audit_suite.suite_mutant_states(suite, score)
            own = every if claimed is None else [*_selected(every, score.op, claimed)]
            found = settled(spec, score.mutants, own)
            _tell_standings(score.op, found, len(every) - len(own))
            complete &= all(one.complete for one in found)
    if holdout:
        _tell_holdout([held for score in scores for held in audit_suite.holdout(suite, score)])
    if not complete:
        ctx.exit(EXIT_INCOMPLETE)


def _tell_open(score: MutationScore, open_: Collection[str], backend: str | None) -> None:
    """What is known where nobody knows how many mutants can show: no share of them."""
    counted = [fault for fault in score.counted if fault.id not in open_]
    must = [fault for fault in counted if not fault.excused_by]
    at_must = sum(bool(score.kill_counts_at_must[fault.id]) for fault in must)
    click.echo(f"{score.op}: {len(counted)} mutants killed at level should")
    click.echo(
        f"    {at_must} at level must; allowed interpretations excuse {len(counted) - len(must)} "
        "more"
    )
    click.echo(
        f"    no score: {len(open_)} survived, and it is not known whether they can show in this "
        "part"
    )
    if backend is not None:
        click.echo("    to search for vectors that kill them:")
        click.echo(
            f"conformance suite complete --for {shlex.quote(backend)} --op {score.op} "
            f"--out {unused('mine')}"
        )


def _tell(score: MutationScore, verbose: bool, open_: Collection[str]) -> None:
    """The score, unless it is ``open_`` of some mutants whether they can show, and its details."""
    counted = len(score.counted)
    noticed = counted - len(score.missed)
    must = counted - len(score.excused)
    at_must = must - len(score.missed_at_must)
    excused = len(score.excused)
    if not open_:
        click.echo(f"{score.op}: {_share(noticed, counted)} mutants killed at level should")
        click.echo(
            f"    {_share(at_must, must)} at level must; allowed interpretations excuse {excused} "
            "more"
        )
    click.echo(f"    {len(score.equivalent)} equivalent: no case can kill them")
    listed = {one.id for one in score.missed} | {*open_}
    for label, faults in (
        ("survived", score.missed),
        ("survived at level must", [one for one in score.missed_at_must if one.id not in listed]),
        ("marked equivalent, but killed", score.wrongly_equivalent),
        ("marked excused, but killed at level must", score.wrongly_excused),
    ):
        _list(label, faults)
    for group in score.indistinguishable:
        click.echo(f"    not told apart by any vector: {', '.join(group)}")
    if verbose:
        for fault in score.mutants:
            count = score.kill_counts[fault.id]
            text = f"equivalent: {fault.equivalent}" if fault.equivalent else fault.description
            click.echo(f"    {count:5} {fault.id}: {text}")


def _list(label: str, faults: Sequence[Mutant]) -> None:
    for fault in faults[:SHOWN]:
        click.echo(f"    {label}: {fault.id}: {fault.description}")
    if len(faults) > SHOWN:
        click.echo(f"    {label}: {len(faults) - SHOWN} more")


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f}%)" if whole else "0 of 0"


def _selected(
    found: Iterable[MutantStates], op: str, asked: Capabilities
) -> Iterator[MutantStates]:
    """Those of parts whose element type and rank are asked for: others have no vectors."""
    return (one for one in found if asked.declares(op, one.partition.dtype, one.partition.rank))


def _tell_standings(op: str, found: Sequence[MutantStates], left_out: int) -> None:
    """A line for each part, and the mutants that nobody knows how to kill there."""
    more = f" ({left_out} parts of other types and ranks left out)" if left_out else ""
    click.echo(f"{op}, each part alone{more}:")
    width = max(len(str(one.partition)) for one in found)
    for one in found:
        left = one.survivors
        killed = one.counted - len(left.undetermined)
        score = f"{100 * killed / one.counted:.1f} %" if one.counted else "none"
        click.echo(
            f"    {one.partition!s:{width}}  {score:>7}  {killed:3} of {one.counted:3} killed,"
            f" {len(left.inert):3} inert, {len(left.stated):2} stated,"
            f" {len(left.excused):2} excused at must"
        )
        for label, names in (
            ("undetermined", left.undetermined),
            ("marked as impossible to kill, but killed", one.refuted),
        ):
            if names:
                click.echo(f"        {label}: {', '.join(sorted(names))}")


def _tell_holdout(found: Sequence[HeldOutScore]) -> None:
    for suite in dict.fromkeys(held.suite for held in found):
        among = [held for held in found if held.suite == suite]
        total = _share(sum(h.killed for h in among), sum(h.mutants for h in among))
        click.echo(f"hold-out, {suite}: {total} held-out mutants killed")
        for held in among:
            missed = f"; survived: {', '.join(held.missed)}" if held.missed else ""
            share = _share(held.killed, held.mutants)
            click.echo(
                f"    {held.op:18} without {held.kind:17} {held.vectors:4} vectors, {share}{missed}"
            )
