"""``conformance matrix``: several backends, or versions of one, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.checking import LOG, checked, exit_code
from conformance.cli.crew import Crew
from conformance.cli.entrants import Entrant, entrants
from conformance.cli.formats import page, write
from conformance.cli.options import (
    CHECK_LEVEL,
    CHECK_PRECISION,
    cluster_options,
    min_strength_option,
    process_options,
    question_options,
    repeat_option,
    selection_options,
)
from conformance.cli.places import TargetPath
from conformance.errors import EXIT_INCONCLUSIVE, EXIT_OK, BackendError, Interrupted, UsageError

if TYPE_CHECKING:
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
@question_options(CHECK_LEVEL, CHECK_PRECISION)
@process_options
@repeat_option
@min_strength_option
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
    ops: tuple[str, ...],
    suite: str | None,
    resume: bool,
    cluster: str | None,
    insecure: bool,
    **asked: Any,
) -> None:
    """Test several backends, or several versions of one, side by side."""
    from conformance.verdict import Verdict

    chosen = entrants(backends)
    crew = Crew(1 if cluster is None else asked["jobs"] or 1, cluster, insecure)
    _clear(out)
    columns: list[Column] = []
    codes = [EXIT_OK]
    asked |= {"ops": ops or None, "executor": "process"}
    try:
        with crew.working() as workers:
            asked["workers"] = None if isinstance(workers, int) else workers
            for entrant in chosen:
                column, code = _graded(entrant, suite, out, resume, asked)
                columns.append(column)
                codes.append(code)
                if column.run is not None and column.run.verdict is Verdict.INTERRUPTED:
                    break
    except KeyboardInterrupt as stopped:  # while a backend was loaded there is no run yet
        codes.append((stopped if isinstance(stopped, Interrupted) else Interrupted(2)).exit_code)
    _show(columns, chosen, out)
    # A failure is worse than too little evidence, whatever the numbers.
    ctx.exit(max(codes, key=lambda code: (code != EXIT_OK, code != EXIT_INCONCLUSIVE, code)))


def _graded(
    entrant: Entrant, suite: str | None, out: Path, resume: bool, asked: dict[str, Any]
) -> tuple[Column, int]:
    """What becomes of one backend, and the exit code of its check."""
    from conformance.report.matrix import Column

    folder = out / entrant.label
    wanted = (page(folder, "--out"),)
    click.echo(f"{entrant.label}:", err=True)
    try:
        run = checked(
            suite,
            entrant.backend,
            report=folder,
            wanted=wanted,
            resume=resume,
            env=entrant.env,
            **asked,
        )
    except BackendError as error:
        click.echo(f"error: {error}", err=True)
        return Column(None, entrant.label, error.message), error.exit_code
    click.echo(f"log: {folder / LOG}", err=True)
    write(run.log, wanted)
    return Column(run.log, entrant.label), exit_code(run)


def _clear(out: Path) -> None:
    """Remove what an earlier matrix said, which must not be taken for what this one says."""
    from conformance.report import comparison_page
    from conformance.report.matrix import FILE

    for name in (comparison_page.FILE, FILE):
        try:
            (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"{out / name}: cannot be replaced: {error.strerror or error}",
                hint="name another folder: --out DIR",
            ) from error


def _show(columns: list[Column], chosen: Sequence[Entrant], out: Path) -> None:
    from conformance.cli.text import terminal
    from conformance.report import comparison_page
    from conformance.report.matrix import FILE, Column, matrix_markdown, matrix_text
    from conformance.report.registry import write_text

    left = chosen[len(columns) :]
    columns = [*columns, *(Column(None, one.label, INTERRUPTED) for one in left)]
    hint = "name another folder: --out DIR"
    try:
        path = write_text(out / FILE, matrix_markdown(columns), hint=hint)
        click.echo(f"table: {path}", err=True)
        if any(column.run is not None for column in columns):
            compared = comparison_page.render(columns)
            path = write_text(out / comparison_page.FILE, compared, hint=hint)
            click.echo(f"comparison: {path}", err=True)
    finally:  # whatever cannot be written, the runs are told
        click.echo(matrix_text(columns, **terminal()))
