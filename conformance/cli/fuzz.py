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
    from conformance.fuzz.failures import Discovery
    from conformance.fuzz.session import FuzzSession, SearchRequest, SearchResult
    from conformance.log.causes import Cause
    from conformance.model import Case, Finding
    from conformance.run.executor import Executor
    from conformance.spec.model import OpSpec
    from conformance.suite.store import Suite

SECONDS = 60.0
TIMEOUT = 10.0
SUITE, SCRIPTS = "suite", "scripts"
DATABASE = Path(".conformance") / "fuzz"
MOST_TOLD = 40
"""Causes that are printed, at most."""

MOST_OTHERS = 4
"""Further operators that are named beside the one whose case is shown, at most."""

MOST_SCRIPTS = 20
"""Scripts that are written, at most: each runs the backend once more."""

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
    from conformance.spec import loader
    from conformance.suite.writer import check_target

    specs = loader.select_specs(ops)
    out = Path("reports") / f"fuzz-{slug(backend)}" if out is None else out
    check_target(out / SUITE)
    chosen = secrets.randbelow(1 << 32) if seed is None else seed
    question = SearchRequest(
        seed=chosen,
        level=level,
        precision=parse_precision(precision),
        timeout=timeout,
        seconds=_seconds(limit) if limit or cases is None else None,
        cases=cases,
    )
    known = _known(database, specs) if seed is None else {}
    click.echo(f"seed {chosen}", err=True)
    runner = Isolation(None, None, timeout if env else None, memory, env).executor_for(backend)
    runner.allow(timeout)
    session, outcome = _searched(runner, specs, question, known)
    try:
        if outcome.discoveries:
            _write(backend, env, level, precision, timeout, memory, out, specs, session, chosen)
    finally:
        _keep(database, specs, outcome, known)
        _tell(outcome)
    if outcome.exit_code is not None:
        ctx.exit(outcome.exit_code)
    if outcome.discoveries or outcome.given_up:
        ctx.exit(EXIT_NOT_CONFORMANT)


def _searched(
    runner: Executor,
    specs: Mapping[str, OpSpec],
    question: SearchRequest,
    known: Mapping[str, Sequence[Case]],
) -> tuple[FuzzSession, SearchResult]:
    """The search, with a line that says how it goes on."""
    from conformance.cli.progress import Progress
    from conformance.fuzz.session import FuzzSession

    with runner as executor:
        session = FuzzSession(executor, specs, question, known)
        with Progress(1, "searching") as progress:

            def told(now: SearchResult) -> None:
                progress.open(
                    f"{number_of(now.cases, 'case')}, "
                    f"{now.cases / max(now.seconds, 1e-9):.0f} a second, "
                    f"{number_of(sum(one.pairs for one in now.coverage.values()), 'pair')}, "
                    + _counted(len(now.discoveries))
                )

            return session, session.run(told)


def _write(
    backend: str,
    env: str | None,
    level: str,
    precision: str,
    timeout: float,
    memory: str | None,
    out: Path,
    specs: Mapping[str, OpSpec],
    session: FuzzSession,
    seed: int,
) -> None:
    """The suite of what was found, a run on it with its page, and the scripts."""
    from conformance.fuzz.regression import write_regression_suite
    from conformance.model import FAILED
    from conformance.safe_text import one_line

    failures = {op: one for op, one in session.failures.items() if one.discoveries}
    guidance = {op: session.guidance(op) for op in failures}
    suite = write_regression_suite(out / SUITE, specs, failures, guidance, seed=seed)
    wanted = (page(out, "--out"),)
    # A backend of this package needs no watching; others are watched as in the search.
    bounds: dict[str, Any] = {} if backend in _trusted() else {"timeout": timeout, "memory": memory}
    run = run_check(
        str(out / SUITE),
        backend,
        CheckOptions(level=level, precision=precision, env=env, **bounds),
        out=out,
        reports=wanted,
    )
    write(run.log, wanted)
    click.echo(f"log: {out / LOG}", err=True)
    by_id = {discovery.vector.id: discovery for discovery in session.result.discoveries}
    # What has no name and no minimal case is what others were before they were minimal.
    causes = [one for one in run.log.causes if one.named or _minimal(one, by_id)]
    for number, cause in enumerate(causes[:MOST_TOLD], start=1):
        _tell_cause(number, cause, suite, by_id)
    failed = {result.id for result in run.results if result.status in FAILED}
    for discovery in session.result.discoveries:
        if discovery.vector.id not in failed:
            click.echo(f"Failed once, passed when rerun: {discovery.vector.description}")
            click.echo(f"   {one_line(discovery.result.message)[:200]}")
    if len(causes) > MOST_TOLD:
        click.echo(f"... and {len(causes) - MOST_TOLD} more, in {out / 'index.html'}")
    # Who has interrupted the search does not wait for every script.
    for cause in causes[: MOST_SCRIPTS if session.result.exit_code is None else 0]:
        shown = _simplest(cause, suite).smallest
        _script(out / SCRIPTS, suite, shown, backend, env, level, precision)


def _simplest(cause: Cause, suite: Suite) -> Finding:
    """The finding of a cause whose case has the fewest elements of data."""
    return min(cause.findings, key=lambda one: suite.get(one.smallest).inputs[0].size)


