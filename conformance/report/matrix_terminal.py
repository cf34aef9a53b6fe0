"""The matrix of several backends as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.report.matrix import Column, Graded, graded
from conformance.report.terminal import BOLD, RESET, TONES
from conformance.safe_text import one_line, wrap


def text(columns: Sequence[Column], *, width: int = 80, color: bool = False) -> str:
    """A block for each backend; no line is wider than ``width``."""
    blocks = [_block(graded(column), width, color) for column in columns]
    return "\n\n".join("\n".join(block) for block in blocks)


def _block(one: Graded, width: int, color: bool) -> Iterator[str]:
    paint = f"{BOLD}{TONES[one.tone]}" if color else ""
    for line in wrap(f"{one.column.name}: {one.verdict.upper()}", width, "  ", ""):
        yield f"{paint}{line}{RESET if color else ''}"
    if one.column.why:
        yield from wrap(one.column.why, width, "  ")
    names = [one_line(op)[: width // 2] for op in one.cells]
    scores = [cell.score for cell in one.cells.values()]
    for name, cell in zip(names, one.cells.values(), strict=True):
        first = f"  {name.ljust(max(map(len, names)))}  {cell.score.ljust(max(map(len, scores)))}"
        notes = wrap("; ".join(cell.notes), width, " " * (len(first) + 2), f"{first}  ")
        yield from notes or [first.rstrip()]
