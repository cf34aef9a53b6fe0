"""``conformance fuzz``: search for the smallest cases on which a backend is wrong."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.check_options import CheckOptions
from conformance.cli.formats import page, write
from conformance.cli.options import (
    backend_options,
    call_options,
    env_option,
    grading_options,
    ops_option,
)
from conformance.cli.run_check import LOG, run_check
from conformance.cli.text import slug
from conformance.errors import EXIT_NOT_CONFORMANT, ConformanceError, UsageError
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.core.operator import Operator
    from conformance.fuzz.failures import Discovery
    from conformance.fuzz.session import FuzzSession, SearchRequest, SearchResult
    from conformance.log.causes import Cause
    from conformance.model import Case, Finding
    from conformance.run.executor import Executor
    from conformance.suite.store import Suite

SECONDS = 60.0
TIMEOUT = 10.0
SUITE, SCRIPTS = "suite", "scripts"
DATABASE = Path(".conformance") / "fuzz"
MAX_CAUSES = 40
"""Causes that are printed."""

MAX_OPERATORS = 4
"""Further operators that are named beside the operator whose case is shown."""

MAX_SCRIPTS = 20
"""Scripts that are written: each runs the backend once more."""

_TIME = re.compile(r"(?P<number>\d{1,6}(?:\.\d{1,3})?)(?P<unit>s|m|min|h)?")
_UNITS = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600}

EXAMPLES = """
\b
Examples:
  conformance fuzz --backend mylib.py:MyLib
      a minute on all operators that the backend declares
  conformance fuzz --backend torch --op 'torch.*' --time 10m
      ten minutes on some
  conformance fuzz --backend "exec:./runner" --op AvgPool-1 --cases 5000
      a program, until 5000 cases are graded
  conformance fuzz --backend mylib --cases 2000 --seed 1
      the same cases each time, for CI
  conformance check --backend mylib --suite reports/fuzz-mylib/suite
      the failures that were found, again
