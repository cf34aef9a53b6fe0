"""``conformance challenge``: a suite that nobody has seen, and a record that others can verify."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.choices import SHIPPED_SUITES
from conformance.cli.options import (
    backend_options,
    env_option,
    grading_options,
    process_options,
    processes_option,
)

if TYPE_CHECKING:
    from conformance.backends.components import Component
    from conformance.run.executor import Executor, Identity

RECORD = "record.json"
SUITE = "suite"


@click.group(
    epilog="""
\b
Examples:
  conformance challenge new --out s.json
      the challenger draws a secret and publishes the printed hash
  conformance challenge hash --backend my.py
      the maker hands in the backend and publishes its digest
  conformance challenge run --secret s.json --backend my.py --op AvgPool-1
      the challenger tests it and publishes challenge/record.json
  conformance challenge verify record.json --commitment HASH
      anybody checks the record

What each step proves is in docs/challenge.md.
"""
)
def challenge() -> None:
    """Test a backend on a suite that nobody could have seen.

    A public suite can be learned by heart. A challenger publishes the hash of a secret; then the
    backend is handed in; the seed of the suite is a hash of both. The record reveals the secret, so
    that others can check it.
    """


@challenge.command(
    epilog="""
\b
Examples:
  conformance challenge new --out s.json
"""
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    required=True,
    help="Write the secret into this new file, which only you may read.",
)
def new(out: Path) -> None:
    """Draw a secret and print its commitment.

    Publish the commitment before you see the backend, and one for each challenge. Keep the secret
    to yourself until the record is published, which reveals it.
    """
    from conformance.challenge.secret import Secret, write_secret

    secret = Secret.draw()
    write_secret(secret, out)
    click.echo(secret.commitment)
    click.echo(f"publish this commitment; keep {out} secret", err=True)


@challenge.command(
    "hash",
    epilog="""
\b
Examples:
  conformance challenge hash --backend exec:./runner
  conformance challenge hash --backend torch --env venvs/torch-2.13
""",
)
@backend_options("The backend, as for conformance check.", required=True)
@env_option
def hash_backend(backend: str, env: str | None) -> None:
    """Print what a backend is made of, and the digest that a challenge binds.

    The backend is imported but not run. A Python backend is its modules, all files of the
    distributions that they came with, and the shared objects that it loads. A program is its file,
    its arguments and its shared objects. Files of the system and of Python itself are left out.
    """
    from conformance.backends import components

    hashed = _identity(backend, env).pieces or ()
    for component in hashed:
        sha256 = component.sha256 or "not hashed"
        click.echo(f"{sha256:64}  {component.kind} {component.name}")
    click.echo(f"{components.composition_digest(hashed)}  all {len(hashed)}")


@challenge.command(
    epilog="""
\b
Examples:
  conformance challenge run --secret s.json --backend my.py --op AvgPool-1
      core: minutes; with --suite smoke a few vectors in seconds, and no claim
  conformance challenge run --secret s --backend exec:./run --op 'Avg*' -j 2
      a program; all operators whose names match
\b
DIR gets record.json, the run log, its page and the suite. Exit codes are
those of conformance check.
"""
)
@click.option(
    "--secret",
    "secret_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    required=True,
    help="The secret that `conformance challenge new` wrote.",
)
@click.option("--commitment", metavar="HASH", help="Refuse a secret whose commitment is not this.")
@backend_options("The backend that was handed in, as for conformance check.", required=True)
@env_option
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="OP",
    required=True,
    help="An operator, a pattern, or a specification file; repeatable.",
)
@click.option(
    "--suite",
    type=click.Choice(SHIPPED_SUITES),
    default="core",
    show_default=True,
    help="core: as strong as the shipped suite in what the backend declares; minutes. smoke: fewer "
    "vectors, and no claim.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    default=Path("challenge"),
    show_default=True,
    help="Write record, log, page and suite into this folder, which has no record yet.",
)
@click.option(
    "--remote",
    is_flag=True,
    help="The backend computes on a device whose files cannot be hashed here. The record then has "
    "no verdict.",
)
@grading_options()
@process_options
@click.pass_context
def run(
    ctx: click.Context,
    secret_file: Path,
    commitment: str | None,
    backend: str,
    env: str | None,
    ops: tuple[str, ...],
    suite: str,
    out: Path,
    remote: bool,
    level: str,
    precision: str,
    jobs: int | None,
    timeout: float | None,
    memory: str | None,
) -> None:
    """Select a new suite, test the backend on it, and write the record.

    The seed is a hash of the secret and of the backend's digest. Cases are selected for what the
    backend declares to support. Each is run twice, and both results have to be right.
    """
    from conformance.backends import components
    from conformance.challenge.digests import HashingExecutor
    from conformance.challenge.make_record import make_record, recorded_backend
    from conformance.challenge.record import encode_record
    from conformance.challenge.secret import read_secret
    from conformance.challenge.select_suite import select_suite
    from conformance.check_options import CheckOptions
    from conformance.cli.formats import page
    from conformance.cli.progress import Progress
    from conformance.cli.run_check import exit_code, run_check, write_reports
    from conformance.errors import UsageError
    from conformance.grade.precision import parse_precision
    from conformance.replacement import replacing
    from conformance.run.executor_options import Isolation
    from conformance.run.independent_calls import IndependentCalls
    from conformance.specification import select_specs

    secret = read_secret(secret_file)
    if commitment is not None and commitment != secret.commitment:
        raise UsageError(
            f"{secret_file}: its commitment is {secret.commitment}, not {commitment[:80]!a}",
            hint="give the secret whose commitment was published",
        )
    if (out / RECORD).exists():
        raise UsageError(
            f"{out / RECORD} exists, and a challenge is run once", hint="name another folder"
        )
    specs = select_specs(ops)
    runner = Isolation("process", jobs, timeout, memory, env, hashed=True)
    identity = _load_identity(runner.executor_for(backend))
    tested = recorded_backend(
        identity, backend, [components.remote_component("not hashed")] if remote else ()
    )
    click.echo(f"backend: {tested.digest}, {len(tested.pieces)} pieces", err=True)
    if not tested.bound:
        click.echo("not hashed: " + _not_hashed(tested.pieces), err=True)
        click.echo("the record will have no verdict", err=True)
    with Progress(1, "selecting") as progress:
        selected = select_suite(
            specs,
            out / SUITE,
            suite=suite,
            seed=secret.seed(tested.digest),
            declared=identity.capabilities,
            processes=jobs or 1,
            progress=progress.at,
        )
    executor = HashingExecutor(runner.executor_for(backend), identity.pieces)
    executor.independent = IndependentCalls(level, parse_precision(precision))
    report_targets = (page(out, "--out"),)
    result = run_check(
        str(out / SUITE),
        executor,
        CheckOptions(level=level, precision=precision),
        out=out,
        reports=report_targets,
    )
    write_reports(result, report_targets, out)
    if executor.independent.remark:
        click.echo(executor.independent.remark, err=True)
    if result.footer["interrupted"]:
        click.echo("interrupted, so there is no record: run it again", err=True)
        ctx.exit(exit_code(result))
    record = make_record(secret, tested, selected, specs, result.log, executor.digests)
    with replacing(out / RECORD) as file:
        file.write_bytes(encode_record(record))
    click.echo(f"record: {out / RECORD}", err=True)
    ctx.exit(exit_code(result))


@challenge.command(
    epilog="""
