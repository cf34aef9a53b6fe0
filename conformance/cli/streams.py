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
"""What writing to a stream fails with, where that is not the reader's doing."""

EXHAUSTED = (errno.EMFILE, errno.ENFILE)


def open_all() -> None:
    """Put a place where what is written is lost where there is no standard stream.

    Else the next file that is opened would take its number, and get what is meant for it.
    """
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def discard() -> None:
    """Nobody reads any more; what is still buffered must not fail again when Python exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


def explained(error: OSError) -> UsageError | None:
    """An error of the system that is no defect of this tool, in words; None for any other.

    What is wrong with a file is told where it is opened, by its name; this is about the others.
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
    """Whatever is printed meanwhile, by Python or not, goes to standard error.

    A backend in this process may print what it likes; standard output belongs to the report.
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
        stdout.flush()  # it may have been kept from before
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).fflush(None)  # what a library in C has not written yet
        os.dup2(ours, 1)
        os.close(ours)
