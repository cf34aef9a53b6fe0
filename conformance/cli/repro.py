"""``conformance repro``: a vector as a script that fails on its own."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from conformance.cli.options import env_option, question_options, suite_option

MAX_SECONDS = 1e6
ISSUE = 65_536
"""Characters that an issue on GitHub may have."""

EXAMPLES = """
\b
Examples:
  conformance repro 1a2b3c4d --backend openvino
      the script on standard output, to paste into an issue
  conformance repro 1a2b3c4d --backend path/to/mylib.py:MyLib --out wrong.py
      a backend of your own; run it with: python wrong.py
  conformance repro 1a2b3c4d --backend torch --level should
      what conformance check --level should found

The script needs numpy (for bf16 ml_dtypes too) and what it tests, not this
package. It exits with 1 where the answer is wrong, with 0 where it is right. It
is tried once, in a process of its own, and says in its head what came of it. A
backend of your own is imported from where it lies; one that has a method
reproduce() says its call itself, see docs/reproduce.md. It does so in another
process, so one that crashes or hangs while it is loaded ends with an error.
"""


@click.command(epilog=EXAMPLES)
@click.argument("vector_id", metavar="ID")
@click.option("--backend", required=True, metavar="NAME", help="What answers it wrongly.")
@env_option
@suite_option
@question_options(
    "As in conformance check.",
    "As in conformance check.",
)
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
    help="The most that loading the backend may take, and the most that the script may.",
)
def repro(
    vector_id: str,
    backend: str,
    env: str | None,
    suite: str | None,
    level: str,
    precision: str,
    out: Path | None,
    timeout: float,
) -> None:
    """Write a script that shows what a backend gets wrong, without this tool."""
    from conformance.grade.precision import parse_precision
    from conformance.report.registry import write_text
    from conformance.repro.account import account
    from conformance.repro.script import script
    from conformance.repro.trial import tried, versions
    from conformance.run.interpreter import python_of
    from conformance.suite.store import open_suite

    asked = parse_precision(precision)
    opened = open_suite(suite)
    vector = opened.find(vector_id)
    spec = opened.specs.get(vector.case.op)
    python = None if env is None else python_of(env)
    told = account(backend, vector, timeout, python)
    write = partial(script, vector, spec, told.call, told.backend, opened.name, level, asked)
    trial = tried(write(), timeout, python)
    text = write(observed=trial.lines(versions(python)))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text, hint="name another file: --out FILE")
        click.echo(f"script: {out}", err=True)
    click.echo(f"tried once, it {trial.ending}", err=True)
    if len(text) > ISSUE:
        click.echo(f"{len(text):,} characters are more than an issue may have: attach it", err=True)
