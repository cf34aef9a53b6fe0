"""Files of a suite, read no further than they should be, and held against their digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from conformance import remote
from conformance.errors import SuiteError
from conformance.safe_text import number_of
from conformance.suite.archive import DAMAGED, unreadable_error


def read_bounded(file: Path, size: int, most: int) -> bytes:
    """The bytes of a file, which must be ``size``, at most ``most``; never more are read."""
    if size > most:
        raise SuiteError(f"{file}: {size} bytes, at most {most} are read", hint=DAMAGED)
    try:
        content = remote.head(file, size + 1)
    except OSError as error:
        raise unreadable_error(file, error) from error
    if len(content) != size:
        found = f"{len(content):,}" if len(content) < size else "more"
        raise SuiteError(
            f"{file}: the file is not the one that the manifest lists "
            f"({number_of(size, 'byte')} expected, {found} found)",
            hint=DAMAGED,
        )
    return content


def check_sha256(content: bytes, expected: str, where: object) -> None:
    """Raises SuiteError for content that is not what a manifest lists."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise SuiteError(
            f"{where}: the file is not the one that the manifest lists "
            f"(sha256 {expected[:12]}… expected, {found[:12]}… found)",
            hint=DAMAGED,
        )
