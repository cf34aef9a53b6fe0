"""Paths on the command line that may be addresses, such as ``s3://bucket/reports``.

Files to read are fetched first. Files to write are made in a local folder and sent to the address:
a run log while it grows, the others when the command ends.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

import click

from conformance import remote
from conformance.errors import UsageError

MAX_BYTES = 4 * 2**30
"""Bytes of a fetched file."""

MAX_FILES = 1_000_000
"""Files of a fetched folder."""

LOG_SECONDS = 10.0
"""Seconds until a run log that has grown is sent again; more if sending takes long."""

LOG_SUFFIX = ".jsonl"
INDEXES = ("manifest.json", "index.json")
"""Indexes of a folder, sent last, so that no reader takes half a folder for all of it."""

_FETCHED = "conformance.fetched"
_SENT = "conformance.sent"


class SourcePath(click.Path):
    """A file or folder to read; from an address it is fetched, and removed after the command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or that of the copy.

        Raises UsageError for what cannot be fetched.
        """
        if not remote.is_address(value) or ctx is None:
            return super().convert(value, param, ctx)
        source = remote.remote_path(value)
        if not remote.is_remote(source):
            return source
        folder = Path(ctx.with_resource(tempfile.TemporaryDirectory(prefix="conformance-")))
        # The folder of a log is its name in reports.
        copy = folder.joinpath(*PurePosixPath(value.partition("://")[2]).parts[-2:])
        _fetch(source, copy, value)
        ctx.meta.setdefault(_FETCHED, []).append(copy)
        return copy


class SuitePath(click.Path):
    """The folder or the address of a suite, which is read as far as it is needed."""

    def convert(self, value: Any, *_: Any) -> Any:
        """Return the path for :func:`conformance.suite.store.open_suite`.

        Raises UsageError for an empty name.
        """
        if not value:
            raise UsageError("the name of the suite is empty", hint="name a folder")
        return remote.remote_path(value) if remote.is_address(value) else Path(value)


class TargetPath(click.Path):
    """A folder to write; see :func:`published`. With ``new`` nothing may be at the address."""

    def __init__(self, *, new: bool = False) -> None:
        super().__init__(file_okay=False, path_type=Path)
        self._new = new

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or that of a folder whose files are sent to the address.

        Raises UsageError for ``-``, and for an address that cannot be read.
        """
        if value == "-":
            option = param.opts[0] if param else "it"
            raise UsageError(
                f"{option} -: this is a folder, not standard output",
                hint=f"name a folder: {option} DIR, which may be ./-",
            )
        if not remote.is_address(value) or ctx is None:
            return super().convert(value, param, ctx)
        target = remote.remote_path(value)
        if not remote.is_remote(target):
            return target
        folder = ctx.with_resource(published(target, value.rstrip("/"), new=self._new))
        ctx.meta.setdefault(_SENT, []).append(folder)
        return folder


def refuse_fetched(path: Path, option: str) -> None:
    """Raise UsageError if a file would be written beside a file that was fetched."""
    if path in click.get_current_context().meta.get(_FETCHED, ()):
        raise UsageError(
            f"{path.name} is at an address, so nothing is written beside it",
            hint=f"say where with {option}",
        )


def is_sent(folder: Path) -> bool:
    """Return whether the files of a folder are sent to an address."""
    return folder in click.get_current_context().meta.get(_SENT, ())


@contextmanager
def published(target: Path, address: str, *, new: bool) -> Iterator[Path]:
    """Make a folder whose files are sent to an address after the block.

    The run log of an earlier command there is fetched first, so that it can be resumed. Files that
    cannot be sent stay in the folder. Raises UsageError if they cannot, with the folder, and if
    ``new`` and the address has files already.
    """
    above = Path(tempfile.mkdtemp(prefix="conformance-"))
    folder = above / address.rpartition("/")[2]
    with _os_errors_explained(address, "cannot be read"):
        existing = remote.list_files(target)
        if new and existing:
            raise UsageError(f"{address}: files are there already", hint="name a new address")
        for name in existing:
            if "/" not in name and name.endswith(LOG_SUFFIX):
                remote.fetch(target / name, folder / name, MAX_BYTES)
    sender = _Sender(folder, target)
    try:
        yield folder
    finally:
        try:
            with _os_errors_explained(address, f"cannot be written, so all files are in {folder}"):
                sent = sender.finish()
        finally:
            sender.over.set()
        shutil.rmtree(above, ignore_errors=True)
        if sent:
            click.echo(f"sent {sent} file{'s' if sent > 1 else ''} to {address}", err=True)


class _Sender:
    """Sends the changed files of a folder: a run log while it grows, the others at the end."""

    def __init__(self, folder: Path, target: Path) -> None:
        self._folder, self._target = folder, target
        self._lock = threading.Lock()
        self._sent = self._states()
        self.over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def finish(self) -> int:
        """Send the changed files; return their number."""
        self.over.set()
        with self._lock:
            states = self._states()
            changed = [name for name, state in states.items() if self._sent.get(name) != state]
            for name in sorted(changed, key=lambda name: (name in INDEXES, name)):
                remote.send(self._folder / name, self._target / name)
            return len(changed)

    def _watch(self) -> None:
        pause = LOG_SECONDS
        while not self.over.wait(pause):
            began = time.monotonic()
            with self._lock, suppress(OSError):  # finish() reports the error
                for name, state in self._states().items():
                    is_log = name.endswith(LOG_SUFFIX) and "/" not in name
                    if is_log and self._sent.get(name) != state and not self.over.is_set():
                        remote.send(self._folder / name, self._target / name)
            pause = max(LOG_SECONDS, 10 * (time.monotonic() - began))

    def _states(self) -> dict[str, tuple[int, int]]:
        """Return the size and time of each file."""
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        return {
            file.relative_to(self._folder).as_posix(): (stat.st_size, stat.st_mtime_ns)
            for file in files
            for stat in (file.stat(),)
        }


def _fetch(source: Path, copy: Path, address: str) -> None:
    """Fetch a file, or all files below a folder."""
    with _os_errors_explained(address, "cannot be read"):
        with suppress(FileNotFoundError, IsADirectoryError):  # then it may be a folder
            remote.fetch(source, copy, MAX_BYTES)
            return
        names = remote.list_files(source)
        if not names:
            raise UsageError(f"{address}: nothing is there", hint="check the address")
        if len(names) > MAX_FILES:
            raise UsageError(
                f"{address}: {len(names):,} files, at most {MAX_FILES:,} are fetched",
                hint="copy the folder to this machine, and name the copy",
            )
        for name in names:
            remote.fetch(source / name, copy / name, MAX_BYTES)


@contextmanager
def _os_errors_explained(address: str, problem: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{address}: {problem}: {error}",
            hint="check the address, and what fsspec's package for it needs, such as credentials",
        ) from error
