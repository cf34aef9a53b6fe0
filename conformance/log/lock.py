"""File lock for the single writer of a log, where the system has one."""

from __future__ import annotations

import errno
import sys
from typing import BinaryIO


def locked(file: BinaryIO) -> bool:
    """Take the file for this process; False where another process has it.

    It is free again when the file is closed, or this process ends, however it ends. True also
    where a file system knows no locks, and on Windows.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        # Not flock: the processes that a run starts would hold on to it after the run was killed.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True
