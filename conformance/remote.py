"""Files at addresses such as ``s3://bucket/suite``, by way of fsspec; an optional extra.

Sizes are limited here; readers verify digests where a manifest has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from conformance.errors import UsageError, missing_extra

COPIED_BYTES = 1 << 20
"""Bytes that are copied at a time."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\x00-\x20\x7f]+")

_NAME = re.compile(r"[^.\\:\x00-\x1f][^\\:\x00-\x1f]*")


def is_address(text: object) -> bool:
    """Return whether a text is an address, and not the path of a file."""
    return isinstance(text, str) and bool(_ADDRESS.fullmatch(text)) and "::" not in text


def is_remote(path: Path) -> bool:
    """Return whether a path is on another file system, see :func:`remote_path`."""
    return not isinstance(path, Path)


def remote_path(address: str) -> Path:
    """Return the path of an address, with the methods of Path that this package uses.

    Raises UsageError where the package for it is missing, and for an unknown kind of address.
    """
    try:
        from upath import UPath
    except ImportError as error:
        raise missing_extra(f"{address}: addresses need a package", "remote") from error
    try:
        path: Any = UPath(address)
        path.fs  # noqa: B018 - it loads what the kind of address needs
    except (ValueError, ImportError) as error:
        raise UsageError(
            f"{address}: {error}",
            hint="s3://, memory:// and file:// are known; others need a package of fsspec",
        ) from error
    if path.protocol in ("file", "local"):
        return Path(path.path)
    return cast("Path", path)


@contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Raise exceptions of a remote file system's package as OSError.

    Exceptions of this package, and on local files, are raised as they are.
    """
    try:
        yield
    except (OSError, UsageError):
        raise
    except Exception as error:
        if not is_remote(path) or type(error).__module__.startswith("conformance"):
            raise
        raise OSError(f"{type(error).__name__}: {error}") from error


def read_head(path: Path, most: int) -> bytes:
    """Read the first bytes of a file, at most ``most``.

    Raises OSError.
    """
    with os_errors(path), path.open("rb") as file:
        return file.read(most)


def list_files(root: Path) -> list[str]:
    """List the files below a remote folder, sorted, as paths relative to it with ``/``.

    Hidden names, and names that lead elsewhere, are left out: a store may have any text for a name.
    Raises OSError.
    """
    folder = cast("Any", root)
    with os_errors(root):
        paths = folder.fs.find(folder.path)
    start = folder.path.rstrip("/") + "/"
    names = sorted(path.removeprefix(start) for path in paths if path.startswith(start))
    return [name for name in names if all(map(_NAME.fullmatch, name.split("/")))]


def fetch(source: Path, target: Path, most: int) -> None:
    """Copy a remote file to this machine.

    Raises OSError, and UsageError for a file of more than ``most`` bytes.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with os_errors(source), source.open("rb") as file, target.open("wb") as copy:
        _copy(file, copy, most, source)


def send(source: Path, target: Path) -> None:
    """Copy a file of this machine to a remote path.

    Raises OSError.
    """
    with os_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as file, target.open("wb") as copy:
            _copy(file, copy, None, source)


def _copy(source: IO[bytes], target: IO[bytes], most: int | None, source_path: Path) -> None:
    total = 0
    while block := source.read(COPIED_BYTES):
        total += len(block)
        if most is not None and total > most:
            raise UsageError(
                f"{source_path}: more than {most:,} bytes", hint="is it the right address?"
            )
        target.write(block)
