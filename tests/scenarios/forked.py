"""``conformance`` in a process that is forked from this one, with limits; POSIX only.

It starts in milliseconds, since all is loaded already, and it can be killed, run out of memory or
hang without harm to the tests.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.cli import main

MEMORY = 400 * 2**20
"""Bytes that a command may allocate beyond what it began with."""

CPU_SECONDS = 20
WALL_SECONDS = 300
"""Far more than what the processor is given, since tests share a machine."""


@dataclass(frozen=True)
class Ended:
    """How the process ended: ``code`` is negative for a signal; ``seconds`` of processor time."""

    code: int
    stdout: str
    stderr: str
    seconds: float


def command(
    *words: object, before: Callable[[], object] = lambda: None, memory: int = MEMORY
) -> Ended:
    """``conformance`` with these arguments; ``before`` runs first, in the same process.

    Where it allocates more than ``memory`` bytes an allocation fails; where it takes longer than
    ``CPU_SECONDS``, or hangs, it is killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        child = os.fork()
        if child == 0:
            _be_the_command(words, before, memory, out, err)
        _, status, used = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = (file.read_text(errors="replace") for file in (out, err))
        return Ended(code, *texts, used.ru_utime + used.ru_stime)


def _be_the_command(
    words: tuple[object, ...], before: Callable[[], object], memory: int, out: Path, err: Path
) -> None:
    """The rest of the child's life; nothing of the tests runs in it any more."""
    code: object = 99
    gc.freeze()  # to look at what the tests have made would copy its pages
    try:
        sys.stdout, sys.stderr = out.open("w"), err.open("w")
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(WALL_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * os.sysconf("SC_PAGE_SIZE") + memory
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        before()
        main(args=[str(word) for word in words], prog_name="conformance")
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        with suppress(BaseException):
            traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(BaseException):
                stream.flush()
        os._exit(code if isinstance(code, int) else 98)