\b
Cases are drawn from all that the specification allows and the backend
declares, larger ones than those of the shipped suite among them, and are
graded as conformance check grades. Cases that cover a pair of coverage
targets or kill a mutant for the first time are preferred. Each failure is
reduced to a minimal case with the same cause; each cause is reported once.
The --out folder has a run log, a page, a suite of the minimal cases, and a
script for each. Earlier failures are tried first, unless --seed is given.
\b
Exit codes: 0 nothing was found, which is no proof that nothing is wrong;
1 something was found; 2 wrong usage; 3 a defect in this tool; 130
interrupted (143 by SIGTERM, 129 by SIGHUP), with what was found.
"""


@click.command(epilog=EXAMPLES)
@backend_options("The backend, as check takes it.", required=True)
@env_option
@ops_option
@grading_options()
@click.option(
    "--time",
    "limit",
    metavar="TIME",
    help="Stop after this time, for example 30s, 10m or 1h [default: 60s, unless --cases is given]",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N graded cases.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="Draw cases with this seed, and leave earlier failures out. With --cases the result is "
    "the same each time. [default: a fresh seed]",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write findings into this folder [default: reports/fuzz-NAME].",
)
@click.option(
    "--database",
    type=click.Path(file_okay=False, path_type=Path),
    default=DATABASE,
    show_default=True,
    metavar="DIR",
    help="The folder that keeps earlier failures.",
)
@call_options(TIMEOUT, "at most; less where the backend is fast")
@click.pass_context
def fuzz(
    ctx: click.Context,
    backend: str,
    env: str | None,
    ops: tuple[str, ...],
    level: str,
    precision: str,
    limit: str | None,
    cases: int | None,
    seed: int | None,
    out: Path | None,
    database: Path,
    timeout: float,
    memory: str | None,
) -> None:
    """Search for the smallest cases on which a backend is wrong."""
    from conformance.fuzz.session import SearchRequest
    from conformance.grade.precision import parse_precision
    from conformance.run.executor_options import Isolation
    from conformance.specification import select_specs
    from conformance.suite.writer import check_target

    specs = select_specs(ops)
    out = Path("reports") / f"fuzz-{slug(backend)}" if out is None else out
    check_target(out / SUITE)
    search_seed = secrets.randbelow(1 << 32) if seed is None else seed
    request = SearchRequest(
        seed=search_seed,
        level=level,
        precision=parse_precision(precision),
        timeout=timeout,
        seconds=_seconds(limit) if limit or cases is None else None,
        cases=cases,
    )
    earlier = _earlier_failures(database, specs) if seed is None else {}
    click.echo(f"seed {search_seed}", err=True)
    runner = Isolation(None, None, timeout if env else None, memory, env).executor_for(backend)
    runner.allow(timeout)
    session, result = _search(runner, specs, request, earlier)
    try:
        if result.discoveries:
            _write(
                backend, env, level, precision, timeout, memory, out, specs, session, search_seed
            )
    finally:
        _keep_failures(database, specs, result, earlier)
        _print_result(result)
    if result.exit_code is not None:
        ctx.exit(result.exit_code)
    if result.discoveries or result.given_up:
        ctx.exit(EXIT_NOT_CONFORMANT)


def _search(
    runner: Executor,
    specs: Mapping[str, Operator],
    request: SearchRequest,
    earlier: Mapping[str, Sequence[Case]],
) -> tuple[FuzzSession, SearchResult]:
    """Run the search, with a progress line."""
    from conformance.cli.progress import Progress
    from conformance.fuzz.session import FuzzSession

    with runner as executor:
        session = FuzzSession(executor, specs, request, earlier)
        with Progress(1, "searching") as progress:

            def show(so_far: SearchResult) -> None:
                pairs = sum(covered.pairs for covered in so_far.coverage.values())
                progress.open(
                    f"{number_of(so_far.cases, 'case')}, "
                    f"{so_far.cases / max(so_far.seconds, 1e-9):.0f} a second, "
                    f"{number_of(pairs, 'pair')}, " + _minimal_cases(len(so_far.discoveries))
                )

            return session, session.run(show)


def _write(
    backend: str,
    env: str | None,
    level: str,
    precision: str,
    timeout: float,
    memory: str | None,
    out: Path,
    specs: Mapping[str, Operator],
    session: FuzzSession,
    seed: int,
) -> None:
    """Write the suite of minimal cases, a run on it with its page, and scripts."""
    from conformance.fuzz.regression import write_regression_suite
    from conformance.model import FAILED
    from conformance.safe_text import one_line

    failures = {op: of_op for op, of_op in session.failures.items() if of_op.discoveries}
    guidance = {op: session.guidance(op) for op in failures}
    suite = write_regression_suite(out / SUITE, specs, failures, guidance, seed=seed)
    report_targets = (page(out, "--out"),)
    # A backend of this package needs no limits; others have those of the search.
    limits: dict[str, Any] = {} if backend in _trusted() else {"timeout": timeout, "memory": memory}
    run = run_check(
        str(out / SUITE),
        backend,
        CheckOptions(level=level, precision=precision, env=env, **limits),
        out=out,
        reports=report_targets,
    )
    write(run.log, report_targets)
    click.echo(f"log: {out / LOG}", err=True)
    by_id = {discovery.vector.id: discovery for discovery in session.result.discoveries}
    # A cause with no name and no minimal case is that of cases which were reduced to others.
    causes = [cause for cause in run.log.causes if cause.named or _minimal(cause, by_id)]
    for number, cause in enumerate(causes[:MAX_CAUSES], start=1):
        _print_cause(number, cause, suite, by_id)
    failed = {result.id for result in run.results if result.status in FAILED}
    for discovery in session.result.discoveries:
        if discovery.vector.id not in failed:
            click.echo(f"Failed once, passed when rerun: {discovery.vector.description}")
            click.echo(f"   {one_line(discovery.result.message)[:200]}")
    if len(causes) > MAX_CAUSES:
        click.echo(f"... and {len(causes) - MAX_CAUSES} more, in {out / 'index.html'}")
    # A user who has interrupted the search should not wait for every script.
    for cause in causes[: MAX_SCRIPTS if session.result.exit_code is None else 0]:
        vector_id = _simplest(cause, suite).smallest
        _script(out / SCRIPTS, suite, vector_id, backend, env, level, precision)


def _simplest(cause: Cause, suite: Suite) -> Finding:
    """Return the finding of a cause whose case has the fewest elements of data."""
    return min(cause.findings, key=lambda finding: suite.get(finding.smallest).inputs[0].size)


def _minimal(cause: Cause, discoveries: Mapping[str, Discovery]) -> set[str]:
    """Return the ids of the minimal cases of a cause."""
    return {id for _, id in cause.vectors if id in discoveries}


def _print_cause(
    number: int, cause: Cause, suite: Suite, discoveries: Mapping[str, Discovery]
) -> None:
    """Print a cause: what is wrong, the smallest case, and a command that reproduces it."""
    from conformance.failure_kind import facts_of
    from conformance.safe_text import one_line

    finding = _simplest(cause, suite)
    diagnosis = finding.diagnosis or {}
    sentence = diagnosis.get("sentence") if diagnosis.get("faults") else ""
    # How many of these vectors fail means nothing: they were chosen because they fail.
    count = len(diagnosis.get("alternatives") or ())
    subject = f"{count} known bugs give these outputs" if count else "No known bug"
    failure = facts_of(finding.kind).predicate.removeprefix("with ")
    sentence = sentence or f"{subject}: {failure}."
    click.echo(f"{number}. {one_line(sentence)}")
    click.echo(f"   {suite.get(finding.smallest).description}")
    click.echo(f"   {one_line(finding.message)[:200]}")
    discovery = discoveries.get(finding.smallest)
    if discovery is not None:
        click.echo(
            f"   first seen after {number_of(discovery.cases, 'case')} and "
            f"{discovery.seconds:.1f} s, minimal after {number_of(discovery.calls, 'call')}; "
            f"failures like it: {discovery.cause.failures}"
        )
    click.echo(f"   {finding.reproduce}")
    if similar := len(_minimal(cause, discoveries) - {finding.smallest}):
        click.echo(f"   and {similar} more minimal case{'s' * (similar > 1)} like it")
    if ops := [op for op in cause.operators if op != finding.op]:
        suffix = f" and {len(ops) - MAX_OPERATORS} more" if len(ops) > MAX_OPERATORS else ""
        click.echo(f"   also in {', '.join(ops[:MAX_OPERATORS])}{suffix}")


def _trusted() -> tuple[str, ...]:
    from conformance.run.executor_options import TRUSTED

    return TRUSTED


def _script(
    folder: Path,
    suite: Suite,
    vector_id: str,
    backend: str,
    env: str | None,
    level: str,
    precision: str,
) -> None:
    """Write a script that reproduces a failure, if the backend allows it."""
    from conformance.cli.repro import make_script
    from conformance.report.registry import write_text

    try:
        vector = suite.get(vector_id)
        text, script_run, difference = make_script(
            suite, vector, backend, env, level, precision, 60.0, folder
        )
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / f"{vector_id}.py", text, hint="name another folder: --out DIR")
    except ConformanceError as error:
        click.echo(f"no script for {vector_id}: {error.message}", err=True)
        return
    ending = f"run once, it {script_run.ending}" + (f"; {difference}" if difference else "")
    click.echo(f"script: {folder / f'{vector_id}.py'} ({ending})", err=True)


def _print_result(result: SearchResult) -> None:
    """Print what was found and covered."""
    count = len(result.discoveries)
    click.echo(
        f"{number_of(result.cases, 'case')} in {result.seconds:.0f} s, until {result.ended}: "
        + (_minimal_cases(count) if count else "nothing found, which does not prove conformance")
    )
    if result.left_out:
        click.echo(
            f"not looked at: {number_of(result.left_out, 'more failure')}; "
            "an operator has many causes"
        )
    if result.given_up:
        click.echo(f"the backend was given up: {result.given_up}")
    for op, covered in result.coverage.items():
        if not covered.cases:
            click.echo(f"  {op:26} not reached")
            continue
        click.echo(
            f"  {op:26} {covered.cases:6} cases of rank {','.join(map(str, covered.ranks))}"
            f" in {','.join(covered.types)}: {number_of(covered.pairs, 'pair')} of targets, "
            f"{covered.mutants} of {covered.of_mutants} mutants would have failed"
        )


def _minimal_cases(count: int) -> str:
    return "1 minimal case" if count == 1 else f"{count} minimal cases"


def _earlier_failures(database: Path, specs: Mapping[str, Operator]) -> dict[str, tuple[Case, ...]]:
    """Read earlier failures by operator, with a warning for each unusable file."""
    from conformance.fuzz.database import read_failures

    failures = {}
    for op, spec in specs.items():
        try:
            failures[op] = read_failures(database, spec)
        except ConformanceError as error:
            click.echo(f"warning: earlier failures are not tried: {error}", err=True)
    return {op: cases for op, cases in failures.items() if cases}


def _keep_failures(
    database: Path,
    specs: Mapping[str, Operator],
    result: SearchResult,
    earlier: Mapping[str, Sequence[Case]],
) -> None:
    from conformance.fuzz.database import keep_failures

    for op in dict.fromkeys(discovery.op for discovery in result.discoveries):
        new = [discovery.vector.case for discovery in result.discoveries if discovery.op == op]
        try:
            keep_failures(database, specs[op], new, earlier.get(op, ()))
        except OSError as error:
            click.echo(f"warning: failures are not kept in {database}: {error}", err=True)


def _seconds(text: str | None) -> float:
    if text is None:
        return SECONDS
    match = _TIME.fullmatch(text.strip())
    seconds = float(match["number"]) * _UNITS[match["unit"]] if match else 0.0
    if seconds <= 0:
        raise UsageError(f"{text!r} is not a time", hint="a time looks like 30s, 10m or 1h")
    return seconds
