"""Normalises exception messages: without types, source files, signatures and numbers.

The message comes from a backend and may be anything. Two frameworks, or two versions of one, give
the same complaint under different types and from different lines, and a long message is cut in the
middle or at its end.
"""

from __future__ import annotations

import re

CUT = "…"
"""What stands where a message was cut."""

MAX_READ = 2000
"""Characters of a message that are looked at."""

MAX_SAID = 110
"""Characters of what it says that are shown."""

MAX_ALIKE = 60
"""Characters of what it says that tell exceptions apart: where a message is cut varies."""

MAX_UNNUMBERED = 120
"""Characters that tell a message apart, its numbers replaced."""

_TYPE = re.compile(r"^[A-Za-z_][\w.]{0,80}(?::(?= )|$)")
_PLACES = (
    r"Exception from \S{1,200}:\d+:",
    r"Check '[^']{0,300}' failed at \S{1,200}:\d+:",
    r"[\w:<>~]{1,200}::[\w~]{1,100}\([^()]{0,400}\)(?: const)?(?: \[with [^\]]{0,400}\])?",
    r"^\[\w{1,40}\] : \d+ : \w{1,40} :",
)
_PLACE = re.compile("|".join(_PLACES))
_FILE = re.compile(r"[^ ]*\.\w{1,4}:\d+:?")
NUMBERS = re.compile(r"0x[0-9a-fA-F]+|(?:(?<!\w)-)?\d+(?:[\s,.x]+-?\d+)*")
"""Numbers with their signs, several in a row: ``8x1x-1``, ``1, -2, 3``."""

_LIST = re.compile(r"(?:[-(\[{]\s*)*#(?:[-\s,()\[\]{}]*#)*(?:,?\s*[)\]}])*")
"""Numbers in a row, with their signs and brackets, where ``#`` stands for one."""


def said(message: str) -> str:
    """What the first line of a message says, in a few words; empty where that is only a type."""
    text = _bare(message)
    head, _, tail = text.rpartition("Details: ")
    text = tail if len(tail) > 20 or not head else text
    return text if len(text) <= MAX_SAID else text[: MAX_SAID - 1].rstrip() + CUT


def unnumbered(message: str) -> str:
    """What the first line of a message says, with ``#`` for numbers; its end is left out where that
    would depend on how long these are.
    """
    text = _bare(message) or message.partition("\n")[0].strip()
    return NUMBERS.sub("#", text)[:MAX_UNNUMBERED].rstrip(f" {CUT}")


def alike(message: str, op: str) -> str:
    """A text that messages share which complain of the same, whatever operator ``op`` is asked."""
    text = said(message)
    name = op.rpartition("-")[0].rpartition(".")[2] or op
    text = re.sub(rf"{re.escape(name)}(?:_\d+)?", "#", text)
    text = _LIST.sub("#", NUMBERS.sub("#", text))
    # A word that is cut is another one in a message with longer numbers.
    head, cut, _ = text.partition(CUT)
    text = head.rpartition(" ")[0] if cut else text
    return text[:MAX_ALIKE].rstrip()


def _bare(message: str) -> str:
    line = " ".join(message[:MAX_READ].partition("\n")[0].split())
    return _without_places(_TYPE.sub("", line, count=1).strip())


def _without_places(text: str) -> str:
    before = None
    while before != text:
        words = _PLACE.sub(" ", text).split()
        # Word by word: a pattern for all of the text would try each place in it as a beginning.
        before, text = text, " ".join(one for one in words if not _is_file(one))
    return text.strip(" .")


def _is_file(word: str) -> bool:
    """Whether a word is a line of a source file: ``src/kernel.cpp:12``."""
    return "/" in word and _FILE.fullmatch(word) is not None
