"""``conformance suite coverage``: pairwise coverage of a suite, and proofs of infeasible pairs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.options import ops_option, processes_option
from conformance.cli.part import part_options
from conformance.cli.progress import Progress
from conformance.cli.run_check import evaluate
from conformance.errors import UsageError

if TYPE_CHECKING:
    from conformance.audit.coverage import RankCoverage
    from conformance.suite.strength import Pair

EXIT_INCOMPLETE = 1
SHOWN = 12

EXAMPLES = """
\b
Examples:
  conformance suite coverage
      the shipped suite, every operator and rank
  conformance suite coverage --op AvgPool-1 --why
      also why infeasible pairs are impossible
  conformance suite coverage --dtypes f32 --profile small-pads
      only vectors for a backend of this type with such pads
  conformance suite coverage --prove -j 2
      check the stored proofs of the shipped specifications
  conformance suite coverage --prove --op MyPool-1.yaml
      find a case or a contradiction for each pair of coverage targets of your
      own operator, and store them in MyPool-1.proofs.json

A coverage target (an "edge" of the specification) is a condition on a case that
implementations often get wrong. A suite has full pairwise coverage if, on every rank, each
pair of targets that can hold together does so in some vector. Targets are computed again
from the inputs and attributes of the vectors; from the manifest only the infeasible pairs are
taken. A pair is undecided if neither a case nor a contradiction was found for it. Exits with
1 if a target or a pair is not covered or undecided.

The second table is about strata, shapes for which kernels have special code paths. On rank 4
it counts remainders (pads, vector tails, images, ...) covered in each stratum, and in a second
element type; on other ranks, remainders covered in any stratum. See docs/strata-format.md.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--suite", "name", metavar="DIR|NAME", help="The suite [default: the shipped core suite]."
)
@ops_option
@click.option("--why", is_flag=True, help="List why pairs are infeasible.")
@click.option(
    "--prove",
    is_flag=True,
    help="Instead of measuring a suite, find a case or a contradiction for each pair of "
    "targets and store them beside the specification, or check those that are stored. Needs z3.",
)
@part_options
@processes_option
@click.pass_context
def coverage(
    ctx: click.Context,
    name: str | None,
    ops: tuple[str, ...],
    why: bool,
    prove: bool,
    backend: str | None,
    dtypes: tuple[str, ...],
    ranks: tuple[int, ...],
    profile: str | None,
    processes: int,
) -> None:
    """Measure the pairwise coverage of a suite."""
    if prove:
        if name or why or backend or dtypes or ranks or profile:
            raise UsageError(
                "--prove cannot be combined with --suite, --why or options that select a part",
                hint="leave them out: --prove is about specifications, not about a suite",
            )
        ctx.exit(EXIT_INCOMPLETE if _prove(ops, processes) else 0)
    from conformance.audit.audit_suite import select_operators
    from conformance.audit.coverage import coverage as measure
    from conformance.backends.claims import claimed
    from conformance.cli.part import capabilities, part, tell_part
    from conformance.generate.narrow import narrowed
    from conformance.suite.store import open_suite

    whole = suite = open_suite(name)
    asked = select_operators(suite, ops)
    asked_for = capabilities(backend, dtypes, ranks, profile, suite.specs)
    narrow = None
    if asked_for is not None:
        suite = part(suite, asked, asked_for)
        narrow = claimed(asked_for, {op: suite.specs[op] for op in asked})
    whole.manifest.confirm()
    click.echo(f"suite {whole.name}, sha256 {whole.digest[:16]}")
    if asked_for is not None:
        tell_part(suite, whole, asked, "some pairs cannot be covered in it")
    click.echo("operator                rank  vectors    targets            pairs   infeasible")
    complete = True
    strata: list[RankCoverage] = []
    there = [op for op in asked if op in suite.manifest.ops]
    evaluate(suite, suite.manifest.of(there))
    with Progress(len(there), "measuring") as progress:
        for number, op in enumerate(there):
            progress.at(op, number)
            vectors = suite.vectors([op], answers=False)
            spec = suite.specs[op] if narrow is None else narrowed(suite.specs[op], narrow[op])
            measured, wrong = measure(spec, suite.manifest, vectors)
            for one in measured:
                _tell(one)
                complete &= one.complete
                strata += [one] if one.strata is not None else []
            for problem in wrong:
                click.echo(f"    {problem}")
            complete &= not wrong
            if why and op in suite.manifest.strength:
                _tell_reasons(suite.manifest.strength[op].infeasible)
    if strata:
        click.echo("operator                rank  remainders in strata   infeasible")
        for one in strata:
            _tell_strata(one)
    if not complete:
        ctx.exit(EXIT_INCOMPLETE)


