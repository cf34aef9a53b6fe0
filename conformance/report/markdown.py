"""Untrusted text in GitHub's Markdown."""

from __future__ import annotations

import re

from conformance.safe_text import shortened, visible

# What begins a line may begin a list or a rule, a digit too. A colon begins what GitHub makes an
# emoji or a link of, but not before a space.
_MARKS = re.compile(r"^[\x00-@]|[^A-Za-z0-9 ,:;=/().'+\u0080-\U0010ffff-]|:(?! )")


def inline(text: str, length: int = 500) -> str:
    """Text on one line that Markdown shows as it is, in a paragraph, a heading or a table.

    Marks become numeric character references, which Markdown never takes for structure. What it
    would turn into a link by itself (``www.``, ``://``) is broken in the same way.
    """
    line = shortened(visible(" ".join(text.split())), length)
    line = _MARKS.sub(lambda found: f"&#{ord(found[0])};", line)
    return re.sub(r"(?i)www\.", lambda found: found[0][:-1] + "&#46;", line)


def block(text: str, length: int = 2000) -> str:
    """Text as a block of code, between fences longer than any that it has."""
    shown = shortened(visible(text), length)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
