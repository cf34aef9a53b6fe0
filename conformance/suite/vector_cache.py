"""Vectors that were evaluated before, in the user's cache folder.

A vector follows from its case, so losing one costs the time to evaluate it again. Nothing here is
trusted: whoever reads a file compares it with the digest of its recorded case
(:mod:`conformance.suite.evaluation`). Several processes may use one cache at a time.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from conformance import DISTRIBUTION

VARIABLE = "CONFORMANCE_CACHE"
"""The environment variable that names another folder."""

LIMIT = 2 * 10**9  # bytes
TRIM_SHARE = 0.9
"""The share of the limit that stays when the files unused for longest go."""

MAX_FILE = 64 * 2**20  # bytes
RECENT = 3600.0
"""Seconds for which a use is not noted again: which file goes first need not be exact."""

_SUFFIX = ".npz"


@dataclass(frozen=True)
class Cache:
    """A folder of vector files, by operator, id and digest; at most ``limit`` bytes after each
    :meth:`trim`.
    """

    folder: Path
    limit: int = LIMIT

    def path(self, op: str, vector_id: str, digest: str) -> Path:
        """Return the path of a vector. Another version's evaluation has another path."""
        return self.folder / op / f"{vector_id}-{digest[:16]}{_SUFFIX}"

    def names(self, op: str) -> frozenset[str]:
        """Return the names of the files of an operator."""
        try:
            with os.scandir(self.folder / op) as entries:
                return frozenset(entry.name for entry in entries)
        except OSError:
            return frozenset()

    def get(self, op: str, vector_id: str, digest: str) -> bytes | None:
        """Return the cached bytes of a vector, which may be damaged; None if absent."""
        path = self.path(op, vector_id, digest)
        try:
            with path.open("rb") as file:
                content = file.read(MAX_FILE + 1)
                used = os.fstat(file.fileno()).st_mtime
        except OSError:
            return None
        if time.time() - used > RECENT:
            with contextlib.suppress(OSError):  # one that is read only notes no use
                os.utime(path)
        return content

    def put(self, op: str, vector_id: str, digest: str, content: bytes) -> None:
        """Keep the file of a vector, whole or not at all. Raises OSError where that fails."""
        path = self.path(op, vector_id, digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        number, new = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
            Path(new).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(new).unlink()
            raise

    def check(self) -> None:
        """Check that the cache can be written. Raises OSError otherwise."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(prefix=".", dir=self.folder) as file:
            file.write(b"x")

    def trim(self) -> None:
        """Remove the files unused for longest while all take more than the limit."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        if total <= self.limit:
            return
        for _, size, path in files:
            if total <= TRIM_SHARE * self.limit:
                break
            with contextlib.suppress(OSError):  # another process was quicker
                path.unlink()
            total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield each file's last use, size and path; half-written ones of long ago too."""
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    stat = path.lstat()
                    yield stat.st_mtime, stat.st_size, path


def cache_folder() -> Path:
    """Return the user's cache folder, or that of ``CONFORMANCE_CACHE``."""
    folder = os.environ.get(VARIABLE)
    if folder:
        return Path(folder)
    return Path(platformdirs.user_cache_dir(DISTRIBUTION, appauthor=False)) / "vectors"
