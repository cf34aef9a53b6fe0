"""The command line: one module a command, imported when the command runs."""

from __future__ import annotations

import difflib
import gc
import importlib
import sys
import traceback
from contextlib import suppress
from typing import Any

import click

from conformance import __version__
from conformance.cli import streams
from conformance.errors import EXIT_DEFECT, EXIT_INTERRUPTED, ConformanceError, Interrupted
from conformance.report.visible import visible
from conformance.run.interruption import handled

EXIT_BROKEN_PIPE = 141
"""What a shell reports for a command that SIGPIPE ended."""

COMMANDS = {
    "check": "Grade a backend on a suite of vectors.",
    "matrix": "Grade several backends, or versions of one, and compare them.",
    "backends": "List the backends that are known by name.",
    "show": "Show one vector, so that a person can follow it.",
    "repro": "Write a script that shows what a backend gets wrong, without this tool.",
    "generate": "Generate a suite of test vectors from the operators' specifications.",
    "audit": "Measure a suite: which of the known faults it notices.",
    "coverage": "Measure a suite: which edges and pairs of edges it shows.",
    "merge": "Join the run logs of all shards into one run.",
    "compare": "Compare two runs: which causes are fixed, and which are new.",
    "baseline": "Write a file of known failures from a run's own.",
    "report": "Show a run again, or several side by side, from logs alone.",
    "docs": "Write pages about operators: what each specification says, with pictures.",
    "spec": "Look at operator specifications.",
    "suite": "Check, complete and record suites of vectors.",
}
"""Each command and what it does; it is the object of that name in the module of that name."""

EPILOG = """
\b
Start here:
  conformance backends                     which backends are at hand
  conformance check --backend numpy        grade one
  conformance check --help                 how to grade your own
\b
Exit codes:
  0  conformant: everything that was asked and is supported passed; or a gate
     that knows of all failures; or no failure in a run that makes no claim
  1  not conformant, or nothing was graded, or a gate is not met
  2  wrong usage, or a specification, suite or log that cannot be used
  3  a defect in this tool
  4  inconclusive: nothing failed, and too few mutants were killed to tell
  130  interrupted; or 128 and the number of another signal that ended it, as
       143 for SIGTERM
"""


class Commands(click.Group):
    """The command group: lazy, and with one place where errors become messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"conformance.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        close = difflib.get_close_matches(args[0], COMMANDS, n=1)
        if args[0] not in COMMANDS and close:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **more: Any) -> Any:
        streams.open_all()
        try:
            return super().main(*args, **more)
        except OSError as error:
            known = streams.explained(error)
            if known is None:
                raise
            sys.exit(_told(known))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            try:
                with handled(_interrupt):
                    return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except ConformanceError as error:
            ctx.exit(_told(error))
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt as error:
            with suppress(OSError):
                click.echo("interrupted", err=True)
            ctx.exit(error.exit_code if isinstance(error, Interrupted) else EXIT_INTERRUPTED)
        except BrokenPipeError:
            streams.discard()
            ctx.exit(EXIT_BROKEN_PIPE)
        except Exception as error:
            if isinstance(error, OSError) and streams.explained(error):
                raise
            click.echo(traceback.format_exc(), err=True)
            click.echo(
                f"This is a defect in conformance {__version__} (not in your backend). "
                "Please report it, with the lines above and the command.",
                err=True,
            )
            ctx.exit(EXIT_DEFECT)


def _interrupt(number: int, *_frame: object) -> None:
    """Any signal that asks to end is treated as Ctrl-C is: what is under way is cleaned up."""
    raise Interrupted(number)


def _told(error: ConformanceError) -> int:
    """The exit code of an error, once it has been told as far as anybody can be told."""
    with suppress(OSError):
        click.echo(f"error: {visible(str(error))}", err=True)
    streams.discard()
    return error.exit_code


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="conformance")
def main() -> None:
    """Find out whether a backend computes neural-network operators as specified.

    A suite of vectors with exact expected values asks the questions, and each answer is judged
    against a proven error bound. Operators are described by YAML specifications.
    """
    # Nearly all that a command holds (specifications, a manifest, vectors) it keeps, and looking
    # through it for garbage as often as Python does takes a sixth of its time.
    gc.set_threshold(20_000)
