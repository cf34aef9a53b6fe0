"""Reads files of a suite, no further than the caller allows, and compares them with digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from conformance import remote
from conformance.errors import SuiteError
from conformance.safe_text import number_of
from conformance.suite.archive import DAMAGED, unreadable_error


def read_bounded(file: Path, size: int, most: int) -> bytes:
    """Read a file of ``size`` bytes, at most ``most``; never more are read.

    Raises SuiteError for a file of another size, and for one that cannot be read.
    """
    if size > most:
        raise SuiteError(f"{file}: {size} bytes, at most {most} are read", hint=DAMAGED)
    try:
        content = remote.read_head(file, size + 1)
    except OSError as error:
        raise unreadable_error(file, error) from error
    if len(content) != size:
        size_read = f"{len(content):,}" if len(content) < size else "more"
        raise SuiteError(
            f"{file}: the file is not the one that the manifest lists "
            f"({number_of(size, 'byte')} expected, {size_read} found)",
            hint=DAMAGED,
        )
    return content


def check_sha256(content: bytes, expected: str, where: object) -> None:
    """Refuse content that is not what a manifest lists.

    Raises SuiteError, which names ``where``.
    """
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise SuiteError(
            f"{where}: the file is not the one that the manifest lists "
            f"(sha256 {expected[:12]}… expected, {actual[:12]}… found)",
            hint=DAMAGED,
        )
