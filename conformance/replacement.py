"""Paths to write: atomic replacement of a file, resolved links, unused names."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def resolved(path: str | Path) -> Path:
    """Return the absolute path without links.

    Links that lead in a circle stay, and are errors where the path is opened. Path.resolve raises
    RuntimeError for them before Python 3.13.
    """
    return Path(os.path.realpath(path))


def target(path: str | Path) -> Path:
    """Return the resolved path of a file to write.

    Raises OSError for a link that leads in a circle, which would be replaced itself.
    """
    path = resolved(path)
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return path


def unused(name: str) -> str:
    """Return a similar name that is unused in the current folder."""
    candidate, number = name, 1
    while os.path.lexists(candidate):
        number += 1
        candidate = f"{name}-{number}"
    return candidate


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Open a new file in the folder of ``path``, which replaces ``path`` at the end.

    Until then, and where the block raises, ``path`` is unchanged. A link stays: the file that it
    leads to is replaced. Raises OSError where the folder cannot be written, and as :func:`target`.
    """
    path = target(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    new = Path(name)
    try:
        yield new
        # A temporary file is private to its owner; this one is meant to be shared.
        umask = os.umask(0)
        os.umask(umask)
        new.chmod(0o666 & ~umask)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
