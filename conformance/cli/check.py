"""``conformance check``: test a backend."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.check_options import OPTIONS, CheckOptions, Section, options_of
from conformance.cli.complete_suite import complete_in_time
from conformance.cli.formats import format_option, page, targets
from conformance.cli.options import backend_options, check_options, cluster_options, suite_option
from conformance.cli.remote_paths import TargetPath
from conformance.cli.run_check import LOG, exit_code, run_check, write_reports
from conformance.cli.sections import SectionedCommand, Sections
from conformance.cli.worker_options import WorkerOptions
from conformance.errors import EXIT_INCONCLUSIVE, UsageError

if TYPE_CHECKING:
    from conformance.api import Run

SUITE = "suite"
"""Where the --out folder keeps a completed suite."""

EXAMPLES = """
\b
Examples:
  conformance check --backend openvino
      all operators of the shipped suite
  conformance check --backend path/to/mylib.py:MyLib --out reports/mylib
      your own backend, with a run log and an HTML page
  conformance check --backend numpy --op AvgPool-1 --level should
      one operator; only the expected interpretation passes
  conformance check --backend torch --precision f16=native,bf16=native
      f16 and bf16 may accumulate in their own type; other types: standard
  conformance check --backend mylib --dtypes f32,f16 --ranks 4
      only images in f32 and f16; the claim is about these
  conformance check --backend numpy --only f32-1x1x2 --only 1a2b3c4d
      vectors whose id begins or ends with one of these
  conformance check --backend mylib -j 4 --timeout 5 --memory 2G
      four processes; a hang or too much memory is an error
  conformance check --backend onnxruntime --env venvs/ort-1.14
      another version, installed in that virtual environment
  conformance check --backend torch --option device=cuda --option threads=2
      options; the same as --backend "torch?device=cuda&threads=2"
  conformance check --backend mylib.py --complete --out out
      the shipped suite, plus the vectors that it lacks for mylib
  conformance check --backend mylib --known-failures known.yaml --strict
      fail on new failures only; see conformance baseline --help
  conformance check --backend torch --out out --format junit --format sarif
      also write out/junit.xml and out/conformance.sarif, for CI
  conformance check --backend numpy --out out --resume
      resume an interrupted run
  conformance check --backend numpy --out out/3 --shard 3/8
      shard 3 of 8, one per machine; then: conformance merge
  conformance check --backend mylib --out out --cluster tls://lab:8786
      shards on the workers of a Dask cluster, merged; docs/cluster.md
