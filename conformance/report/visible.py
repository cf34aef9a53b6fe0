"""Makes text from a backend safe to display."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text with every character that cannot be seen written as its escape.

    Control characters (terminal commands among them), marks that change the direction of text,
    lone surrogates and invisible spaces become ``\\x1b``, ``\\u202e`` and so on; line breaks and
    all printable characters stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
