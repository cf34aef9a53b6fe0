"""``conformance generate``: a suite of vectors from specifications."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from conformance.choices import SHIPPED_SUITES
from conformance.cli.options import cluster_options, processes_option
from conformance.cli.progress import Progress
from conformance.cli.remote_paths import TargetPath
from conformance.cli.replace_suite import force_option, keep_another
from conformance.cli.worker_options import WorkerOptions
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.core.operator import Operator
    from conformance.generate.suite import Made
    from conformance.model import Vector
    from conformance.suite.recorded_cases import RecordedCases
    from conformance.suite.store import Suite

T = TypeVar("T")

STRONG = 0.95
"""The mutation score below which a suite is called weak."""

MAX_LISTED = 12
"""Surviving mutants that are named."""

EXAMPLES = """
\b
Examples:
  conformance generate --out my-suite
      the shipped suite, from its recorded cases, into ./my-suite
  conformance generate --out my-suite --seed 7
      the core suites of all operators, from new cases
  conformance generate --op AvgPool-1 --suite smoke --seed 7 --out quick
      one operator; the few vectors of a smoke suite
  conformance generate --op 'onnx.*-22' --out newest -j 2
      the newest operators of ONNX
  conformance generate --op my.Operator-1.yaml --out my-suite
      an operator of your own, from its definition
  conformance generate --for mylib.py --out mine
      only what this backend declares to support
  conformance generate --drawn 50000 --op AvgPool-1 --out drawn -j 2
      50,000 drawn vectors, not selected, in a packed suite
  conformance generate --drawn 50000 --out drawn --cluster local:8
      the same bytes from the workers of a Dask cluster; docs/cluster.md
\b
Then:
  conformance check --suite my-suite --backend numpy

The suite carries the specifications that it was made from, and all commands use those with
--suite. Suites of recorded cases use the shipped ones.

The same specifications, seed and versions give the same bytes, with any number of worker
processes (-j). A suite that is there is replaced by the same one (of this name, this seed and
its operators); another one only with --force. It is replaced when the new one is complete: an
interrupted run leaves the old suite unchanged.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="OP",
    help="Only this operator, those that match a pattern, or a specification file; repeatable.",
)
@click.option(
    "--out",
    type=TargetPath(new=True),
    metavar="DIR",
    default=Path("vectors"),
    show_default=True,
    help="Write the suite into this folder, which must be new, empty or a suite, or to an unused "
    "address such as s3://bucket/suite.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="Select cases with this seed. Default: use the recorded cases of shipped operators, "
    "and seed 0 for others.",
)
@click.option(
    "--for",
    "backend",
    metavar="NAME|FILE",
    help="Generate a suite for what this backend declares to support, as strong there as core is "
    "in each element type and rank. The backend is imported but not run.",
)
@click.option(
    "--suite",
    type=click.Choice(SHIPPED_SUITES),
    default="core",
    show_default=True,
    help="smoke: few vectors, which cover every coverage target. core: also covers them in every "
    "element type and rank, and pairs of them, and kills the mutants of each.",
)
@click.option(
    "--drawn",
    type=click.IntRange(1, 10_000_000),
    metavar="N",
    help="Instead, draw N value vectors per operator without selecting them, and its negative "
    "tests, into a packed suite. It is not known which mutants they kill, so a run makes no claim.",
)
@click.option("--no-large", is_flag=True, help="Leave the large recorded cases out.")
@force_option
@processes_option
@cluster_options
def generate(
    ops: tuple[str, ...],
    out: Path,
    seed: int | None,
    backend: str | None,
    suite: str,
    drawn: int | None,
    no_large: bool,
    force: bool,
    processes: int,
    cluster: str | None,
    insecure: bool,
) -> None:
    """Generate a suite of test vectors from operator specifications."""
    from conformance.cli.partition_options import supported_subsets_of
    from conformance.errors import UsageError
    from conformance.generate import recorded
    from conformance.generate.suite import make_definitions
    from conformance.generate.versions import versions
    from conformance.specification import select_specs
    from conformance.suite.origin import carried_origin, shipped_origin
    from conformance.suite.recorded_cases import committed_operators
    from conformance.suite.shipped_suite import recorded_unreachable
    from conformance.suite.writer import check_target, write_suite

    worker_options = WorkerOptions(processes, cluster, insecure)
    if drawn is not None:
        from conformance.cli.drawn_suite import draw

        if suite != "core":
            raise UsageError(
                "--drawn cannot be combined with --suite",
                hint="leave --suite out: --drawn does not select vectors",
            )
        draw(ops, out, seed or 0, backend, drawn, worker_options, force=force)
        return
    if cluster is not None:
        raise UsageError("--cluster needs --drawn", hint="use -j N, or draw with --drawn N")
    fresh = seed is not None or backend is not None
    specs = select_specs(ops, None if fresh else committed_operators())
    recorded_cases = [] if fresh else _recorded_cases(specs.values(), suite)
    if no_large:
        recorded_cases = [recorded.small(cases_of_op) for cases_of_op in recorded_cases]
    subsets = supported_subsets_of(backend, specs) if backend is not None else None
    if subsets is not None:
        specs = {op: spec for op, spec in specs.items() if op in subsets.by_op}
    recorded_ops = [cases_of_op.op for cases_of_op in recorded_cases]
    selected_anew = [spec for op, spec in specs.items() if op not in recorded_ops]
    root = seed or 0
    bases = [shipped_origin(specs[op]) for op in recorded_ops]
    bases += [carried_origin(spec) for spec in selected_anew]
    seed = _seed(recorded_cases) if recorded_cases and not selected_anew else root
    keep_another(out, suite, seed, specs, force=force)
    check_target(out, bases)
    _announce(recorded_cases, specs)
    began = time.perf_counter()
    with Progress(1, "generating") as progress:
        generated = list(
            make_definitions(
                selected_anew,
                root=root,
                processes=processes,
                progress=progress.at,
                suite=suite,
                claims=None if subsets is None else subsets.by_op,
            )
        )
        every: list[RecordedCases | Made] = [*recorded_cases, *generated]
        vectors: Iterable[tuple[Vector, tuple[str, ...]]] = chain(
            recorded.vectors(recorded_cases, specs, processes=processes, progress=progress.at),
            (
                (vector, made.suites[vector.id])
                for made in generated
                for vector in made.vectors
                if suite in made.suites[vector.id]
                and (subsets is None or subsets.includes(specs[made.op], vector.case))
            ),
        )
        written = write_suite(
            out,
            vectors,
            name=suite,
            seed=seed,
            versions=versions(),
            kills=_merged(of_op.kills for of_op in every),
            excused=_merged(of_op.excused for of_op in every),
            strength={of_op.op: recorded_unreachable(of_op) for of_op in recorded_cases}
            | {made.op: made.strength for made in generated},
            withdrawn=_merged(cases_of_op.withdrawn for cases_of_op in recorded_cases),
            bases=bases,
        )
    seconds = time.perf_counter() - began
    _print_suite(written, specs, suite, out, seconds)


