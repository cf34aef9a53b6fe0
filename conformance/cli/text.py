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
    """How wide a text may be, and whether in colour, by where standard output goes."""
    columns = shutil.get_terminal_size((80, 24)).columns
    in_color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return {"width": min(max(columns, 60), 120), "color": in_color}


def span(at: tuple[int, ...]) -> str:
    """Positions at equal distances, as their ends."""
    if len(at) < 2:
        return str(at[0]) if at else "none"
    step = at[1] - at[0]
    return f"{at[0]}..{at[-1]}" + (f" by {step}" if step != 1 else "")


def shortest(value: Any) -> str:
    """A number in the shortest form that reads back as itself, as float32 at least."""
    if isinstance(value, np.integer):
        return str(value)
    # The shortest form of a narrow type is off in whole units: 60350.0 for the float16 60352.
    number = value if isinstance(value, np.float64) else np.float32(value)
    whole = 10.0 ** np.finfo(number.dtype).precision
    if number == 0 or 1e-4 <= abs(float(number)) < whole:
        return np.format_float_positional(number, trim="0")
    return str(number)


def plain(value: Any) -> str:
    """The value of an attribute or an operand."""
    if isinstance(value, list | tuple):
        return commas(value) or "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)


def commas(values: Sequence[Any]) -> str:
    """Values with commas between them."""
    return ",".join(map(str, values))


def sizes(shape: Sequence[int]) -> str:
    """A shape as in ``1x3x7``."""
    return "x".join(map(str, shape)) or "scalar"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] | None = None) -> Iterator[str]:
    """Rows, a title first, as columns; one that holds nothing is left out. Those in ``right`` (by
    default all but the first two and the last) are set flush right."""
    flush = range(2, len(rows[0]) - 1) if right is None else right
    columns = []
    for number, column in enumerate(zip(*rows, strict=True)):
        if any(column[1:]) or len(rows) == 1:
            longest = max(map(len, column))
            columns.append(
                [t.rjust(longest) if number in flush else t.ljust(longest) for t in column]
            )
    for cells in zip(*columns, strict=True):
        yield ("    " + "  ".join(cells)).rstrip()


def wrapped(label: str, text: str, width: int) -> list[str]:
    """A paragraph beside its label, as lines of at most ``width`` characters."""
    return wrap(text, max(width, len(label) + 20), " " * len(label), label)


def slug(backend: str) -> str:
    """A backend's name as that of a folder."""
    name = next(iter(backend.removeprefix("exec:").split()), "")
    stem = Path(name.partition(":")[0]).stem if "/" in name or ".py" in name else name
    return re.sub(r"[^A-Za-z0-9.-]+", "-", stem).strip("-.") or "backend"
