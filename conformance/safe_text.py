"""Makes text of unknown origin safe to display: what cannot be seen, line breaks, length."""

from __future__ import annotations

import textwrap

MAX_FOREIGN = 200
"""Characters of a text from a backend."""

MAX_LINE, MAX_LINES = 2000, 60
"""Characters of a line, and lines, that are shown."""


def number_of(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 vector``, ``2,000 vectors``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def visible(text: str) -> str:
    """Return the text with escapes for characters that cannot be seen.

    Control characters (terminal commands among them), marks that change the direction of text,
    lone surrogates and invisible spaces become ``\\x1b``, ``\\u202e`` and so on; line breaks and
    all printable characters stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def printable(text: str) -> str:
    """Return the text with ``?`` for each character that a terminal might act on."""
    return "".join(c if c.isprintable() else "?" for c in text)


def one_line(text: str) -> str:
    """Join the text to a single line, with escapes for what cannot be seen."""
    return visible(" ".join(text.splitlines()))


def foreign(text: str, length: int = MAX_FOREIGN) -> str:
    """Make a backend's text safe: visible, on a single line, of bounded length."""
    return shortened(visible(" ".join(text[: 10 * length].split())), length)


def indented(text: str, indent: str = "  ", most: int = MAX_LINES) -> str:
    """Indent all lines but the first, since a verdict may stand at the margin.

    Each is visible and of bounded length; lines beyond the first ``most`` are only counted.
    """
    lines = [shortened(visible(line), MAX_LINE) for line in text.splitlines()]
    if len(lines) > most:
        lines = [*lines[:most], f"and {len(lines) - most} more lines"]
    return "\n".join(
        line if i == 0 or line.startswith(indent) else indent + line for i, line in enumerate(lines)
    )


def shortened(text: str, length: int) -> str:
    """Cut a text to at most ``length`` characters, with an ellipsis at its end."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Break the text into lines of at most ``width`` characters, also within words.

    ``indent`` begins each line, or ``first`` the first line.
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
