"""The worked example of the documentation, for tests that spoil it in one place."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "spec-format.md"
EXAMPLE = re.findall(r"```yaml\n(format: 1\n.*?)```", DOCUMENT.read_text(), re.DOTALL)[0]


def spoiled(*changes: tuple[str, str]) -> str:
    """The example with each old text, which occurs once, replaced by a new one."""
    text = EXAMPLE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def place(text: str, marked: str, inside: str = "") -> tuple[int, int]:
    """Line and column of ``inside``, within the only occurrence of ``marked``."""
    assert text.count(marked) == 1, marked
    at = text.index(marked) + (marked.index(inside) if inside else 0)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
