"""``conformance grade-kernel``: grade a kernel of unknown origin."""

from __future__ import annotations

import shlex
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.choices import SHIPPED_SUITES
from conformance.cli.options import (
    grading_options,
    partition_options,
    process_options,
)

if TYPE_CHECKING:
    from conformance.suite.store import Suite

SUITE = "suite"
"""The folder of the vectors, in the report folder."""

EXAMPLES = """
\b
Examples:
  conformance grade-kernel avg.py --op AvgPool-1
      a Python file with a function of numpy arrays, called kernel
  conformance grade-kernel my.py --op torch.avg_pool-2 --ranks 4 --dtypes f32
      a class ModelNew with forward, as KernelBench has it; f32 images alone
  conformance grade-kernel avg.py --op AvgPool-1 --suite smoke
      a few vectors, for a first look
  conformance grade-kernel avg.py --op AvgPool-1 --require-isolation 1
      refuse to grade where the kernel could read this machine
  conformance grade-kernel exec:./runner --op AvgPool-1
      a program in any language; see docs/protocol.md
  conformance grade-kernel "exec:docker run -i k" --op AvgPool-1 --isolation 2
      a program in a container of your own
\b
The data come from a seed that is drawn now and shown at the end. Each vector
is run twice, some again with other data in the same memory. The kernel's
process has no expected values, vectors or seed. docs/grade-kernel.md says
what a kernel file defines, and what each level of isolation protects from.
\b
Exit codes: as conformance check: 0 conformant, or no failure in a smoke
suite; 1 refused; 2 wrong usage; 4 inconclusive.
"""


@click.command("grade-kernel", epilog=EXAMPLES)
@click.argument("kernel", metavar="FILE|exec:COMMAND")
@click.option("--op", required=True, metavar="OP", help="The operator, or a specification file.")
@click.option(
    "--convention",
    type=click.Choice(["auto", "arrays", "tensors", "module"]),
    default="auto",
    show_default=True,
    help="arrays: a function of numpy arrays. tensors: of torch tensors. module: a class with "
    "forward.",
)
@click.option(
    "--suite",
    type=click.Choice(SHIPPED_SUITES),
    default="core",
    show_default=True,
    help="smoke: few vectors, no claim.",
)
@partition_options
@grading_options()
@click.option(
    "--isolation",
    type=click.IntRange(0, 2),
    metavar="N",
    help="0: a process. 1: another user or a user namespace, its own files, no network. 2: "
    "your own container (exec: only). Default: 1 where it can be had, else 0.",
)
@click.option(
    "--require-isolation",
    type=click.IntRange(0, 2),
    default=0,
    show_default=True,
    metavar="N",
    help="Refuse to grade at a lower level.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="Repeat a run with its seed. Default: a seed that nobody knows.",
)
@process_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a run log, an HTML page and the vectors into this folder.",
)
@click.pass_context
def grade_kernel(
    ctx: click.Context,
    kernel: str,
    op: str,
    convention: str,
    suite: str,
    dtypes: tuple[str, ...],
    ranks: tuple[int, ...],
    level: str,
    precision: str,
    isolation: int | None,
    require_isolation: int,
    seed: int | None,
    jobs: int | None,
    timeout: float | None,
    memory: str | None,
    out: Path | None,
) -> None:
    """Grade a kernel of unknown origin on data that it cannot have seen."""
    from conformance.check_options import CheckOptions
    from conformance.cli.formats import page, targets
    from conformance.cli.progress import Progress
    from conformance.cli.run_check import LOG, run_check, write_reports
    from conformance.kernels.interface import make_run
    from conformance.kernels.preparation import KernelRequest, prepare_kernel
    from conformance.run.limits import DEFAULT_TIMEOUT
    from conformance.run.partition_filter import PartitionFilter
    from conformance.suite.writer import check_target

    report_targets = targets((), out, log=out and out / LOG)
    suite_folder = None
    if out is not None:
        report_targets = (page(out, "--out"), *report_targets)
        suite_folder = out / SUITE
        check_target(suite_folder, ())
    partitions = PartitionFilter.of(dtypes, ranks)
    request = KernelRequest(
        op=op,
        convention=convention,
        level=level,
        precision=precision,
        suite=suite,
        seed=seed,
        isolation=isolation,
        required=require_isolation,
        dtypes=partitions.dtypes,
        ranks=partitions.ranks,
        jobs=jobs or 1,
        timeout=timeout or DEFAULT_TIMEOUT,
        memory=memory,
    )
    with ExitStack() as stack:
        with Progress(1, "generating") as progress:
            prepared = stack.enter_context(prepare_kernel(kernel, request, progress.at))
        run = run_check(
            str(prepared.suite.path),
            prepared.executor,
            CheckOptions(level=level, precision=precision),
            out=out,
            reports=report_targets,
            kept=suite_folder,
        )
        graded = make_run(prepared, run)
        if suite_folder is not None:
            _copy_suite(prepared.suite, suite_folder)
    write_reports(run, report_targets, out)
    if run.findings:
        click.echo(_show_hint(run.findings[0].smallest, suite_folder))
    for remark in graded.remarks:
        click.echo(remark)
    ctx.exit(graded.exit_code)


def _copy_suite(suite: Suite, out: Path) -> None:
    """Copy the suite from a temporary folder, which the kernel could not read."""
    from conformance.suite.writer import new_suite_folder

    with new_suite_folder(out, ()) as new:
        shutil.copytree(suite.path, new, dirs_exist_ok=True)


def _show_hint(vector_id: str, suite_folder: Path | None) -> str:
    """Return a hint how to show a vector that failed."""
    if suite_folder is None:
        return "Its vectors are not kept; --out DIR keeps them, for conformance show."
    command = ["conformance", "show", vector_id, "--suite", str(suite_folder)]
    return f"To see a vector: {shlex.join(command)}"
