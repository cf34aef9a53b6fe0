"""``conformance matrix``: several backends, or versions of one, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.check_options import CheckOptions
from conformance.cli.formats import page, write
from conformance.cli.matrix_backends import MatrixBackend, parse_matrix_backends
from conformance.cli.options import (
    check_options,
    cluster_options,
    grading_options,
    process_options,
    selection_options,
)
from conformance.cli.remote_paths import TargetPath
from conformance.cli.run_check import LOG, exit_code, run_check
from conformance.cli.worker_options import WorkerOptions
from conformance.errors import EXIT_INCONCLUSIVE, EXIT_OK, BackendError, Interrupted, UsageError

if TYPE_CHECKING:
    from conformance.parallel import Workers
    from conformance.report.matrix import Column

EXAMPLES = """
\b
Examples:
  conformance matrix --backend openvino --backend torch --out reports/matrix
      two backends side by side
  conformance matrix --backend torch --backend old=torch@venvs/old --out out
      two versions of one; the old one in its own virtual environment
  conformance matrix --backend openvino --backend torch --out out --resume
      resume an interrupted matrix
  conformance matrix --backend jax --backend torch --out m --cluster local:2
      by the workers of a Dask cluster; docs/cluster.md
\b
A backend is [LABEL=]NAME[@VENV]. NAME is what conformance check --backend
takes. VENV is the virtual environment in which it runs, like --env of check.
LABEL is its name in the matrix; it is needed if two backends have the same
NAME. The run log and page of each backend are in DIR/LABEL. DIR also holds
comparison.html, which compares all runs, and matrix.md, a table for a README.
Backends run one after the other, in worker processes. A backend that cannot
be loaded is shown as not run, and the others still run.
\b
Exit codes: that of the worst backend: 0 all are conformant; 4 one is
inconclusive; 1 one is not conformant; 2 one cannot be loaded; 130 interrupted
(143 by SIGTERM, 129 by SIGHUP), with the results so far.
"""

INTERRUPTED = "The matrix was interrupted before this backend."


@click.command(epilog=EXAMPLES)
@click.option(
    "--backend",
    "backends",
    required=True,
    multiple=True,
    metavar="[LABEL=]NAME[@VENV]",
    help="A backend to test, and where; repeatable; see below.",
)
@click.option(
    "--out",
    required=True,
    type=TargetPath(),
    metavar="DIR",
    help="Write the matrix into this folder.",
)
@selection_options
@grading_options()
@process_options
@check_options("repeat", "min_strength")
@cluster_options
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the runs in the --out folder; those that are complete are kept.",
)
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    backends: tuple[str, ...],
    out: Path,
    suite: str | None,
    resume: bool,
    cluster: str | None,
    insecure: bool,
    **settings: Any,
) -> None:
    """Test several backends, or several versions of one, side by side."""
    from conformance.verdict import Verdict

    matrix_backends = parse_matrix_backends(backends)
    processes = 1 if cluster is None else settings["jobs"] or 1
    worker_options = WorkerOptions(processes, cluster, insecure)
    _remove_tables(out)
    columns: list[Column] = []
    codes = [EXIT_OK]
    options = CheckOptions(**settings, executor="process")
    try:
        with worker_options.working() as workers:
            for backend in matrix_backends:
                backend_options = replace(options, env=backend.env)
                column, code = _check_backend(backend, suite, backend_options, workers, out, resume)
                columns.append(column)
                codes.append(code)
                if column.run is not None and column.run.verdict is Verdict.INTERRUPTED:
                    break
    except KeyboardInterrupt as error:  # while a backend was loaded there is no run yet
        codes.append((error if isinstance(error, Interrupted) else Interrupted(2)).exit_code)
    _write_tables(columns, matrix_backends, out)
    # A failure is worse than a low strength, whatever the numbers.
    ctx.exit(max(codes, key=lambda code: (code != EXIT_OK, code != EXIT_INCONCLUSIVE, code)))


def _check_backend(
    backend: MatrixBackend,
    suite: str | None,
    options: CheckOptions,
    workers: int | Workers,
    out: Path,
    resume: bool,
) -> tuple[Column, int]:
    """Check a backend; return its column, and the exit code of its check."""
    from conformance.report.matrix import Column

    folder = out / backend.label
    report_targets = (page(folder, "--out"),)
    click.echo(f"{backend.label}:", err=True)
    try:
        run = run_check(
            suite,
            backend.backend,
            options,
            out=folder,
            reports=report_targets,
            resume=resume,
            workers=None if isinstance(workers, int) else workers,
        )
    except BackendError as error:
        click.echo(f"error: {error}", err=True)
        return Column(None, backend.label, error.message), error.exit_code
    click.echo(f"log: {folder / LOG}", err=True)
    write(run.log, report_targets)
    return Column(run.log, backend.label), exit_code(run)


def _remove_tables(out: Path) -> None:
    """Remove the tables of an earlier matrix, in case this one is killed."""
    from conformance.report import comparison_page, scoreboard
    from conformance.report.matrix import FILE

    for name in (comparison_page.FILE, scoreboard.FILE, FILE):
        try:
            (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"{out / name}: cannot be replaced: {error.strerror or error}",
                hint="name another folder: --out DIR",
            ) from error


def _write_tables(
    columns: list[Column], matrix_backends: Sequence[MatrixBackend], out: Path
) -> None:
    """Write the table, the scoreboard and the comparison, and print the table."""
    from conformance.cli.text import terminal
    from conformance.report import comparison_page, scoreboard
    from conformance.report.matrix import FILE, Column, matrix_markdown, matrix_text
    from conformance.report.registry import write_text

    not_run = matrix_backends[len(columns) :]
    columns = [*columns, *(Column(None, backend.label, INTERRUPTED) for backend in not_run)]
    hint = "name another folder: --out DIR"
    try:
        path = write_text(out / FILE, matrix_markdown(columns), hint=hint)
        click.echo(f"table: {path}", err=True)
        if any(column.run is not None for column in columns):
            compared = comparison_page.render(columns)
            path = write_text(out / comparison_page.FILE, compared, hint=hint)
            click.echo(f"comparison: {path}", err=True)
            path = write_text(out / scoreboard.FILE, scoreboard.render(columns), hint=hint)
            click.echo(f"scoreboard: {path}", err=True)
    finally:  # the table is printed even if a file cannot be written
        click.echo(matrix_text(columns, **terminal()))
