"""Normalises exception messages: without types, source files, signatures and numbers.

The message comes from a backend and may be anything. Two frameworks, or two versions of one, report
the same problem with different types and from different lines, and cut a long message in the middle
or at its end.
"""

from __future__ import annotations

import re

CUT = "…"
"""What stands where a message was cut."""

MAX_READ = 2000
"""Characters of a message that are read."""

MAX_SHOWN = 110
"""Characters of a shortened message."""

MAX_COMPARED = 60
"""Characters of a message that distinguish exceptions: where a message is cut varies."""

MAX_NUMBERLESS = 120
"""Characters that distinguish messages, their numbers replaced."""

_TYPE = re.compile(r"^[A-Za-z_][\w.]{0,80}(?::(?= )|$)")
_SOURCE_LINES = (
    r"Exception from \S{1,200}:\d+:",
    r"Check '[^']{0,300}' failed at \S{1,200}:\d+:",
    r"[\w:<>~]{1,200}::[\w~]{1,100}\([^()]{0,400}\)(?: const)?(?: \[with [^\]]{0,400}\])?",
    r"^\[\w{1,40}\] : \d+ : \w{1,40} :",
)
_SOURCE_LINE = re.compile("|".join(_SOURCE_LINES))
_FILE = re.compile(r"[^ ]*\.\w{1,4}:\d+:?")
NUMBERS = re.compile(r"0x[0-9a-fA-F]+|(?:(?<!\w)-)?\d+(?:[\s,.x]+-?\d+)*")
"""Numbers with their signs, several in a row: ``8x1x-1``, ``1, -2, 3``."""

_LIST = re.compile(r"(?:[-(\[{]\s*)*#(?:[-\s,()\[\]{}]*#)*(?:,?\s*[)\]}])*")
"""Numbers in a row, with their signs and brackets, each replaced by ``#``."""


def short_message(message: str) -> str:
    """Return the first line of a message, shortened.

    It is empty where the line is only a type.
    """
    text = _bare_line(message)
    before_details, _, details = text.rpartition("Details: ")
    text = details if len(details) > 20 or not before_details else text
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1].rstrip() + CUT


def without_numbers(message: str) -> str:
    """Return the first line of a message, with ``#`` for numbers.

    Its end is left out where that would depend on how long these are.
    """
    text = _bare_line(message) or message.partition("\n")[0].strip()
    return NUMBERS.sub("#", text)[:MAX_NUMBERLESS].rstrip(f" {CUT}")


def comparison_key(message: str, op: str) -> str:
    """Return a text that is equal for messages about the same problem.

    It does not depend on ``op``, the operator that the message is about.
    """
    text = short_message(message)
    name = op.rpartition("-")[0].rpartition(".")[2] or op
    text = re.sub(rf"{re.escape(name)}(?:_\d+)?", "#", text)
    text = _LIST.sub("#", NUMBERS.sub("#", text))
    # Where a word is cut depends on how long the numbers before it are.
    uncut, mark, _ = text.partition(CUT)
    text = uncut.rpartition(" ")[0] if mark else text
    return text[:MAX_COMPARED].rstrip()


def _bare_line(message: str) -> str:
    line = " ".join(message[:MAX_READ].partition("\n")[0].split())
    return _without_source_lines(_TYPE.sub("", line, count=1).strip())


def _without_source_lines(text: str) -> str:
    before = None
    while before != text:
        words = _SOURCE_LINE.sub(" ", text).split()
        # Word by word: a pattern for all of the text would try each character as a beginning.
        before, text = text, " ".join(word for word in words if not _is_source_line(word))
    return text.strip(" .")


def _is_source_line(word: str) -> bool:
    """Whether a word is a line of a source file: ``src/kernel.cpp:12``."""
    return "/" in word and _FILE.fullmatch(word) is not None
