"""The report formats, and writing a report to a file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from conformance.errors import UsageError
from conformance.log.run_log import RunLog
from conformance.replacement import replacing

OTHER_FOLDER = "choose another place, that you may write to"


class Format(Protocol):
    """A module that renders a run log in a format."""

    FILE: str
    """The name of the file of a report."""

    def render(self, run: RunLog) -> str:
        """Render a run; the same log gives the same text."""


FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "badge": "conformance.report.ci.badge",
        "github": "conformance.report.ci.github",
        "html": "conformance.report.page",
        "json": "conformance.report.ci.json",
        "junit": "conformance.report.ci.junit",
        "sarif": "conformance.report.ci.sarif",
        "summary": "conformance.report.ci.markdown",
        "terminal": "conformance.report.terminal",
    }
)
"""Each format's name and its module, which is imported when the format is first used."""


def report_format(name: str) -> Format:
    """Return the format of a name.

    Raises:
        UsageError: the name is unknown.
    """
    if name not in FORMATS:
        raise UsageError(
            f"unknown report format {name!r}", hint=f"one of: {', '.join(sorted(FORMATS))}"
        )
    return cast("Format", importlib.import_module(FORMATS[name]))


def write_report(
    run: RunLog, directory: str | os.PathLike[str], name: str = "html", *, hint: str = OTHER_FOLDER
) -> Path:
    """Write a report into a folder, which is created if missing, and return its path.

    The file appears complete or not at all.

    Raises:
        UsageError: the file cannot be written; with the ``hint``.
    """
    return write_format(run, Path(directory) / report_format(name).FILE, name, hint=hint)


def write_format(run: RunLog, path: Path, name: str, *, hint: str = OTHER_FOLDER) -> Path:
    """Write a run in a format to a file, and return its path.

    The file appears complete or not at all.

    Raises:
        UsageError: the file cannot be written; with the ``hint``.
    """
    return write_text(path, report_format(name).render(run), hint=hint)


def write_text(path: Path, text: str, *, hint: str = OTHER_FOLDER) -> Path:
    """Write a text to a file, whose folder is created if missing.

    The file appears complete or not at all. A link stays a link, and a pipe or a device is written
    to. Returns its path.

    Raises:
        UsageError: the file cannot be written; with the ``hint``.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="\n")
        else:
            with replacing(path) as new:
                new.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"{path}: the file cannot be written: {error.strerror or error}", hint=hint
        ) from error
    return path
