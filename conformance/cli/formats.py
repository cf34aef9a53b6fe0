"""``--format``: which formats of a report are wanted, and where each goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.errors import UsageError

if TYPE_CHECKING:
    from conformance.log.run_log import RunLog
    from conformance.run.engine import Event

STDOUT = Path("-")
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

Command = Callable[..., Any]


def format_option(folder: str, otherwise: str = "") -> Callable[[Command], Command]:
    """The option; ``folder`` says where files go, ``otherwise`` what happens without it."""
    return click.option(
        "--format",
        "formats",
        multiple=True,
        metavar="NAME[=FILE]",
        help="Write the run in this format too: badge, github, html, json, junit, sarif, summary "
        f"or terminal; repeatable{otherwise}. FILE is a path, or - for standard output. Without "
        f"it github goes to standard output, summary to ${STEP_SUMMARY} where that is set, and "
        f"any other into {folder}.",
    )


@dataclass(frozen=True)
class Target:
    """A format and where it goes: to a file, to standard output (``-``), or after a file's end."""

    name: str
    path: Path
    append: bool = False


def targets(
    wanted: Sequence[str], folder: Path | None, *, log: Path | None = None
) -> tuple[Target, ...]:
    """Where each wanted format goes; known before a run begins, so that none is made in vain.

    Raises :class:`UsageError` for an unknown format, one without a place, or two in one place.
    """
    found = tuple(_target(text, folder) for text in wanted)
    taken = {} if log is None else {log.resolve(): "the run log"}
    for target in found:
        place = target.path if target.path == STDOUT else target.path.resolve()
        if place in taken:
            raise UsageError(
                f"--format {target.name}: {target.path} is taken by {taken[place]}",
                hint=f"name another file: --format {target.name}=FILE",
            )
        taken[place] = target.name
    return found


def clearing(wanted: Sequence[Target], see: Callable[[Event], None]) -> Callable[[Event], None]:
    """What sees the events of a run, but for the files of an earlier one, which go when it begins.

    They must not be taken for those of a run that dies. A question that is not sound has no
    header, and leaves them alone. Raises :class:`UsageError` for a place where no file can be.
    """

    def cleared(event: Event) -> None:
        if isinstance(event, dict) and event["event"] == "header":
            _clear(wanted)
        see(event)

    return cleared


def _clear(wanted: Sequence[Target]) -> None:
    from conformance.report.registry import remove_beside

    for target in wanted:
        if target.path == STDOUT or target.append:
            continue
        try:
            if target.path.is_file() or target.path.is_dir():  # no pipe, no device
                target.path.resolve().unlink()
            remove_beside(target.path, target.name)
        except OSError as error:
            raise UsageError(
                f"{target.path}: the {target.name} report cannot be written: "
                f"{error.strerror or error}",
                hint=f"name another file: --format {target.name}=FILE",
            ) from error


def take_stdout(wanted: Sequence[Target]) -> bool:
    """Whether standard output belongs to a format, and anything else has to go elsewhere."""
    return any(target.path == STDOUT for target in wanted)


def write(run: RunLog, wanted: Sequence[Target]) -> None:
    """Write each format.

    Raises :class:`UsageError` where a file cannot be written.
    """
    from conformance.report.registry import report_format, write_format

    for target in wanted:
        if target.path == STDOUT:
            # Bytes, since what a file says of its encoding must be true on any terminal.
            sys.stdout.buffer.write(report_format(target.name).render(run).encode())
        elif target.append:
            _append(target, report_format(target.name).render(run))
        else:
            write_format(run, target.path, target.name)
        if target.path != STDOUT:
            click.echo(f"{target.name}: {target.path}", err=True)


def _target(text: str, folder: Path | None) -> Target:
    from conformance.report.registry import report_format

    name, given, file = text.partition("=")
    default = report_format(name).FILE
    if given:
        if not file:
            raise UsageError(f"--format {text}: no file", hint=f"--format {name}={default}")
        return Target(name, Path(file))
    if name == "github":
        return Target(name, STDOUT)
    if name == "summary" and os.environ.get(STEP_SUMMARY):
        return Target(name, Path(os.environ[STEP_SUMMARY]), append=True)
    if folder is None:
        raise UsageError(
            f"--format {name}: where to?",
            hint=f"--report DIR for a folder, --format {name}={default} for a file, "
            f"--format {name}=- for standard output",
        )
    return Target(name, folder / default)


def _append(target: Target, text: str) -> None:
    try:
        with target.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(
            f"{target.path}: the {target.name} cannot be written: {error.strerror or error}",
            hint=f"it is where ${STEP_SUMMARY} points; --format {target.name}=FILE goes elsewhere",
        ) from error
