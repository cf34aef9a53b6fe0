"""Keeps the end of what a process writes on stderr, and finds the line that says why it ended.

It is found by what it looks like (a sanitizer's summary, a panic, an abort of the C library), or by
where it stands: before a stack, or after the traceback of Python. It is kept however much follows
it.
"""

from __future__ import annotations

import re

from conformance.safe_text import one_line, printable, shortened

KEPT = 16 << 10
"""Bytes that are kept: the last ones."""

SHOWN_LINES, SHOWN_FATAL, SHOWN_WIDTH = 10, 6, 160
"""How many lines are shown of a lost process, how many of them of a fatal error of Python, and how
much of each."""

LONGEST = 2000
"""Bytes of a line that are looked at."""

DECISIVE = re.compile(
    r"""SUMMARY:\s\w+Sanitizer | ==\d+==\s*(ERROR|WARNING): | :\sruntime\serror:\s
    | WARNING:\s\w+Sanitizer
    | ^thread\s.*\spanicked\sat | ^thread\s\d+\spanic: | ^panic: | ^fatal\serror:
    | ^Fatal\s(Python\s)?error: | ^terminate\scalled | ^\s+what\(\):\s
    | ^(malloc|free|realloc|calloc|munmap_chunk|malloc_consolidate|unlink_chunk)[\w ]*\(\):
    | ^double\sfree\sor\scorruption | ^corrupted\s(size|double-linked) | ^\*\*\*\s.*\sdetected
    | [Aa]ssertion\s.*failed | ^Assertion\sfailed
    | ^Exception\sin\sthread | ^Unhandled\s(exception|Exception) | CUDA\serror
    """,
    re.VERBOSE,
)
"""What a line looks like with which a runtime or library ends a process."""

STACK = re.compile(r"\s+at\s|\s*#\d+\s|stack backtrace:|goroutine \d+ |Stack ?trace:|Backtrace:")
"""The beginning of a stack; before it stands what is wrong."""

ERROR = re.compile(r"\b\w*(error|exception|fatal|abort|failed|failure|panic)", re.IGNORECASE)

CONTINUED = re.compile(r"panicked at .*:\d+:\d+:$|^terminate called after")
"""Lines that the next one completes."""


class Stderr:
    """What a process has written on stderr, piece by piece."""

    def __init__(self) -> None:
        self._tail = b""
        self._part = b""
        self._previous = ""
        self._in_traceback = False
        self._decisive = self._by_place = self._like_an_error = self._last = ""

    def feed(self, data: bytes) -> None:
        """Take in what was read."""
        self._tail = (self._tail + data)[-KEPT:]
        *lines, part = (self._part + data).split(b"\n")
        self._part = part[:LONGEST]
        for line in lines:
            self._take(line)

    def decisive(self) -> str:
        """Return the line that tells why the process ended; the last line if none does."""
        if self._part:
            self._take(self._part)
            self._part = b""
        line = self._decisive or self._by_place or self._like_an_error or self._last
        return shortened(one_line(line.strip()), 2 * SHOWN_WIDTH)

    def last_words(self) -> str:
        """Return the last lines, or those around a fatal error of Python; printable."""
        lines = self._tail.decode("utf-8", errors="replace").splitlines()
        lines = [line for line in map(printable, lines) if line.strip()]
        fatal = [i for i, line in enumerate(lines) if line.startswith("Fatal Python error")]
        # Below its first lines the traceback of a fatal error is that of this package.
        end = fatal[-1] + SHOWN_FATAL if fatal else len(lines)
        shown = lines[max(0, end - SHOWN_LINES) : end]
        return "\n".join(line[:SHOWN_WIDTH] for line in shown)

    def _take(self, data: bytes) -> None:
        line = data[:LONGEST].decode("utf-8", errors="replace").rstrip()
        if not line:
            return
        if CONTINUED.search(self._previous):
            self._decisive = f"{self._previous} {line.strip()}"
        elif DECISIVE.search(line):
            self._decisive = line
        elif STACK.match(line) and not STACK.match(self._previous) and self._previous:
            self._by_place = self._previous
        elif self._in_traceback and not line[0].isspace():
            self._by_place, self._in_traceback = line, False
        elif ERROR.search(line):
            self._like_an_error = line
        if line.startswith("Traceback (most recent call last)"):
            self._in_traceback = True
        self._previous = self._last = line
