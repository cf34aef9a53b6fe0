"""``--format``: which report formats are requested, and where each goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance import replacement
from conformance.errors import UsageError
from conformance.replacement import resolved

if TYPE_CHECKING:
    from conformance.log.run_log import RunLog

STDOUT = Path("-")
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

Command = Callable[..., Any]


def format_option(folder: str, default: str = "") -> Callable[[Command], Command]:
    """Return the option ``--format``.

    ``folder`` says where files go, ``default`` what happens without the option.
    """
    return click.option(
        "--format",
        "formats",
        multiple=True,
        metavar="NAME[=FILE]",
        help="Also write the run in this format: badge, github, html, json, junit, sarif, summary "
        f"or terminal; repeatable{default}. FILE is a path, or - for standard output. Without "
        f"it github goes to standard output, summary to ${STEP_SUMMARY} where that is set, and "
        f"any other into {folder}.",
    )


@dataclass(frozen=True)
class Target:
    """A format and its path: a file, standard output (``-``), or a file to ``append`` to.

    ``hint`` says how to name another path, ``label`` is its name in messages.
    """

    name: str
    path: Path
    hint: str
    append: bool = False
    label: str = ""


def page(folder: Path, option: str) -> Target:
    """Return the target of the HTML page, in the folder that an option names."""
    from conformance.report.registry import report_format

    hint = f"name a folder that you may write to, with room on its disk: {option} DIR"
    return Target("html", folder / report_format("html").FILE, hint, label="report")


def targets(
    formats: Sequence[str], folder: Path | None, *, log: Path | None = None
) -> tuple[Target, ...]:
    """Parse ``NAME[=FILE]`` of each format, before a run, so that none is made in vain.

    Raises :class:`UsageError` for an unknown format, a format without a path, or two formats with
    the same path.
    """
    parsed = tuple(_target(text, folder) for text in formats)
    taken = {} if log is None else {resolved(log): "the run log"}
    for target in parsed:
        path = target.path if target.path == STDOUT else resolved(target.path)
        if path in taken:
            raise UsageError(
                f"--format {target.name}: {target.path} is taken by {taken[path]}",
                hint=target.hint,
            )
        taken[path] = target.name
    return parsed


def clear(report_targets: Iterable[Target]) -> None:
    """Remove the files of an earlier run, in case this run is killed.

    Raises :class:`UsageError` for a path that cannot be a file.
    """
    for target in report_targets:
        if target.path == STDOUT or target.append:
            continue
        try:
            file = replacement.target(target.path)
            if target.path.is_file() or target.path.is_dir():  # no pipe, no device
                file.unlink()
        except OSError as error:
            raise UsageError(
                f"{target.path}: the {target.name} report cannot be written: "
                f"{error.strerror or error}",
                hint=target.hint,
            ) from error


def take_stdout(report_targets: Sequence[Target]) -> bool:
    """Return whether a format takes standard output, so that nothing else may."""
    return any(target.path == STDOUT for target in report_targets)


def write(run: RunLog, report_targets: Iterable[Target]) -> None:
    """Write each format, standard output last, even if another format fails.

    Raises :class:`UsageError` for the last file that cannot be written; errors for the others go to
    standard error.
    """
    failed: list[UsageError] = []
    for target in sorted(report_targets, key=lambda target: target.path == STDOUT):
        try:
            _write(run, target)
        except UsageError as error:
            failed.append(error)
    for other in failed[:-1]:
        click.echo(f"error: {other}", err=True)
    if failed:
        raise failed[-1]


def _write(run: RunLog, target: Target) -> None:
    from conformance.report.registry import report_format, write_format

    if target.path == STDOUT:
        # Bytes, since the encoding that a file states must be right on any terminal.
        sys.stdout.buffer.write(report_format(target.name).render(run).encode())
        return
    if target.append:
        _append(target, report_format(target.name).render(run))
    else:
        write_format(run, target.path, target.name, hint=target.hint)
    click.echo(f"{target.label or target.name}: {target.path}", err=True)


def _target(text: str, folder: Path | None) -> Target:
    from conformance.report.registry import report_format

    name, equals, file = text.partition("=")
    default = report_format(name).FILE
    hint = f"name another file: --format {name}=FILE"
    if equals:
        if not file:
            raise UsageError(
                f"--format {text} names no file", hint=f"write --format {name}={default}"
            )
        return Target(name, Path(file), hint)
    if name == "github":
        return Target(name, STDOUT, hint)
    if name == "summary" and os.environ.get(STEP_SUMMARY):
        hint = f"it is where ${STEP_SUMMARY} points; --format {name}=FILE goes elsewhere"
        return Target(name, Path(os.environ[STEP_SUMMARY]), hint, append=True)
    if folder is None:
        raise UsageError(
            f"--format {name} has no folder to write into",
            hint=f"add --out DIR for a folder, --format {name}={default} for a file, "
            f"--format {name}=- for standard output",
        )
    return Target(name, folder / default, hint)


def _append(target: Target, text: str) -> None:
    try:
        with target.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(
            f"{target.path}: the {target.name} cannot be written: {error.strerror or error}",
            hint=target.hint,
        ) from error
