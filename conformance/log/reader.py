"""Reads a run log, complete or cut short, without trusting it."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from conformance.errors import LogError
from conformance.log.contradictions import contradictions
from conformance.log.encoding import MAX_LINE, decode
from conformance.log.events import (
    FORMAT,
    FindingEvent,
    ResultEvent,
    parse_event,
    to_finding,
    to_result,
)
from conformance.log.results import Results
from conformance.log.run_log import RunLog
from conformance.model import Finding

MAX_SIZE = 4 * 1024**3
"""The largest run log that is read, in bytes."""


@dataclass(frozen=True)
class Unfinished:
    """A run log that may be continued.

    ``end`` is how many bytes its header and results take: what a run that goes on leaves as it
    is. ``size`` is the size of the file when it was read.
    """

    run: RunLog
    end: int
    size: int


def read(path: str | os.PathLike[str]) -> RunLog:
    """Read the run log in a file, compressed if its name ends in ``.gz``.

    Raises :class:`LogError` where there is nothing to show: no file, no header, a newer format, a
    line that is damaged. A log whose end is missing is read as far as it goes.
    """
    return _read(Path(path)).finish()


def read_unfinished(path: str | os.PathLike[str]) -> Unfinished | None:
    """Read the run log in a file that a run may resume.

    None where there is no log, or no header yet.
    Raises :class:`LogError` as :func:`read` does, and for a log that contradicts itself.
    """
    path = Path(path)
    if not path.exists() or _has_no_line(path):
        return None
    size = path.stat().st_size if path.is_file() else 0
    reading = _read(path)
    run = reading.finish()
    if run.problems or reading.mixed:
        reason = "".join(run.problems[:1]) or "A result comes after a finding."
        raise LogError(f"{path}: the log contradicts itself: {reason}", hint=_DAMAGED)
    return Unfinished(run, reading.end, size)


def _has_no_line(path: Path) -> bool:
    """Return whether a file has no complete line, as a killed run may leave it."""
    try:
        with path.open("rb") as file:
            line = file.readline(MAX_LINE + 1)
    except OSError:
        return False  # reading it says what is wrong
    return len(line) <= MAX_LINE and not line.endswith(b"\n")


def _read(path: Path) -> _Reading:
    run: _Reading | None = None
    try:
        if path.exists() and not path.is_file():
            raise LogError(f"{path}: not a file", hint="name the run.jsonl of a report folder")
        if path.stat().st_size > MAX_SIZE:
            raise LogError(f"{path}: a run log has at most {MAX_SIZE:,} bytes")
        for number, line in _lines(path):
            try:
                run = _take(run, line, f"{path}:{number}")
            except LogError as error:
                raise (_other(path, error) if run is None else error) from error
    except (OSError, EOFError, zlib.error) as error:
        raise LogError(
            f"{path}: the run log cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="conformance check writes one to its report folder, as run.jsonl",
        ) from error
    if run is None:
        raise LogError(
            f"{path}: the run log has no header",
            hint="the run ended before it began; run the check again",
        )
    return run


def read_whole(path: str | os.PathLike[str]) -> RunLog:
    """Read the run log of a run that reached its end.

    Raises :class:`LogError` as :func:`read` does, and for a log that was cut short, that
    contradicts itself, or whose run was interrupted.
    """
    run = read(path)
    if not run.complete:
        what = f": {run.problems[0]}" if run.problems else ""
        raise LogError(
            f"{path}: the log is not that of a whole run ({run.verdict}{what})",
            hint="run the check again, or resume it, up to its end",
        )
    return run


def _open(path: Path) -> BufferedIOBase:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each complete line with its number; a last line that was cut is left out."""
    with _open(path) as file:
        number = total = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            total += len(line)
            if total > MAX_SIZE:
                raise LogError(f"{path}: a run log has at most {MAX_SIZE:,} bytes")
            if len(line) > MAX_LINE:
                raise LogError(f"{path}:{number}: the line is longer than {MAX_LINE:,} bytes")
            if not line.endswith(b"\n"):
                return
            if not line.isascii():
                raise LogError(f"{path}:{number}: the line is not ASCII", hint=_DAMAGED)
            yield number, line


_OTHERS = {"manifest.json": "the manifest of a suite", "probe.json": "a probe"}
"""Files of this package that may be taken for a run log, by name."""


def _other(path: Path, error: LogError) -> LogError:
    """Return what is wrong with a file that does not begin as a run log does."""
    if path.name not in _OTHERS:
        return error
    return LogError(
        f"{path}: this is {_OTHERS[path.name]}, not a run log",
        hint="name the run.jsonl of a report folder",
    )


_DAMAGED = "the log is damaged; run the check again"


@dataclass
class _Reading:
    """A run log as far as it has been read.

    ``end`` counts the bytes up to the last result; ``mixed`` says that one follows a finding.
    """

    header: Mapping[str, Any]
    end: int
    results: Results = field(default_factory=Results)
    findings: list[Finding] = field(default_factory=list)
    footer: Mapping[str, Any] | None = None
    mixed: bool = False

    def finish(self) -> RunLog:
        run = RunLog(self.header, self.results.plain(), tuple(self.findings), self.footer)
        return replace(run, problems=tuple(contradictions(run)))


def _take(run: _Reading | None, line: bytes, position: str) -> _Reading:
    """Add one more line to what has been read."""
    try:
        event = decode(line)
        name = event.get("event")
        if run is None:
            _check_header(event, position)
            parse_event(event)
            return _Reading(event, end=len(line))
        if run.footer is not None:
            raise ValueError("a line after the end of the run")
        if name == "header":
            raise ValueError("a second header has no place in a run log")
        record = parse_event(event)
        if isinstance(record, ResultEvent):
            run.results.append(to_result(record))
            run.end += len(line)
            run.mixed = run.mixed or bool(run.findings)
        elif isinstance(record, FindingEvent):
            run.findings.append(to_finding(record))
        else:
            run.footer = event
    except ValueError as error:
        raise LogError(f"{position}: {error}", hint=_DAMAGED) from None
    return run


def _check_header(event: Mapping[str, Any], position: str) -> None:
    """Raise an error for a first line that is no header of a format that is known."""
    if event.get("event") != "header":
        raise ValueError("a run log begins with its header")
    version = event.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise LogError(
            f"{position}: the run log has format {version}; this version reads up to {FORMAT}",
            hint="read it with the version of conformance that wrote it, or a later one",
        )
