"""Makes text of unknown origin safe to display: what cannot be seen, line breaks, length."""

from __future__ import annotations

import textwrap

FOREIGN = 200
"""Characters of what a backend says of itself."""

LONGEST, MOST_LINES = 2000, 60
"""Characters of a line, and lines, of what is told at most."""


def number_of(number: int, noun: str) -> str:
    """A number of things in words: ``1 vector``, ``2,000 vectors``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def visible(text: str) -> str:
    """The text with every character that cannot be seen written as its escape.

    Control characters (terminal commands among them), marks that change the direction of text,
    lone surrogates and invisible spaces become ``\\x1b``, ``\\u202e`` and so on; line breaks and
    all printable characters stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def printable(text: str) -> str:
    """The text with a question mark for each character that a terminal might act on."""
    return "".join(c if c.isprintable() else "?" for c in text)


def one_line(text: str) -> str:
    """The text on one line, with what cannot be seen as escapes."""
    return visible(" ".join(text.splitlines()))


def foreign(text: str, length: int = FOREIGN) -> str:
    """What a backend says, for anywhere: visible, on one line, and of bounded length."""
    return shortened(visible(" ".join(text[: 10 * length].split())), length)


def indented(text: str, indent: str = "  ", most: int = MOST_LINES) -> str:
    """Several lines of which only the first begins at the margin, where a verdict may stand.

    Each is visible and of bounded length, and of many the first ``most`` are left.
    """
    lines = [shortened(visible(line), LONGEST) for line in text.splitlines()]
    if len(lines) > most:
        lines = [*lines[:most], f"and {len(lines) - most} more lines"]
    return "\n".join(
        line if i == 0 or line.startswith(indent) else indent + line for i, line in enumerate(lines)
    )


def shortened(text: str, length: int) -> str:
    """At most ``length`` characters of a text; a longer one ends in an ellipsis."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """The text in lines of at most ``width``, words that are wider broken.

    ``indent`` begins each line, ``first`` the first where it differs.
    """
    return textwrap.wrap(
        one_line(text),
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
