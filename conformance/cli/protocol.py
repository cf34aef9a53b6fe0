"""``conformance protocol``: for those who write a program as a backend."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.options import suite_option
from conformance.errors import EXIT_NOT_CONFORMANT

HEADER = "conformance.h"
WIDTH = 33


@click.group(
    epilog="""
\b
From nothing to a verdict:
  conformance protocol header --out conformance.h
      then write a program with it; docs/protocol.md has one of 50 lines
  cc -O2 -o runner runner.c
  conformance protocol test ./runner
  conformance check --backend exec:./runner
"""
)
def protocol() -> None:
    """Write a program in any language as a backend.

    A program reads requests from its standard input and writes responses to its standard output.
    docs/protocol.md describes the messages; for C and C++ there is a header file.
    """


@protocol.command(
    epilog="""
\b
Examples:
  conformance protocol header --out conformance.h
"""
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write it here, not to stdout."
)
def header(out: Path | None) -> None:
    """Print conformance.h, for programs in C and C++."""
    from conformance.report.registry import write_text
    from conformance.resources import directory

    text = (directory("clients") / "c" / HEADER).read_text(encoding="ascii")
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text, hint="name another file: --out FILE")
        click.echo(f"header: {out}", err=True)


@protocol.command(
    epilog="""
\b
Examples:
  conformance protocol test ./runner
  conformance protocol test "./runner --device 0" --timeout 60
"""
)
@click.argument("command")
@suite_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds that an answer may take.",
)
@click.pass_context
def test(ctx: click.Context, command: str, suite: str | None, timeout: float) -> None:
    """Check that a program keeps to the protocol.

    Each check starts the program anew. What it computes is not looked at; that is for conformance
    check. Exits with 1 if a check fails.
    """
    from conformance.backends.program import MARK
    from conformance.run.protocol_checks import checks
    from conformance.safe_text import visible
    from conformance.suite.store import open_suite

    failed = False
    spec = MARK + command.removeprefix(MARK)
    for check in checks(spec, open_suite(suite), timeout):
        failed |= check.passed is False
        mark = {True: "ok", False: "FAILED", None: "-"}[check.passed]
        first_line, *other_lines = visible(check.said).splitlines() or [""]
        click.echo(f"{mark:7} {check.name:{WIDTH}} {first_line}")
        for line in other_lines:
            click.echo(f"{'':{8 + WIDTH}} {line}")
    if failed:
        ctx.exit(EXIT_NOT_CONFORMANT)
