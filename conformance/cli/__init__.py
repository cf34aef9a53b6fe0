"""The command line: one module per command, imported when the command runs."""

from __future__ import annotations

import gc
import importlib
import sys
import traceback
from contextlib import suppress
from typing import Any

import click

from conformance import __version__
from conformance.cli import streams
from conformance.cli.sections import write_sections
from conformance.errors import (
    EXIT_DEFECT,
    EXIT_INTERRUPTED,
    BackendError,
    ConformanceError,
    Interrupted,
    UsageError,
    closest,
)
from conformance.run.interruption import handled
from conformance.safe_text import indented, visible

EXIT_BROKEN_PIPE = 141
"""What a shell reports for a command that SIGPIPE ended."""

SECTIONS = {
    "Test a backend": {
        "check": "Test a backend against a suite of vectors.",
        "fuzz": "Search for the smallest cases on which a backend is wrong.",
        "probe": "Infer how a backend sums, divides and rounds.",
        "challenge": "Test a backend on a suite that nobody could have seen.",
        "grade-kernel": "Grade a kernel of unknown origin on data that it cannot have seen.",
        "matrix": "Test several backends, or several versions of one, side by side.",
        "backends": "List the backends that have a name, or the options of one.",
    },
    "Look at a failure": {
        "show": "Show one vector and how its expected values are computed.",
        "repro": "Write a standalone script that reproduces a failure.",
    },
    "Runs and reports": {
        "report": "Make the report of a run, or a comparison of several, from run logs.",
        "compare": "Compare two runs: fixed causes and new causes.",
        "merge": "Merge the run logs of all shards into one run.",
        "baseline": "Write a file of known failures from a run log.",
    },
    "Suites": {
        "generate": "Generate a suite of test vectors from operator specifications.",
        "suite": "Check, measure, complete, record and pack suites of vectors.",
    },
    "Specifications": {"spec": "Show, describe and check operator specifications."},
    "Devices and other languages": {
        "export": "Write the inputs of vectors for a device this machine cannot reach.",
        "check-outputs": "Grade the outputs that a device computed from an export.",
        "protocol": "Write a program in any language as a backend.",
    },
}
"""What each command does, by the heading of its section in the help."""

COMMANDS = {name: purpose for section in SECTIONS.values() for name, purpose in section.items()}
"""What each command does; it is the object of that name, with _ for -, in its module."""

EPILOG = """
\b
Start here:
  conformance backends                     list the backends that have a name
  conformance check --backend numpy        test one of them
  conformance check --help                 how to test your own
\b
Exit codes:
  0  conformant: every supported vector passed; or all failures are known; or
     a partial run, which makes no claim, has no failure
  1  not conformant, or nothing was graded, or a gate is not met
  2  wrong usage, or a specification, suite or log that cannot be used
  3  a defect in this tool
  4  inconclusive: no failure, but the passing vectors kill too few mutants,
     or too few are graded
  130  interrupted by Ctrl-C; for another signal 128 plus its number, such as
       143 for SIGTERM
"""


class Commands(click.Group):
    """The command group: lazy, and the only code that prints errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(importlib.import_module(f"conformance.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and (hint := self._suggestion(ctx, args[0])):
            ctx.fail(f"no such command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def _suggestion(self, ctx: click.Context, word: str) -> str | None:
        """Return a hint for an unknown command: a subcommand or a similar command."""
        for name in ("suite", "spec", "protocol"):
            group = self.get_command(ctx, name)
            if isinstance(group, click.Group) and word in group.commands:
                return f"did you mean '{name} {word}'?"
        return closest(word, COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        write_sections(formatter, SECTIONS, {name: (name, COMMANDS[name]) for name in COMMANDS})

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        try:
            return super().make_context(*args, **options)
        except click.ClickException as error:
            sys.exit(_print_click_error(error))

    def main(self, *args: Any, **options: Any) -> Any:
        streams.open_all()
        try:
            return super().main(*args, **options)
        except OSError as error:
            usage_error = streams.as_usage_error(error)
            if usage_error is None:
                raise
            sys.exit(_print_error(usage_error))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            try:
                with handled(_interrupt):
                    return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except ConformanceError as error:
            ctx.exit(_print_error(error))
        except click.ClickException as error:
            ctx.exit(_print_click_error(error))
        except (click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt as error:
            with suppress(OSError):
                click.echo("interrupted", err=True)
            ctx.exit(error.exit_code if isinstance(error, Interrupted) else EXIT_INTERRUPTED)
        except BrokenPipeError:
            streams.discard()
            ctx.exit(EXIT_BROKEN_PIPE)
        except Exception as error:
            if isinstance(error, OSError) and streams.as_usage_error(error):
                raise
            click.echo(traceback.format_exc(), err=True)
            click.echo(
                f"This is a defect in conformance {__version__} (not in your backend). "
                "Please report it, with the lines above and the command.",
                err=True,
            )
            ctx.exit(EXIT_DEFECT)


def _interrupt(number: int, *_frame: object) -> None:
    """Treat any signal to end like Ctrl-C: open resources are cleaned up."""
    raise Interrupted(number)


def _print_error(error: ConformanceError) -> int:
    """Print an error if standard error is open; return its exit code."""
    with suppress(OSError):
        # What a backend says may look like a verdict.
        safe = indented if isinstance(error, BackendError) else visible
        click.echo(f"error: {safe(str(error))}", err=True)
    streams.discard()
    return error.exit_code


def _print_click_error(error: click.ClickException) -> int:
    """Print an error of click as ours are printed; return its exit code."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # not in click 8.1
        error.show()
        return error.exit_code
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help lists what it takes" if context else None
    _print_error(UsageError(message[:1].lower() + message[1:], hint=hint))
    return error.exit_code


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="conformance")
def main() -> None:
    """Test whether a backend computes neural-network operators as specified.

    A suite of test vectors holds inputs and exact expected values. Each output of the backend is
    compared within a proven error bound. Operators are described by YAML specifications.
    """
    # A command needs nearly all of its objects (specifications, a manifest, vectors) until its end.
    # Collecting garbage as often as Python does takes a sixth of its time.
    gc.set_threshold(20_000)
