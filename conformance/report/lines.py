"""Untrusted text as lines that are safe for a terminal."""

from __future__ import annotations

import textwrap

from conformance.report.visible import visible


def one_line(text: str) -> str:
    """The text on one line, with what cannot be seen as escapes."""
    return visible(" ".join(text.splitlines()))


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


def vectors(count: int) -> str:
    """``1 vector``, ``2 vectors``."""
    return "1 vector" if count == 1 else f"{count:,} vectors"
