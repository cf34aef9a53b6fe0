"""The scoreboard: a page with a row for each operator and a cell for each backend.

It shows what ``matrix`` computes; a cell links to the page of its run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment

from conformance.log.run_log import RunLog
from conformance.report import templating
from conformance.report.matrix import Cell, Column, GradedColumn, grade_column
from conformance.report.view import Tone
from conformance.report.wording import precision_text

FILE = "scoreboard.html"

WORDS = {Tone.GOOD: "right", Tone.KNOWN: "known failures", Tone.WEAK: "weak", Tone.BAD: "wrong"}
"""What a cell says, beside its colour."""


@dataclass(frozen=True)
class BoardRow:
    """An operator, with its cell of each backend; None where it was not tested."""

    op: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Scoreboard:
    """What the page shows: settings are those of all runs, each once."""

    columns: tuple[GradedColumn, ...]
    rows: tuple[BoardRow, ...]
    settings: tuple[str, ...]

    def count(self, graded: GradedColumn) -> str:
        """Return how many of its operators a backend has right."""
        judged = [cell for cell in graded.cells.values() if cell.tone is not None]
        right = sum(cell.tone is not Tone.BAD for cell in judged)
        return f"{right} of {len(judged)} operators are right" if judged else ""


def arrange_scoreboard(columns: Sequence[Column]) -> Scoreboard:
    """Arrange the cells of all backends by operator, in the order of the runs."""
    graded = tuple(grade_column(column) for column in columns)
    ops = dict.fromkeys(op for column in graded for op in column.cells)
    return Scoreboard(
        columns=graded,
        rows=tuple(BoardRow(op, tuple(column.cells.get(op) for column in graded)) for op in ops),
        settings=tuple(
            dict.fromkeys(_settings(column.run) for column in columns if column.run is not None)
        ),
    )


def _settings(run: RunLog) -> str:
    start = run.start
    precision = precision_text(start.options.precision)
    return (
        f"Suite {start.suite.name} ({start.suite.digest[:12]}), level {start.options.level}, "
        f"precision {precision}."
    )


def render(columns: Sequence[Column]) -> str:
    """Return the page of backends, those without a run among them."""
    return templating.render_page(
        "scoreboard.html.j2",
        _environment(),
        ("page.css", "report.css", "scoreboard.css"),
        ("page.js",),
        board=arrange_scoreboard(columns),
        words=WORDS,
    )


@cache
def _environment() -> Environment:
    return templating.template_environment()
