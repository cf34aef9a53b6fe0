"""``conformance suite coverage``: pairwise coverage of a suite, and proofs of infeasible pairs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.options import ops_option, processes_option
from conformance.cli.partition_options import part_options
from conformance.cli.progress import Progress
from conformance.cli.run_check import evaluate
from conformance.errors import UsageError

if TYPE_CHECKING:
    from conformance.audit.coverage import RankCoverage
    from conformance.core.operator import Operator
    from conformance.generate.narrow import Claim
    from conformance.model import Vector
    from conformance.suite.unreachable import Pair

EXIT_INCOMPLETE = 1
MAX_LISTED = 12
"""Lines that are listed of an operator and rank."""

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
    from conformance.backends.supported_subsets import supported_subsets
    from conformance.cli.partition_options import capabilities, print_partition, select_partition
    from conformance.core.operator import Operator
    from conformance.generate.narrow import narrowed
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
    click.echo("operator                rank  vectors    targets            pairs   infeasible")
    complete, has_definitions = True, False
    with_strata: list[RankCoverage] = []
    measured_ops = [op for op in selected_ops if op in suite.manifest.ops]
    evaluate(suite, suite.manifest.of(measured_ops))
    with Progress(len(measured_ops), "measuring") as progress:
        for index, op in enumerate(measured_ops):
            progress.at(op, index)
            vectors = suite.vectors([op], answers=False)
            spec = suite.specs[op]
            if isinstance(spec, Operator):
                subset = None if subsets is None else subsets[op]
                complete &= _print_definition(spec, vectors, subset)
                has_definitions = True
                continue
            spec = spec if subsets is None else narrowed(spec, subsets[op])
            coverage_by_rank, problems = measure(spec, suite.manifest, vectors)
            for rank_coverage in coverage_by_rank:
                _print_coverage(rank_coverage)
                complete &= rank_coverage.complete
                with_strata += [rank_coverage] if rank_coverage.strata is not None else []
            for problem in problems:
                click.echo(f"    {problem}")
            complete &= not problems
            if why and op in suite.manifest.strength:
                _print_reasons(suite.manifest.strength[op].infeasible)
    if has_definitions:
        from conformance.generate.definition_coverage import POOL

        click.echo(
            f"of a definition: targets and pairs that {POOL} drawn cases cover, and those of the "
            "suite"
        )
    if with_strata:
        click.echo("operator                rank  remainders in strata   infeasible")
        for rank_coverage in with_strata:
            _print_strata(rank_coverage)
    if not complete:
        ctx.exit(EXIT_INCOMPLETE)


def _prove(ops: tuple[str, ...], processes: int) -> bool:
    """Find or check the proofs of some operators; return whether any is undecided or refuted."""
    from itertools import groupby

    from conformance.generate import proving
    from conformance.replacement import replacing
    from conformance.spec import loader
    from conformance.specification import by_rules, select_specs
    from conformance.suite.proofs import complete_proofs, encode_proofs, proofs_file

    chosen = select_specs(ops, loader.shipped_operators())
    specs = {op: by_rules(spec, "suite coverage --prove") for op, spec in chosen.items()}
    stored = {op: complete_proofs(spec) for op, spec in specs.items()}
    for op in (op for op, pairs in stored.items() if pairs is None):
        _require_writable(proofs_file(specs[op]))
    with Progress(1, "proving") as progress:
        decided = proving.prove([*specs.values()], processes=processes, progress=progress.at)
    click.echo("operator                rank    covered   contradicted   undecided   proofs")
    is_open = False
    for op, group in groupby(decided, key=lambda rank: rank.op):
        ranks = list(group)
        for rank in ranks:
            state = "found" if stored[op] is None else "refuted" if rank.refuted else "confirmed"
            click.echo(
                f"{op:22} {rank.rank:5} {rank.shown:10} {len(rank.infeasible):14}"
                f" {len(rank.undecided):11}   {state}"
            )
            _list([f"undecided: {a} with {b}" for a, b in rank.undecided])
            _list([f"marked infeasible, but not confirmed: {a} with {b}" for a, b in rank.refuted])
            is_open |= bool(rank.undecided or rank.refuted)
        file = proofs_file(specs[op])
        if stored[op] is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as new:
                new.write_bytes(encode_proofs(proving.proofs_of(specs[op], ranks)))
            click.echo(f"{file}: written")
        elif any(rank.refuted or rank.undecided for rank in ranks):
            click.echo(f"{file}: remove the file to search for the proofs again")
    return is_open


def _require_writable(file: Path) -> None:
    """Raise UsageError for a file that cannot be written, before the work for it."""
    folder = next(parent for parent in file.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder}: cannot be written", hint="copy the specification elsewhere")


def _print_coverage(rank: RankCoverage) -> None:
    targets, pairs = len(rank.feasible_edges), len(rank.feasible_pairs)
    covered_targets = targets - len(rank.missing_edges)
    covered_pairs = pairs - len(rank.missing_pairs)
    click.echo(
        f"{rank.op:22} {rank.rank:5} {rank.vectors:8} {covered_targets:4} of {targets:3}"
        f" {covered_pairs:6} of {pairs:5} {len(rank.infeasible_pairs):12}"
    )
    lines = [f"target not covered: {target}" for target in rank.missing_edges]
    lines += [f"not covered in {dtype}: {target}" for dtype, target in rank.missing_types]
    lines += [f"pair not covered: {a} with {b}" for a, b in rank.missing_pairs]
    lines += [f"marked infeasible, but covered: {a} with {b}" for a, b in rank.disproved]
    lines += [f"undecided: {a} with {b}" for a, b in rank.undecided]
    _list(lines)


def _print_definition(spec: Operator, vectors: Iterable[Vector], subset: Claim | None) -> bool:
    """Print the coverage of a definition on each rank; return whether no target is missing."""
    from conformance.generate.definition_coverage import coverage_of_definition
    from conformance.generate.narrow import claimed

    is_claimed = (lambda _case: True) if subset is None else claimed(spec, subset)
    coverage_by_rank, problems = coverage_of_definition(spec, vectors, is_claimed)
    for rank in coverage_by_rank:
        targets, pairs = rank.targets | rank.drawn_targets, rank.pairs | rank.drawn_pairs
        click.echo(
            f"{rank.op:22} {rank.rank:5} {rank.vectors:8} {len(rank.targets):4} of {len(targets):3}"
            f" {len(rank.pairs):6} of {len(pairs):5}            -"
        )
        _list([f"target not covered: {target}" for target in rank.missing_targets])
    _list(problems)
    return not problems and not any(rank.missing_targets for rank in coverage_by_rank)


def _print_strata(rank: RankCoverage) -> None:
    strata = rank.strata
    assert strata is not None
    feasible = len(strata.required - strata.infeasible)
    covered = feasible - len(strata.missing) - len(strata.undecided)
    click.echo(
        f"{rank.op:22} {rank.rank:5} {covered:10} of {feasible:6} {len(strata.infeasible):12}"
    )
    lines = [f"not covered: {a} with {b}" for a, b in strata.missing]
    lines += [f"marked infeasible, but covered: {a} with {b}" for a, b in strata.disproved]
    lines += [f"undecided: {a} with {b}" for a, b in strata.undecided]
    _list(lines)


def _list(lines: Sequence[str]) -> None:
    for line in lines[:MAX_LISTED]:
        click.echo(f"    {line}")
    if len(lines) > MAX_LISTED:
        click.echo(f"    and {len(lines) - MAX_LISTED} more")


def _print_reasons(infeasible: Mapping[int, Mapping[Pair, tuple[str, ...]]]) -> None:
    from collections import Counter

    for rank, pairs in infeasible.items():
        reasons = Counter(", ".join(uses) or "the targets themselves" for uses in pairs.values())
        for reason, count in reasons.most_common():
            click.echo(f"    rank {rank}: {count:5} contradicted by {reason}")
