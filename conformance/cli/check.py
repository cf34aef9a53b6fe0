"""``conformance check``: grade a backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from conformance.cli.checking import LOG, checked, exit_code
from conformance.cli.formats import format_option, page, take_stdout, targets, write
from conformance.cli.options import (
    CHECK_LEVEL,
    CHECK_PRECISION,
    env_option,
    min_strength_option,
    process_options,
    question_options,
    repeat_option,
    selection_options,
)

SUITE = "suite"
"""Where the report folder keeps a completed suite."""

EXAMPLES = """
\b
Examples:
  conformance check --backend openvino
      everything in the shipped suite
  conformance check --backend path/to/mylib.py:MyLib --report reports/mylib
      your own backend, with a run log and an HTML page
  conformance check --backend numpy --op AvgPool-1 --level should
      one operator, allowing only the specification's own reading
  conformance check --backend torch --precision f16=native,bf16=native
      accumulation in f16 and bf16 is good enough, the rest at standard
  conformance check --backend numpy --only f32-1x1x2 --only 1a2b3c4d
      the vectors whose id begins, or ends, like one of these
  conformance check --backend mylib -j 4 --timeout 5 --memory 2G
      in four processes; what hangs or takes too much is an error
  conformance check --backend onnxruntime --env venvs/ort-1.14
      as it is installed in that virtual environment: another version of it
  conformance check --backend mylib.py --complete --report out
      the shipped suite, and what it lacks for what mylib declares
  conformance check --backend mylib --known-failures known.yaml --strict
      a gate that fails on new failures only: conformance baseline --help
  conformance check --backend torch --report out --format junit --format sarif
      for CI, out/junit.xml and out/conformance.sarif too
  conformance check --backend numpy --report out --resume
      resume an interrupted run
  conformance check --backend numpy --report out/3 --shard 3/8
      one of eight parts, for a machine of its own; then: conformance merge
\b
A backend is a name (conformance backends), a package.module:object, in the
current folder or installed, or a path/to/file.py:object. The object is a
function run(op, inputs, attributes), or a class or instance with name,
version and such a method.
\b
Exit codes: 0 conformant, or known failures alone; 1 new failures, something
required unsupported, or nothing graded; 2 wrong usage; 3 a defect in this
tool; 4 inconclusive: no failure, but too few mutants killed to tell; 130
interrupted, by SIGTERM 143, by SIGHUP 129, with a report. A run of some
vectors (--only, --shard, smoke) makes no claim, and is 0 if nothing fails.
"""


@click.command(epilog=EXAMPLES)
@click.option("--backend", required=True, metavar="NAME", help="What to grade; see below.")
@env_option
@selection_options
@question_options(CHECK_LEVEL, CHECK_PRECISION)
@click.option(
    "--executor",
    type=click.Choice(["process", "inline"]),
    help="process: the backend runs in processes of its own, so that a crash or a hang loses one "
    "vector. inline: in this one. Default: process, but inline for numpy and reference.",
)
@process_options
@repeat_option
@click.option(
    "--known-failures",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Failures that this YAML file names do not fail the run; it still is not conformant.",
)
@click.option(
    "--require",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fail if something that this YAML file lists is not supported.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Fail if known failures are out of date: they pass, match nothing or have expired.",
)
@min_strength_option
@click.option(
    "--complete",
    is_flag=True,
    help="Add what the suite lacks for what the backend declares: vectors for mutants that could "
    "show there, and that none of its vectors kills. The --report folder keeps the suite.",
)
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a run log and an HTML page into this folder.",
)
@format_option("the --report folder")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the run log in the --report folder: its results are kept, and not asked "
    "again. Begins anew where there is none.",
)
@click.option(
    "--shard",
    metavar="K/N",
    help="Only part K of N, which makes no claim; `conformance merge` joins the parts.",
)
@click.option(
    "--shuffle",
    type=click.IntRange(0, 2**32 - 1),
    metavar="SEED",
    help="Ask in another order; a verdict that changes with it depends on the order.",
)
@click.pass_context
def check(
    ctx: click.Context,
    backend: str,
    env: str | None,
    ops: tuple[str, ...],
    suite: str | None,
    only: tuple[str, ...],
    level: str,
    precision: str,
    executor: str | None,
    jobs: int | None,
    timeout: float | None,
    memory: str | None,
    repeat: int,
    known_failures: Path | None,
    require: Path | None,
    strict: bool,
    min_strength: float | None,
    complete: bool,
    report: Path | None,
    formats: tuple[str, ...],
    resume: bool,
    shard: str | None,
    shuffle: int | None,
) -> None:
    """Grade a backend on a suite of vectors."""
    from conformance.cli.text import terminal
    from conformance.report.terminal import summary

    wanted = targets(formats, report, log=report and report / LOG)
    if report is not None:
        wanted = (page(report, "--report"), *wanted)
    if complete:
        suite = _completed(suite, ops, backend, env, report, jobs, resume)
    run = checked(
        suite,
        backend,
        report=report,
        wanted=wanted,
        resume=resume,
        ops=ops or None,
        only=only,
        level=level,
        precision=precision,
        executor=executor,
        jobs=jobs,
        timeout=timeout,
        memory=memory,
        env=env,
        repeat=repeat,
        known_failures=known_failures,
        require=require,
        strict=strict,
        min_strength=min_strength,
        shuffle=shuffle,
        shard=shard,
    )
    try:
        write(run.log, wanted)
    finally:  # whatever cannot be written, the run is told
        if report is not None:
            click.echo(f"log: {report / LOG}", err=True)
        click.echo(summary(run.log, **terminal()), err=take_stdout(wanted))
        if report is not None and run.footer["interrupted"]:
            click.echo("to go on: the same command with --resume", err=True)
    ctx.exit(exit_code(run))


def _completed(
    suite: str | None,
    ops: Sequence[str],
    backend: str,
    env: str | None,
    report: Path | None,
    jobs: int | None,
    resume: bool,
) -> str | None:
    """The completed suite, as ``--suite`` names it."""
    from conformance.cli.completing import completed
    from conformance.errors import UsageError
    from conformance.run.verdict import SMOKE
    from conformance.suite.store import open_suite

    if report is None:
        raise UsageError(
            "--complete keeps the completed suite in the report folder, and none is given",
            hint="add --report DIR",
        )
    if env is not None:
        raise UsageError(
            "--complete loads the backend here, and --env has it elsewhere",
            hint="there: conformance suite complete --for BACKEND --out DIR; here: --suite DIR",
        )
    base, out = open_suite(suite), report / SUITE
    if base.name == SMOKE:
        raise UsageError(
            "the smoke suite makes no claim, so there is none to complete",
            hint="leave --suite out",
        )
    if resume and out.is_dir():
        return str(out)
    made = completed(base, ops, backend, out, processes=jobs or 1, seed=0)
    return suite if made is base else str(out)
