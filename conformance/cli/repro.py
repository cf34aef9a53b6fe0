"""``conformance repro``: a standalone script that reproduces a failure."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.options import backend_options, env_option, grading_options, suite_option
from conformance.errors import EXIT_NOT_CONFORMANT, EXIT_USAGE

if TYPE_CHECKING:
    from conformance.model import Vector
    from conformance.repro.script_run import ScriptRun
    from conformance.suite.store import Suite

MAX_SECONDS = 1e6
ISSUE = 65_536
"""Characters that an issue on GitHub may have."""

EXAMPLES = """
\b
Examples:
  conformance repro 1a2b3c4d --backend openvino
      the script on standard output, to paste into an issue
  conformance repro 1a2b3c4d --backend path/to/mylib.py:MyLib --out wrong.py
      your own backend; run the script with: python wrong.py
  conformance repro 1a2b3c4d --backend torch --level should
      a failure found with conformance check --level should

The script needs numpy (and ml_dtypes for bf16) and the library that it tests, not this package
unless your own backend imports it.
It exits with 1 if the output is wrong, with 0 if it is right and with 2 if nothing could be
tested. It is run once, in a separate process, and its header records the result. The backend is
called once as a check does; where it passes or fails in another way, the command says so and
ends with 1. Your own
backend is imported from its file, which a script written with --out finds from its own place. A
backend with a method reproduce() supplies the call itself; see docs/reproduce.md. It is
loaded in a separate process, so a crash or hang there ends with an error.
"""

PASSES = (
    "if it failed in a run, its result differs from call to call or depends on earlier calls: "
    "conformance check with --repeat 3, and with --shuffle 1"
)
"""What to do about a failure that a script does not reproduce."""


@click.command(epilog=EXAMPLES)
@click.argument("vector_id", metavar="ID")
@backend_options("The backend that fails.", required=True)
@env_option
@suite_option
@grading_options("As in conformance check.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the script into this file.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, max=MAX_SECONDS, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds for loading the backend, and seconds for the script.",
)
@click.pass_context
def repro(
    ctx: click.Context,
    vector_id: str,
    backend: str,
    env: str | None,
    suite: str | None,
    level: str,
    precision: str,
    out: Path | None,
    timeout: float,
) -> None:
    """Write a standalone script that reproduces a failure."""
    from conformance.report.registry import write_text
    from conformance.suite.store import open_suite

    opened = open_suite(suite)
    vector = opened.find(vector_id)
    beside = None if out is None else out.parent
    text, run, difference = make_script(
        opened, vector, backend, env, level, precision, timeout, beside
    )
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text, hint="name another file: --out FILE")
        click.echo(f"script: {out}", err=True)
    click.echo(f"run once, it {run.ending}", err=True)
    if difference:
        click.echo(f"it does not reproduce what the backend does: {difference}", err=True)
    elif run.code == 0:
        click.echo(f"  hint: {PASSES}", err=True)
    if run.code == EXIT_USAGE:  # it tested nothing, and says why
        click.echo("\n".join(run.printed), err=True)
    if len(text) > ISSUE:
        click.echo(
            f"{len(text):,} characters, more than a GitHub issue may have: attach it", err=True
        )
    if difference:
        ctx.exit(EXIT_NOT_CONFORMANT)


def make_script(
    suite: Suite,
    vector: Vector,
    backend: str,
    env: str | None,
    level: str,
    precision: str,
    timeout: float,
    beside: Path | None = None,
) -> tuple[str, ScriptRun, str]:
    """Write the script that reproduces a backend's call on a vector, and run it once.

    Args:
        beside: the folder that it will be written into; None if that is unknown.

    Returns:
        The script, its run, and how a check of the backend differs, if it does.

    Raises:
        ConformanceError: as :func:`conformance.repro.backend_source.request_source` and
            :func:`conformance.repro.script.script` raise it.
    """
    from conformance.backends.layouts import image_tensors, layout_for
    from conformance.grade.precision import parse_precision
    from conformance.repro.agreement import disagreement
    from conformance.repro.backend_source import request_source
    from conformance.repro.script import script
    from conformance.repro.script_run import run_script, versions
    from conformance.run.worker_python import python_of

    precisions, spec = parse_precision(precision), suite.specs.get(vector.case.op)
    python = None if env is None else python_of(env)
    images = frozenset() if spec is None else image_tensors(spec)
    source = request_source(backend, vector, timeout, python, images)
    layout = layout_for(source.declared, spec, vector.case)
    arguments = (vector, spec, source.call, source.backend, suite.name, level, precisions)
    write = partial(script, *arguments, layout=layout)
    # It is run in a temporary folder, so this version names the backend as the user did.
    run = run_script(write(), timeout, python)
    difference = disagreement(run, vector, backend, suite.specs, level, precisions, timeout, env)
    observed = run.lines(versions(python))
    if difference:
        observed = (*observed, f"This does not reproduce what the backend does: {difference}.")
    return write(observed=observed, beside=beside), run, difference
