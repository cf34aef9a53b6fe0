"""Files at addresses such as ``s3://bucket/suite``, by way of fsspec; an optional extra.

What is read is held to a size here, and against a digest where a manifest has one, by the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from conformance.errors import UsageError, missing_extra

PIECE = 1 << 20

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\x00-\x20\x7f]+")

_NAME = re.compile(r"[^.\\:\x00-\x1f][^\\:\x00-\x1f]*")


def is_address(text: object) -> bool:
    """Whether a text is an address, and not the path of a file."""
    return isinstance(text, str) and bool(_ADDRESS.fullmatch(text)) and "::" not in text


def is_remote(path: Path) -> bool:
    """Whether a path is one of :func:`place`, on another file system than this machine's."""
    return not isinstance(path, Path)


def place(address: str) -> Path:
    """What is at an address, with the methods of a path that this package uses.

    Raises UsageError where the package for it is missing, and for a kind that nobody knows.
    """
    try:
        from upath import UPath
    except ImportError as error:
        raise missing_extra(f"{address}: addresses need a package", "remote") from error
    try:
        found: Any = UPath(address)
        found.fs  # noqa: B018 - it loads what the kind of address needs
    except (ValueError, ImportError) as error:
        raise UsageError(
            f"{address}: {error}",
            hint="s3://, memory:// and file:// are known; others need a package of fsspec",
        ) from error
    if found.protocol in ("file", "local"):
        return Path(found.path)
    return cast("Path", found)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the package of a remote file system raises, as OSError; of ours nothing changes."""
    try:
        yield
    except (OSError, UsageError):
        raise
    except Exception as error:
        if not is_remote(path) or type(error).__module__.startswith("conformance"):
            raise
        raise OSError(f"{type(error).__name__}: {error}") from error


def head(path: Path, most: int) -> bytes:
    """The first bytes of a file, ``most`` of them at most. Raises OSError."""
    with told(path), path.open("rb") as file:
        return file.read(most)


def names(root: Path) -> list[str]:
    """The files below a remote folder, sorted, as paths relative to it with ``/``.

    None is hidden or leads elsewhere: a store may have any text for a name.
    """
    there = cast("Any", root)
    with told(root):
        found = there.fs.find(there.path)
    start = there.path.rstrip("/") + "/"
    below = sorted(name.removeprefix(start) for name in found if name.startswith(start))
    return [name for name in below if all(map(_NAME.fullmatch, name.split("/")))]


def fetch(source: Path, target: Path, most: int) -> None:
    """Copy a remote file. Raises OSError, and UsageError for one of more than ``most`` bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with told(source), source.open("rb") as file, target.open("wb") as copy:
        _copy(file, copy, most, source)


def send(source: Path, target: Path) -> None:
    """Copy a file to a remote place. Raises OSError."""
    with told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as file, target.open("wb") as copy:
            _copy(file, copy, None, source)


def _copy(source: IO[bytes], target: IO[bytes], most: int | None, where: Path) -> None:
    total = 0
    while piece := source.read(PIECE):
        total += len(piece)
        if most is not None and total > most:
            raise UsageError(f"{where}: more than {most:,} bytes", hint="is it the right address?")
        target.write(piece)