def _prove(ops: tuple[str, ...], processes: int) -> bool:
    """Find or check the proofs of some operators; whether anything is undecided or refuted."""
    from itertools import groupby

    from conformance.generate import proving
    from conformance.replacement import replacing
    from conformance.spec import loader
    from conformance.suite import proofs

    specs = loader.select_specs(ops)
    kept = {op: proofs.current(spec) for op, spec in specs.items()}
    for op in (op for op, found in kept.items() if found is None):
        _writable(proofs.file_of(specs[op]))
    with Progress(1, "proving") as progress:
        decided = proving.prove([*specs.values()], processes=processes, progress=progress.at)
    click.echo("operator                rank    covered   contradicted   undecided   proofs")
    open_ = False
    for op, group in groupby(decided, key=lambda one: one.op):
        ranks = list(group)
        for one in ranks:
            how = "found" if kept[op] is None else "refuted" if one.refuted else "confirmed"
            click.echo(
                f"{op:22} {one.rank:5} {one.shown:10} {len(one.infeasible):14}"
                f" {len(one.undecided):11}   {how}"
            )
            _list([f"undecided: {a} with {b}" for a, b in one.undecided])
            _list([f"marked infeasible, but not confirmed: {a} with {b}" for a, b in one.refuted])
            open_ |= bool(one.undecided or one.refuted)
        file = proofs.file_of(specs[op])
        if kept[op] is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as new:
                new.write_bytes(proofs.dump(proving.proofs_of(specs[op], ranks)))
            click.echo(f"{file}: written")
        elif any(one.refuted or one.undecided for one in ranks):
            click.echo(f"{file}: remove the file to search for the proofs again")
    return open_


def _writable(file: Path) -> None:
    """Raises UsageError for a file that cannot be written, before the work that it is to hold."""
    folder = next(one for one in file.absolute().parents if one.exists())
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder}: cannot be written", hint="copy the specification elsewhere")


def _tell(one: RankCoverage) -> None:
    edges, pairs = len(one.feasible_edges), len(one.feasible_pairs)
    shown_edges = edges - len(one.missing_edges)
    shown_pairs = pairs - len(one.missing_pairs)
    click.echo(
        f"{one.op:22} {one.rank:5} {one.vectors:8} {shown_edges:4} of {edges:3}"
        f" {shown_pairs:6} of {pairs:5} {len(one.infeasible_pairs):12}"
    )
    lines = [f"target not covered: {edge}" for edge in one.missing_edges]
    lines += [f"not covered in {dtype}: {edge}" for dtype, edge in one.missing_types]
    lines += [f"pair not covered: {a} with {b}" for a, b in one.missing_pairs]
    lines += [f"marked infeasible, but covered: {a} with {b}" for a, b in one.disproved]
    lines += [f"undecided: {a} with {b}" for a, b in one.undecided]
    _list(lines)


def _tell_strata(one: RankCoverage) -> None:
    strata = one.strata
    assert strata is not None
    can = len(strata.required - strata.infeasible)
    met = can - len(strata.missing) - len(strata.undecided)
    click.echo(f"{one.op:22} {one.rank:5} {met:10} of {can:6} {len(strata.infeasible):12}")
    lines = [f"not covered: {a} with {b}" for a, b in strata.missing]
    lines += [f"marked infeasible, but covered: {a} with {b}" for a, b in strata.disproved]
    lines += [f"undecided: {a} with {b}" for a, b in strata.undecided]
    _list(lines)


def _list(lines: Sequence[str]) -> None:
    for line in lines[:SHOWN]:
        click.echo(f"    {line}")
    if len(lines) > SHOWN:
        click.echo(f"    and {len(lines) - SHOWN} more")


def _tell_reasons(infeasible: Mapping[int, Mapping[Pair, tuple[str, ...]]]) -> None:
    from collections import Counter

    for rank, pairs in infeasible.items():
        reasons = Counter(", ".join(uses) or "the targets themselves" for uses in pairs.values())
        for reason, count in reasons.most_common():
            click.echo(f"    rank {rank}: {count:5} contradicted by {reason}")
