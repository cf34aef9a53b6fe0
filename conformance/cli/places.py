"""Paths on the command line that may be addresses, such as ``s3://bucket/reports``.

What is read is fetched first. What is written is made in a folder of this machine, and sent there:
a run log while it grows, all else when the command ends.
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

MOST = 4 * 2**30
"""Bytes of a fetched file."""

FILES = 1_000_000
"""Files of a fetched folder."""

EVERY = 10.0
"""Seconds between two looks at whether a run log has grown; more where sending takes long."""

GROWING = ".jsonl"
INDEXES = ("manifest.json", "index.json")
"""What says of a folder what it holds: sent last, so that half a folder is none."""

_FETCHED = "conformance.fetched"
_SENT = "conformance.sent"


class SourcePath(click.Path):
    """A file or folder to read; one at an address is fetched, and is gone after the command."""

    def __init__(self, **more: Any) -> None:
        super().__init__(path_type=Path, **more)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or that of the copy."""
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


class Suites(click.Path):
    """The folder or the address of a suite, of which no more is read than is needed."""

    def convert(self, value: Any, *_: Any) -> Any:
        """As :func:`conformance.suite.store.open_suite` takes it."""
        if not value:
            raise UsageError("the name of the suite is empty", hint="name a folder")
        return remote.remote_path(value) if remote.is_address(value) else Path(value)


class TargetPath(click.Path):
    """A folder to write; see :func:`published`. With ``new`` nothing may be at the address."""

    def __init__(self, *, new: bool = False) -> None:
        super().__init__(file_okay=False, path_type=Path)
        self._new = new

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or that of a folder whose files are sent to the address."""
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
    """Raises UsageError where something would be written beside a file that was fetched."""
    if path in click.get_current_context().meta.get(_FETCHED, ()):
        raise UsageError(
            f"{path.name} is at an address, so nothing is written beside it",
            hint=f"say where with {option}",
        )


def is_sent(folder: Path) -> bool:
    """Whether the files of a folder are sent to an address, away from all others here."""
    return folder in click.get_current_context().meta.get(_SENT, ())


@contextmanager
def published(target: Path, address: str, *, new: bool) -> Iterator[Path]:
    """A folder whose files are sent to an address when the block ends, however it does.

    The run log of an earlier command there is fetched first, so that it can be resumed. Where the
    files cannot be sent, they stay, and the error says where.
    """
    above = Path(tempfile.mkdtemp(prefix="conformance-"))
    folder = above / address.rpartition("/")[2]
    with _explained(address, "cannot be read"):
        there = remote.list_files(target)
        if new and there:
            raise UsageError(f"{address}: files are there already", hint="name a new address")
        for name in there:
            if "/" not in name and name.endswith(GROWING):
                remote.fetch(target / name, folder / name, MOST)
    sending = _Sending(folder, target)
    try:
        yield folder
    finally:
        try:
            with _explained(address, f"cannot be written, so all files are in {folder}"):
                sent = sending.finish()
        finally:
            sending.over.set()
        shutil.rmtree(above, ignore_errors=True)
        if sent:
            click.echo(f"sent {sent} file{'s' if sent > 1 else ''} to {address}", err=True)


class _Sending:
    """Sends what has changed in a folder: a run log while it grows, the rest at the end."""

    def __init__(self, folder: Path, target: Path) -> None:
        self._folder, self._target = folder, target
        self._lock = threading.Lock()
        self._sent = self._changed()
        self.over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def finish(self) -> int:
        """How many files were sent, each with what it holds at last."""
        self.over.set()
        with self._lock:
            now = self._changed()
            changed = [name for name, state in now.items() if self._sent.get(name) != state]
            for name in sorted(changed, key=lambda name: (name in INDEXES, name)):
                remote.send(self._folder / name, self._target / name)
            return len(changed)

    def _watch(self) -> None:
        pause = EVERY
        while not self.over.wait(pause):
            began = time.monotonic()
            with self._lock, suppress(OSError):  # the end says what is wrong
                for name, state in self._changed().items():
                    grows = name.endswith(GROWING) and "/" not in name
                    if grows and self._sent.get(name) != state and not self.over.is_set():
                        remote.send(self._folder / name, self._target / name)
            pause = max(EVERY, 10 * (time.monotonic() - began))

    def _changed(self) -> dict[str, tuple[int, int]]:
        """Size and time of each file."""
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        return {
            file.relative_to(self._folder).as_posix(): (stat.st_size, stat.st_mtime_ns)
            for file in files
            for stat in (file.stat(),)
        }


def _fetch(source: Path, copy: Path, address: str) -> None:
    """A file, or all below a folder."""
    with _explained(address, "cannot be read"):
        with suppress(FileNotFoundError, IsADirectoryError):  # then it may be a folder
            remote.fetch(source, copy, MOST)
            return
        there = remote.list_files(source)
        if not there:
            raise UsageError(f"{address}: nothing is there", hint="check the address")
        if len(there) > FILES:
            raise UsageError(
                f"{address}: {len(there):,} files, at most {FILES:,} are fetched",
                hint="copy the folder to this machine, and name the copy",
            )
        for name in there:
            remote.fetch(source / name, copy / name, MOST)


@contextmanager
def _explained(address: str, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{address}: {what}: {error}",
            hint="check the address, and what fsspec's package for it needs, such as credentials",
        ) from error
