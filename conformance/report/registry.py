"""The report formats, and how one is written to a file."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from conformance.errors import UsageError
from conformance.log.run_log import RunLog


class Format(Protocol):
    """A module that shows a run log in one format."""

    FILE: str
    """The name of the file that it is written to."""

    def render(self, run: RunLog) -> str:
        """The run in this format; the same log gives the same text."""


FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "badge": "conformance.report.badge",
        "github": "conformance.report.github",
        "html": "conformance.report.html",
        "json": "conformance.report.json",
        "junit": "conformance.report.junit",
        "sarif": "conformance.report.sarif",
        "summary": "conformance.report.summary",
        "terminal": "conformance.report.terminal",
    }
)
"""Each format's name and its module, which is imported when the format is first used."""


def report_format(name: str) -> Format:
    """The format of a name; raises :class:`UsageError` for an unknown one."""
    if name not in FORMATS:
        raise UsageError(
            f"unknown report format {name!r}", hint=f"one of: {', '.join(sorted(FORMATS))}"
        )
    return cast("Format", importlib.import_module(FORMATS[name]))


def write_report(run: RunLog, directory: str | os.PathLike[str], name: str = "html") -> Path:
    """Write a report into a folder, made where missing, and return its path.

    The file appears whole or not at all. Raises :class:`UsageError` where it cannot be written.
    """
    chosen = report_format(name)
    return write_text(Path(directory) / chosen.FILE, chosen.render(run))


def write_text(path: Path, text: str) -> Path:
    """Write a text to a file, whose folder is made where missing, and return its path.

    The file appears whole or not at all. A link stays one, and a pipe or a device is written to.
    Raises :class:`UsageError` where it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="\n")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise UsageError(
            f"{path}: the file cannot be written: {error.strerror or error}",
            hint="choose another place, that you may write to",
        ) from error
    return path


def remove_report(directory: str | os.PathLike[str], name: str = "html") -> None:
    """Remove a report from a folder, so that none of an earlier run stands beside a new log.

    Raises :class:`UsageError` where it is there and cannot be removed.
    """
    path = Path(directory) / report_format(name).FILE
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path}: the report of an earlier run cannot be removed: {error.strerror or error}",
            hint="choose another folder",
        ) from error


def _replace(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # A temporary file is private to its owner; a report is meant to be shared.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
