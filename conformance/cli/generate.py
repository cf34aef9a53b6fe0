"""``conformance generate``: a suite of vectors from specifications."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.choices import SHIPPED_SUITES
from conformance.cli.crew import Crew
from conformance.cli.options import cluster_options, processes_option
from conformance.cli.places import TargetPath
from conformance.cli.progress import Progress
from conformance.cli.replacing import force_option, keep_another
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.model import Vector
    from conformance.spec.model import OpSpec
    from conformance.suite.recorded_cases import RecordedCases
    from conformance.suite.store import Suite

STRONG = 0.95
"""The mutation score below which a suite is called weak."""

LISTED = 12
"""How many surviving mutants are named."""

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
  conformance generate --op specs/MyPool-1.yaml --out my-suite
      an operator of your own, from its specification
  conformance generate --for mylib.py --out mine
      only what this backend declares to support
  conformance generate --drawn 50000 --op AvgPool-1 --out drawn -j 2
      50,000 drawn vectors, not selected, in a packed suite
  conformance generate --drawn 50000 --out drawn --cluster local:8
      the same bytes from the workers of a Dask cluster; docs/cluster.md
\b
Then:
  conformance check --suite my-suite --backend numpy

The suite carries the specifications and mutants that it was made from, and all commands use
those with --suite. Suites of recorded cases use the shipped ones.

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
    help="smoke: covers every target and kills most mutants. core: covers all pairs of targets "
    "on every rank, and every target in every element type.",
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
    from conformance.cli.part import claims_of
    from conformance.errors import UsageError
    from conformance.generate import plan, recorded
    from conformance.generate.suites import versions
    from conformance.spec import loader
    from conformance.spec.catalogue import mutants_of
    from conformance.suite.origin import carried_origin, shipped_origin
    from conformance.suite.recorded_cases import committed_operators
    from conformance.suite.shipped_suite import recorded_unreachable
    from conformance.suite.writer import check_target, write_suite

    crew = Crew(processes, cluster, insecure)
    if drawn is not None:
        from conformance.cli.drawn import draw

        if suite != "core":
            raise UsageError(
                "--drawn cannot be combined with --suite",
                hint="leave --suite out: --drawn does not select vectors",
            )
        draw(ops, out, seed or 0, backend, drawn, crew, force=force)
        return
    if cluster is not None:
        raise UsageError("--cluster needs --drawn", hint="use -j N, or draw with --drawn N")
    fresh = seed is not None or backend is not None
    specs = loader.select_specs(ops, None if fresh else committed_operators())
    known = [] if fresh else _recorded(specs.values(), suite)
    if no_large:
        known = [recorded.small(one) for one in known]
    asked = claims_of(backend, specs) if backend is not None else None
    if asked is not None:
        specs = {op: spec for op, spec in specs.items() if op in asked.by_op}
    anew = [spec for op, spec in specs.items() if op not in {one.op for one in known}]
    root = seed or 0
    bases = [shipped_origin(specs[one.op]) for one in known]
    bases += [carried_origin(spec, mutants_of(spec)) for spec in anew]
    seed = _seed(known) if known and not anew else root
    keep_another(out, suite, seed, specs, force=force)
    check_target(out, bases)
    _announce(known, specs, anew)
    began = time.perf_counter()
    with Progress(1, "generating") as progress:
        made = list(
            plan.make(
                anew,
                root=root,
                processes=processes,
                progress=progress.at,
                suite=suite,
                claims=None if asked is None else asked.by_op,
            )
        )
        new = plan.known(made)
        vectors: Iterable[tuple[Vector, tuple[str, ...]]] = chain(
            recorded.vectors(known, specs, processes=processes, progress=progress.at),
            (
                (vector, suites)
                for vector, suites in plan.members(made, suite)
                if asked is None or asked.asks(specs[vector.case.op], vector.case)
            ),
        )
        written = write_suite(
            out,
            vectors,
            name=suite,
            seed=seed,
            versions=versions(),
            kills={i: killed for one in known for i, killed in one.kills.items()} | new["kills"],
            excused={i: some for one in known for i, some in one.excused.items()} | new["excused"],
            strength={one.op: recorded_unreachable(specs[one.op], one) for one in known}
            | new["strength"],
            uncovered=new["uncovered"],
            withdrawn={i: why for one in known for i, why in one.withdrawn.items()},
            bases=bases,
        )
    seconds = time.perf_counter() - began
    _tell(written, specs, suite, out, seconds, narrowed=asked is not None)


def _mutants(written: Suite, spec: OpSpec) -> tuple[int, list[str]]:
    """How many mutants of an operator the vectors of a suite kill, and which survive that could
    show in one of its parts."""
    from conformance.spec.catalogue import mutants_of

    noticed = written.manifest.faults.get(spec.op, {})
    never = written.manifest.strength[spec.op].parts.never_killed
    counted = [fault.id for fault in mutants_of(spec) if not fault.equivalent]
    survivors = [fault for fault in counted if not noticed.get(fault) and fault not in never]
    return sum(noticed.get(fault, 0) > 0 for fault in counted), survivors


def _some(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def _share(killed: int, survivors: Sequence[str]) -> str:
    # Rounded down: 100 % is all of them.
    return f"{100 * killed // (killed + len(survivors))} %"


def _recorded(specs: Iterable[OpSpec], suite: str) -> list[RecordedCases]:
    """The recorded cases of those shipped operators that have some."""
    from conformance.generate import recorded
    from conformance.spec.loader import shipped_specs

    found = [
        one
        for spec in specs
        if spec is shipped_specs().get(spec.op) and (one := recorded.read(spec.op)) is not None
    ]
    return [recorded.part(one, suite) for one in found] if suite == "smoke" else found


def _seed(known: Sequence[RecordedCases]) -> int:
    """The seed that recorded cases were selected with; 0 if not all with one."""
    seeds = {one.seed for one in known}
    return seeds.pop() if len(seeds) == 1 else 0


def _announce(
    known: Sequence[RecordedCases], specs: Mapping[str, OpSpec], anew: Sequence[OpSpec]
) -> None:
    """Say what is going to be done, and what will be missing, before it takes its time."""
    from importlib.util import find_spec

    from conformance.errors import install
    from conformance.suite.shipped_suite import is_outdated

    if known:
        number = sum(len(one.recorded) for one in known)
        click.echo(f"evaluating {number} recorded cases; --seed N selects new ones", err=True)
    for one in (one for one in known if is_outdated(specs[one.op], one)):
        click.echo(
            f"warning: {one.op} has changed since its cases were recorded, so their kills may be "
            "out of date; see conformance suite record --help",
            err=True,
        )
    if anew and find_spec("z3") is None:
        click.echo(
            "z3 is not installed: pairs of targets for which no case is found are listed as "
            f"undecided; to decide them: {install('generate')}",
            err=True,
        )


def _unmet(written: Suite, spec: OpSpec) -> Iterator[str]:
    """What is said of the coverage targets that no vector of a suite covers."""
    manifest = written.manifest
    shown = {edge for one in manifest.vectors if one.op == spec.op for edge in one.edges}
    infeasible = manifest.strength[spec.op].infeasible
    unmet = [edge.name for edge in spec.edges if edge.name not in shown]
    proven = [
        name for name in unmet if all((name, name) in infeasible.get(n, {}) for n in spec.ranks)
    ]
    if proven:
        yield f"no case meets these targets (proven): {_some(proven)}"
    if open_ := [name for name in unmet if name not in proven]:
        yield f"no case was found that meets these targets (undecided): {_some(open_)}"


def _tell(
    written: Suite,
    specs: Mapping[str, OpSpec],
    suite: str,
    out: Path,
    seconds: float,
    *,
    narrowed: bool = False,
) -> None:
    """Say what was made; with ``narrowed`` not which targets are not covered, since what a backend
    does not declare leaves many out."""
    from conformance.choices import SuiteName
    from conformance.errors import install
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
        score = f", {_share(killed, survivors)} of mutants killed" if killed or survivors else ""
        click.echo(
            f"  {op:20} {count.value:5} value vectors, {count.reject:3} negative tests{score}"
        )
        # A smoke suite is small and makes no claim.
        if suite != SuiteName.SMOKE and killed < STRONG * (killed + len(survivors)):
            spec = specs[op]
            unused = [one for one in spec.kin.patterns if one not in spec.patterns]
            data = f", or other patterns of data: {', '.join(unused)}" if unused else ""
            click.echo(
                f"warning: wrong backends may pass: {number_of(len(survivors), 'mutant')} of {op} "
                f"not killed: {_some(survivors)}. To kill them, add coverage targets (edges) with "
                f"generation constraints (aims) that exercise what they change{data}.",
                err=True,
            )
        elif survivors:
            click.echo(f"    survived: {_some(survivors)}")
        if len(survivors) > LISTED:
            where = f"--suite {shlex.quote(suite_argument(out))} --op {op}"
            click.echo(
                f"    with how many vectors kill each: conformance suite audit {where} --verbose"
            )
        for line in () if narrowed else _unmet(written, specs[op]):
            click.echo(f"    {line}")
    if manifest.uncovered:
        click.echo(
            f"  undecided, with neither a case nor a contradiction found: "
            f"{number_of(len(manifest.uncovered), 'target')} or pairs of targets."
        )
        click.echo("  List them with: conformance suite coverage")
        if "z3-solver" not in manifest.versions:
            click.echo(f"  Contradictions need z3: {install('generate')}.")
    rate = len(written) / seconds
    click.echo(f"{seconds:.1f} s ({rate:.0f} vectors per second), sha256 {written.digest[:16]}")
