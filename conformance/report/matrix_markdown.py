"""The matrix of several backends as a Markdown table for a README."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.report.markdown import inline
from conformance.report.matrix import Column, Graded, graded
from conformance.report.summary import MARKS
from conformance.report.wording import precision

FILE = "matrix.md"

LEGEND = (
    "Each cell gives the vectors that passed, of those that were tested and are supported, "
    "and then the causes of the failures."
)


def render(columns: Sequence[Column]) -> str:
    """One column a backend, one row an operator."""
    shown = [graded(column) for column in columns]
    return "\n".join([*_table(shown), "", *_foot(shown)])


def _table(shown: Sequence[Graded]) -> Iterator[str]:
    yield _row("operator", *(inline(one.column.name) for one in shown))
    yield "|---" * (len(shown) + 1) + "|"
    for op in dict.fromkeys(op for one in shown for op in one.cells):
        yield _row(inline(op), *(_cell(one, op) for one in shown))
    yield _row("**verdict**", *(f"**{MARKS[one.tone]} {inline(one.verdict)}**" for one in shown))


def _cell(one: Graded, op: str) -> str:
    cell = one.cells.get(op)
    if cell is None:
        return "not run" if one.column.run is None else "not tested"
    score = f"{MARKS.get(cell.tone, '')} {cell.score}".strip()
    return "<br>".join([score, *map(inline, cell.notes)])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _foot(shown: Sequence[Graded]) -> Iterator[str]:
    headers = [one.column.run.header for one in shown if one.column.run is not None]
    for asked in dict.fromkeys(
        f"Suite {header['suite']['name']} ({header['suite']['digest'][:12]}), level "
        f"{header['options']['level']}, precision {precision(header['options']['precision'])}. "
        for header in headers
    ):
        yield f"{inline(asked)} {LEGEND}"
        yield ""
    for one in shown:
        if one.column.run is None:
            yield f"**{inline(one.column.name)} was not run:** {inline(one.column.why)}"
            yield ""
