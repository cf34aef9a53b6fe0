"""Standard output and error that are closed, full or shared with others."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path

from conformance.errors import UsageError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of writing to a stream that its reader has not caused."""

EXHAUSTED = (errno.EMFILE, errno.ENFILE)


def open_all() -> None:
    """Replace each closed standard stream by the null device.

    Otherwise the next file that is opened would take its number, and get its output.
    """
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def discard() -> None:
    """Discard buffered output of closed streams, which would fail again when Python exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


def as_usage_error(error: OSError) -> UsageError | None:
    """Describe a system error that is no defect of this tool; None for any other.

    Errors of named files are described by the code that opens them.
    """
    if error.errno in EXHAUSTED:
        return UsageError(
            f"there are too few file descriptors: {error.strerror}",
            hint="allow more with ulimit -n, or use fewer processes",
        )
    if error.errno in FULL and error.filename is None:
        return UsageError(
            f"standard output or error cannot be written: {error.strerror}",
            hint="the output is lost; files written before are complete",
        )
    return None


@contextmanager
def kept_clean() -> Iterator[None]:
    """Redirect what is printed in the block, by Python or not, to standard error.

    A backend in this process may print anything; standard output belongs to the report.
    """
    try:
        ours = os.dup(1)
    except OSError:
        yield
        return
    stdout = sys.stdout
    stdout.flush()
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        stdout.flush()  # it may be buffered from before
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).fflush(None)  # what a library in C has not written yet
        os.dup2(ours, 1)
        os.close(ours)
