"""Numbers, columns and paragraphs as text for a terminal or a pipe."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from conformance.safe_text import wrap


class TextStyle(TypedDict):
    """How a text is shown."""

    width: int
    color: bool


def terminal() -> TextStyle:
    """Return the width of the terminal, 60 to 120, and whether it shows colours."""
    columns = shutil.get_terminal_size((80, 24)).columns
    in_color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return {"width": min(max(columns, 60), 120), "color": in_color}


def shortest(value: Any) -> str:
    """Format a number in the shortest form that reads back as itself.

    Narrower types are formatted as float32.
    """
    if isinstance(value, np.integer | np.bool_):
        return str(value)
    # The shortest form of a narrow type is wrong by whole units: 60350.0 for the float16 60352.
    number = value if isinstance(value, np.float64) else np.float32(value)
    limit = 10.0 ** np.finfo(number.dtype).precision
    if number == 0 or 1e-4 <= abs(float(number)) < limit:
        return np.format_float_positional(number, trim="0")
    return str(number)


def plain(value: Any) -> str:
    """Format the value of an attribute or an operand."""
    if isinstance(value, list | tuple):
        return commas(value) or "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)


def commas(values: Sequence[Any]) -> str:
    """Join values with commas."""
    return ",".join(map(str, values))


def sizes(shape: Sequence[int]) -> str:
    """Format a shape as in ``1x3x7``."""
    return "x".join(map(str, shape)) or "scalar"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] | None = None) -> Iterator[str]:
    """Align rows, titles first, in columns, without the columns that are empty.

    Columns in ``right`` (by default all but the first two and the last) are set flush right.
    """
    flush_right = range(2, len(rows[0]) - 1) if right is None else right
    columns = []
    for number, column in enumerate(zip(*rows, strict=True)):
        if any(column[1:]) or len(rows) == 1:
            longest = max(map(len, column))
            columns.append(
                [t.rjust(longest) if number in flush_right else t.ljust(longest) for t in column]
            )
    for cells in zip(*columns, strict=True):
        yield ("    " + "  ".join(cells)).rstrip()


def wrapped(label: str, text: str, width: int) -> list[str]:
    """Break a paragraph beside its label into lines of at most ``width`` characters."""
    return wrap(text, max(width, len(label) + 20), " " * len(label), label)


def slug(backend: str) -> str:
    """Return the name of a folder for a backend."""
    name = next(iter(backend.removeprefix("exec:").split()), "")
    stem = Path(name.partition(":")[0]).stem if "/" in name or ".py" in name else name
    return re.sub(r"[^A-Za-z0-9.-]+", "-", stem).strip("-.") or "backend"