\b
Examples:
  conformance challenge verify record.json --commitment HASH
      the order of things, the vectors, and the selection
  conformance challenge verify record.json --backend exec:./runner
      run the same binary again, and compare its outputs
  conformance challenge verify record.json --no-selection
      in seconds: do not select again
\b
Exit codes: 0 all that was done is right; 1 a step failed; 2 wrong usage, or a
file that is no record, or one that was changed.
"""
)
@click.argument("file", metavar="RECORD", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--commitment", metavar="HASH", help="The commitment that was published.")
@backend_options("The backend, to run it again.")
@env_option
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="FILE",
    help="The specification of an operator that is not shipped; repeatable.",
)
@click.option("--no-selection", is_flag=True, help="Do not select the cases again.")
@processes_option
@click.pass_context
def verify(
    ctx: click.Context,
    file: Path,
    commitment: str | None,
    backend: str | None,
    env: str | None,
    ops: tuple[str, ...],
    no_selection: bool,
    processes: int,
) -> None:
    """Check a record, and say what was checked.

    The case list is evaluated here, and inputs and expected values are compared. Under the same
    versions the cases are selected again. With the backend at hand it is run again, and its outputs
    are compared.
    """
    from conformance.challenge.record import read_record
    from conformance.challenge.verify_record import (
        Step,
        StepOutcome,
        VerifierInputs,
        verification_steps,
    )
    from conformance.cli.progress import Progress
    from conformance.errors import EXIT_NOT_CONFORMANT, UsageError
    from conformance.run.executor_options import Isolation
    from conformance.safe_text import wrap
    from conformance.specification import find_spec, select_specs

    if env is not None and backend is None:
        raise UsageError("--env needs --backend", hint="add --backend NAME")
    record = read_record(file)
    specs = select_specs(ops, ()) if ops else {}
    steps: list[Step] = []
    with Progress(1, "verifying") as progress:
        inputs = VerifierInputs(
            find=lambda op: specs.get(op) or find_spec(op),
            published=commitment or "",
            executor=None
            if backend is None
            else lambda: Isolation("process", processes, env=env, hashed=True).executor_for(
                backend
            ),
            reselect=not no_selection,
            processes=processes,
            progress=progress.at,
        )
        for step in verification_steps(record, inputs):
            steps.append(step)
            lines = wrap(f"{step.outcome.value:9} {step.text}", 78, " " * 22, f"{step.name:11} ")
            click.echo("\n".join(lines))
    failed = [step.name for step in steps if step.outcome is StepOutcome.FAILED]
    skipped = [step.name for step in steps if step.outcome is StepOutcome.SKIPPED]
    click.echo()
    click.echo("\n".join(wrap(record.conclusion["claim"], 78)))
    if failed:
        click.echo(f"The record does not verify: {', '.join(failed)}.")
        ctx.exit(EXIT_NOT_CONFORMANT)
    remark = f" Not checked: {', '.join(skipped)}." if skipped else ""
    click.echo(f"What was checked is right.{remark}")


def _identity(backend: str, env: str | None) -> Identity:
    from conformance.run.executor_options import Isolation

    return _load_identity(Isolation("process", env=env, hashed=True).executor_for(backend))


def _load_identity(executor: Executor) -> Identity:
    """Return the name and the components of a backend, which is imported but not run."""
    from conformance.cli.streams import kept_clean

    with kept_clean(), executor:
        return executor.identity


def _not_hashed(components: Sequence[Component]) -> str:
    missing = (component for component in components if not component.sha256)
    return ", ".join(f"{component.kind} {component.name}" for component in missing)