def _minimal(cause: Cause, found: Mapping[str, Discovery]) -> set[str]:
    """The minimal cases of a cause, by their ids."""
    return {id for _, id in cause.vectors if id in found}


def _tell_cause(number: int, cause: Cause, suite: Suite, found: Mapping[str, Discovery]) -> None:
    """A cause for people: what is wrong, the smallest case, and how to see it again."""
    from conformance.failure_kind import facts_of
    from conformance.safe_text import one_line

    finding = _simplest(cause, suite)
    diagnosis = finding.diagnosis or {}
    sentence = diagnosis.get("sentence") if diagnosis.get("faults") else ""
    # How many of these vectors fail says nothing: they were chosen for it.
    several = len(diagnosis.get("alternatives") or ())
    what = f"{several} known bugs give these outputs" if several else "No known bug"
    failure = facts_of(finding.kind).predicate.removeprefix("with ")
    sentence = sentence or f"{what}: {failure}."
    click.echo(f"{number}. {one_line(sentence)}")
    click.echo(f"   {suite.get(finding.smallest).description}")
    click.echo(f"   {one_line(finding.message)[:200]}")
    one = found.get(finding.smallest)
    if one is not None:
        click.echo(
            f"   first seen after {number_of(one.cases, 'case')} and {one.seconds:.1f} s, "
            f"minimal after {number_of(one.calls, 'call')}; failures like it: {one.cause.failures}"
        )
    click.echo(f"   {finding.reproduce}")
    if count := len(_minimal(cause, found) - {finding.smallest}):
        click.echo(f"   and {count} more minimal case{'s' * (count > 1)} like it")
    if others := [op for op in cause.operators if op != finding.op]:
        more = f" and {len(others) - MOST_OTHERS} more" if len(others) > MOST_OTHERS else ""
        click.echo(f"   also in {', '.join(others[:MOST_OTHERS])}{more}")


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
    """The script of one failure, where the backend lets one be made."""
    from conformance.cli.repro import made
    from conformance.report.registry import write_text

    try:
        vector = suite.get(vector_id)
        text, trial, otherwise = made(suite, vector, backend, env, level, precision, 60.0, folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / f"{vector_id}.py", text, hint="name another folder: --out DIR")
    except ConformanceError as error:
        click.echo(f"no script for {vector_id}: {error.message}", err=True)
        return
    ending = f"run once, it {trial.ending}" + (f"; {otherwise}" if otherwise else "")
    click.echo(f"script: {folder / f'{vector_id}.py'} ({ending})", err=True)


def _tell(outcome: SearchResult) -> None:
    """What was found and covered, for people."""
    found = len(outcome.discoveries)
    click.echo(
        f"{number_of(outcome.cases, 'case')} in {outcome.seconds:.0f} s, until {outcome.ended}: "
        + (_counted(found) if found else "nothing found, which does not prove conformance")
    )
    if outcome.left_out:
        click.echo(
            f"not looked at: {number_of(outcome.left_out, 'more failure')}; "
            "an operator has many causes"
        )
    if outcome.given_up:
        click.echo(f"the backend was given up: {outcome.given_up}")
    for op, covered in outcome.coverage.items():
        if not covered.cases:
            click.echo(f"  {op:26} not reached")
            continue
        click.echo(
            f"  {op:26} {covered.cases:6} cases of rank {','.join(map(str, covered.ranks))}"
            f" in {','.join(covered.types)}: {number_of(covered.pairs, 'pair')} of targets, "
            f"{covered.mutants} of {covered.of_mutants} mutants would have failed"
        )


def _counted(found: int) -> str:
    return "1 minimal case" if found == 1 else f"{found} minimal cases"


def _known(database: Path, specs: Mapping[str, OpSpec]) -> dict[str, tuple[Case, ...]]:
    """Earlier failures; a file that cannot be used is told, and left out."""
    from conformance.fuzz.database import read_failures

    found = {}
    for op, spec in specs.items():
        try:
            found[op] = read_failures(database, spec)
        except ConformanceError as error:
            click.echo(f"warning: earlier failures are not tried: {error}", err=True)
    return {op: cases for op, cases in found.items() if cases}


def _keep(
    database: Path,
    specs: Mapping[str, OpSpec],
    outcome: SearchResult,
    known: Mapping[str, Sequence[Case]],
) -> None:
    from conformance.fuzz.database import keep_failures

    for op in dict.fromkeys(one.op for one in outcome.discoveries):
        new = [one.vector.case for one in outcome.discoveries if one.op == op]
        try:
            keep_failures(database, specs[op], new, known.get(op, ()))
        except OSError as error:
            click.echo(f"warning: failures are not kept in {database}: {error}", err=True)


def _seconds(text: str | None) -> float:
    if text is None:
        return SECONDS
    found = _TIME.fullmatch(text.strip())
    seconds = float(found["number"]) * _UNITS[found["unit"]] if found else 0.0
    if seconds <= 0:
        raise UsageError(f"{text!r} is not a time", hint="a time looks like 30s, 10m or 1h")
    return seconds