def _merged(mappings: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {key: value for mapping in mappings for key, value in mapping.items()}


def _mutants(written: Suite, spec: Operator) -> tuple[int, list[str]]:
    """Count the mutants of an operator that a suite kills, and list the survivors.

    Mutants that no partition can kill are left out.
    """
    from conformance.specification import mutants_of

    kill_counts = written.manifest.faults.get(spec.op, {})
    unkillable = written.manifest.strength[spec.op].parts.never_killed
    ids = [mutant.id for mutant in mutants_of(spec) if not mutant.equivalent]
    survivors = [id for id in ids if not kill_counts.get(id) and id not in unkillable]
    return sum(kill_counts.get(id, 0) > 0 for id in ids), survivors


def _first_few(names: Sequence[str]) -> str:
    left_out = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {left_out} more" if left_out > 0 else "")


def _recorded_cases(specs: Iterable[Operator], suite: str) -> list[RecordedCases]:
    """Read the recorded cases of shipped operators that have any."""
    from conformance.generate import recorded
    from conformance.specification import shipped_specs

    shipped = shipped_specs()
    all_cases = [recorded.read(spec.op) for spec in specs if spec is shipped.get(spec.op)]
    existing = [cases_of_op for cases_of_op in all_cases if cases_of_op is not None]
    if suite != "smoke":
        return existing
    return [recorded.part(cases_of_op, suite) for cases_of_op in existing]


def _seed(recorded_cases: Sequence[RecordedCases]) -> int:
    """Return the seed of recorded cases; 0 if they have several."""
    seeds = {cases_of_op.seed for cases_of_op in recorded_cases}
    return seeds.pop() if len(seeds) == 1 else 0


def _announce(recorded_cases: Sequence[RecordedCases], specs: Mapping[str, Operator]) -> None:
    """Print what will be done, since the work takes long."""
    from conformance.suite.shipped_suite import is_outdated

    if recorded_cases:
        count = sum(len(cases_of_op.recorded) for cases_of_op in recorded_cases)
        click.echo(f"evaluating {count} recorded cases; --seed N selects new ones", err=True)
    for cases_of_op in recorded_cases:
        if is_outdated(specs[cases_of_op.op], cases_of_op):
            click.echo(
                f"warning: {cases_of_op.op} has changed since its cases were recorded, so their "
                "kills may be out of date; see conformance suite record --help",
                err=True,
            )


def _print_suite(
    written: Suite, specs: Mapping[str, Operator], suite: str, out: Path, seconds: float
) -> None:
    """Print what was written, and which mutants survive."""
    from conformance.choices import SuiteName
    from conformance.specification import mutants_of
    from conformance.suite.store import suite_argument
    from conformance.suite.totals import Count

    manifest = written.manifest
    size = sum(entry.bytes for entry in manifest.listed)
    click.echo(
        f"{suite}: {number_of(len(written), 'vector')}, {size / 1e6:.2f} MB, "
        f"in {suite_argument(out)}"
    )
    for op in manifest.strength:
        count = manifest.counts.get(op, Count(0, 0))
        killed, survivors = _mutants(written, specs[op])
        click.echo(
            f"  {op:20} {count.value:5} value vectors, {count.reject:3} negative tests, "
            f"{killed} of {len(mutants_of(specs[op]))} mutants killed"
        )
        # A smoke suite is small and makes no claim.
        if suite != SuiteName.SMOKE and killed < STRONG * (killed + len(survivors)):
            click.echo(
                f"warning: wrong backends may pass: {number_of(len(survivors), 'mutant')} of {op} "
                f"not killed: {_first_few(survivors)}",
                err=True,
            )
        elif survivors:
            click.echo(f"    survived: {_first_few(survivors)}")
        if len(survivors) > MAX_LISTED:
            arguments = f"--suite {shlex.quote(suite_argument(out))} --op {op} --verbose"
            click.echo(f"    with how many vectors kill each: conformance suite audit {arguments}")
    rate = len(written) / seconds
    click.echo(f"{seconds:.1f} s ({rate:.0f} vectors per second), sha256 {written.digest[:16]}")
