"""Paths to write: atomic replacement of a file, links resolved, names that nothing has yet."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def resolved(path: str | Path) -> Path:
    """The absolute path without links. Links that lead in a circle stay, and are errors where the
    path is opened; Path.resolve raises RuntimeError for them before Python 3.13."""
    return Path(os.path.realpath(path))


def target(path: str | Path) -> Path:
    """The resolved path of a file to write. Raises OSError for a link that leads in a circle, which
    would be replaced itself.
    """
    path = resolved(path)
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return path


def unused(name: str) -> str:
    """A name like this one that nothing has in the current folder: for advice to be pasted."""
    found, number = name, 1
    while os.path.lexists(found):
        number += 1
        found = f"{name}-{number}"
    return found


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file to write, in the folder of ``path``, which takes its place at the end.

    Until then, and where the block raises, ``path`` is what it was. A link stays one: what it
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