\b
A backend is a name (see conformance backends), a package.module:object that
can be imported, or a path/to/file.py:object. The object is a function
run(op, inputs, attributes), or a class or instance with a name, a version and
such a method.
\b
Exit codes: 0 conformant, or only known failures; 1 new failures, something
required not supported, or nothing graded; 2 wrong usage; 3 a defect in this
tool; 4 inconclusive: no failure, but too few mutants killed, strength unknown
or too few vectors graded because of what is declared; 130 interrupted
(143 by SIGTERM, 129 by SIGHUP), with a report. A partial run (--only,
--shard, smoke, drawn) makes no claim; it ends with 0 if nothing fails.
"""

SECTIONS: Sections = {
    Section.TESTED: (
        *("backend", "option", "suite", "suite_digest"),
        *(*options_of(Section.TESTED), "complete"),
    ),
    Section.GRADED: options_of(Section.GRADED),
    Section.RUN: options_of(Section.RUN),
    Section.GATE: options_of(Section.GATE),
    Section.REPORTS: ("out", "formats", "resume"),
    Section.SHARDS: (*options_of(Section.SHARDS), "cluster", "insecure"),
}
"""The parameters of the command, by the heading of their section in the help."""


@click.command(cls=SectionedCommand, sections=SECTIONS, epilog=EXAMPLES)
@backend_options("The backend to test; see below.", required=True)
@check_options(*OPTIONS)
@suite_option
@click.option(
    "--suite-digest",
    metavar="SHA256",
    help="Fail if the suite has another digest, which every run prints; its first 8 digits are "
    "enough. See docs/ci.md on upgrades.",
)
@click.option(
    "--complete/--no-complete",
    default=None,
    help="Add vectors for mutants that the suite leaves alive in what the backend declares to "
    "support. The completed suite is kept in the --out folder. Without either option a check of "
    "the shipped suite that would be inconclusive does so, if it takes no more than 60 s.",
)
@click.option(
    "--out",
    type=TargetPath(),
    metavar="DIR",
    help="Write a run log and an HTML page into this folder, or to an address such as s3://.",
)
@format_option("the --out folder")
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the run in the --out folder: vectors that have a result are not run again. "
    "Starts a new run if the folder has no run log.",
)
@cluster_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    backend: str,
    suite: str | None,
    suite_digest: str | None,
    complete: bool | None,
    out: Path | None,
    formats: tuple[str, ...],
    resume: bool,
    cluster: str | None,
    insecure: bool,
    **settings: Any,
) -> None:
    """Test a backend against a suite of vectors."""
    reports = targets(formats, out, log=out and out / LOG)
    if out is not None:
        reports = (page(out, "--out"), *reports)
    options = CheckOptions(**settings)
    processes = 1 if cluster is None else options.jobs or 1
    worker_options = WorkerOptions(processes, cluster, insecure)
    if cluster is not None and (options.shard is not None or options.executor == "inline"):
        raise UsageError(
            "--cluster cannot be combined with --shard or --executor inline",
            hint="leave them out: a cluster makes shards, and runs the backend in processes",
        )
    if suite_digest is not None:
        confirm_digest(suite, suite_digest)
    if complete:
        suite = _complete(suite, backend, options, out, resume)
    with worker_options.working() as workers:

        def run_on(suite: str | None, *, resume: bool) -> Run:
            return run_check(
                suite,
                backend,
                options,
                out=out,
                reports=reports,
                resume=resume,
                workers=None if isinstance(workers, int) else workers,
            )

        run = run_on(suite, resume=resume)
        may_complete = complete is None and suite is None and cluster is None
        if may_complete and run.footer["exit_code"] == EXIT_INCONCLUSIVE:
            folder = complete_in_time(run, backend, options)
            run = run if folder is None else run_on(str(folder), resume=False)
    try:
        write_reports(run, reports, out)
    finally:
        if out is not None and run.footer["interrupted"]:
            click.echo("to resume: run the same command with --resume", err=True)
    ctx.exit(exit_code(run))


def confirm_digest(suite: str | None, digest: str) -> None:
    """Check that a suite is the one for which a gate was made.

    Raises:
        UsageError: it has another digest, or ``digest`` is not at least 8 hexadecimal digits.
    """
    from conformance.suite.store import open_suite

    if re.fullmatch("[0-9a-f]{8,64}", digest) is None:
        raise UsageError(
            f"--suite-digest {digest[:80]!r} is not 8 to 64 hexadecimal digits",
            hint="give the sha256 that a run prints behind its claim",
        )
    opened = open_suite(suite)
    if not opened.digest.startswith(digest):
        raise UsageError(
            f"the suite has the digest {opened.digest[: len(digest)]}, not {digest}",
            hint="install the version of the package that the gate was made for; or run without "
            "--suite-digest, look at what is new, and give the digest of today",
        )


def _complete(
    suite: str | None, backend: str, options: CheckOptions, out: Path | None, resume: bool
) -> str | None:
    """Complete a suite for a backend, and return the result as ``--suite`` names it.

    Raises:
        UsageError: there is no folder to keep it in, or the suite makes no claim.
    """
    from conformance.cli.complete_suite import complete_suite
    from conformance.run.partition_filter import PartitionFilter
    from conformance.run.worker_python import python_of
    from conformance.suite.store import open_suite
    from conformance.verdict import NO_CLAIM

    if out is None:
        raise UsageError(
            "--complete needs --out, the folder that keeps the completed suite",
            hint="add --out DIR",
        )
    if options.env_name is not None:
        python_of(options.env_name)
    base, folder = open_suite(suite), out / SUITE
    if base.name in NO_CLAIM:
        raise UsageError(
            f"--complete cannot be combined with {NO_CLAIM[base.name]}, which makes no claim",
            hint="leave --suite out",
        )
    if resume and folder.is_dir():
        return str(folder)
    completed = complete_suite(
        base,
        options.ops,
        backend,
        folder,
        processes=options.jobs or 1,
        seed=0,
        env=options.env_name,
        partitions=PartitionFilter.of(options.dtypes, options.ranks),
    )
    return suite if completed is base else str(folder)
